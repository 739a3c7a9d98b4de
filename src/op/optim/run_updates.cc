// SPDX-License-Identifier: Apache-2.0
// Splits the elements of all parameters over threads and each part over types.
#include "op/optim/run_updates.h"

#include <algorithm>

#include "base/half_bulk.h"
#include "op/loops/blockwise.h"
#include "op/run/dispatch.h"
#include "op/run/gpu.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Elementary operations per element: square roots and divisions among them.
constexpr double kUpdateCost = 8.0;
constexpr DTypeSet kHalves = DTypeSet::of(DType::kFloat16, DType::kBFloat16);

void store_floats(const float* from, const Tensor& tensor, int64_t first, int64_t n) {
  if (tensor.dtype == DType::kFloat32) {
    std::copy_n(from, n, tensor.as<float>() + first);
    return;
  }
  dispatch_dtype<kHalves>(tensor.dtype, "update", [&]<class T>(TypeTag<T>) {
    convert(from, tensor.as<T>() + first, static_cast<std::size_t>(n));
  });
}

// The block [first, first + n) of a tensor as floats: the tensor itself or a converted copy.
class FloatBlock {
 public:
  float* load(const Tensor& tensor, int64_t first, int64_t n) {
    float* data = place(tensor, first);
    if (data == buffer_.data()) {
      dispatch_dtype<kHalves>(tensor.dtype, "update", [&]<class T>(TypeTag<T>) {
        convert(tensor.as<T>() + first, data, static_cast<std::size_t>(n));
      });
    }
    return data;
  }
  float* place(const Tensor& tensor, int64_t first) {
    return tensor.dtype == DType::kFloat32 ? tensor.as<float>() + first : buffer_.data();
  }
  void store(const Tensor& tensor, int64_t first, int64_t n) const {
    if (tensor.dtype != DType::kFloat32) store_floats(buffer_.data(), tensor, first, n);
  }

 private:
  alignas(64) std::array<float, kBlock> buffer_;
};

void update_in_float(UpdateRule rule, const UpdateJob& job, int64_t first, int64_t n) {
  const int states = update_states(rule);
  const UpdateLoop<float> loop = update_loop<float>(rule);
  FloatBlock weight, grad, out;
  std::array<FloatBlock, kMaxUpdateStates> state;
  UpdateArrays<float> arrays{};
  arrays.weight = weight.load(job.weight, first, n);
  arrays.grad = grad.load(job.grad, first, n);
  for (int s = 0; s < states; ++s) arrays.state[s] = state[s].load(job.state[s], first, n);
  arrays.out = out.place(job.out, first);
  loop(job.scalars, arrays, n);
  for (int s = 0; s < states; ++s) state[s].store(job.state[s], first, n);
  if (writes_grad(rule)) grad.store(job.grad, first, n);
  out.store(job.out, first, n);
  if (job.rounded.data != nullptr) store_floats(arrays.out, job.rounded, first, n);
}

template <class T, class Grad>
UpdateArrays<T, Grad> arrays_from(UpdateRule rule, const UpdateJob& job, int64_t first) {
  UpdateArrays<T, Grad> arrays{
      job.out.as<T>() + first, job.weight.as<T>() + first, job.grad.as<Grad>() + first, {}};
  for (int s = 0; s < update_states(rule); ++s) arrays.state[s] = job.state[s].as<T>() + first;
  if (job.rounded.data != nullptr) arrays.rounded = job.rounded.as<Grad>() + first;
  return arrays;
}

template <class T>
void update_directly(UpdateRule rule, const UpdateJob& job, int64_t first, int64_t n) {
  update_loop<T>(rule)(job.scalars, arrays_from<T, T>(rule, job, first), n);
}

// Whether weight and states are of `dtype`.
bool all_have(DType dtype, UpdateRule rule, const UpdateJob& job) {
  bool all = job.weight.dtype == dtype && job.out.dtype == dtype;
  for (int s = 0; s < update_states(rule); ++s) all = all && job.state[s].dtype == dtype;
  return all;
}

bool only_have(DType dtype, UpdateRule rule, const UpdateJob& job) {
  return all_have(dtype, rule, job) && job.grad.dtype == dtype && job.rounded.data == nullptr;
}

template <class T, class Half>
int64_t update_halves_of(UpdateRule rule, const UpdateJob& job, int64_t first, int64_t n) {
  const UpdateLoop<T, Half> loop = half_update_loop<T, Half>(rule);
  if (loop == nullptr) return 0;
  const int64_t whole = n / kHalfStep * kHalfStep;
  loop(job.scalars, arrays_from<T, Half>(rule, job, first), whole);
  return whole;
}

// How many of the elements it updates, all but a few or none: those whose numbers go from their
// types to registers.
int64_t update_halves(UpdateRule rule, const UpdateJob& job, int64_t first, int64_t n) {
  const DType half = job.grad.dtype;
  if (!kHalves.contains(half)) return 0;
  const bool rounds = rule != UpdateRule::kLambDirection;
  const bool with_master = all_have(DType::kFloat32, rule, job) &&
                           (job.rounded.data != nullptr) == rounds &&
                           (!rounds || job.rounded.dtype == half);
  if (!with_master && !only_have(half, rule, job)) return 0;
  return dispatch_dtype<kHalves>(half, "update", [&]<class Half>(TypeTag<Half>) {
    return with_master ? update_halves_of<float, Half>(rule, job, first, n)
                       : update_halves_of<Half, Half>(rule, job, first, n);
  });
}

UpdateRule in_place(UpdateRule rule, const UpdateJob& job) {
  return rule == UpdateRule::kNesterov && job.out.data == job.weight.data
             ? UpdateRule::kNesterovInPlace
             : rule;
}

void update_part(UpdateRule rule, const UpdateJob& job, int64_t first, int64_t n) {
  rule = in_place(rule, job);
  if (only_have(DType::kFloat32, rule, job)) return update_directly<float>(rule, job, first, n);
  if (only_have(DType::kFloat64, rule, job)) return update_directly<double>(rule, job, first, n);
  const int64_t end = first + n;
  for (first += update_halves(rule, job, first, n); first < end; first += kBlock)
    update_in_float(rule, job, first, std::min(kBlock, end - first));
}

// Where a part that ends or begins at `at` does so in a parameter of `size` elements: at a whole
// number of registers. Those behind the last whole one may round otherwise, since compilers fuse
// other products there; which they are must not depend on the number of threads.
int64_t between_steps(int64_t at, int64_t size) {
  return std::min((std::max(at, int64_t{0}) + kHalfStep - 1) / kHalfStep * kHalfStep, size);
}

}  // namespace

void run_updates(UpdateRule rule, std::span<const UpdateJob> jobs, KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) {
    for (const UpdateJob& job : jobs)
      gpu->update(context.stream()->native(), static_cast<int>(in_place(rule, job)), job);
    return;
  }
  int64_t total = 0;
  for (const UpdateJob& job : jobs) total += job.weight.size();
  // All parameters laid end to end; a thread's part may begin and end inside one.
  parallel_for(total, kUpdateCost, [&](int64_t first, int64_t last) {
    int64_t start = 0;
    for (const UpdateJob& job : jobs) {
      const int64_t size = job.weight.size();
      const int64_t from = between_steps(first - start, size);
      const int64_t to = between_steps(last - start, size);
      if (from < to) update_part(rule, job, from, to - from);
      start += size;
    }
  });
}

}  // namespace mxnet
