// SPDX-License-Identifier: Apache-2.0
// Inference for C++ programs: models, arrays and errors as C++ has them. Header-only over the C ABI,
// C++17 and the standard library; nothing of C++ crosses the library's border, so that any compiler
// and any standard library will do.
//
//   const mxnet::Model model = mxnet::Model::load("resnet", 0);   // resnet-symbol.json, -0000.params
//   std::vector<mxnet::Array> out = model({{"data", mxnet::Array::borrow(pixels, {1, 3, 224, 224})}});
//   std::vector<float> scores = out[0].to_vector<float>();
//
// Failures are thrown as mxnet::Error, in and by the program's own code.
#ifndef MXNET_MXNET_HPP_
#define MXNET_MXNET_HPP_

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"

namespace mxnet {
// Not the name that the library itself uses inside: their symbols must never meet.
inline namespace inference {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<int64_t>;

// Numbers of the C ABI.
enum class DType : int {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUint8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7
};

struct Context {
  int type = 1;  // 1 cpu, 2 gpu
  int id = 0;
  static Context cpu() { return {1, 0}; }
  static Context gpu(int id = 0) { return {2, id}; }
};

namespace detail {

inline void check(int code) {
  if (code != 0) throw Error(MXGetLastError());
}

template <class T>
constexpr DType dtype_of();
template <>
constexpr DType dtype_of<float>() { return DType::kFloat32; }
template <>
constexpr DType dtype_of<double>() { return DType::kFloat64; }
template <>
constexpr DType dtype_of<uint8_t>() { return DType::kUint8; }
template <>
constexpr DType dtype_of<int32_t>() { return DType::kInt32; }
template <>
constexpr DType dtype_of<int8_t>() { return DType::kInt8; }
template <>
constexpr DType dtype_of<int64_t>() { return DType::kInt64; }
template <>
constexpr DType dtype_of<bool>() { return DType::kBool; }

// Kinds of elements as DLPack numbers them.
template <class T>
constexpr uint8_t type_code() {
  constexpr uint8_t kInt = 0, kUint = 1, kFloat = 2, kBool = 6;
  if (std::is_same_v<T, bool>) return kBool;
  if (std::is_floating_point_v<T>) return kFloat;
  return std::is_signed_v<T> ? kInt : kUint;
}

// What describes foreign memory to the library: the form of DLPack without version.
struct DLTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* owner;
  void (*deleter)(DLManagedTensor*);
};
struct Borrowed {
  DLManagedTensor managed;
  Shape shape;
};

}  // namespace detail

// An array of the library; copies share it. The memory is the library's own, or the program's
// (borrow). As with std::shared_ptr, separate copies may be used by separate threads.
class Array {
 public:
  Array() = default;
  // Zero dimensions are not possible here, since models from before NumPy shapes know no scalars.
  static Array empty(const Shape& shape, DType dtype = DType::kFloat32,
                     Context context = Context::cpu()) {
    NDArrayHandle handle = nullptr;
    detail::check(MXNDArrayCreateEx64(shape.data(), static_cast<int>(shape.size()), context.type,
                                      context.id, 0, static_cast<int>(dtype), &handle));
    return Array(handle);
  }
  template <class T>
  static Array copy_of(const T* data, const Shape& shape, Context context = Context::cpu()) {
    Array array = empty(shape, detail::dtype_of<T>(), context);
    array.copy_from(data);
    return array;
  }
  // The program's memory without a copy: it must outlive all work on the array.
  template <class T>
  static Array borrow(T* data, const Shape& shape) {
    using Value = std::remove_const_t<T>;
    auto borrowed = std::make_unique<detail::Borrowed>();
    borrowed->shape = shape;
    detail::DLTensor& tensor = borrowed->managed.tensor;
    tensor.data = const_cast<Value*>(data);
    tensor.device_type = 1;
    tensor.device_id = 0;
    tensor.ndim = static_cast<int32_t>(shape.size());
    tensor.code = detail::type_code<Value>();
    tensor.bits = 8 * sizeof(Value);
    tensor.lanes = 1;
    tensor.shape = borrowed->shape.data();
    tensor.strides = nullptr;
    tensor.byte_offset = 0;
    borrowed->managed.owner = borrowed.get();
    borrowed->managed.deleter = [](detail::DLManagedTensor* managed) {
      delete static_cast<detail::Borrowed*>(managed->owner);
    };
    NDArrayHandle handle = nullptr;
    detail::check(MXNDArrayFromDLPackEx(&borrowed->managed, false, &handle));
    borrowed.release();  // the library calls the deleter now
    return Array(handle);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  NDArrayHandle handle() const { return handle_.get(); }
  Shape shape() const {
    int ndim = 0;
    const int64_t* dims = nullptr;
    detail::check(MXNDArrayGetShapeEx64(handle(), &ndim, &dims));
    return Shape(dims, dims + ndim);
  }
  DType dtype() const {
    int dtype = 0;
    detail::check(MXNDArrayGetDType(handle(), &dtype));
    return static_cast<DType>(dtype);
  }
  int64_t size() const {
    int ndim = 0;
    const int64_t* dims = nullptr;
    detail::check(MXNDArrayGetShapeEx64(handle(), &ndim, &dims));
    int64_t size = 1;
    for (int i = 0; i < ndim; ++i) size *= dims[i];
    return size;
  }

  // These wait for the work that makes the values.
  void wait() const { detail::check(MXNDArrayWaitToRead(handle())); }
  template <class T>
  void copy_to(T* data) const {
    require<T>();
    detail::check(MXNDArraySyncCopyToCPU(handle(), data, static_cast<size_t>(size())));
  }
  template <class T>
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<size_t>(size()));
    copy_to(values.data());
    return values;
  }
  template <class T>
  void copy_from(const T* data) {
    require<T>();
    detail::check(MXNDArraySyncCopyFromCPU(handle(), data, static_cast<size_t>(size())));
  }
  // The values where they lie; on the CPU only.
  template <class T>
  const T* data() const {
    require<T>();
    wait();
    void* address = nullptr;
    detail::check(MXNDArrayGetData(handle(), &address));
    return static_cast<const T*>(address);
  }

  // Takes the handle over.
  explicit Array(NDArrayHandle handle)
      : handle_(handle, [](NDArrayHandle owned) { MXNDArrayFree(owned); }) {}

 private:
  template <class T>
  void require() const {
    if (dtype() != detail::dtype_of<T>()) throw Error("given an array of another element type");
  }

  std::shared_ptr<void> handle_;
};

using Inputs = std::vector<std::pair<std::string, Array>>;

// A network with its weights. Immutable: any number of threads may run one, each call has
// activations of its own, and batches may change from call to call. Copies share everything.
class Model {
 public:
  // PREFIX-symbol.json and PREFIX-EPOCH.params, as Gluon's export and Module's checkpoints write.
  static Model load(const std::string& prefix, int epoch = 0, Context context = Context::cpu()) {
    char number[16];
    std::snprintf(number, sizeof(number), "-%04d", epoch);
    return from_files(prefix + "-symbol.json", prefix + number + ".params", context);
  }
  static Model from_files(const std::string& symbol, const std::string& params,
                          Context context = Context::cpu()) {
    return from_memory(read(symbol), read(params), context);
  }
  static Model from_memory(const std::string& symbol, const std::string& params,
                           Context context = Context::cpu()) {
    Model model;
    model.impl_ = std::make_shared<const Impl>(symbol, params, context);
    return model;
  }

  // What a call takes and gives, by name. Labels of loss layers may be left out.
  const std::vector<std::string>& inputs() const { return impl_->inputs; }
  const std::vector<std::string>& outputs() const { return impl_->outputs; }
  size_t output(const std::string& name) const {
    const auto at = std::find(outputs().begin(), outputs().end(), name);
    if (at == outputs().end()) throw Error("the model has no output '" + name + "'");
    return static_cast<size_t>(at - outputs().begin());
  }

  // The results, which may still be under way.
  std::vector<Array> operator()(const Inputs& inputs) const { return impl_->run(inputs, nullptr); }
  // The same into given arrays (memory of the program, say), one per output; returns when they are
  // written.
  void run(const Inputs& inputs, const std::vector<Array>& outputs) const {
    for (const Array& array : impl_->run(inputs, &outputs)) array.wait();
  }

 private:
  struct Impl {
    Impl(const std::string& symbol_text, const std::string& params, Context context)
        : context(context) {
      SymbolHandle handle = nullptr;
      detail::check(MXSymbolCreateFromJSON(symbol_text.c_str(), &handle));
      symbol.reset(handle, [](SymbolHandle owned) { MXSymbolFree(owned); });
      read_params(params);
      variables = names([&](uint32_t* count, const char*** list) {
        return NNSymbolListInputNames(handle, 0, count, list);
      });
      outputs = names([&](uint32_t* count, const char*** list) {
        return MXSymbolListOutputs(handle, count, list);
      });
      for (const std::string& name : variables)
        if (weights.count(name) == 0) inputs.push_back(name);
      const char* keys[] = {"static_alloc", "inline_limit"};
      const char* values[] = {"True", "0"};
      CachedOpHandle made = nullptr;
      detail::check(MXCreateCachedOpEx(handle, 2, keys, values, &made));
      op.reset(made, [](CachedOpHandle owned) { MXFreeCachedOp(owned); });
    }

    template <class List>
    static std::vector<std::string> names(List list) {
      uint32_t count = 0;
      const char** texts = nullptr;
      detail::check(list(&count, &texts));
      return std::vector<std::string>(texts, texts + count);
    }

    void read_params(const std::string& content) {
      uint32_t count = 0, num_names = 0;
      NDArrayHandle* arrays = nullptr;
      const char** texts = nullptr;
      detail::check(MXNDArrayLoadFromBuffer(content.data(), content.size(), &count, &arrays,
                                            &num_names, &texts));
      std::vector<Array> owned;
      for (uint32_t i = 0; i < count; ++i) owned.emplace_back(arrays[i]);
      if (num_names != count) throw Error("given a list of arrays, expected parameters by name");
      const std::vector<std::string> keys(texts, texts + num_names);
      for (uint32_t i = 0; i < count; ++i) {
        const size_t colon = keys[i].compare(0, 4, "arg:") == 0 || keys[i].compare(0, 4, "aux:") == 0
                                 ? 4
                                 : 0;
        weights[keys[i].substr(colon)] = context.type == 1 ? owned[i] : moved(owned[i]);
      }
    }
    Array moved(const Array& array) const {
      Array copy = Array::empty(array.shape(), array.dtype(), context);
      detail::check(MXNDArraySyncCopyFromNDArray(copy.handle(), array.handle(), -1));
      return copy;
    }

    std::vector<Array> run(const Inputs& given, const std::vector<Array>* into) const {
      std::map<std::string, Array> known;
      for (const auto& [name, array] : given) {
        if (std::find(inputs.begin(), inputs.end(), name) == inputs.end())
          throw Error("the model has no input '" + name + "'");
        known[name] = context.type == 1 ? array : moved(array);
      }
      if (known.size() < inputs.size()) add_labels(&known);
      std::vector<NDArrayHandle> in, out;
      for (const std::string& name : variables) {
        const auto weight = weights.find(name);
        in.push_back((weight != weights.end() ? weight->second : known.at(name)).handle());
      }
      if (into != nullptr) {
        if (into->size() != outputs.size())
          throw Error("given " + std::to_string(into->size()) + " arrays for " +
                      std::to_string(outputs.size()) + " outputs");
        for (const Array& array : *into) out.push_back(array.handle());
      }
      int count = static_cast<int>(out.size());
      NDArrayHandle* results = into == nullptr ? nullptr : out.data();
      const int* storage = nullptr;
      detail::check(MXInvokeCachedOpEx(op.get(), static_cast<int>(in.size()), in.data(), &count,
                                       &results, &storage));
      if (into != nullptr) return *into;
      std::vector<Array> made;
      for (int i = 0; i < count; ++i) made.emplace_back(results[i]);
      return made;
    }

    // Zeros for inputs that are not given, of the shapes that follow from the others.
    void add_labels(std::map<std::string, Array>* known) const {
      std::vector<const char*> keys;
      std::vector<int64_t> starts{0}, dims;
      std::vector<Shape> shapes;
      for (const auto& [name, array] : *known) {
        keys.push_back(name.c_str());
        shapes.push_back(array.shape());
        dims.insert(dims.end(), shapes.back().begin(), shapes.back().end());
        starts.push_back(static_cast<int64_t>(dims.size()));
      }
      size_t sizes[3];
      const int* ndims[3];
      const int64_t** data[3];
      int complete = 0;
      detail::check(MXSymbolInferShapePartialEx64(
          symbol.get(), static_cast<uint32_t>(keys.size()), keys.data(), starts.data(), dims.data(),
          &sizes[0], &ndims[0], &data[0], &sizes[1], &ndims[1], &data[1], &sizes[2], &ndims[2],
          &data[2], &complete));
      std::vector<Shape> found;
      for (size_t i = 0; i < sizes[0]; ++i)
        found.emplace_back(data[0][i], data[0][i] + std::max(0, ndims[0][i]));
      const std::vector<std::string> arguments = names([&](uint32_t* count, const char*** list) {
        return MXSymbolListArguments(symbol.get(), count, list);
      });
      for (size_t i = 0; i < arguments.size() && i < found.size(); ++i) {
        if (weights.count(arguments[i]) != 0 || known->count(arguments[i]) != 0) continue;
        const bool unknown =
            found[i].empty() ||
            std::any_of(found[i].begin(), found[i].end(), [](int64_t dim) { return dim <= 0; });
        if (unknown) throw Error("given no input '" + arguments[i] + "', expected an array");
        Array zeros = Array::empty(found[i], DType::kFloat32, context);
        if (context.type == 1) {
          const std::vector<float> values(static_cast<size_t>(zeros.size()));
          zeros.copy_from(values.data());
        }
        (*known)[arguments[i]] = zeros;
      }
    }

    const Context context;
    std::shared_ptr<void> symbol, op;
    std::map<std::string, Array> weights;
    std::vector<std::string> variables, inputs, outputs;
  };

  static std::string read(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw Error("cannot read '" + path + "'");
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  std::shared_ptr<const Impl> impl_;
};

// Runs one operator of the library by its name.
inline std::vector<Array> call(const std::string& name, const std::vector<Array>& inputs,
                               const std::vector<std::pair<std::string, std::string>>& params = {}) {
  OpHandle op = nullptr;
  detail::check(NNGetOpHandle(name.c_str(), &op));
  std::vector<NDArrayHandle> in;
  for (const Array& array : inputs) in.push_back(array.handle());
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : params) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  int count = 0;
  NDArrayHandle* results = nullptr;
  const int* storage = nullptr;
  detail::check(MXImperativeInvokeEx(op, static_cast<int>(in.size()), in.data(), &count, &results,
                                     static_cast<int>(keys.size()), keys.data(), values.data(),
                                     &storage));
  std::vector<Array> made;
  for (int i = 0; i < count; ++i) made.emplace_back(results[i]);
  return made;
}

}  // namespace inference
}  // namespace mxnet

#endif  // MXNET_MXNET_HPP_
