// SPDX-License-Identifier: Apache-2.0
// Executors that make their arrays, and the same for other shapes.
#include <gtest/gtest.h>

#include <vector>

#include "executors.h"

namespace mxnet::c_test {
namespace {

constexpr int kCpu = 1;

// What comes out of a bind besides the executor.
struct Arrays {
  uint32_t num_args = 0, num_aux = 0;
  NDArrayHandle *args = nullptr, *grads = nullptr, *aux = nullptr;
  // Takes the handles, which are the caller's.
  std::vector<Array> own_args() const { return {args, args + num_args}; }
  std::vector<Array> own_grads() const { return {grads, grads + num_args}; }
};

struct Requests {
  uint32_t count = 0;
  const char** names = nullptr;
  const char** types = nullptr;
};

struct Buffer {
  int length = -1;
  const char** names = nullptr;
  NDArrayHandle* handles = nullptr;
  const char** updated_names = nullptr;
  NDArrayHandle* updated_handles = nullptr;
};

template <class Dim, class SimpleBind>
int simple_bind(SimpleBind call, const Sym& net, std::vector<Dim> shape_of_x, Requests requests,
                Arrays* arrays, Bound* executor, Buffer* buffer = nullptr, int dtype = -1) {
  const char* named[] = {"x"};
  const uint32_t ends[] = {0, static_cast<uint32_t>(shape_of_x.size())};
  Buffer none;
  Buffer& lent = buffer == nullptr ? none : *buffer;
  return call(net.get(), kCpu, 0, 0, nullptr, nullptr, nullptr, requests.count, requests.names,
              requests.types, 1, named, shape_of_x.data(), ends, dtype < 0 ? 0u : 1u, named, &dtype,
              0, nullptr, nullptr, 0, nullptr, &lent.length, lent.names, lent.handles,
              &lent.updated_names, &lent.updated_handles, &arrays->num_args, &arrays->args,
              &arrays->grads, &arrays->num_aux, &arrays->aux, nullptr, executor->out());
}

template <class Dim, class SimpleBind>
void expect_trains(SimpleBind call) {
  const Sym net = product();
  const char* write[] = {"write"};
  Arrays arrays;
  Bound executor;
  MX_OK(simple_bind<Dim>(call, net, {2}, {0, nullptr, write}, &arrays, &executor));
  ASSERT_EQ(arrays.num_args, 2u);
  EXPECT_EQ(arrays.num_aux, 0u);
  const std::vector<Array> args = arrays.own_args(), grads = arrays.own_grads();
  const Values x{2, 3}, w{5, 7};
  MX_OK(MXNDArraySyncCopyFromCPU(args[0].get(), x.data(), 2));
  MX_OK(MXNDArraySyncCopyFromCPU(args[1].get(), w.data(), 2));
  EXPECT_EQ(executor.forward(true), (Values{10, 21}));
  MX_OK(MXExecutorBackward(executor.get(), 0, nullptr));
  EXPECT_EQ(grads[0].values(), w);
  EXPECT_EQ(grads[1].values(), x);
}

TEST(SimpleBindApi, MakesArraysAndTrainsInEveryWidth) {
  expect_trains<uint32_t>(MXExecutorSimpleBind);
  expect_trains<int>(MXExecutorSimpleBindEx);
  expect_trains<int64_t>(MXExecutorSimpleBindEx64);
}

TEST(SimpleBindApi, RequestsByNameAndInOrder) {
  const Sym net = product();
  const char *x_alone[] = {"x"}, *write[] = {"write"}, *in_order[] = {"null", "add"};
  Arrays arrays;
  Bound by_name, by_order, none;
  MX_OK(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {1, x_alone, write}, &arrays, &by_name));
  arrays.own_args();
  EXPECT_NE(arrays.grads[0], nullptr);
  EXPECT_EQ(arrays.grads[1], nullptr);
  arrays.own_grads();
  MX_OK(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {2, nullptr, in_order}, &arrays,
                         &by_order));
  arrays.own_args();
  EXPECT_EQ(arrays.grads[0], nullptr);
  EXPECT_NE(arrays.grads[1], nullptr);
  arrays.own_grads();
  EXPECT_EQ(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {1, nullptr, write}, &arrays, &none),
            -1);
  EXPECT_TRUE(error_has("given 1 gradient requests, expected 2")) << MXGetLastError();
  const char* wrong[] = {"sometimes"};
  EXPECT_EQ(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {0, nullptr, wrong}, &arrays, &none),
            -1);
  EXPECT_TRUE(error_has("sometimes")) << MXGetLastError();
}

TEST(SimpleBindApi, TypesAreThoseThatAreGiven) {
  const Sym net = product();
  Arrays arrays;
  Bound executor;
  const int float64 = 1;
  MX_OK(
      simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {}, &arrays, &executor, nullptr, float64));
  const std::vector<Array> args = arrays.own_args(), grads = arrays.own_grads();
  int dtype = -1;
  MX_OK(MXNDArrayGetDType(args[1].get(), &dtype));
  EXPECT_EQ(dtype, float64);
}

// The second executor finds x in the buffer that the first has filled.
TEST(SimpleBindApi, ArraysAreSharedThroughABuffer) {
  const Sym net = product();
  const char* null_request[] = {"null"};
  Buffer empty{.length = 0};
  Arrays first, second;
  Bound one, other;
  MX_OK(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {0, nullptr, null_request}, &first, &one,
                         &empty));
  const std::vector<Array> args = first.own_args();
  const Names filled(empty.updated_names, empty.updated_names + empty.length);
  const std::vector<Array> owned(empty.updated_handles, empty.updated_handles + empty.length);
  EXPECT_EQ(filled, (Names{"w", "x"}));

  std::vector<const char*> lent_names;
  std::vector<NDArrayHandle> lent;
  for (std::size_t i = 0; i < filled.size(); ++i) {
    lent_names.push_back(filled[i].c_str());
    lent.push_back(owned[i].get());
  }
  Buffer buffer{.length = 2, .names = lent_names.data(), .handles = lent.data()};
  MX_OK(simple_bind<int>(MXExecutorSimpleBindEx, net, {2}, {0, nullptr, null_request}, &second,
                         &other, &buffer));
  const std::vector<Array> same = second.own_args();
  const std::vector<Array> updated(buffer.updated_handles, buffer.updated_handles + buffer.length);
  const Values x{2, 3}, w{5, 7};
  MX_OK(MXNDArraySyncCopyFromCPU(args[0].get(), x.data(), 2));
  MX_OK(MXNDArraySyncCopyFromCPU(args[1].get(), w.data(), 2));
  EXPECT_EQ(other.forward(), (Values{10, 21}));
}

TEST(SimpleBindApi, CountsWithoutArraysAreErrors) {
  const Sym net = product();
  const char* names[] = {"x"};
  const int dims[] = {2};
  const uint32_t ends[] = {0, 1};
  Arrays arrays;
  Bound executor;
  const auto bind = [&](uint32_t dtypes, uint32_t stypes, uint32_t shared, int buffer) {
    return MXExecutorSimpleBindEx(net.get(), kCpu, 0, 0, nullptr, nullptr, nullptr, 0, nullptr,
                                  nullptr, 1, names, dims, ends, dtypes, nullptr, nullptr, stypes,
                                  nullptr, nullptr, shared, nullptr, &buffer, nullptr, nullptr,
                                  nullptr, nullptr, &arrays.num_args, &arrays.args, &arrays.grads,
                                  &arrays.num_aux, &arrays.aux, nullptr, executor.out());
  };
  EXPECT_EQ(bind(1, 0, 0, -1), -1);
  EXPECT_TRUE(error_has("types")) << MXGetLastError();
  EXPECT_EQ(bind(0, 1, 0, -1), -1);
  EXPECT_TRUE(error_has("storage types")) << MXGetLastError();
  EXPECT_EQ(bind(0, 0, 1, -1), -1);
  EXPECT_TRUE(error_has("shared_arg_name_list")) << MXGetLastError();
  EXPECT_EQ(bind(0, 0, 0, 1), -1);
  EXPECT_TRUE(error_has("shared_buffer")) << MXGetLastError();
  EXPECT_EQ(bind(0, 0, 0, 0), -1);
  EXPECT_TRUE(error_has("updated_shared_buffer")) << MXGetLastError();
}

template <class Dim, class Reshape>
int reshape(Reshape call, const Bound& from, std::vector<Dim> shape_of_x, bool partial, bool larger,
            Arrays* arrays, Bound* out) {
  const char* named[] = {"x"};
  const uint32_t ends[] = {0, static_cast<uint32_t>(shape_of_x.size())};
  return call(partial ? 1 : 0, larger ? 1 : 0, kCpu, 0, 0, nullptr, nullptr, nullptr, 1, named,
              shape_of_x.data(), ends, &arrays->num_args, &arrays->args, &arrays->grads,
              &arrays->num_aux, &arrays->aux, from.get(), out->out());
}

template <class Dim, class Reshape>
void expect_reshapes(Reshape call) {
  const Sym fc = dense();
  const char* null_request[] = {"null"};
  Arrays arrays, smaller_arrays;
  Bound executor, smaller, none;
  MX_OK(simple_bind<int>(MXExecutorSimpleBindEx, fc, {2, 1}, {0, nullptr, null_request}, &arrays,
                         &executor));
  const std::vector<Array> args = arrays.own_args();
  const Values x{1, 10}, w{1, 2, 3}, b{0, 0, 1};
  MX_OK(MXNDArraySyncCopyFromCPU(args[0].get(), x.data(), x.size()));
  MX_OK(MXNDArraySyncCopyFromCPU(args[1].get(), w.data(), w.size()));
  MX_OK(MXNDArraySyncCopyFromCPU(args[2].get(), b.data(), b.size()));
  EXPECT_EQ(executor.forward(), (Values{1, 2, 4, 10, 20, 31}));
  MX_OK(reshape<Dim>(call, executor, {1, 1}, false, false, &smaller_arrays, &smaller));
  const std::vector<Array> kept = smaller_arrays.own_args();
  EXPECT_EQ(smaller.forward(), (Values{1, 2, 4}));  // on the same memory
  EXPECT_EQ(reshape<Dim>(call, executor, {5, 1}, false, false, &smaller_arrays, &none), -1);
  EXPECT_TRUE(error_has("allow_up_sizing")) << MXGetLastError();
  // Two columns change the weight too, which nobody has named.
  EXPECT_EQ(reshape<Dim>(call, executor, {1, 2}, false, true, &smaller_arrays, &none), -1);
  EXPECT_TRUE(error_has("partial_shaping")) << MXGetLastError();
  Bound wider;
  MX_OK(reshape<Dim>(call, executor, {1, 2}, true, true, &smaller_arrays, &wider));
  const std::vector<Array> wide = smaller_arrays.own_args();
  EXPECT_EQ(wide[1].values().size(), 6u);
}

TEST(ReshapeApi, SharesMemoryAndSaysWhatMayChange) {
  expect_reshapes<uint32_t>(MXExecutorReshape);
  expect_reshapes<int>(MXExecutorReshapeEx);
}

}  // namespace
}  // namespace mxnet::c_test
