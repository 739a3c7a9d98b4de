// SPDX-License-Identifier: Apache-2.0
// What a kernel sees: plain tensors and a context. Requests (write, add), types, views and devices
// are settled before.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/device.h"
#include "base/dtype.h"
#include "base/shape.h"
#include "device/stream.h"

namespace mxnet {

class MadeOfValues;

// Row-major, contiguous; borrowed for the time of the call.
struct Tensor {
  void* data = nullptr;
  const Shape* shape_ptr = nullptr;
  DType dtype = DType::kUnknown;

  const Shape& shape() const { return *shape_ptr; }
  int ndim() const { return shape_ptr->ndim(); }
  int64_t dim(int i) const { return (*shape_ptr)[i]; }
  int64_t size() const { return shape_ptr->size(); }
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

// Memory and random numbers that the dispatcher lends to a kernel.
class KernelResources {
 public:
  virtual ~KernelResources() = default;
  // Scratch of at least `bytes`, aligned to 64, valid until the operation ends. Each call gives
  // separate memory.
  virtual void* workspace(std::size_t bytes) = 0;
  // Memory for output i, of a shape that only the kernel knows. REQUIRES: an operator that says so.
  virtual Tensor make_out(int i, const Shape& shape) = 0;
  // What is kept of the values of input i, which have this version; null where nothing can be.
  virtual MadeOfValues* made_of(int /*i*/, uint64_t* /*version*/) { return nullptr; }
  // Whether anybody may read output i after the call.
  virtual bool is_read(int /*i*/) const { return true; }
};

class KernelContext {
 public:
  KernelContext(std::span<const Tensor> in, std::span<const Tensor> out, Device device,
                Stream* stream, bool training, KernelResources& resources)
      : in_(in),
        out_(out),
        device_(device),
        stream_(stream),
        training_(training),
        resources_(resources) {}

  int num_in() const { return static_cast<int>(in_.size()); }
  int num_out() const { return static_cast<int>(out_.size()); }
  const Tensor& in(int i) const { return in_[static_cast<std::size_t>(i)]; }
  const Tensor& out(int i) const { return out_[static_cast<std::size_t>(i)]; }

  // Output i of an operator that finds its shape while running (OpDef::shape_from_values); once an
  // output. Where the shape was known before, it is the output as it is.
  Tensor make_out(int i, const Shape& shape) const {
    return out(i).shape().known() ? out(i) : resources_.make_out(i, shape);
  }

  Device device() const { return device_; }
  Stream* stream() const { return stream_; }  // null on the CPU
  bool training() const { return training_; }
  MadeOfValues* made_of(int i, uint64_t* version) const { return resources_.made_of(i, version); }
  bool is_read(int i) const { return resources_.is_read(i); }
  void* workspace(std::size_t bytes) const { return resources_.workspace(bytes); }
  template <class T>
  T* workspace_of(int64_t count) const {
    return static_cast<T*>(workspace(static_cast<std::size_t>(count) * sizeof(T)));
  }

 private:
  std::span<const Tensor> in_, out_;
  Device device_;
  Stream* stream_;
  bool training_;
  KernelResources& resources_;
};

// Types and shapes of a call, for kernels that accept only some.
struct Signature {
  std::span<const Tensor> in, out;  // data is null
  bool training;
};

}  // namespace mxnet
