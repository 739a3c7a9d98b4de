// SPDX-License-Identifier: Apache-2.0
// Views and gradients: a view shares memory and, while recording, is an operator on the tape.
#include "exec/views.h"

#include <gtest/gtest.h>

#include "exec/arrays.h"

namespace mxnet {
namespace {

TEST(Views, ShareMemory) {
  NDArray x = array_of({1, 2, 3, 4, 5, 6}, {3, 2});
  NDArray rows = recorded_slice(x, 1, 3), row = recorded_at(x, 1);
  NDArray flat = recorded_reshape(x, {6});
  for (const NDArray* view : {&rows, &row, &flat}) EXPECT_EQ(view->chunk(), x.chunk());
  EXPECT_EQ(rows.shape(), (Shape{2, 2}));
  EXPECT_EQ(values_of(row), (Values{3, 4}));
  EXPECT_EQ(values_of(flat), (Values{1, 2, 3, 4, 5, 6}));
}

TEST(Views, OutsideOfRecordingHaveNoHistory) {
  NDArray x = array_of({1, 2});
  attach_grad(x);
  EXPECT_EQ(tape_entry(recorded_slice(x, 0, 1)), nullptr);
  const Recording recording;
  NDArray plain = array_of({1, 2});
  EXPECT_EQ(tape_entry(recorded_slice(plain, 0, 1)), nullptr);
}

TEST(Views, PassGradientsToTheirRows) {
  NDArray x = array_of({1, 2, 3, 4, 5, 6}, {3, 2});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    NDArray rows = recorded_slice(x, 1, 3);
    y = call("square", {&rows});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{0, 0, 6, 8, 10, 12}));
}

TEST(Views, RowsAndShapesChain) {
  NDArray x = array_of({1, 2, 3, 4}, {2, 2});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    NDArray flat = recorded_reshape(x, {4, 1});
    NDArray element = recorded_at(flat, 2);
    y = call("square", {&element});
  }
  EXPECT_EQ(y.shape(), Shape{1});
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{0, 0, 6, 0}));
}

TEST(Views, SumWhereSeveralSeeTheSameElement) {
  NDArray x = array_of({1, 2, 3});
  NDArray grad = attach_grad(x);
  NDArray y;
  {
    const Recording recording;
    NDArray a = recorded_slice(x, 0, 2), b = recorded_slice(x, 1, 3);
    y = call("elemwise_add", {&a, &b});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{1, 2, 1}));
}

TEST(Views, OfAGraphMayNotBeWrittenWhileRecording) {
  NDArray x = array_of({1, 2}), other = array_of({1});
  attach_grad(x);
  const Recording recording;
  NDArray view = recorded_slice(x, 0, 1);
  EXPECT_THROW(call_into(view, "square", {&other}), std::exception);
}

}  // namespace
}  // namespace mxnet
