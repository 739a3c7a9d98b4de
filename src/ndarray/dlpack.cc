// SPDX-License-Identifier: Apache-2.0
// Types, devices and shapes one into the other; who owns what.
#include "ndarray/dlpack.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/thread_end.h"
#include "device/device_api.h"

namespace mxnet {
namespace {

enum : uint8_t { kInt = 0, kUInt = 1, kFloat = 2, kBFloat = 4, kBool = 6 };
enum : int32_t { kCPU = 1, kCUDA = 2, kCUDAHost = 3 };

struct Export {
  DLManagedTensor managed;
  NDArray array;
  std::array<int64_t, Shape::kMaxDims> shape, strides;
};

DLDataType type_of(DType dtype) {
  const auto bits = static_cast<uint8_t>(8 * dtype_size(dtype));
  switch (dtype) {
    case DType::kUInt8:
      return {kUInt, bits, 1};
    case DType::kInt8:
    case DType::kInt32:
    case DType::kInt64:
      return {kInt, bits, 1};
    case DType::kBFloat16:
      return {kBFloat, bits, 1};
    case DType::kBool:
      return {kBool, bits, 1};
    default:
      return {kFloat, bits, 1};
  }
}

std::optional<DType> type_from(DLDataType type) {
  // Older producers, the reference among them, know no bool and call it an unsigned of one bit.
  if (type.code == kUInt && type.bits == 1 && type.lanes == 1) return DType::kBool;
#define MX_FROM_DLPACK(name, cpp_type, tag)                                \
  if (const DLDataType t = type_of(DType::tag);                            \
      type.code == t.code && type.bits == t.bits && type.lanes == t.lanes) \
    return DType::tag;
  MX_DTYPES(MX_FROM_DLPACK)
#undef MX_FROM_DLPACK
  return std::nullopt;
}

DLDevice device_of(Device device) {
  switch (device.type) {
    case DeviceType::kGPU:
      return {kCUDA, device.id};
    case DeviceType::kCPUPinned:
      return {kCUDAHost, device.id};
    default:
      return {kCPU, 0};
  }
}

Device device_from(DLDevice device) {
  if (device.type == kCPU) return Device::cpu(device.id);
  if (device.type == kCUDAHost) return Device::cpu_pinned(device.id);
  if (device.type != kCUDA || device.id < 0 || device.id >= gpu_count()) {
    throw Error(ErrorCode::kValue, "DLPack",
                fmt::format("given memory on device type {}, id {}, expected 1 (cpu), 2 (one of {} "
                            "GPUs) or 3 (pinned)",
                            device.type, device.id, gpu_count()));
  }
  return Device::gpu(device.id);
}

Shape shape_from(const DLTensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > Shape::kMaxDims || (tensor.ndim > 0 && !tensor.shape)) {
    throw Error(ErrorCode::kValue, "DLPack",
                fmt::format("given {} dimensions, expected 0 to {} with their sizes", tensor.ndim,
                            Shape::kMaxDims));
  }
  const std::span dims(tensor.shape, static_cast<std::size_t>(tensor.ndim));
  Shape shape(dims);
  if (!shape.known())
    throw Error(ErrorCode::kValue, "DLPack",
                fmt::format("given shape ({}), expected sizes of 0 or more", fmt::join(dims, ",")));
  return shape;
}

// Dimensions of size one may have any stride, and so may anything in an empty array.
bool is_row_major(const DLTensor& tensor, const Shape& shape) {
  if (tensor.strides == nullptr || shape.size() == 0) return true;
  int64_t expected = 1;
  for (int i = shape.ndim() - 1; i >= 0; --i) {
    if (shape[i] != 1 && tensor.strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

}  // namespace

DLManagedTensor* to_dlpack(const NDArray& array) {
  require_dense(array, "to_dlpack");
  array.chunk()->hand_out();
  array.wait_to_read();
  auto exported = std::make_unique<Export>();
  exported->array = array.detach();
  const Shape& shape = array.shape();
  int64_t stride = 1;
  for (int i = shape.ndim() - 1; i >= 0; --i) {
    exported->shape[static_cast<std::size_t>(i)] = shape[i];
    exported->strides[static_cast<std::size_t>(i)] = stride;
    stride *= shape[i];
  }
  exported->managed = {
      .tensor = {.data = array.bytes() > 0 ? array.data() : nullptr,
                 .device = device_of(array.device()),
                 .ndim = shape.ndim(),
                 .dtype = type_of(array.dtype()),
                 .shape = exported->shape.data(),
                 .strides = exported->strides.data(),
                 .byte_offset = 0},
      .context = exported.get(),
      .deleter = [](DLManagedTensor* self) { delete static_cast<Export*>(self->context); }};
  return &exported.release()->managed;
}

NDArray from_dlpack(DLManagedTensor* managed, bool transient) {
  const DLTensor& tensor = managed->tensor;
  const std::optional<DType> dtype = type_from(tensor.dtype);
  if (!dtype) {
    throw Error(
        ErrorCode::kType, "DLPack",
        fmt::format("given elements of code {}, {} bits, {} lanes, expected one of the types "
                    "of NDArray",
                    tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes));
  }
  const Shape shape = shape_from(tensor);
  const Device device = device_from(tensor.device);
  if (!is_row_major(tensor, shape)) {
    const std::span strides(tensor.strides, static_cast<std::size_t>(tensor.ndim));
    throw Error(ErrorCode::kValue, "DLPack",
                fmt::format("given strides ({}) for shape {}, expected row-major memory: make the "
                            "array contiguous first",
                            fmt::join(strides, ","), to_string(shape)));
  }
  int64_t bytes, end;
  if (__builtin_mul_overflow(shape.size(), static_cast<int64_t>(dtype_size(*dtype)), &bytes) ||
      __builtin_add_overflow(bytes, tensor.byte_offset, &end) ||
      (bytes > 0 && tensor.data == nullptr)) {
    throw Error(ErrorCode::kValue, "DLPack",
                fmt::format("given {} of shape {} at address {} and {} bytes, expected memory of "
                            "that size",
                            dtype_name(*dtype), to_string(shape), tensor.data, tensor.byte_offset));
  }
  void* data = bytes == 0 ? nullptr : static_cast<char*>(tensor.data) + tensor.byte_offset;
  SyncFn deleter;
  if (managed->deleter != nullptr && transient) {
    deleter = [kept = std::make_unique<DLManagedTensor>(*managed)](const RunContext&) {
      or_stay([&] { kept->deleter(kept.get()); });
    };
  } else if (managed->deleter != nullptr) {
    deleter = [managed](const RunContext&) { or_stay([&] { managed->deleter(managed); }); };
  }
  return NDArray(make_ref<Chunk>(device, static_cast<std::size_t>(bytes), data, std::move(deleter)),
                 0, shape, *dtype);
}

}  // namespace mxnet
