// SPDX-License-Identifier: Apache-2.0
// Compiles the loops of the questions for each instruction set.
#include "op/elemwise/question_loops.h"

#include "base/simd.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/elemwise/question_loops.inc"
#include "base/simd_targets.h"

}  // namespace

template <class C>
QuestionLoop<C> question_loop(QuestionRow row) {
  return MX_SIMD_CALL(question_loop<C>)(static_cast<int>(row));
}
template QuestionLoop<float> question_loop(QuestionRow);
template QuestionLoop<double> question_loop(QuestionRow);

}  // namespace mxnet
