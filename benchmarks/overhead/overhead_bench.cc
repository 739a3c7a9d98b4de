// SPDX-License-Identifier: Apache-2.0
// What a small operator costs beside its arithmetic: 8x8 float32 arrays, from C++ and through the C
// ABI with string attributes, with and without recording. Budgets: 0.4 us from C++ and 0.6 us from
// C, both with `out` given.
#include <benchmark/benchmark.h>

#include "c_api/ndarray_handle.h"
#include "exec/autograd_state.h"
#include "exec/backward.h"
#include "exec/imperative.h"
#include "exec/tape.h"
#include "mxnet/c_api.h"

namespace mxnet {
namespace {

NDArray small_array() {
  NDArray array(Shape{8, 8}, DType::kFloat32, Device::cpu());
  const std::vector<float> values(64, 1.5f);
  array.sync_copy_from(values.data(), 64);
  return array;
}

ParsedAttrsRef parsed(std::string_view op) { return parse_attrs(Registry::get().at(op), {}); }

// From C++: elemwise_add(x, y, out=z).
void add_into(benchmark::State& state) {
  const ParsedAttrsRef add = parsed("elemwise_add");
  NDArray x = small_array(), y = small_array(), z = small_array();
  NDArray* in[] = {&x, &y};
  NDArray* out[] = {&z};
  for (auto _ : state) imperative_invoke(add, in, out);
}
BENCHMARK(add_into);

// The same with a new result each time.
void add_new(benchmark::State& state) {
  const ParsedAttrsRef add = parsed("elemwise_add");
  NDArray x = small_array(), y = small_array();
  NDArray* in[] = {&x, &y};
  for (auto _ : state) {
    NDArray z;
    NDArray* out[] = {&z};
    imperative_invoke(add, in, out);
  }
}
BENCHMARK(add_new);
BENCHMARK(add_new)->Threads(2);  // on arrays of their own: what they share is the library

// One step of training on one number of operators: record and differentiate y = x + x + ... + x.
void record_and_backward(benchmark::State& state) {
  const ParsedAttrsRef add = parsed("elemwise_add");
  const auto length = state.range(0);
  NDArray x = small_array(), grad = small_array(), head = small_array();
  mark_variable(x, Request::kWrite, grad);
  for (auto _ : state) {
    NDArray y = x;
    {
      const AutogradScope recording({.recording = true, .training = true});
      for (int64_t i = 0; i < length; ++i) {
        NDArray sum;
        NDArray* in[] = {&y, &x};
        NDArray* out[] = {&sum};
        imperative_invoke(add, in, out);
        y = sum;
      }
    }
    const NDArray* heads[] = {&y};
    const NDArray* head_grads[] = {&head};
    backward(heads, head_grads);
  }
  state.SetItemsProcessed(state.iterations() * length);
}
BENCHMARK(record_and_backward)->Arg(1000);
BENCHMARK(record_and_backward)->Arg(1000)->Threads(2);  // on graphs of their own

NDArrayHandle small_handle() { return c_api::new_handle(small_array()); }

AtomicSymbolCreator creator(const char* name) {
  OpHandle op;
  if (NNGetOpHandle(name, &op) != 0) std::abort();
  return op;
}

void must(benchmark::State& state, int result) {
  if (result != 0) state.SkipWithError(MXGetLastError());
}

// Through the C ABI: _plus_scalar(x, scalar="2.0", out=z).
void c_plus_scalar_into(benchmark::State& state) {
  const AtomicSymbolCreator op = creator("_plus_scalar");
  NDArrayHandle x = small_handle(), z = small_handle();
  const char* keys[] = {"scalar"};
  const char* values[] = {"2.0"};
  for (auto _ : state) {
    int count = 1;
    NDArrayHandle* outputs = &z;
    const int* types;
    must(state, MXImperativeInvokeEx(op, 1, &x, &count, &outputs, 1, keys, values, &types));
  }
}
BENCHMARK(c_plus_scalar_into);

// The same with a new result each time.
void c_plus_scalar_new(benchmark::State& state) {
  const AtomicSymbolCreator op = creator("_plus_scalar");
  NDArrayHandle x = small_handle();
  const char* keys[] = {"scalar"};
  const char* values[] = {"2.0"};
  for (auto _ : state) {
    int count = 0;
    NDArrayHandle* outputs = nullptr;
    const int* types;
    must(state, MXImperativeInvokeEx(op, 1, &x, &count, &outputs, 1, keys, values, &types));
    MXNDArrayFree(outputs[0]);
  }
}
BENCHMARK(c_plus_scalar_new);

// elemwise_add(x, y, out=z) through the C ABI.
void c_add_into(benchmark::State& state) {
  const AtomicSymbolCreator op = creator("elemwise_add");
  NDArrayHandle in[] = {small_handle(), small_handle()}, z = small_handle();
  for (auto _ : state) {
    int count = 1;
    NDArrayHandle* outputs = &z;
    const int* types;
    must(state, MXImperativeInvokeEx(op, 2, in, &count, &outputs, 0, nullptr, nullptr, &types));
  }
}
BENCHMARK(c_add_into);

}  // namespace
}  // namespace mxnet

BENCHMARK_MAIN();
