// SPDX-License-Identifier: Apache-2.0
// The static cost model behind parallel_for.
#include "op/run/parallel.h"

#include <omp.h>

#include <algorithm>
#include <exception>

#include "base/config.h"
#include "base/omp.h"
#include "base/owned_lines.h"
#include "op/run/team.h"

namespace mxnet {

int threads_worth(int64_t count, double cost, int64_t parallel_size, int threads) {
  // One elementary operation is one vectorised load-compute-store of an element, about 0.25 ns, and
  // a parallel region costs about 5 us: with the default size a second thread pays as soon as it is
  // used ("When a second thread comes in" in docs/memory_kernels.md).
  const double work = static_cast<double>(count) * cost;
  if (work < static_cast<double>(parallel_size)) return 1;
  // Each further thread has at least half of that size to do.
  const double useful = 2 * work / std::max(1.0, static_cast<double>(parallel_size));
  return static_cast<int>(std::clamp<double>(useful, 1.0, threads));
}

int threads_for(int64_t count, double cost) {
  // Most calls are small; asking OpenMP costs more than deciding about them.
  const int64_t parallel_size = config().cpu.parallel_size;
  if (threads_worth(count, cost, parallel_size, 2) <= 1 || omp_in_parallel() != 0) return 1;
  hold_omp_pool();
  const int threads = omp_get_max_threads();
  const int assumed = config().cpu.use_num_cores_operator_tuning.value_or(threads);
  return threads_worth(count, cost, parallel_size, std::min(threads, assumed));
}

DTypeSet tuned_types(std::string_view setting) {
  DTypeSet types;
  for (std::string_view rest = setting; !rest.empty();) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    const std::string_view word = rest.substr(0, end);
    if (word == "1") return kAllTypes;
    if (const auto type = dtype_from_name(word)) types = types | DTypeSet::of(*type);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return types;
}

double tuned_cost(DType dtype, double cost) {
  static const DTypeSet tuned = tuned_types(config().cpu.use_operator_tuning);
  return tuned.contains(dtype) ? cost : 1.0;
}

void run_parts(int64_t count, double cost, int64_t align, RangeBody body) {
  // What is one part leaves the threads to loops inside of it.
  const int threads = count <= align ? 1 : threads_for(count, cost);
  if (threads <= 1) {
    if (count > 0) body.run(body.body, 0, count);
    return;
  }
  const int64_t part = ((count + threads - 1) / threads + align - 1) / align * align;
  // Nothing may leave a parallel region: the failure of the first part that has one waits outside.
  std::exception_ptr failure;
  int failed = threads;
#pragma omp parallel num_threads(team_of(threads))
  for (int t = omp_get_thread_num(); t < threads; t += omp_get_num_threads()) {
    const int64_t first = t * part;
    const int64_t last = std::min(first + part, count);
    try {
      if (first < last) body.run(body.body, first, last);
    } catch (...) {
#pragma omp critical(mx_run_parts)
      if (t < failed) {
        failed = t;
        failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

void run_writes(const void* out, int64_t element, int64_t count, double cost, RangeBody body) {
  constexpr int64_t kAlign = 16;
  if (!owns_lines(count * element)) return run_parts(count, cost, kAlign, body);
  parallel_for(count, cost, [&](int64_t first, int64_t last) {
    const char* to = static_cast<const char*>(out) + first * element;
    write_owned(to, element, last - first,
                [&](int64_t i, int64_t n) { body.run(body.body, first + i, first + i + n); });
  });
}

}  // namespace mxnet
