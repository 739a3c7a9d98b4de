// SPDX-License-Identifier: Apache-2.0
// Arrays as extensions see them, and how their functions report errors.
#pragma once

#include <cstdint>
#include <cstring>
#include <exception>
#include <sstream>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mxnet/ext/abi.h"

// Of this library alone: the same name in another extension is another object.
#define MX_EXT_HIDDEN __attribute__((visibility("hidden")))
// Tells why a function returns MX_FAIL: MX_ERROR_MSG << "expected two inputs";
#define MX_ERROR_MSG ::mxnet::ext::error_stream()

namespace mxnet {
namespace ext {

enum MXReturnValue { MX_FAIL = 0, MX_SUCCESS = 1 };

enum MXDType {
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUint8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7,
  kBfloat16 = 12,
  kUNSET = -1
};

using Attributes = std::unordered_map<std::string, std::string>;

// One of this thread's own; emptied when its text goes to the caller.
MX_EXT_HIDDEN inline std::ostringstream& error_stream() {
  thread_local std::ostringstream stream;
  return stream;
}

// A device: "cpu" or "gpu".
struct MXContext {
  MXContext() = default;
  MXContext(std::string type, int id) : dev_type(std::move(type)), dev_id(id) {}
  static MXContext CPU(int id = 0) { return {"cpu", id}; }
  static MXContext GPU(int id = 0) { return {"gpu", id}; }
  bool operator==(const MXContext& other) const {
    return dev_type == other.dev_type && dev_id == other.dev_id;
  }

  std::string dev_type = "cpu";
  int dev_id = 0;
};

// Memory of an array itself, lent for one call: row-major, contiguous.
struct MXTensor {
  MXTensor() = default;
  explicit MXTensor(const MXExtTensor& tensor)
      : data_ptr(tensor.data),
        shape(tensor.shape, tensor.shape + tensor.ndim),
        dtype(static_cast<MXDType>(tensor.dtype)),
        ctx(tensor.dev_type == 2 ? "gpu" : "cpu", tensor.dev_id) {}

  template <class T>
  T* data() const {
    return static_cast<T*>(data_ptr);
  }
  int64_t size() const {
    int64_t size = 1;
    for (const int64_t dim : shape) size *= dim;
    return size;
  }
  // The same memory, shape, type and device.
  bool isSame(const MXTensor& other) const {
    return data_ptr == other.data_ptr && shape == other.shape && dtype == other.dtype &&
           ctx == other.ctx;
  }

  void* data_ptr = nullptr;
  std::vector<int64_t> shape;
  MXDType dtype = kUNSET;
  MXContext ctx;
};

// What a body may use while it runs.
class OpResource {
 public:
  explicit OpResource(const MXExtCall& call) : call_(call) {}
  bool is_train() const { return call_.training != 0; }
  // Good until the call ends; null where there is no memory.
  void* alloc_cpu(int64_t bytes) const { return on_gpu() ? nullptr : workspace(bytes); }
  void* alloc_gpu(int64_t bytes) const { return on_gpu() ? workspace(bytes) : nullptr; }
  void* get_cuda_stream() const { return call_.stream; }

 private:
  bool on_gpu() const {
    return (call_.num_inputs > 0 && call_.inputs[0].dev_type == 2) ||
           (call_.num_outputs > 0 && call_.outputs[0].dev_type == 2);
  }
  void* workspace(int64_t bytes) const {
    return bytes < 0 ? nullptr : call_.workspace(&call_, static_cast<size_t>(bytes));
  }
  const MXExtCall& call_;
};

namespace detail {

inline void put_message(MXExtMessage* message, const char* text) {
  std::strncpy(message->text, text, sizeof(message->text) - 1);
  message->text[sizeof(message->text) - 1] = '\0';
}

// Runs what the user has written; what it throws or writes to MX_ERROR_MSG becomes the message.
template <class Body>
int guarded(MXExtMessage* message, Body&& body) {
  try {
    error_stream().str({});
    if (body() == MX_SUCCESS) return 0;
    const std::string text = error_stream().str();
    put_message(message, text.empty() ? "it has failed without a message" : text.c_str());
  } catch (const std::exception& error) {
    put_message(message, error.what());
  } catch (...) {
    // The end of the thread by pthread_exit, which would be the process's where it is kept: the
    // host makes an error of it.
    if (std::current_exception() == nullptr) throw;
    put_message(message, "it has thrown what is no std::exception");
  }
  return -1;
}

inline Attributes attributes(const MXExtAttrs& given) {
  Attributes attributes;
  for (int32_t i = 0; i < given.count; ++i) attributes[given.keys[i]] = given.values[i];
  return attributes;
}

// Attributes as the border has them; borrows their texts.
class AttrList {
 public:
  explicit AttrList(const Attributes& attributes) {
    for (const auto& attribute : attributes) {
      keys_.push_back(attribute.first.c_str());
      values_.push_back(attribute.second.c_str());
    }
  }
  MXExtAttrs get() const {
    return {keys_.data(), values_.data(), static_cast<int32_t>(keys_.size())};
  }

 private:
  std::vector<const char*> keys_, values_;
};

inline std::vector<MXTensor> tensors(const MXExtTensor* given, int32_t count) {
  std::vector<MXTensor> tensors;
  tensors.reserve(static_cast<size_t>(count));
  for (int32_t i = 0; i < count; ++i) tensors.emplace_back(given[i]);
  return tensors;
}

}  // namespace detail
}  // namespace ext
}  // namespace mxnet
