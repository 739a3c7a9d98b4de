// SPDX-License-Identifier: Apache-2.0
// A block of the sum is built in the first-level cache and goes from there to all outputs.
#include "kvstore/host_sum.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/stream_copy.h"
#include "op/convert.h"
#include "op/dispatch.h"

namespace mxnet::kvstore {
namespace {

constexpr std::size_t kBlockBytes = 8192;  // with pieces of a few inputs it fits 32 KiB
// Bytes of an array from which on its outputs are written past the caches: more than a core's
// second level keeps until somebody reads them.
constexpr std::size_t kStreamBytes = 1u << 20;

// y = a + b, elementwise, each sum rounded to T.
template <class T>
void add(const T* a, const T* b, T* y, int64_t n) {
  if constexpr (kIsHalf<T>) {
    constexpr int64_t kPart = 512;
    float x[kPart], z[kPart];
    for (int64_t first = 0; first < n; first += kPart) {
      const int64_t count = std::min(kPart, n - first);
      convert_array(a + first, x, count);
      convert_array(b + first, z, count);
      for (int64_t i = 0; i < count; ++i) x[i] += z[i];
      convert_array(x, y + first, count);
    }
  } else {
    for (int64_t i = 0; i < n; ++i) y[i] = static_cast<T>(a[i] + b[i]);
  }
}

// One block of the sum into `y`. `scratch` holds a group.
template <class T>
void sum_block(std::span<const void* const> in, int64_t first, int64_t n, SumOrder order, T* y,
               T* scratch) {
  const auto at = [&](std::size_t k) { return static_cast<const T*>(in[k]) + first; };
  const std::size_t count = in.size();
  const std::size_t group = order == SumOrder::kGrouped ? 4 : 1;
  if (count == 1) std::memcpy(y, at(0), static_cast<std::size_t>(n) * sizeof(T));
  const T* sum = at(0);
  for (std::size_t begin = 1; begin < count; begin += group) {
    const std::size_t end = std::min(begin + group, count);
    const T* term = at(begin);
    for (std::size_t k = begin + 1; k < end; ++k) {
      add(term, at(k), scratch, n);
      term = scratch;
    }
    add(sum, term, y, n);
    sum = y;
  }
}

template <class T>
void sum_range(const HostSum& sum, int64_t first, int64_t last) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockBytes / sizeof(T));
  alignas(64) T block[kBlock], scratch[kBlock];
  const bool stream = static_cast<std::size_t>(sum.count) * sizeof(T) >= kStreamBytes;
  // A lone small output that is not read either needs no block in between.
  const bool direct = !stream && sum.out.size() == 1 &&
                      std::find(sum.in.begin(), sum.in.end(), sum.out[0]) == sum.in.end();
  for (int64_t start = first; start < last; start += kBlock) {
    const int64_t n = std::min(kBlock, last - start);
    T* y = direct ? static_cast<T*>(sum.out[0]) + start : block;
    sum_block<T>(sum.in, start, n, sum.order, y, scratch);
    if (direct) continue;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    for (void* out : sum.out) {
      T* to = static_cast<T*>(out) + start;
      if (stream) {
        stream_copy(to, block, bytes);
      } else {
        std::memcpy(to, block, bytes);
      }
    }
  }
  if (stream) finish_stream_copies();
}

}  // namespace

void sum_on_host(const HostSum& sum) {
  MX_ASSERT(!sum.in.empty());
  dispatch_dtype<kAllTypes>(sum.dtype, "kvstore", [&]<class T>(TypeTag<T>) {
    // Parts begin where blocks and cache lines do.
    constexpr auto kAlign = static_cast<int64_t>(kBlockBytes / sizeof(T));
    const int64_t part =
        ((sum.count + sum.threads - 1) / sum.threads + kAlign - 1) / kAlign * kAlign;
    if (sum.threads <= 1 || part >= sum.count) return sum_range<T>(sum, 0, sum.count);
#pragma omp parallel for num_threads(sum.threads) schedule(static, 1)
    for (int t = 0; t < sum.threads; ++t) {
      const int64_t first = t * part, last = std::min(sum.count, first + part);
      if (first < last) sum_range<T>(sum, first, last);
    }
  });
}

}  // namespace mxnet::kvstore
