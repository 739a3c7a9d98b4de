# SPDX-License-Identifier: Apache-2.0
"""Coefficients and tables of src/op/math and of src/op/rows/half_functions.inc: polynomials through the
Chebyshev nodes of an interval, computed with 60 digits, which are within a factor of two of the best ones of their degree. Needs mpmath."""

import mpmath as mp

mp.mp.dps = 60


def fit(function, low, high, degree):
    """Coefficients, lowest power first, and the largest absolute error."""
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 2)) for k in range(degree + 1)]
    return fit_at([(high - low) / 2 * t + (high + low) / 2 for t in nodes], function, low, high, degree)


def fit_above_zero(function, high, degree):
    """The same for what will be multiplied by z in [0, high]: the error times z is even, since one node of a higher
    degree lies at zero."""
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 4)) for k in range(degree + 2)]
    return fit_at([high * (t - nodes[-1]) / (1 - nodes[-1]) for t in nodes[:-1]], function, mp.mpf(0), high, degree)


def fit_at(points, function, low, high, degree):
    matrix = mp.matrix(degree + 1, degree + 1)
    for i, x in enumerate(points):
        for j in range(degree + 1):
            matrix[i, j] = x**j
    solution = mp.lu_solve(matrix, mp.matrix([function(x) for x in points]))
    coefficients = [solution[i] for i in range(degree + 1)]
    grid = [low + (high - low) * mp.mpf(2 * k + 1) / 802 for k in range(401)]
    error = max(abs(function(x) - mp.polyval(coefficients[::-1], x)) for x in grid)
    return coefficients, error


def print_rows(name, digits, fitted):
    coefficients, error = fitted
    print(f"// {name}: absolute error {mp.nstr(error, 2)}")
    print(", ".join(mp.nstr(c, digits) for c in coefficients))


def expm1_rest(r):
    """(exp(r) - 1 - r) / r^2."""
    return (mp.expm1(r) - r) / r**2 if abs(r) > mp.mpf("1e-20") else mp.mpf(1) / 2 + r / 6


def log_rest(z):
    """(log((1+s) / (1-s)) - 2s) / (s * z) for z = s^2."""
    s = mp.sqrt(z)
    return (2 * mp.atanh(s) - 2 * s) / (s * z) if z else mp.mpf(2) / 3


def cotangent_rest(z):
    """(x cot(x) - 1) / z for z = x^2."""
    x = mp.sqrt(z)
    return (x * mp.cot(x) - 1) / z


def tanh_rest(z):
    """(tanh(x) / x - 1) / z for z = x^2."""
    x = mp.sqrt(z)
    return (mp.tanh(x) / x - 1) / z if z else -mp.mpf(1) / 3


def erf_rest(z):
    """erf(x) / x - 1 for z = x^2."""
    x = mp.sqrt(z)
    return mp.erf(x) / x - 1 if z else 2 / mp.sqrt(mp.pi) - 1


def erfc_log(a):
    return -mp.log(mp.erfc(a))


def odd_rest(function, slope):
    """(f(x) / x - 1) / z for z = x^2, of an odd function that is x + slope x^3 near zero."""

    def rest(z):
        x = mp.sqrt(z)
        return (function(x) / x - 1) / z if z > mp.mpf("1e-30") else slope

    return rest


def print_elementary():
    """What src/op/math/elementary_math.h sums up: a degree for float and one for double."""
    rows = (("asin", mp.asin, mp.mpf(1) / 6, mp.mpf(1) / 4, 4, 12), ("atan", mp.atan, -mp.mpf(1) / 3, mp.mpf(1), 8, 20),
            ("asinh", mp.asinh, -mp.mpf(1) / 6, mp.mpf(1), 7, 19), ("atanh", mp.atanh, mp.mpf(1) / 3, mp.mpf(1) / 4, 5, 13),
            ("sinh", mp.sinh, mp.mpf(1) / 6, mp.mpf(1), 3, 8))
    for name, function, slope, end, of_float, of_double in rows:
        print_rows(f"float {name}", 10, fit(odd_rest(function, slope), mp.mpf(0), end, of_float))
        print_rows(f"double {name}", 19, fit(odd_rest(function, slope), mp.mpf(0), end, of_double))
    for kind, degree in (("float", 2), ("double", 3)):
        print_rows(f"{kind} 1 / cbrt", 10, fit(lambda m: 1 / mp.cbrt(m), mp.mpf(1), mp.mpf(2), degree))
    for value, high in ((mp.log10(2), mp.mpf(float.fromhex("0x1.344p-2"))), (mp.log10(2), mp.mpf(float.fromhex("0x1.34413509f7p-2")))):
        print(f"log10(2) = {mp.nstr(high, 20)} + {mp.nstr(value - high, 20)}")


def inverse_erf(w):
    """erfinv(x) / x for w = -log(1 - x^2)."""
    x = mp.sqrt(-mp.expm1(-w))
    if w < 3:
        return mp.erfinv(x) / x if w else mp.sqrt(mp.pi) / 2
    logarithm = -w - mp.log(1 + x)  # of 1 - x
    return mp.findroot(lambda y: mp.log(mp.erfc(y)) - logarithm, mp.sqrt(w) - mp.mpf("0.3")) / x


def print_inverse_erf():
    limit = mp.sqrt(mp.pi) / 2
    ratio = fit(lambda w: (inverse_erf(w) - limit) / w if w > mp.mpf("1e-8") else mp.mpf("0.2320137"), mp.mpf(0), mp.mpf("6.25"), 10)
    print_rows(f"float erfinv: {mp.nstr(limit - 1, 10)} and", 10, ratio)
    print_rows("float erfinv about the root 3.25", 17, fit(lambda s: inverse_erf((s + mp.mpf("3.25")) ** 2) - 1, mp.mpf("-0.75"), mp.mpf("0.75"), 8))
    for kind, first, second in (("double", 22, 18),):
        print_rows(f"{kind} erfinv about 3.125", 17, fit(lambda w: inverse_erf(w + mp.mpf("3.125")), mp.mpf("-3.125"), mp.mpf("3.125"), first))
        print_rows(f"{kind} erfinv about the root 3.25", 17, fit(lambda s: inverse_erf((s + mp.mpf("3.25")) ** 2), mp.mpf("-0.75"), mp.mpf("0.75"), second))
    middle = mp.mpf("5.05")
    print_rows("double erfinv about the root 5.05", 17, fit(lambda s: inverse_erf((s + middle) ** 2), mp.mpf("-1.05"), mp.mpf("1.05"), 16))


def gamma_logarithm(d):
    """log(gamma(2 + d)) / d."""
    return mp.loggamma(2 + d) / d if abs(d) > mp.mpf("1e-25") else 1 - mp.euler


def stirling_rest(u):
    """(log(gamma(z)) - (z - 1/2) log(z) + z - log(2 pi) / 2) z for u = 1 / z^2."""
    z = 1 / mp.sqrt(u) if u > mp.mpf("1e-12") else None
    return (mp.loggamma(z) - (z - mp.mpf(1) / 2) * mp.log(z) + z - mp.log(2 * mp.pi) / 2) * z if z else mp.mpf(1) / 12 - u / 360


def digamma_rest(u):
    """(digamma(z) - log(z) + 1 / (2 z)) z^2 for u = 1 / z^2."""
    z = 1 / mp.sqrt(u) if u > mp.mpf("1e-12") else None
    return (mp.digamma(z) - mp.log(z) + 1 / (2 * z)) * z * z if z else -mp.mpf(1) / 12 + u / 120


def half_turn_rest(z):
    """(sin(pi r) / (pi r) - 1) / z for z = r^2."""
    r = mp.sqrt(z)
    return (mp.sin(mp.pi * r) / (mp.pi * r) - 1) / z if z > mp.mpf("1e-20") else -mp.pi**2 / 6


def print_gamma():
    """Of op/math/gamma_of_doubles.h."""
    print_rows("log(gamma(2 + d)) / d", 19, fit(gamma_logarithm, -mp.mpf(3) / 4, mp.mpf(1) / 4, 19))
    print_rows("Stirling's series from 6.25", 19, fit(stirling_rest, mp.mpf(0), mp.mpf(4) ** 2 / 25**2, 6))
    print_rows("the series of digamma from 8", 19, fit(digamma_rest, mp.mpf(0), mp.mpf(1) / 64, 5))
    print_rows("sin(pi r)", 19, fit(half_turn_rest, mp.mpf(0), mp.mpf(1) / 4, 8))


NORMAL_END = mp.mpf("5.5")  # the normal distribution is 1 - 2e-8 there


def normal_rest(t):
    """(Phi(x) - 1/2) / x of the normal distribution, for t = 2 x^2 / NORMAL_END^2 - 1."""
    x = NORMAL_END * mp.sqrt((t + 1) / 2)
    return mp.erf(x / mp.sqrt(2)) / (2 * x) if x else 1 / mp.sqrt(2 * mp.pi)


def sin_rest(z):
    """(sin(x) / x - 1) / z for z = x^2."""
    x = mp.sqrt(z)
    return (mp.sin(x) / x - 1) / z if z else -mp.mpf(1) / 6


def cos_rest(z):
    """(cos(x) - 1 + z / 2) / z^2 for z = x^2."""
    return (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2 if z else mp.mpf(1) / 24


def log_second(r):
    """(log(1 + r) - r) / r^2."""
    return (mp.log1p(r) - r) / r**2 if abs(r) > mp.mpf("1e-15") else r / 3 - mp.mpf(1) / 2


def log_third(r):
    """-2 (log(1 + r) - r + r^2 / 2) / r^3."""
    return -2 * ((mp.log1p(r) - r + r * r / 2) / r**3 if abs(r) > mp.mpf("1e-12") else mp.mpf(1) / 3 - r / 4)


def exp2_rest(f):
    """(2^f - 1) / f."""
    return (mp.mpf(2) ** f - 1) / f if abs(f) > mp.mpf("1e-20") else mp.log(2)


def near_reciprocals(bits):
    """By the bits of their mantissas; those below 0.67 count twice."""
    steps = 2**bits
    return [(1 + mp.mpf(i) / steps) / (1 if (1 + mp.mpf(i) / steps) / 2 < mp.mpf("0.67") else 2) for i in range(steps)]


def rounded(x, bits):
    """x with so many bits."""
    mantissa, exponent = mp.frexp(x)
    return mp.ldexp(mp.nint(mp.ldexp(mantissa, bits)), exponent - bits)


def accurate(candidates, function, bits):
    """Of the candidates that one whose value has the fewest digits beyond so many bits, and the value with those."""
    best = min(candidates, key=lambda x: abs(rounded(function(x), bits) / function(x) - 1))
    return best, rounded(function(best), bits)


def hexadecimal(numbers):
    return ", ".join(float(x).hex() for x in numbers)


def print_log_table(base, table_bits, grid, bits):
    """Factors for mantissas in [3/4, 3/2) by their first bits, and logarithms of their reciprocals, multiples of 2^-grid; about 1 the factor is 1."""
    steps, factors, logs = 2**table_bits, [], []
    for i in range(steps):
        middle = (1 + (i + mp.mpf(1) / 2) / steps) / (1 if i < steps // 2 else 2)
        if i in (0, steps - 1):
            log, factor = mp.mpf(0), mp.mpf(1)
        else:
            nearest = mp.nint(mp.log(middle, base) * 2**grid)
            half = 200 if bits == 24 else 1000
            log, factor = accurate([(nearest + step) / mp.mpf(2) ** grid for step in range(-half, half)], lambda x: mp.power(base, -x), bits)
        factors.append(factor)
        logs.append(log)
    print(f"// logarithms to {mp.nstr(base, 3)}: factors, logarithms\n{hexadecimal(factors)}\n{hexadecimal(logs)}")
    low, high = (-mp.mpf(1) / 64, mp.mpf(1) / 32) if bits == 24 else (-mp.mpf(1) / 32, mp.mpf(1) / 16)
    widened = mp.mpf("1.01")
    print_rows("their series", 10 if bits == 24 else 19,
               fit(lambda r: log_second(r) / mp.log(base), low * widened, high * widened, 3 if bits == 24 else 9))


def print_angles():
    """What src/op/math/wide_angle.inc looks up: quotients, their angles and what rounding took, and the polynomial behind.

    From 1/30 to 1/10, where 1/15 would be in the middle, what is left would be as large as the smallest result, and its three roundings
    two ulp; between .05 and .06 it is at most .65 of a result there."""
    for kind, digits, degree, nearest in (("float", 10, 1, lambda x: rounded(x, 24) if x else x), ("double", 19, 3, lambda x: mp.mpf(float(x)))):
        quotients = [nearest(mp.mpf(0.055) if i == 1 else mp.mpf(i) / 15) for i in range(16)]
        angles = [nearest(mp.atan(c)) for c in quotients]
        print(f"// {kind} quotients, angles\n{hexadecimal(quotients)}\n{hexadecimal(angles)}")
        print_table("what rounding took", 9, [[mp.atan(c) - angle for c, angle in zip(quotients, angles)]])
        end = mp.mpf("0.0455") ** 2  # from .055 to .1, and what the estimate is off
        print_rows(f"{kind} atan", digits, fit(odd_rest(mp.atan, -mp.mpf(1) / 3), mp.mpf(0), end, degree))


def print_root_table():
    """Factors and roots for a third of an exponent that leaves 0, 1 or 2, and three bits of a mantissa."""
    factors, roots = [mp.mpf(1)] * 32, [mp.mpf(1)] * 32
    for left in range(3):
        for part in range(8):
            nearest = mp.nint(mp.cbrt((1 + (part + mp.mpf(1) / 2) / 8) * 2**left) * 2**23)
            candidates = [(nearest + step) / mp.mpf(2) ** 23 for step in range(-1500, 1501)]
            root, factor = accurate(candidates, lambda x, n=left: mp.mpf(2) ** n / x**3, 24)
            factors[(24 + 8 * left + part) % 32], roots[(24 + 8 * left + part) % 32] = factor, root
    print(f"// cube roots: factors, roots\n{hexadecimal(factors)}\n{hexadecimal(roots)}")
    print_rows("their series", 10, fit(lambda r: (mp.cbrt(1 + r) - 1) / r if r else mp.mpf(1) / 3, mp.mpf("-0.0593"), mp.mpf("0.0593"), 3))


def print_power():
    """What src/op/math/wide_power.inc looks up for double."""
    logs = [-mp.log(c) for c in near_reciprocals(4)]
    high = [mp.nint(x * 2**42) / 2**42 for x in logs]
    print(f"// logarithms, high and low\n{hexadecimal(high)}\n{hexadecimal(x - h for x, h in zip(logs, high))}")
    print_rows("third power of the logarithm", 19, fit(log_third, -mp.mpf(1) / 30, mp.mpf(1) / 30, 8))
    powers = [mp.mpf(2) ** (mp.mpf(i) / 16) for i in range(16)]
    print(f"// 2^(i/16), high and low\n{hexadecimal(powers)}\n{hexadecimal(x - mp.mpf(float(x)) for x in powers)}")
    end = mp.log(2) / 32 * mp.mpf("1.02")
    print_rows("exp", 19, fit(expm1_rest, -end, end, 4))
    two = mp.floor(mp.log(2) * 2**42) / 2**42
    print(f"log(2) = {hexadecimal([two, mp.log(2) - two])}")


def print_rounded_log():
    """What src/op/random/rounded_log.inc looks up: factors of so few bits that products with mantissas less one are floats,
    for mantissas in [3/4, 3/2) by their first five bits, and the logarithms of their reciprocals, multiples of 2^-17 and what
    is left. Below 1 the factor next to it is 1, so that small logarithms of numbers below 1 have all their digits."""
    factors, least, most = [], mp.mpf(0), mp.mpf(0)
    for i in range(32):
        scale = 1 if i < 16 else 2
        low, high = (1 + mp.mpf(i) / 32) / scale, (1 + mp.mpf(i + 1) / 32) / scale
        # A product is a multiple of 2^-30: less one it is a float if that is not beyond 2^-6, else if it is one of 2^-29.
        candidates = [mp.mpf(1)] if i == 31 else [mp.mpf(j) / 128 for j in range(64, 192) if i < 16 or j % 2 == 0]
        exact = [c for c in candidates if max(1 - low * c, high * c - 1) <= mp.mpf(2) ** (-5 if i < 16 and c * 64 % 1 == 0 else -6)]
        factors.append(min(exact, key=lambda c: max(1 - low * c, high * c - 1)))
        least, most = min(least, low * factors[-1] - 1), max(most, high * factors[-1] - 1)
    logs = [-mp.log(c) for c in factors]
    high = [mp.nint(x * 2**17) / 2**17 for x in logs]
    print(f"// factors, logarithms, what is left\n{hexadecimal(factors)}\n{hexadecimal(high)}")
    print(", ".join(mp.nstr(x - h, 10) for x, h in zip(logs, high)))
    two = mp.nint(mp.log(2) * 2**17) / 2**17
    print(f"log(2) = {hexadecimal([two])} + {mp.nstr(mp.log(2) - two, 10)}, {mp.nstr(least, 10)} to {mp.nstr(most, 10)}")
    print_rows("the series", 10, fit(log_second, least, most, 3))


def log_chance_rest(t):
    """(log(1 + t) - t + t^2 / 2 - t^3 / 3) / t^4."""
    return (mp.log1p(t) - t + t * t / 2 - t**3 / 3) / t**4 if abs(t) > mp.mpf("1e-9") else t / 5 - mp.mpf(1) / 4


def print_gamma_chance():
    """What src/op/random/gamma.inc looks up: powers of w = 1 + t in [2^-6, 4), four pieces an octave, by the last three
    bits of the exponent and the first two of the mantissa."""
    octaves = [(mp.mpf(2) ** (i // 4 - 6), i % 4) for i in range(32)]
    ends = [(two * (1 + mp.mpf(part) / 4), two * (1 + mp.mpf(part + 1) / 4)) for two, part in octaves]
    fits = [fit(lambda w: log_chance_rest(w - 1), low, high, 2) for low, high in ends]
    print(f"// chance of gamma: relative error {mp.nstr(max(error / abs(log_chance_rest(low - 1)) for (low, _), (_, error) in zip(ends, fits)), 3)}")
    fits = fits[28:] + fits[:28]
    print_table("powers of w", 9, [[coefficients[power] for coefficients, _ in fits] for power in range(3)])
    print_rows("(2^x - 1) / x", 10, fit(exp2_rest, mp.mpf("-0.501"), mp.mpf("0.501"), 3))


def print_table(name, digits, rows):
    """Rows of numbers, as an array of arrays."""
    print(f"// {name}")
    for row in rows:
        print("{" + ", ".join(mp.nstr(x, digits) for x in row) + "},")


def pieces(function, near_zero, middles, ends, degree):
    """Coefficients of a polynomial a piece about its middle, a row for each power; the first piece is x near_zero(x)."""
    columns = []
    for middle, (low, high) in zip(middles, ends):
        if middle == 0:
            columns.append([mp.mpf(0)] + fit(near_zero, mp.mpf(0), high, degree - 1)[0])
        else:
            columns.append(fit(lambda d, m=middle: function(m + d), low - middle, high - middle, degree)[0])
    return [[column[power] for column in columns] for power in range(degree + 1)]


def print_wide():
    """What src/op/math/wide_math.inc, src/op/math/erf_pieces.h and the powers of float in src/op/math/wide_power.inc look up."""
    print_rows("double log", 19, fit(log_second, -mp.mpf(1) / 30, mp.mpf(1) / 30, 8))
    print_rows("float log2", 10, fit(lambda r: log_second(r) / mp.log(2), -mp.mpf(1) / 62, mp.mpf(1) / 62, 3))
    print_rows("float exp2", 10, fit(exp2_rest, mp.mpf("-0.501"), mp.mpf("0.501"), 5))
    quarter = (mp.pi / 4 * mp.mpf("1.01")) ** 2
    print_rows("float sin", 10, fit(sin_rest, mp.mpf("1e-12"), quarter, 2))
    print_rows("float cos", 10, fit(cos_rest, mp.mpf("1e-6"), quarter, 2))
    print_rows("float16 sin", 10, fit(sin_rest, mp.mpf("1e-12"), 4 * quarter, 3))
    print_rows("float16 tan", 10, fit(odd_rest(mp.tan, mp.mpf(1) / 3), mp.mpf("1e-12"), quarter, 4))
    end = mp.log(2) / 2 * mp.mpf("1.01")
    print_rows("float16 exp", 10, fit(expm1_rest, -end, end, 3))
    print_rows("float tan", 10, fit_above_zero(cotangent_rest, quarter, 3))
    print_rows("double tan", 19, fit_above_zero(cotangent_rest, quarter, 9))
    logs = [-mp.log(c) for c in near_reciprocals(4)]
    print_table("double logs and what rounding took", 19, [logs, [x - mp.mpf(float(x)) for x in logs]])
    log2 = [-mp.log(c, 2) for c in near_reciprocals(5)]
    high = [mp.nint(x * 2**14) / 2**14 for x in log2]
    print_table("float log2, high and low", 10, [high, [x - h for x, h in zip(log2, high)]])
    edges = [mp.mpf(0)] + [mp.mpf(2) ** octave * (1 + mp.mpf(part) / 4) for octave in range(-3, 4) for part in range(4)]
    ends = list(zip(edges[:25], edges[1:26])) + [(edges[25], mp.mpf(10))]
    middles = [mp.mpf(0)] + [(low + high) / 2 for low, high in ends[1:]]
    print_table("middles of tanh", 10, [middles])
    print_table("tanh", 10, pieces(mp.tanh, lambda x: mp.tanh(x) / x if x else mp.mpf(1), middles, ends, 5))
    half = mp.mpf("0.1875")
    middles = [2 * half * i for i in range(16)]
    ends = [(m - half, m + half) for m in middles[:15]] + [(middles[15] - half, mp.mpf(6))]
    slope = 2 / mp.sqrt(mp.pi)
    print_table("erf", 19, pieces(mp.erf, lambda x: mp.erf(x) / x if x else slope, middles, ends, 12))
    middles = [mp.mpf(17) / 64 * i for i in range(16)]
    ends = [(m - mp.mpf(17) / 128, m + mp.mpf(17) / 128) for m in middles]
    rows = pieces(mp.erf, lambda x: mp.erf(x) / x if x else slope, middles, ends, 6)
    rows[1][0] -= 1
    print_table("erf of floats, the first piece less x", 10, rows)


if __name__ == "__main__":
    half_ln2 = mp.log(2) / 2 * mp.mpf("1.01")
    s_max = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1)
    zero = mp.mpf(0)
    for kind, digits, e, l, t, s in (("float", 10, 5, 3, 5, 3), ("double", 19, 10, 7, 12, 6)):
        print_rows(f"{kind} exp", digits, fit(expm1_rest, -half_ln2, half_ln2, e))
        print_rows(f"{kind} log", digits, fit(log_rest, zero, s_max**2, l))
        print_rows(f"{kind} tanh", digits, fit(tanh_rest, zero, mp.mpf("0.625") ** 2, t))
        print_rows(f"{kind} sin", digits, fit(sin_rest, zero, (mp.pi / 4 * mp.mpf("1.01")) ** 2, s))
        print_rows(f"{kind} cos", digits, fit(cos_rest, zero, (mp.pi / 4 * mp.mpf("1.01")) ** 2, s))
    print_rows("float (2^x - 1) / x", 10, fit(lambda x: mp.expm1(x * mp.log(2)) / x, mp.mpf("-0.505"), mp.mpf("0.505"), 5))
    print_rows("float erf", 10, fit(erf_rest, zero, mp.mpf("0.95") ** 2, 6))
    print_rows("float erfc", 10, fit(erfc_log, mp.mpf("0.95"), mp.mpf(4), 9))
    ln2 = mp.log(2)
    for bits in (15, 32):  # so many bits that a product with the exponent is exact
        high = mp.floor(ln2 * 2**bits) / mp.mpf(2) ** bits
        print(f"ln2 = {mp.nstr(high, 20)} + {mp.nstr(ln2 - high, 20)}")
    print_rows("float normal", 10, fit(normal_rest, mp.mpf(-1), mp.mpf(1), 15))
    print_rows("double erf", 19, fit(erf_rest, zero, mp.mpf(1), 12))
    print_rows("double erfc of (a - 0.95) / 5.05", 19,
               fit(lambda t: erfc_log(mp.mpf("0.95") + mp.mpf("5.05") * t), zero, mp.mpf(1), 24))
    print_wide()
    for base in (mp.e, mp.mpf(2), mp.mpf(10)):
        print_log_table(base, 5, 16, 24)
    print_log_table(mp.mpf(2), 4, 42, 53)
    print_log_table(mp.mpf(10), 4, 41, 53)
    print_rounded_log()
    print_gamma_chance()
    print_root_table()
    print_power()
    print_elementary()
    print_angles()
    print_inverse_erf()
    print_gamma()
