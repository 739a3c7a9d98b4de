// SPDX-License-Identifier: Apache-2.0
// A block of the sum is built in a near cache and goes from there to all outputs.
#include "kvstore/host_sum.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "base/error.h"
#include "base/stream_copy.h"
#include "op/loops/convert.h"
#include "op/run/dispatch.h"
#include "op/run/team.h"

namespace mxnet::kvstore {
namespace {

// Long enough that the processor's own prefetching is worth its beginning in each array, short
// enough that a block is in a near cache still when the last output gets it.
constexpr std::size_t kBlockBytes = 32768;
// Bytes of all inputs and outputs from which on these are written past the caches: more than a
// core's second level keeps until somebody reads them.
constexpr std::size_t kStreamBytes = 1u << 20;
constexpr std::size_t kLineBytes = 64;
// How far ahead inputs are asked for: several streams at once, each new in every block, are more
// than the processor foresees by itself. Memory answers within that time.
constexpr std::size_t kAheadBytes = 1024;
constexpr std::size_t kGroup = 4;  // of SumOrder::kGrouped

// y = sum + terms, elementwise, in `order`; each addition rounds to T. All are the same array or
// have no element in common.
template <std::size_t kTerms, class T>
void add_terms(const T* sum, const void* const* terms, int64_t first, SumOrder order, T* y,
               int64_t n) {
  std::array<const T*, kTerms> term;
  for (std::size_t k = 0; k < kTerms; ++k) term[k] = static_cast<const T*>(terms[k]) + first;
  constexpr auto kLine = static_cast<int64_t>(kLineBytes / sizeof(T));
  constexpr auto kAhead = static_cast<int64_t>(kAheadBytes / sizeof(T));
  const auto add_all = [&](auto&& element) {
    int64_t i = 0;
    for (; i + kLine <= n; i += kLine) {
      __builtin_prefetch(sum + i + kAhead);
      for (const T* each : term) __builtin_prefetch(each + i + kAhead);
#pragma omp simd
      for (int64_t j = i; j < i + kLine; ++j) y[j] = element(j);
    }
    for (; i < n; ++i) y[i] = element(i);
  };
  if (order == SumOrder::kGrouped) {
    add_all([&](int64_t i) {
      T group = term[0][i];
      for (std::size_t k = 1; k < kTerms; ++k) group = static_cast<T>(group + term[k][i]);
      return static_cast<T>(sum[i] + group);
    });
  } else {
    add_all([&](int64_t i) {
      T total = sum[i];
      for (const T* each : term) total = static_cast<T>(total + each[i]);
      return total;
    });
  }
}

// The same for types that are added as floats.
template <class T>
void add_half(const T* a, const T* b, T* y, int64_t n) {
  constexpr int64_t kPart = 512;
  float x[kPart], z[kPart];
  for (int64_t first = 0; first < n; first += kPart) {
    const int64_t count = std::min(kPart, n - first);
    convert_array(a + first, x, count);
    convert_array(b + first, z, count);
    for (int64_t i = 0; i < count; ++i) x[i] += z[i];
    convert_array(x, y + first, count);
  }
}

// y = sum + up to kGroup terms. Gradients' types read all of them at once; others, to save code,
// one after the other, where `scratch` holds what a group has so far.
template <class T>
void add_group(const T* sum, std::span<const void* const> terms, int64_t first, SumOrder order,
               T* y, T* scratch, int64_t n) {
  if constexpr (std::is_floating_point_v<T>) {
    switch (terms.size()) {
      case 1:
        return add_terms<1>(sum, terms.data(), first, order, y, n);
      case 2:
        return add_terms<2>(sum, terms.data(), first, order, y, n);
      case 3:
        return add_terms<3>(sum, terms.data(), first, order, y, n);
      default:
        return add_terms<kGroup>(sum, terms.data(), first, order, y, n);
    }
  } else {
    const auto at = [&](const void* term) { return static_cast<const T*>(term) + first; };
    const auto add = [&](const T* a, const T* b, T* to) {
      if constexpr (kIsHalf<T>) {
        add_half(a, b, to, n);
      } else {
        for (int64_t i = 0; i < n; ++i) to[i] = static_cast<T>(a[i] + b[i]);
      }
    };
    if (order == SumOrder::kGrouped) {
      const T* group = at(terms.front());
      for (const void* term : terms.subspan(1)) {
        add(group, at(term), scratch);
        group = scratch;
      }
      return add(sum, group, y);
    }
    for (const void* term : terms) {
      add(sum, at(term), y);
      sum = y;
    }
  }
}

// One block of the sum into `y`, of two inputs or more.
template <class T>
void sum_block(std::span<const void* const> in, int64_t first, int64_t n, SumOrder order, T* y,
               T* scratch) {
  const T* sum = static_cast<const T*>(in[0]) + first;
  for (std::size_t begin = 1; begin < in.size(); begin += kGroup) {
    const std::size_t count = std::min(kGroup, in.size() - begin);
    add_group(sum, in.subspan(begin, count), first, order, y, scratch, n);
    sum = y;
  }
}

template <class T>
void sum_range(const HostSum& sum, int64_t first, int64_t last) {
  constexpr auto kBlock = static_cast<int64_t>(kBlockBytes / sizeof(T));
  alignas(kLineBytes) T block[kBlock], scratch[kBlock];
  const std::size_t bytes_of_all =
      static_cast<std::size_t>(sum.count) * sizeof(T) * (sum.in.size() + sum.out.size());
  const bool stream = bytes_of_all >= kStreamBytes;
  const bool alone = sum.in.size() == 1;  // nothing to add: outputs get it from where it lies
  // A lone small output that is not read either needs no block in between.
  const bool direct = !alone && !stream && sum.out.size() == 1 &&
                      std::find(sum.in.begin(), sum.in.end(), sum.out[0]) == sum.in.end();
  for (int64_t start = first; start < last; start += kBlock) {
    const int64_t n = std::min(kBlock, last - start);
    const T* from = alone ? static_cast<const T*>(sum.in[0]) + start : block;
    if (!alone) {
      T* y = direct ? static_cast<T*>(sum.out[0]) + start : block;
      sum_block<T>(sum.in, start, n, sum.order, y, scratch);
      if (direct) continue;
    }
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(T);
    for (void* out : sum.out) {
      T* to = static_cast<T*>(out) + start;
      if (to == from) continue;
      if (stream) {
        stream_copy(to, from, bytes);
      } else {
        std::memcpy(to, from, bytes);
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
#pragma omp parallel for num_threads(team_of(sum.threads)) schedule(static, 1)
    for (int t = 0; t < sum.threads; ++t) {
      const int64_t first = t * part, last = std::min(sum.count, first + part);
      if (first < last) sum_range<T>(sum, first, last);
    }
  });
}

}  // namespace mxnet::kvstore
