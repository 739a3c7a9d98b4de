// SPDX-License-Identifier: Apache-2.0
// Arrays of bytes one after another, brought to one range: in rows as they are given, or with
// channels last, as oneDNN's convolutions leave them.
#include <algorithm>
#include <vector>

#include "op/length.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/quantize/channels_last.h"
#include "op/quantize/layers.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

// Rows [first, last) of one array into rows of the result: `row` bytes of `out_row`, from `offset`.
struct Part {
  int64_t row, out_row, offset;
  bool same;    // bytes stand for the same numbers in both
  float scale;  // otherwise: steps of the result for one of the array's

  template <class From, class To>
  void move(const From* from, To* to, int64_t first, int64_t last) const {
    for (int64_t o = first; o < last; ++o) {
      const From* part = from + o * row;
      To* place = to + o * out_row + offset;
      if (same) {
        std::copy_n(reinterpret_cast<const To*>(part), row, place);
      } else {
        for (int64_t k = 0; k < row; ++k)
          place[k] = nearest<To>(static_cast<float>(part[k]) * scale);
      }
    }
  }
};

// Inputs: n arrays, then for each its smallest and its largest real number. `rows` in an array.
void join(const KernelContext& context, int n, int64_t rows) {
  const Tensor& out = context.out(0);
  Range range = read_range(context, n, n + 1);
  for (int i = 1; i < n; ++i) {
    const Range part = read_range(context, n + 2 * i, n + 2 * i + 1);
    range = {std::min(range.min, part.min), std::max(range.max, part.max)};
  }
  int64_t offset = 0;
  for (int i = 0; i < n && rows > 0; ++i) {
    const Tensor& in = context.in(i);
    const float end = read_range(context, n + 2 * i, n + 2 * i + 1).magnitude();
    const Part part{in.size() / rows, out.size() / rows, offset,
                    in.dtype == out.dtype && end == range.magnitude(),
                    steps_of_part(end, in.dtype, range.magnitude(), out.dtype)};
    dispatch_dtype<kBytes>(in.dtype, "quantized_concat", [&]<class From>(TypeTag<From>) {
      dispatch_dtype<kBytes>(out.dtype, "quantized_concat", [&]<class To>(TypeTag<To>) {
        parallel_for(
            rows, static_cast<double>(part.row) / 8,
            [&](int64_t first, int64_t last) {
              part.move(in.as<From>(), out.as<To>(), first, last);
            },
            1);
      });
    });
    offset += part.row;
  }
  write_range(context, range);
}

int axis_of(const JoinParams& params, const Tensor& out) {
  return normalize_axis(params.dim, out.ndim(), "_contrib_quantized_concat");
}

void concat_cpu(const JoinParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  join(context, params.num_args, out.shape().size(0, axis_of(params, out)));
}

// Channels after channels, pixel for pixel.
class JoinedChannels final : public PreparedKernel {
 public:
  JoinedChannels(int arrays, std::vector<LayoutRef> in, std::vector<LayoutRef> out)
      : PreparedKernel("channels_last", std::move(in), std::move(out)), arrays_(arrays) {}
  std::unique_ptr<PreparedRun> make_run() const override { return std::make_unique<Run>(arrays_); }

 private:
  class Run final : public PreparedRun {
   public:
    explicit Run(int arrays) : arrays_(arrays) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      const Tensor& out = context.out(0);
      join(context, arrays_, out.size() / out.dim(1));
    }

   private:
    const int arrays_;
  };
  const int arrays_;
};

PreparedKernelRef prepare_concat(const OpDef&, const void* parsed, const Signature& signature,
                                 std::span<const LayoutRef> layouts) {
  const auto& params = *static_cast<const JoinParams*>(parsed);
  const Tensor& out = signature.out[0];
  const auto arrays = static_cast<std::size_t>(params.num_args);
  if (std::ranges::all_of(layouts.first(arrays), [](const auto& l) { return l == nullptr; }) ||
      axis_of(params, out) != 1 || out.size() == 0)
    return nullptr;
  std::vector<LayoutRef> in(signature.in.size());
  for (std::size_t i = 0; i < arrays; ++i) in[i] = channels_last_layout(signature.in[i]);
  return std::make_shared<const JoinedChannels>(
      params.num_args, std::move(in),
      std::vector<LayoutRef>{channels_last_layout(out), nullptr, nullptr});
}

void infer_concat(const JoinParams& params, Infer& infer) {
  const int n = params.num_args;
  Shape shape;
  int says = 0;  // an input whose rank is known
  for (int i = 0; i < n; ++i) {
    if (infer.in(i).rank_known()) shape = Shape::unknown(infer.in(says = i).ndim());
  }
  if (shape.rank_known() && shape.ndim() > 0) {
    const int axis = infer.axis(params.dim, infer.in(says));
    int64_t total = 0;
    for (int i = 0; i < n; ++i) {
      Shape part = infer.in(i).shape();
      if (!part.rank_known()) part = Shape::unknown(shape.ndim());
      if (part.ndim() != shape.ndim())
        infer.in(i).fail(std::to_string(shape.ndim()) + " dimensions");
      total = length::plus(total, part[axis]);
      part[axis] = -1;
      infer.out(0).set_shape(part);
    }
    infer.out(0).set_dim(axis, total);
    for (int i = 0; i < n; ++i) {
      Shape common = infer.out(0).shape();
      common[axis] = infer.in(i).rank_known() ? infer.in(i).dim(axis) : -1;
      infer.in(i).set_shape(common);
    }
  }
  bool known = true, positive = true;
  for (int i = 0; i < n; ++i) {
    expect_bytes(infer.in(i));
    known = known && infer.in(i).dtype() != DType::kUnknown;
    positive = positive && infer.in(i).dtype() == DType::kUInt8;
  }
  if (known) infer.out(0).set_dtype(positive ? DType::kUInt8 : DType::kInt8);
  infer_range_inputs(infer, n, 3 * n);
  infer_range_outputs(infer);
}

std::vector<std::string> concat_names(const JoinParams& params) {
  std::vector<std::string> names = numbered_names("arg", params.num_args);
  for (int i = 0; i < params.num_args; ++i) {
    for (const char* end : {"_min", "_max"}) names.push_back("arg" + std::to_string(i) + end);
  }
  return names;
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<JoinParams> concat("_contrib_quantized_concat");
  concat.doc("Arrays one after another, brought to one range.")
      .inputs("data", "Arrays, then the smallest and the largest real number of each.",
              &JoinParams::num_args, "num_args")
      .num_inputs([](const JoinParams& params) { return 3 * params.num_args; })
      .input_names(concat_names)
      .param("num_args", &JoinParams::num_args, "Number of arrays.")
      .at_least<int32_t>(1)
      .param("dim", &JoinParams::dim, 1, "The dimension in which they follow each other.")
      .infer(infer_concat)
      .cpu(concat_cpu)
      .zero_grad()
      .outputs([](const JoinParams&) { return 3; })
      .output("output")
      .output("min_output")
      .output("max_output");
  return add_prepared_kernel("_contrib_quantized_concat", prepare_concat);
}();

}  // namespace
}  // namespace mxnet::quantize
