// SPDX-License-Identifier: Apache-2.0
// Symbols of any text, through the C ABI.
#include "symbol_runs.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet::c_test {
namespace {

constexpr int64_t kMostElements = 1 << 14;
constexpr int kCpu = 1;

struct Shapes {
  std::size_t count = 0;
  const int* ndim = nullptr;
  const int64_t** dims = nullptr;

  bool are_small() const {
    for (std::size_t i = 0; i < count; ++i) {
      int64_t size = 1;
      for (int d = 0; d < ndim[i]; ++d) {
        if (dims[i][d] > kMostElements) return false;
        size *= dims[i][d] > 0 ? dims[i][d] : 1;
        if (size > kMostElements) return false;
      }
    }
    return true;
  }
};

class Sym {
 public:
  ~Sym() { NNSymbolFree(handle); }
  SymbolHandle handle = nullptr;
};

// Of every value in the graph, as far as shapes can be known.
bool is_small(SymbolHandle symbol) {
  Sym all;
  if (MXSymbolGetInternals(symbol, &all.handle) != 0) return false;
  Shapes in, out, aux;
  int complete = 0;
  const int64_t none = 0;
  return MXSymbolInferShapePartialEx64(all.handle, 0, nullptr, &none, &none, &in.count, &in.ndim,
                                       &in.dims, &out.count, &out.ndim, &out.dims, &aux.count,
                                       &aux.ndim, &aux.dims, &complete) == 0 &&
         in.are_small() && out.are_small() && aux.are_small();
}

void ask(SymbolHandle symbol) {
  const char* text = nullptr;
  const char** texts = nullptr;
  uint32_t count = 0;
  MXSymbolPrint(symbol, &text);
  MXSymbolListAttr(symbol, &count, &texts);
  MXSymbolListOutputs(symbol, &count, &texts);
  MXSymbolListArguments(symbol, &count, &texts);
  Sym children, again, plain;
  MXSymbolGetChildren(symbol, &children.handle);
  MXSymbolRemoveAmpCast(symbol, &plain.handle);
  if (MXSymbolSaveToJSON(symbol, &text) == 0)
    MXSymbolCreateFromJSON(std::string(text).c_str(), &again.handle);
}

const char* name_of_type(int dtype) {
  constexpr std::array kNames{"float32", "float64", "float16", "uint8",
                              "int32",   "int8",    "int64",   "bool"};
  return dtype >= 0 && dtype < static_cast<int>(kNames.size())
             ? kNames[static_cast<std::size_t>(dtype)]
             : "bfloat16";
}

float value_at(unsigned values, std::size_t i) {
  switch (values % 6) {
    case 0:
      return 0.25f * static_cast<float>(1 + i % 5);
    case 1:
      return static_cast<float>(i % 3);
    case 2:
      return 0;
    case 3:
      return -1 - static_cast<float>(i % 4);
    case 4:
      return i % 2 == 0 ? 3e9f : -1e30f;
    default:
      return i % 2 == 0 ? std::nanf("") : HUGE_VALF;
  }
}

void fill(NDArrayHandle array, unsigned values) {
  int ndim = 0, dtype = 0;
  const int* dims = nullptr;
  if (MXNDArrayGetShapeEx(array, &ndim, &dims) != 0 || ndim <= 0) return;
  const std::vector<uint32_t> shape(dims, dims + ndim);
  std::size_t size = 1;
  for (const uint32_t dim : shape) size *= dim;
  std::vector<float> numbers(size);
  for (std::size_t i = 0; i < size; ++i) numbers[i] = value_at(values, i);
  NDArrayHandle source = nullptr;
  OpHandle cast = nullptr;
  if (size == 0 || MXNDArrayGetDType(array, &dtype) != 0 || NNGetOpHandle("Cast", &cast) != 0 ||
      MXNDArrayCreateEx(shape.data(), static_cast<uint32_t>(ndim), kCpu, 0, 0, 0, &source) != 0)
    return;
  MXNDArraySyncCopyFromCPU(source, numbers.data(), size);
  const char *key = "dtype", *type = name_of_type(dtype);
  int count = 1;
  NDArrayHandle* outputs = &array;
  const int* stypes = nullptr;
  MXImperativeInvokeEx(cast, 1, &source, &count, &outputs, 1, &key, &type, &stypes);
  MXNDArrayFree(source);
}

class Bound {
 public:
  Bound(SymbolHandle symbol, bool with_gradients) {
    const char* request = with_gradients ? "write" : "null";
    int no_buffer = -1;
    const char** shared_names = nullptr;
    NDArrayHandle* shared_arrays = nullptr;
    NDArrayHandle *args = nullptr, *grads = nullptr, *aux = nullptr;
    uint32_t num_args = 0, num_aux = 0;
    const uint32_t no_index = 0;
    if (MXExecutorSimpleBindEx(symbol, kCpu, 0, 0, nullptr, nullptr, nullptr, 0, nullptr, &request,
                               0, nullptr, nullptr, &no_index, 0, nullptr, nullptr, 0, nullptr,
                               nullptr, 0, nullptr, &no_buffer, nullptr, nullptr, &shared_names,
                               &shared_arrays, &num_args, &args, &grads, &num_aux, &aux, nullptr,
                               &executor_) != 0)
      return;
    for (uint32_t i = 0; i < num_args; ++i) {
      arrays_.push_back(args[i]);
      if (grads[i] != nullptr) gradients_.push_back(grads[i]);
    }
    arrays_.insert(arrays_.end(), aux, aux + num_aux);
  }
  ~Bound() {
    for (NDArrayHandle array : arrays_) MXNDArrayFree(array);
    for (NDArrayHandle array : gradients_) MXNDArrayFree(array);
    if (executor_ != nullptr) MXExecutorFree(executor_);
  }
  explicit operator bool() const { return executor_ != nullptr; }
  void fill_all(unsigned values) const {
    for (NDArrayHandle array : arrays_) fill(array, values);
  }
  bool forward(bool train) const {
    uint32_t count = 0;
    NDArrayHandle* outputs = nullptr;
    if (MXExecutorForward(executor_, train ? 1 : 0) != 0 ||
        MXExecutorOutputs(executor_, &count, &outputs) != 0)
      return false;
    for (uint32_t i = 0; i < count; ++i) MXNDArrayFree(outputs[i]);
    return MXNDArrayWaitAll() == 0;
  }
  bool backward() const {
    return MXExecutorBackward(executor_, 0, nullptr) == 0 && MXNDArrayWaitAll() == 0;
  }

 private:
  ExecutorHandle executor_ = nullptr;
  std::vector<NDArrayHandle> arrays_, gradients_;
};

}  // namespace

Reached run_symbol(const std::string& json, unsigned values) {
  Sym symbol;
  if (MXSymbolCreateFromJSON(json.c_str(), &symbol.handle) != 0) return Reached::kNothing;
  ask(symbol.handle);
  if (!is_small(symbol.handle)) return Reached::kRead;
  Reached reached = Reached::kRead;
  {
    const Bound predicts(symbol.handle, false);
    if (!predicts) return reached;
    reached = Reached::kBound;
    predicts.fill_all(values);
    if (predicts.forward(false)) reached = Reached::kRun;
  }
  const Bound learns(symbol.handle, true);
  if (!learns) return reached;
  learns.fill_all(values);
  return learns.forward(true) && learns.backward() ? Reached::kDifferentiated : reached;
}

}  // namespace mxnet::c_test
