// SPDX-License-Identifier: Apache-2.0
// _npi_bincount: how often each number occurs in a list, or the sum of the weights of its places.
#include "op/reduce/bincount.h"

#include <algorithm>
#include <string>

#include "base/cpu_info.h"
#include "op/convert.h"
#include "op/dispatch.h"
#include "op/op_builder.h"
#include "op/read_back.h"

namespace mxnet {
namespace {

constexpr char kTag[] = "_npi_bincount";

// One more than the largest number. Throws on negative numbers, and where the bins, each of so many
// bytes, would not fit the memory.
template <class T>
int64_t bins_of(const T* x, int64_t n, int64_t bytes_of_bin) {
  if (n == 0) return 0;
  const auto [low, high] = std::minmax_element(x, x + n);
  if (*low < T(0)) {
    throw Error(ErrorCode::kValue, kTag,
                "given " + std::to_string(*low) + " in 'data', expected no negative numbers");
  }
  // Below this nobody asks how much memory there is.
  constexpr int64_t kFewBins = int64_t{1} << 24;
  const auto bins = static_cast<uint64_t>(*high) + 1;
  const auto bytes = static_cast<uint64_t>(bytes_of_bin);
  if (bins > kFewBins && bins > host_memory().available / bytes) {
    throw Error(ErrorCode::kValue, kTag,
                "given " + std::to_string(*high) +
                    " in 'data', expected numbers that, with a bin of " + std::to_string(bytes) +
                    " bytes for each from 0 on, fit the free memory");
  }
  return static_cast<int64_t>(bins);
}

void bincount_cpu(const BincountParams& params, KernelContext& context) {
  const Tensor& in = context.in(0);
  dispatch_dtype<kIntegers>(in.dtype, kTag, [&]<class T>(TypeTag<T>) {
    const T* x = in.as<T>();
    const DType type = params.has_weights ? context.in(1).dtype : in.dtype;
    dispatch_dtype<kNumeric>(type, kTag, [&]<class Out>(TypeTag<Out>) {
      using Sum = std::conditional_t<std::is_integral_v<Out>, int64_t, double>;
      const int64_t bins = std::max<int64_t>(
          params.minlength, bins_of(x, in.size(), int64_t{sizeof(Sum) + sizeof(Out)}));
      const Tensor out = context.make_out(0, {bins});
      Sum* sums = context.workspace_of<Sum>(std::max<int64_t>(bins, 1));
      std::fill_n(sums, bins, Sum{0});
      const Out* weights = params.has_weights ? context.in(1).as<Out>() : nullptr;
      for (int64_t i = 0; i < in.size(); ++i)
        sums[x[i]] += weights == nullptr ? Sum{1} : static_cast<Sum>(weights[i]);
      convert_array(sums, out.as<Out>(), bins);
    });
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
