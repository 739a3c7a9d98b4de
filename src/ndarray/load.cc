// SPDX-License-Identifier: Apache-2.0
// Every count and size is checked against what is left of the source before anything of that size
// is made.
#include "ndarray/load.h"

#include <fmt/format.h>

#include <array>
#include <optional>

#include "base/error.h"
#include "device/device_api.h"
#include "ndarray/params_format.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_store.h"

namespace mxnet {
namespace {

using namespace params_format;  // the names of this file's subject

constexpr std::size_t kSmallestRecord = 4;  // V0 without dimensions
constexpr std::size_t kSmallestName = 8;

struct Reader {
  ByteSource& source;

  DType dtype(const char* what) {
    const uint64_t at = source.offset();
    const int32_t number = source.get<int32_t>(what);
    const std::optional<DType> dtype = dtype_from_number(number);
    if (!dtype) source.fail(at, fmt::format("{} is {}, which is no known type", what, number));
    return *dtype;
  }

  int ndim(int64_t count, uint64_t at, bool may_be_unknown) {
    if (count < (may_be_unknown ? -1 : 0) || count > Shape::kMaxDims)
      source.fail(
          at, fmt::format("a shape has {} dimensions, expected 0 to {}", count, Shape::kMaxDims));
    return static_cast<int>(count);
  }

  Shape shape(bool may_be_unknown) {
    const uint64_t at = source.offset();
    const int count = ndim(source.get<int32_t>("a number of dimensions"), at, may_be_unknown);
    if (count < 0) return Shape();
    std::array<int64_t, Shape::kMaxDims> dims;
    for (int i = 0; i < count; ++i) dims[static_cast<std::size_t>(i)] = dim();
    return Shape(std::span<const int64_t>(dims.data(), static_cast<std::size_t>(count)));
  }

  int64_t dim() {
    const uint64_t at = source.offset();
    const int64_t dim = source.get<int64_t>("a dimension");
    if (dim < 0) source.fail(at, fmt::format("a dimension is {}", dim));
    return dim;
  }

  Shape shape_v0(int64_t count, uint64_t at) {
    const int ndim = this->ndim(count, at, false);
    std::array<int64_t, Shape::kMaxDims> dims;
    for (int i = 0; i < ndim; ++i)
      dims[static_cast<std::size_t>(i)] = source.get<uint32_t>("a dimension");
    return Shape(std::span<const int64_t>(dims.data(), static_cast<std::size_t>(ndim)));
  }

  // Where the record was saved, as far as it exists here.
  Device device() {
    const int32_t type = source.get<int32_t>("a device type");
    const int32_t id = source.get<int32_t>("a device id");
    const bool gpu = type == static_cast<int32_t>(DeviceType::kGPU);
    return gpu && id >= 0 && id < gpu_count() ? Device::gpu(id) : Device::cpu();
  }

  // The bytes of `shape`, which the source must still hold.
  uint64_t checked_bytes(const Shape& shape, DType dtype, const char* what) {
    unsigned __int128 bytes = dtype_size(dtype);
    for (int64_t dim : shape) {
      bytes *= static_cast<uint64_t>(dim);
      // Not left early for too large a product: a zero further on may still make it nothing.
      if (bytes >> 64 != 0) bytes = has_zero(shape) ? 0 : ~uint64_t{0};
    }
    if (bytes > source.remaining())
      source.fail(fmt::format("{} of shape {} of {} needs more than the {} bytes that are left",
                              what, to_string(shape), dtype_name(dtype), source.remaining()));
    return static_cast<uint64_t>(bytes);
  }

  static bool has_zero(const Shape& shape) {
    for (int64_t dim : shape)
      if (dim == 0) return true;
    return false;
  }

  void values(void* to, uint64_t bytes, DType dtype, const char* what) {
    source.read(to, bytes, what);
    if (dtype != DType::kBool) return;
    // Another byte in a C++ bool is undefined behaviour in whoever reads it.
    auto* flags = static_cast<uint8_t*>(to);
    for (uint64_t i = 0; i < bytes; ++i) flags[i] = flags[i] != 0;
  }

  NDArray dense(const Shape& shape, Device device, DType dtype) {
    const uint64_t bytes = checked_bytes(shape, dtype, "an array");
    NDArray array(shape, dtype, Device::cpu());
    if (bytes > 0) values(array.data(), bytes, dtype, "the values");
    return device.is_gpu() ? array.copy(device) : array;
  }

  // One more than there are rows; rows may be any number at all, so that nothing is added to them.
  static bool points_to_rows(const Shape& indptr, int64_t rows) {
    return indptr.ndim() == 1 && indptr[0] >= 1 && indptr[0] - 1 == rows;
  }

  NDArray sparse(StorageType type, Shape stored, const Shape& shape, Device device, DType dtype) {
    const uint64_t at = source.offset();
    std::array<DType, 2> aux_dtypes{DType::kInt64, DType::kInt64};
    std::array<Shape, 2> aux_shapes;
    for (int i = 0; i < num_aux(type); ++i) {
      aux_dtypes[static_cast<std::size_t>(i)] = this->dtype("the type of an index array");
      aux_shapes[static_cast<std::size_t>(i)] = this->shape(false);
    }
    // Ours may leave it out; a file must not, or its number of rows is bounded by nothing.
    if (type == StorageType::kCSR && shape.ndim() == 2 && !points_to_rows(aux_shapes[0], shape[0]))
      source.fail(
          at, fmt::format("indptr has shape {} for {} rows", to_string(aux_shapes[0]), shape[0]));
    // The release writes the rows of before where those to come were still being computed: all that
    // it writes with them is of those that came, and so it counts the indices too.
    if (type == StorageType::kRowSparse && stored.ndim() > 0 && aux_shapes[0].ndim() == 1)
      stored[0] = aux_shapes[0][0];
    try {
      NDArray array(type, shape, dtype, Device::cpu(), aux_dtypes);
      fill_part(array, SparseStore::kValues, stored, dtype, "the values");
      for (int i = 0; i < num_aux(type); ++i) {
        const auto n = static_cast<std::size_t>(i);
        fill_part(array, 1 + i, aux_shapes[n], aux_dtypes[n], "an index array");
      }
      require_safe_format(array);
      return device.is_gpu() ? array.copy(device) : array;
    } catch (const Error& error) {
      if (error.tag() == "NDArray file" || error.code() == ErrorCode::kOutOfMemory) throw;
      source.fail(at, error.message());
    }
  }

  void fill_part(const NDArray& array, int part, const Shape& shape, DType dtype,
                 const char* what) {
    const uint64_t bytes = checked_bytes(shape, dtype, what);
    SparseStore& store = array.sparse();
    store.resize_part(part, shape, Device::cpu());
    void* to = part == SparseStore::kValues ? store.values() : store.own_aux(part - 1);
    if (bytes > 0) values(to, bytes, dtype, what);
  }

  NDArray record_v0_v1(uint32_t first, uint64_t at) {
    const Shape shape = first == kMagicV1 ? this->shape(false) : shape_v0(first, at);
    if (shape.ndim() == 0) return NDArray();
    const Device device = this->device();
    const DType dtype = this->dtype("the type of an array");
    return dense(shape, device, dtype);
  }

  NDArray record_v2_v3(bool v3, bool dense_only) {
    const uint64_t at = source.offset();
    const int32_t number = source.get<int32_t>("a storage type");
    const std::optional<StorageType> type = storage_type_from_number(number);
    if (!type) source.fail(at, fmt::format("the storage type is {}, expected 0, 1 or 2", number));
    if (*type != StorageType::kDense && dense_only)
      source.fail(at, "a sparse array cannot be loaded with NumPy shapes on: turn them off");
    Shape stored;
    if (*type != StorageType::kDense) stored = this->shape(false);
    const Shape shape = this->shape(v3);
    if (!shape.rank_known() || (!v3 && shape.ndim() == 0)) return NDArray();
    const Device device = this->device();
    const DType dtype = this->dtype("the type of an array");
    return *type == StorageType::kDense ? dense(shape, device, dtype)
                                        : sparse(*type, stored, shape, device, dtype);
  }
};

}  // namespace

NDArray load_record(ByteSource& source, NumpyShape mode) {
  Reader reader{source};
  const uint64_t at = source.offset();
  const uint32_t first = source.get<uint32_t>("the head of an array");
  if (first == kMagicV3) {
    if (mode == NumpyShape::kOff)
      source.fail(at,
                  "the array was saved with NumPy shapes: turn them on to load it, for example "
                  "`with mx.util.np_shape(True)`");
    return reader.record_v2_v3(true, true);
  }
  if (mode == NumpyShape::kThread)
    source.fail(at,
                "the array was saved without NumPy shapes: turn them off to load it, for example "
                "`with mx.util.np_shape(False)`");
  if (first == kMagicV2) return reader.record_v2_v3(false, mode == NumpyShape::kGlobal);
  return reader.record_v0_v1(first, at);
}

LoadedArrays load_arrays(ByteSource& source, NumpyShape mode) {
  const auto checked_count = [&](const char* what, std::size_t smallest) {
    const uint64_t at = source.offset();
    const uint64_t count = source.get<uint64_t>(what);
    if (count > source.remaining() / smallest)
      source.fail(at, fmt::format("{} is {}, for which {} bytes are not enough", what, count,
                                  source.remaining()));
    return count;
  };
  if (const uint64_t header = source.get<uint64_t>("the header"); header != kListMagic)
    source.fail(0, fmt::format("the header is {:#x}, expected {:#x}", header, kListMagic));
  source.get<uint64_t>("the header");  // reserved
  LoadedArrays loaded;
  const uint64_t count = checked_count("the number of arrays", kSmallestRecord);
  for (uint64_t i = 0; i < count; ++i) loaded.arrays.push_back(load_record(source, mode));
  const uint64_t at = source.offset();
  const uint64_t names = checked_count("the number of names", kSmallestName);
  if (names != 0 && names != count)
    source.fail(at, fmt::format("{} names for {} arrays", names, count));
  for (uint64_t i = 0; i < names; ++i) {
    const uint64_t length = checked_count("the length of a name", 1);
    std::string name(length, '\0');
    source.read(name.data(), length, "a name");
    loaded.names.push_back(std::move(name));
  }
  return loaded;
}

}  // namespace mxnet
