# SPDX-License-Identifier: Apache-2.0
"""Coefficients of src/op/vector_math.h: polynomials through the Chebyshev nodes of an interval,
computed with 60 digits, which are within a factor of two of the best ones of their degree. Needs mpmath."""

import mpmath as mp

mp.mp.dps = 60


def fit(function, low, high, degree):
    """Coefficients, lowest power first, and the largest absolute error."""
    nodes = [mp.cos(mp.pi * (2 * k + 1) / (2 * degree + 2)) for k in range(degree + 1)]
    points = [(high - low) / 2 * t + (high + low) / 2 for t in nodes]
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
    print_rows("float erf", 10, fit(erf_rest, zero, mp.mpf("0.95") ** 2, 6))
    print_rows("float erfc", 10, fit(erfc_log, mp.mpf("0.95"), mp.mpf(4), 9))
    ln2 = mp.log(2)
    for bits in (15, 32):  # so many bits that a product with the exponent is exact
        high = mp.floor(ln2 * 2**bits) / mp.mpf(2) ** bits
        print(f"ln2 = {mp.nstr(high, 20)} + {mp.nstr(ln2 - high, 20)}")
    print_rows("float normal", 10, fit(normal_rest, mp.mpf(-1), mp.mpf(1), 15))
