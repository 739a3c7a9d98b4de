// SPDX-License-Identifier: Apache-2.0
// The compiled loops of the questions about single numbers, for each instruction set.
#pragma once
#include <cstdint>

#include "op/elemwise/question_rows.h"

namespace mxnet {

// Positions in the tables: the order of the rows.
enum class QuestionRow : int {
#define MX_QUESTION_ID(name, ...) name,
  MX_QUESTION_ROWS(MX_QUESTION_ID)
#undef MX_QUESTION_ID
};

// C: float or double.
template <class C>
using QuestionLoop = void (*)(const C* x, bool* y, int64_t n);
template <class C>
QuestionLoop<C> question_loop(QuestionRow row);

}  // namespace mxnet
