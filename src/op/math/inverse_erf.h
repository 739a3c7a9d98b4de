// SPDX-License-Identifier: Apache-2.0
// The inverse of the error function, as the functions of op/math/vector_math.h are: without
// branches. Coefficients: tools/fit_math.py.
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
}  // namespace in_double
MX_MATH double erfinv(double x) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double a = std::fabs(x);
  const double special = a == 1 ? std::copysign(kInf, x) : std::numeric_limits<double>::quiet_NaN();
  return a < 1 ? in_double::inverse_erf(x, -log((1 - a) * (1 + a))) : special;
}
// Up to this size numbers need the first polynomial alone: w is 6.21 there.
inline constexpr float kInverseErfNear = 0.999f;
// In float, x + x * r for r = erfinv(x) / x - 1, of which what rounding takes is little: by powers
// of w up to 6.25, of its root from there. The logarithm's last digits count a seventh of their
// size. kAllNear: none is beyond kInverseErfNear.
template <bool kAllNear = false>
MX_MATH float erfinv(float x) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kNear[] = {-0.1137730745f,   0.232013662f,      0.01154951663f,
                             -0.002336209754f, -0.0001253241574f, 4.323740975e-5f,
                             4.400596572e-6f,  -2.00699174e-6f,   1.98984501e-7f,
                             -1.175482295e-9f, -1.003099985e-9f,  4.949725261e-11f};
  // Of all floats none but 1 is closer to 1 than 2^-24.
  constexpr float kFar[] = {2.08388561f,      1.005258687f,      0.005371063156f,
                            -0.003744573485f, 0.002487903724f,   -0.001730270226f,
                            0.0009762069684f, -0.0002583032966f, -3.172821561e-5f};
  const float a = std::fabs(x), w = -log((1 - a) * (1 + a));
  if constexpr (kAllNear) return std::copysign(x + x * polynomial(kNear, w), x);
  const float far = polynomial(kFar, std::sqrt(w) - 3.25f);
  const float y = x + x * (w < 6.25f ? polynomial(kNear, w) : far);
  const float special = a == 1 ? std::copysign(kInf, x) : std::numeric_limits<float>::quiet_NaN();
  return a < 1 ? std::copysign(y, x) : special;  // keeps -0
}

#undef MX_MATH

}  // namespace mxnet::row_math
