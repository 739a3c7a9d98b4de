// SPDX-License-Identifier: Apache-2.0
// Operators on accelerators, here simulated ones with memory of their own: a host pointer in a
// kernel would fault.
#include <gtest/gtest.h>

#include "base/error.h"
#include "exec/arrays.h"

namespace mxnet {
namespace {

const Device kGpu = Device::gpu(0);

TEST(Devices, CpuKernelsStandInOnASimulatedGpu) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu), y = array_of({10, 20, 30}, {}, kGpu);
  NDArray sum = call("elemwise_add", {&x, &y});
  EXPECT_EQ(sum.device(), kGpu);
  EXPECT_EQ(values_of(sum), (Values{11, 22, 33}));
}

TEST(Devices, RequestsAndAliasingHoldThere) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu), out = array_of({10, 10, 10}, {}, kGpu);
  const OpDef& op = Registry::get().at("_test_reverse");
  const NDArray* in[] = {&x};
  NDArray* outputs[] = {&out};
  const Request add[] = {Request::kAdd};
  invoke(op, parse_attrs(op, {})->params(), in, outputs, {.requests = add});
  EXPECT_EQ(values_of(out), (Values{13, 12, 11}));
  call_into(x, "_test_reverse", {&x});
  EXPECT_EQ(values_of(x), (Values{3, 2, 1}));
}

TEST(Devices, ChainsRunInOrder) {
  NDArray x = array_of({0}, {}, kGpu);
  for (int i = 0; i < 100; ++i) call_into(x, "_plus_scalar", {&x}, {{"scalar", "1"}});
  EXPECT_EQ(values_of(x), Values{100});
}

TEST(Devices, FailuresOfKernelsSurfaceAtTheWait) {
  NDArray x = array_of({1}, {}, kGpu);
  NDArray y = call("_test_fail", {&x});
  EXPECT_THROW(y.wait_to_read(), Error);
}

TEST(Devices, ArraysOfTwoDevicesDoNotMix) {
  NDArray cpu = array_of({1}), gpu0 = array_of({1}, {}, kGpu),
          gpu1 = array_of({1}, {}, Device::gpu(1));
  EXPECT_THROW(call("elemwise_add", {&cpu, &gpu0}), Error);
  EXPECT_THROW(call("elemwise_add", {&gpu0, &gpu1}), Error);
  EXPECT_THROW(call_into(cpu, "_plus_scalar", {&gpu0}, {{"scalar", "1"}}), Error);
}

TEST(Devices, GradientsStayOnTheDevice) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu);
  NDArray grad = array_of({0, 0, 0}, {}, kGpu);
  mark_variable(x, Request::kWrite, grad);
  NDArray y;
  {
    const Recording recording;
    y = call("square", {&x});
  }
  backward_from(y);
  EXPECT_EQ(grad.device(), kGpu);
  EXPECT_EQ(values_of(grad), (Values{2, 4, 6}));
}

TEST(Devices, CopiesMayCross) {
  NDArray x = array_of({1, 2, 3}), there = array_of({0, 0, 0}, {}, Device::gpu(1));
  call_into(there, "_copyto", {&x});
  EXPECT_EQ(values_of(there), (Values{1, 2, 3}));
  NDArray half({3}, DType::kFloat16, kGpu);
  call_into(half, "_copyto", {&there});
  EXPECT_EQ(values_of(call("cast", {&half}, {{"dtype", "float32"}})), (Values{1, 2, 3}));
}

TEST(Devices, GradientsFollowCopiesHome) {
  NDArray x = array_of({1, 2, 3}, {}, kGpu);
  NDArray grad = array_of({0, 0, 0}, {}, kGpu);
  mark_variable(x, Request::kWrite, grad);
  NDArray there({3}, DType::kFloat64, Device::cpu()), y;
  {
    const Recording recording;
    NDArray square = call("square", {&x});
    call_into(there, "_copyto", {&square});
    y = call("_mul_scalar", {&there}, {{"scalar", "3"}});
  }
  backward_from(y);
  EXPECT_EQ(values_of(grad), (Values{6, 12, 18}));
}

}  // namespace
}  // namespace mxnet
