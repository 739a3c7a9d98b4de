// SPDX-License-Identifier: Apache-2.0
// Elements of the array's type are moved once. Those of another one are brought together in their
// own first, as many at a time as stay in the second-level cache until they are converted.
#include "op/moving/host_elements.h"

#include <algorithm>
#include <cfenv>
#include <memory>

#include "base/omp.h"
#include "engine/here.h"
#include "ndarray/host_write.h"
#include "op/loops/as_type.h"
#include "op/moving/strided_copy.h"

namespace mxnet {
namespace {

constexpr int64_t kBlock = 16384;  // elements
constexpr int64_t kMostBytes = 8;  // of one

// What conversions that follow find: the processor keeps that a finite number became too large.
class Overflow {
 public:
  Overflow() {
    std::fegetexceptflag(&before_, FE_OVERFLOW);
    std::feclearexcept(FE_OVERFLOW);
  }
  ~Overflow() { std::fesetexceptflag(&before_, FE_OVERFLOW); }
  Overflow(const Overflow&) = delete;
  Overflow& operator=(const Overflow&) = delete;
  bool found() const { return std::fetestexcept(FE_OVERFLOW) != 0; }

 private:
  std::fexcept_t before_;  // the program's
};

// Elements of an array in C's order, a part at a time, out of elements along other steps.
class Gather {
 public:
  Gather(const HostElements& from, const NDArray& to)
      : from_(from), shape_(to.shape()), to_type_(to.dtype()), out_(static_cast<char*>(to.data())) {
    if (!keeps_bits(from.dtype, to_type_)) convert_ = convert_loop(from.dtype, to_type_);
  }

  void run() {
    if (convert_ == nullptr) {
      move(from_.data, 0, shape_[0], out_);
    } else if (lies_in_order()) {
      convert_(from_.data, out_, shape_.size());
    } else {
      block_ = std::make_unique_for_overwrite<char[]>(kBlock * kMostBytes);
      move_in_blocks(0, static_cast<const char*>(from_.data));
    }
  }

 private:
  int64_t step(int axis) const { return from_.steps[static_cast<std::size_t>(axis)]; }
  bool lies_in_order() const {
    const RowMajorSteps steps(shape_);
    for (int i = 0; i < shape_.ndim(); ++i)
      if (shape_[i] != 1 && step(i) != steps[i]) return false;
    return true;
  }
  int64_t elements_below(int axis) const {
    int64_t count = 1;
    for (int i = axis + 1; i < shape_.ndim(); ++i) count *= shape_[i];
    return count;
  }

  // So many places of a dimension and all below them.
  void move(const void* from, int axis, int64_t count, void* to) const {
    StridedPlan plan;
    const RowMajorSteps steps(shape_);
    for (int i = axis; i < shape_.ndim(); ++i)
      plan.add(i == axis ? count : shape_[i], step(i), steps[i]);
    copy_strided(plan, from, to, dtype_size(from_.dtype));
  }
  // A dimension and all below it, from outermost to innermost: the next elements of the result.
  void move_in_blocks(int axis, const char* from) {
    const int64_t below = elements_below(axis), most = kBlock / below;
    const int64_t step_bytes = step(axis) * static_cast<int64_t>(dtype_size(from_.dtype));
    if (most == 0) {
      for (int64_t i = 0; i < shape_[axis]; ++i) move_in_blocks(axis + 1, from + i * step_bytes);
      return;
    }
    for (int64_t i = 0; i < shape_[axis]; i += most) {
      const int64_t count = std::min(most, shape_[axis] - i);
      move(from + i * step_bytes, axis, count, block_.get());
      convert_(block_.get(), out_, count * below);
      out_ += count * below * static_cast<int64_t>(dtype_size(to_type_));
    }
  }

  const HostElements& from_;
  const Shape shape_;
  const DType to_type_;
  char* out_;  // the next one of the result
  ConvertLoop convert_ = nullptr;
  std::unique_ptr<char[]> block_;
};

// REQUIRES: there are elements.
void gather(const HostElements& from, const NDArray& to) {
  // A pool of the caller's own would have those of the engine's workers sleep.
  const OneThread one;
  Gather(from, to.shape().ndim() > 0 ? to : to.reshape({1})).run();
}

// Whether an array's own memory is among that of the elements, as a view of it by others has it.
bool lies_within(const HostElements& from, const NDArray& to) {
  int64_t first = 0, last = 0;  // elements before and behind the first one
  for (int i = 0; i < to.shape().ndim(); ++i) {
    const int64_t way = from.steps[static_cast<std::size_t>(i)] * (to.shape()[i] - 1);
    (way < 0 ? first : last) += way;
  }
  const auto bytes = static_cast<int64_t>(dtype_size(from.dtype));
  const auto* const start = static_cast<const char*>(from.data);
  const auto* const target = static_cast<const char*>(to.data());
  return start + first * bytes < target + to.bytes() && target < start + (last + 1) * bytes;
}

}  // namespace

bool copy_from_host(const HostElements& from, NDArray& to) {
  if (to.device().is_gpu()) {
    NDArray here(to.shape(), to.dtype(), Device::cpu());
    const bool overflows = copy_from_host(from, here);
    to.sync_copy_from(here.data(), here.size());
    return overflows;
  }
  const HostWrite write(to);
  if (to.size() == 0) return false;
  const Overflow overflow;
  gather(from, to);
  return from.dtype == DType::kFloat64 && to.dtype() == DType::kFloat32 && overflow.found();
}

bool copy_from_host_if_free(const HostElements& from, const NDArray& to) {
  if (to.device().is_gpu() || to.size() == 0) return false;
  bool done = false;
  SyncFn body = [&](const RunContext&) {
    done = !lies_within(from, to);
    if (done) gather(from, to);
  };
  Var* const writes[] = {to.var()};
  return engine::run_if_free(body, {.device = Device::cpu(),
                                    .reads = {},
                                    .writes = writes,
                                    .name = "HostWrite",
                                    .cheap = true}) &&
         done;
}

}  // namespace mxnet
