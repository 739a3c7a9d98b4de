// SPDX-License-Identifier: Apache-2.0
// The functions of cuDNN, found in its library when first needed, and an owner of its descriptors.
#pragma once
#include <cudnn.h>
#include <cudnn_backend.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugin/cuda/toolkit/lent_handle.h"

namespace mxnet::cuda {

// What the library's file may be called.
std::vector<std::string> cudnn_names();

// Immutable once loaded.
class Cudnn {
 public:
  // Throws Error(kNotImplemented) where there is no library, at every call.
  static const Cudnn& get();
  // Throws Error(kGeneric) naming the call, cuDNN's reason, and what it said last on this thread.
  void check(cudnnStatus_t status, const char* call) const;

  static constexpr const char *kCreate = "cudnnCreate", *kSetStream = "cudnnSetStream";
  decltype(&cudnnGetVersion) version;
  decltype(&cudnnGetErrorString) error_string;
  decltype(&cudnnGetLastErrorString) last_error;
  decltype(&cudnnCreate) create;
  decltype(&cudnnDestroy) destroy;
  decltype(&cudnnSetStream) set_stream;
  decltype(&cudnnBackendCreateDescriptor) create_descriptor;
  decltype(&cudnnBackendDestroyDescriptor) destroy_descriptor;
  decltype(&cudnnBackendSetAttribute) set_attribute;
  decltype(&cudnnBackendGetAttribute) get_attribute;
  decltype(&cudnnBackendFinalize) finalize;
  decltype(&cudnnBackendExecute) execute;

 private:
  Cudnn();
};

using CudnnHandles = Handles<cudnnHandle_t, Cudnn>;

// The attribute type that holds values of T. cudnnBackendDescriptor_t is void*: other addresses go
// through set_addresses.
template <class T>
struct CudnnType;
#define MX_CUDNN_TYPE(type, tag)                              \
  template <>                                                 \
  struct CudnnType<type> {                                    \
    static constexpr cudnnBackendAttributeType_t value = tag; \
  };
MX_CUDNN_TYPE(int64_t, CUDNN_TYPE_INT64)
MX_CUDNN_TYPE(float, CUDNN_TYPE_FLOAT)
MX_CUDNN_TYPE(double, CUDNN_TYPE_DOUBLE)
MX_CUDNN_TYPE(bool, CUDNN_TYPE_BOOLEAN)
MX_CUDNN_TYPE(cudnnHandle_t, CUDNN_TYPE_HANDLE)
MX_CUDNN_TYPE(cudnnDataType_t, CUDNN_TYPE_DATA_TYPE)
MX_CUDNN_TYPE(cudnnConvolutionMode_t, CUDNN_TYPE_CONVOLUTION_MODE)
MX_CUDNN_TYPE(cudnnPointwiseMode_t, CUDNN_TYPE_POINTWISE_MODE)
MX_CUDNN_TYPE(cudnnBackendHeurMode_t, CUDNN_TYPE_HEUR_MODE)
MX_CUDNN_TYPE(cudnnBackendKnobType_t, CUDNN_TYPE_KNOB_TYPE)
MX_CUDNN_TYPE(cudnnBackendNumericalNote_t, CUDNN_TYPE_NUMERICAL_NOTE)
MX_CUDNN_TYPE(cudnnBackendDescriptor_t, CUDNN_TYPE_BACKEND_DESCRIPTOR)
#undef MX_CUDNN_TYPE

// Owner of a backend descriptor. Movable, not copyable. Used by one thread at a time.
class Descriptor {
 public:
  explicit Descriptor(cudnnBackendDescriptorType_t type);
  ~Descriptor();
  Descriptor(Descriptor&& other) noexcept : raw_(std::exchange(other.raw_, nullptr)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(raw_, other.raw_);
    return *this;
  }

  cudnnBackendDescriptor_t raw() const { return raw_; }

  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const T& value) {
    set_raw(name, CudnnType<T>::value, 1, &value);
    return *this;
  }
  template <class T>
  Descriptor& set(cudnnBackendAttributeName_t name, const std::vector<T>& values) {
    set_raw(name, CudnnType<T>::value, static_cast<int64_t>(values.size()), values.data());
    return *this;
  }
  Descriptor& set(cudnnBackendAttributeName_t name, const Descriptor& other) {
    return set(name, other.raw());
  }
  Descriptor& set_addresses(cudnnBackendAttributeName_t name, const std::vector<void*>& addresses) {
    set_raw(name, CUDNN_TYPE_VOID_PTR, static_cast<int64_t>(addresses.size()), addresses.data());
    return *this;
  }
  Descriptor& set_text(cudnnBackendAttributeName_t name, const std::string& text) {
    set_raw(name, CUDNN_TYPE_CHAR, static_cast<int64_t>(text.size()), text.data());
    return *this;
  }
  // No attribute changes any more.
  Descriptor& finalize();

  // As many as there are, at most `most`.
  template <class T>
  std::vector<T> get(cudnnBackendAttributeName_t name, int64_t most) const {
    std::vector<T> values(static_cast<std::size_t>(most));
    values.resize(
        static_cast<std::size_t>(get_raw(name, CudnnType<T>::value, most, values.data())));
    return values;
  }
  // Descriptors of `type`, which the library fills.
  std::vector<Descriptor> get(cudnnBackendAttributeName_t name, cudnnBackendDescriptorType_t type,
                              int64_t most) const;

 private:
  void set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t count,
               const void* values);
  int64_t get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type, int64_t most,
                  void* values) const;

  cudnnBackendDescriptor_t raw_ = nullptr;
};

}  // namespace mxnet::cuda
