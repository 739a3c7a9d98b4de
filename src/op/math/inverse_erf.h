// SPDX-License-Identifier: Apache-2.0
// The inverse of the error function, as the functions of op/math/vector_math.h are: without
// branches. Of float it is evaluated in double. Coefficients: tools/fit_math.py.
#pragma once
#include <cmath>
#include <limits>

#include "op/math/vector_math.h"

namespace mxnet::row_math {

#define MX_MATH [[gnu::always_inline]] inline  // as in op/math/vector_math.h

namespace in_double {
// erfinv(x) / x for w = -log(1 - x^2): about 3.125 below 6.25, about the middle of a range of roots
// from there.
MX_MATH double inverse_erf(double x, double w) {
  constexpr double kNear[] = {
      1.6536545626831027,      0.24015818242558971,    -0.0060336708714270113,
      -0.00074070253416694011, 0.00018673420802124272, -1.3882523361276876e-5,
      -1.3654691796592068e-6,  4.2347877672780653e-7,  -2.9070386660191429e-8,
      -4.1126331042976139e-9,  1.0512202440121784e-9,  -5.4154417754696635e-11,
      -1.2977505202014967e-11, 2.6335724924608484e-12, -8.1065944564384951e-14,
      -4.0554139746886005e-14, 6.5819553059292389e-15, 2.166994626283574e-17,
      -1.290702354613073e-16,  1.1125794759379465e-17, 1.1027771591500033e-18,
      -1.6787330615256772e-19, -2.3623696985661074e-22};
  constexpr double kMiddle[] = {
      3.0838856104922207,     1.0052589676941592,     0.0053709145535581983,
      -0.0037512085075638538, 0.0024914420976198812,  -0.0016882755561681803,
      0.00095328935211181778, -0.0003550375186306976, 2.4031363245440548e-5,
      6.8284840522929234e-5,  -4.731952918337189e-5,  1.2475343474376931e-5,
      2.9273722115986926e-6,  -4.0139463981902919e-6, 1.4958263152984917e-6,
      1.8323999881328578e-8,  -2.6860975725571461e-7, 9.0719505710299225e-8,
      -3.8310399460724114e-10};
  constexpr double kFar[] = {
      4.9004210514436404,      1.0102850175977564,     -0.00016985809148478998,
      -0.00020031200599107476, 7.1240315046186467e-5,  -1.8374544958981781e-5,
      4.193858544647827e-6,    -9.0703542160834617e-7, 2.0159168167983673e-7,
      -5.5085769823591833e-8,  2.1904751298638967e-8,  -1.0942531106983762e-8,
      5.6634737260983446e-9,   -2.8908674010944192e-9, 1.1876195494584009e-9,
      -2.5176228666522997e-10, 5.1805705472647007e-12};
  const double root = std::sqrt(w);
  const double far = root < 4 ? polynomial(kMiddle, root - 3.25) : polynomial(kFar, root - 5.05);
  return x * (w < 6.25 ? polynomial(kNear, w - 3.125) : far);
}
// To a hundredth of an ulp of float, of whose numbers none but one is closer to 1 than 2^-24.
MX_MATH double inverse_erf_of_float(double x, double w) {
  constexpr double kNear[] = {
      1.6536545626831027,      0.24015817844735165,    -0.006033671032285515,
      -0.00074069103254301951, 0.00018673466051691628, -1.3892141245923011e-5,
      -1.3658217507589213e-6,  4.2698513895053386e-7,  -2.895896037948332e-8,
      -4.7527456191519948e-9,  1.0363882341451174e-9,  5.6882164791170869e-12,
      -1.2570814414523687e-11};
  constexpr double kFar[] = {
      3.0838856104922207,     1.005258971568844,       0.0053709174764286261,
      -0.0037513486016121081, 0.0024913388265205358,   -0.0016868211634542168,
      0.00095430058937306552, -0.00036143798929837442, 2.0064172226928821e-5,
      8.1572613292566334e-5,  -4.0842555676459073e-5};
  const double far = polynomial(kFar, std::sqrt(w) - 3.25);
  return x * (w < 6.25 ? polynomial(kNear, w - 3.125) : far);
}
}  // namespace in_double
MX_MATH double erfinv(double x) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double a = std::fabs(x);
  const double special = a == 1 ? std::copysign(kInf, x) : std::numeric_limits<double>::quiet_NaN();
  return a < 1 ? in_double::inverse_erf(x, -log((1 - a) * (1 + a))) : special;
}
MX_MATH float erfinv(float number) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const double x = double{number}, a = std::fabs(x);
  const double y = in_double::inverse_erf_of_float(x, -log((1 - a) * (1 + a)));
  const float special =
      a == 1 ? std::copysign(kInf, number) : std::numeric_limits<float>::quiet_NaN();
  return a < 1 ? static_cast<float>(y) : special;
}

#undef MX_MATH

}  // namespace mxnet::row_math
