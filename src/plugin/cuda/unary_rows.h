// SPDX-License-Identifier: Apache-2.0
// Elementwise functions of one argument: each expression stands here once, and g++ (the CPU
// reference) and nvcc (the GPU kernel) both compile it. `x` has type T.
#pragma once

// clang-format off
#define MX_UNARY_ROWS(ROW)                               \
  ROW(sigmoid, float, "1 / (1 + e^-x)", T(1) / (T(1) + exp(-x)))
// clang-format on
