// SPDX-License-Identifier: Apache-2.0
// _npi_bincount: how often each number occurs in a list, or the sum of the weights of its places.
#include "op/reduce/bincount.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/cpu_info.h"
#include "base/error.h"
#include "op/loops/as_type.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/reducing/reduce_loops.h"
#include "op/run/dispatch.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_npi_bincount";

// Throws where so many bins of `bytes` each do not fit the memory; `given` is what asked for them.
void check_fits(uint64_t bins, int64_t bytes, const std::string& given) {
  // Below this nobody asks how much memory there is.
  constexpr uint64_t kFewBins = uint64_t{1} << 24;
  if (bins <= kFewBins) return;
  const uint64_t most = host_memory().available / static_cast<uint64_t>(bytes);
  if (bins <= most) return;
  throw Error(ErrorCode::kValue, kTag,
              fmt::format("given {}, expected at most {} bins: with {} bytes each, more do not fit "
                          "the free memory",
                          given, most, bytes));
}

// The largest number, or -1 if there is none. Throws on negative numbers.
template <class T>
int64_t largest(const T* x, int64_t n) {
  if (n == 0) return -1;
  const T low = reduce_loops<T, T>(Reduction::min).row(x, n, 0);
  if (low < T(0)) {
    throw Error(ErrorCode::kValue, kTag,
                fmt::format("given {} in 'data', expected no negative numbers", low));
  }
  return reduce_loops<T, T>(Reduction::max).row(x, n, 0);
}

// Where numbers repeat, an addition waits for the one before: neighbours count in tables of their
// own.
constexpr int64_t kTables = 4, kSmallTable = 4096;

template <class T>
void count(const T* x, int64_t n, int64_t bins, KernelContext& context, int64_t* sums) {
  int64_t i = 0;
  if (bins <= kSmallTable && n >= kTables * bins) {
    int64_t* const more = context.workspace_of<int64_t>((kTables - 1) * bins);
    std::fill_n(more, (kTables - 1) * bins, 0);
    for (; i + kTables <= n; i += kTables) {
      ++sums[x[i]];
      for (int64_t k = 1; k < kTables; ++k) ++more[(k - 1) * bins + x[i + k]];
    }
    for (int64_t at = 0; at < (kTables - 1) * bins; ++at) sums[at % bins] += more[at];
  }
  for (; i < n; ++i) ++sums[x[i]];
}

// How weights of a type become what they are summed in.
template <class Sum>
using Take = void (*)(const void* from, int64_t first, Sum* to, int64_t n);

template <class Sum>
Take<Sum> take_of(DType dtype) {
  constexpr DTypeSet kTypes = std::is_same_v<Sum, double> ? kFloating : kIntegers;
  return dispatch_dtype<kTypes>(dtype, kTag, []<class W>(TypeTag<W>) -> Take<Sum> {
    return [](const void* from, int64_t first, Sum* to, int64_t n) {
      convert_array(static_cast<const W*>(from) + first, to, n);
    };
  });
}

// The sums of the weights of each number. Weights are converted a block at a time, so that there is
// no loop for each pair of types.
template <class T, class Sum>
void add_weights(const T* x, const Tensor& weights, const Tensor& out, KernelContext& context) {
  constexpr int64_t kBlock = 512;
  const Take<Sum> take = take_of<Sum>(weights.dtype);
  const int64_t bins = out.size(), size = weights.size();
  Sum* const sums = context.workspace_of<Sum>(std::max<int64_t>(bins, 1));
  std::fill_n(sums, bins, Sum{0});
  std::array<Sum, kBlock> block;
  for (int64_t first = 0; first < size; first += kBlock) {
    const int64_t n = std::min(kBlock, size - first);
    take(weights.data, first, block.data(), n);
    for (int64_t i = 0; i < n; ++i) sums[x[first + i]] += block[static_cast<std::size_t>(i)];
  }
  constexpr DType kSum = std::is_same_v<Sum, double> ? DType::kFloat64 : DType::kInt64;
  convert_tensor({sums, out.shape_ptr, kSum}, out, context);
}

void bincount_cpu(const BincountParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  dispatch_dtype<kIntegers>(in.dtype, kTag, [&]<class T>(TypeTag<T>) {
    const T* x = in.as<T>();
    const DType type = params.has_weights ? context.in(1).dtype : in.dtype;
    const int64_t bytes = int64_t{sizeof(int64_t)} + static_cast<int64_t>(dtype_size(type));
    const int64_t last = largest(x, in.size());
    check_fits(static_cast<uint64_t>(last) + 1, bytes, fmt::format("{} in 'data'", last));
    check_fits(static_cast<uint64_t>(params.minlength), bytes,
               fmt::format("minlength={}", params.minlength));
    const int64_t bins = std::max<int64_t>(params.minlength, last + 1);
    const Tensor out = context.make_out(0, {bins});
    if (!params.has_weights) {
      int64_t* const sums = context.workspace_of<int64_t>(std::max<int64_t>(bins, 1));
      std::fill_n(sums, bins, 0);
      count(x, in.size(), bins, context, sums);
      return convert_array(sums, out.as<T>(), bins);
    }
    if (is_integer(type)) {
      add_weights<T, int64_t>(x, context.in(1), out, context);
    } else {
      add_weights<T, double>(x, context.in(1), out, context);
    }
  });
}

MX_OP(_npi_bincount, BincountParams)
.doc("How often each number from 0 on occurs, or the sum of the weights where it occurs.")
    .input("data", "A list of integers that are not negative.")
    .input("weights", "A weight for each number, with `has_weights`.")
    .param("minlength", &BincountParams::minlength, 0, "Least length of the result.")
    .at_least<int32_t>(0)
    .param("has_weights", &BincountParams::has_weights, false, "Whether there are weights.")
    .num_inputs([](const BincountParams& params) { return params.has_weights ? 2 : 1; })
    .shape_from_values()
    .infer([](const BincountParams& params, Infer& infer) {
      InferArg data = infer.in(0);
      if (data.rank_known() && data.ndim() != 1) data.fail("a list");
      if (data.dtype() != DType::kUnknown && !is_integer(data.dtype())) data.fail("integers");
      if (params.has_weights) {
        data.same_shape(infer.in(1));
        infer.out(0).set_dtype(infer.in(1).dtype());
      } else {
        infer.out(0).set_dtype(data.dtype());
      }
      infer.out(0).set_shape(Shape::unknown(1));
    })
    .cpu(bincount_cpu)
    .zero_grad();
[[maybe_unused]] const bool waits = mark_waiting({kTag});

}  // namespace
}  // namespace mxnet
