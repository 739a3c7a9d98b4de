// SPDX-License-Identifier: Apache-2.0
// Waits, and copies between arrays and with host memory.
#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/error.h"
#include "engine/fences.h"
#include "ndarray/host_write.h"
#include "ndarray/ndarray.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"
#include "storage/staged_copy.h"

namespace mxnet {
namespace {

// Bytes up to which a copy is done on the pusher's thread: about a worker's wake-up.
constexpr std::size_t kInlineBytes = 65536;

// An empty operation that the caller waits for through the variable. On the host, whatever the
// device: on a stream it would come after work of other arrays.
void wait_until_written(Var* var) {
  Engine& engine = Engine::get();
  const std::array<Var*, 1> writes{var};
  engine.push([](const RunContext&) {}, {.device = Device::cpu(),
                                         .reads = {},
                                         .writes = writes,
                                         .name = "WaitToWrite",
                                         .cheap = true});
  engine.wait_for_var(var);
}

void check_count(const NDArray& array, int64_t count, const char* what) {
  require_dense(array, what);
  if (count != array.size()) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("{}: given {} elements, expected {} for shape {}", what, count,
                            array.size(), to_string(array.shape())));
  }
}

FnProperty direction(Device from, Device to) {
  if (from.is_gpu() && !to.is_gpu()) return FnProperty::kCopyFromGPU;
  if (!from.is_gpu() && to.is_gpu()) return FnProperty::kCopyToGPU;
  return FnProperty::kNormal;
}

void copy_parts(const NDArray& from, const NDArray& to, Stream* stream) {
  const SparseStore& source = from.sparse();
  SparseStore& target = to.sparse();
  const auto copy_part = [&](int part, const Shape& shape, const void* data) {
    target.resize_part(part, shape, to.device(), stream);
    if (const std::size_t bytes = source.part_bytes(part); bytes > 0)
      staged_copy(target.part_data(part), to.device(), data, from.device(), bytes, stream);
  };
  copy_part(SparseStore::kValues, source.values_shape(), source.values());
  for (int i = 0; i < source.num_aux(); ++i) {
    if (from.device() == to.device() && target.share_aux(i, source, to.device())) continue;
    copy_part(1 + i, source.aux_shape(i), source.aux_data(i));
  }
}

bool same_layout(const NDArray& a, const NDArray& b) {
  if (a.storage_type() != b.storage_type()) return false;
  for (int i = 0; a.is_sparse() && i < a.sparse().num_aux(); ++i)
    if (a.sparse().aux_dtype(i) != b.sparse().aux_dtype(i)) return false;
  return true;
}

// An array of the layout of `like`.
NDArray empty_like(const NDArray& like, Device device) {
  if (!like.is_sparse()) return NDArray(like.shape(), like.dtype(), device);
  const SparseStore& store = like.sparse();
  return NDArray(like.storage_type(), like.shape(), like.dtype(), device,
                 {store.aux_dtype(0), store.aux_dtype(store.num_aux() - 1)});
}

// Layouts change in host memory.
void convert_on_host(const NDArray& from, const NDArray& to, int priority) {
  const NDArray here = from.device().is_gpu() ? from.copy(Device::cpu()) : from.detach();
  if (!to.device().is_gpu()) return here.copy_to(to, priority);
  const NDArray converted = empty_like(to, Device::cpu());
  here.copy_to(converted, priority);
  converted.copy_to(to, priority);
}

// What the copy operation does when it runs. Where a GPU takes part, its end is on the stream: both
// arrays live until the work on them is done, so nobody needs to wait here.
void copy_now(const NDArray& from, const NDArray& to, Stream* stream) {
  if (!from.is_sparse() && !to.is_sparse()) {
    if (from.bytes() == 0) return;
    if (from.chunk() == to.chunk() && !from.device().is_gpu()) {
      std::memmove(to.data(), from.data(), from.bytes());  // windows of one chunk may overlap
    } else {
      staged_copy(to.data(), to.device(), from.data(), from.device(), from.bytes(), stream);
    }
  } else if (same_layout(from, to)) {
    copy_parts(from, to, stream);
  } else {
    return convert_storage(from, to);
  }
  if (stream != nullptr) engine::complete_by_event();
}

}  // namespace

void NDArray::wait_to_read() const {
  if (chunk_) Engine::get().wait_for_var(chunk_->var());
}

void NDArray::wait_to_write() const {
  if (chunk_) wait_until_written(chunk_->var());
}

void NDArray::sync_copy_from(const void* data, int64_t count) {
  check_count(*this, count, "copy from host");
  const HostWrite write(*this);
  if (count > 0) staged_copy(this->data(), device(), data, Device::cpu(), bytes());
}

void NDArray::sync_copy_to(void* data, int64_t count) const {
  check_count(*this, count, "copy to host");
  wait_to_read();
  if (count > 0) staged_copy(data, Device::cpu(), this->data(), device(), bytes());
}

void NDArray::copy_to(const NDArray& to, int priority) const {
  require_data(*this, "copy");
  require_data(to, "copy");
  if (to.shape_ != shape_ || to.dtype_ != dtype_) {
    throw Error(ErrorCode::kValue, "NDArray",
                fmt::format("copy: given {} {} into {} {}, expected equal shapes and types",
                            dtype_name(dtype_), to_string(shape_), dtype_name(to.dtype_),
                            to_string(to.shape_)));
  }
  if (device().is_gpu() || to.device().is_gpu()) {
    if (!same_layout(*this, to)) return convert_on_host(*this, to, priority);
  }
  if (to.chunk_ == chunk_ && to.offset_ == offset_) return;
  const std::array<Var*, 1> reads{var()}, writes{to.var()};
  const bool same_var = var() == to.var();
  const FnProperty property = direction(device(), to.device());
  Engine::get().push([from = detach(), to = to.detach()](
                         const RunContext& context) { copy_now(from, to, context.stream); },
                     {.device = to.device().is_gpu() ? to.device() : device(),
                      .reads = same_var ? std::span<Var* const>{} : std::span<Var* const>(reads),
                      .writes = writes,
                      .property = property,
                      .priority = priority,
                      .name = "Copy",
                      .cheap = !is_sparse() && !to.is_sparse() && bytes() <= kInlineBytes &&
                               property == FnProperty::kNormal});
}

NDArray NDArray::copy(Device device) const {
  require_data(*this, "copy");
  NDArray to = empty_like(*this, device);
  copy_to(to);
  return to;
}

}  // namespace mxnet
