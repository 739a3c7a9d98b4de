// SPDX-License-Identifier: Apache-2.0
// Batches of sequences of unequal length: the last valid step, a value after the end, reversal up
// to the end.
#include <fmt/format.h>

#include <cstring>

#include "base/error.h"
#include "op/index/sequence_view.h"
#include "op/inline_vector.h"
#include "op/loops/convert.h"
#include "op/moving/rows.h"
#include "op/op_builder.h"
#include "op/run/copy_whole.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/read_back.h"

namespace mxnet {
namespace {

struct SequenceParams {
  bool use_sequence_length;
  float value;
  int32_t axis;
};

// Length of sequence b; all steps without lengths. The host checks them, on a GPU it waits for
// them.
class Lengths {
 public:
  Lengths(const Tensor* lengths, const SequenceView& view, KernelContext& context)
      : lengths_(context, view.batch) {
    int64_t* const to = lengths_.data();
    if (lengths == nullptr) {
      std::fill_n(to, view.batch, view.steps);
    } else {
      read_int64(HostCopy(context, *lengths).tensor(), 0, view.batch, to);
    }
    for (int64_t b = 0; b < view.batch; ++b) {
      if (to[b] >= 0 && to[b] <= view.steps) continue;
      throw Error(ErrorCode::kValue,
                  fmt::format("given length {} of sequence {} in 'sequence_length', expected one "
                              "from 0 to {}",
                              to[b], b, view.steps));
    }
  }
  int64_t operator[](int64_t b) const { return lengths_[b]; }
  const HostNumbers& numbers() const { return lengths_; }

 private:
  const HostNumbers lengths_;
};

const Tensor* lengths_of(const SequenceParams& params, KernelContext& context, int i) {
  return params.use_sequence_length ? &context.in(i) : nullptr;
}

// The last steps of all sequences, as rows of `width` elements.
struct LastSteps {
  LastSteps(const Tensor* lengths, const SequenceView& view, KernelContext& context)
      : rows(view.steps * view.batch), count{view.batch} {
    const Lengths ends(lengths, view, context);
    const HostNumbers numbers(context, view.batch);
    for (int64_t b = 0; b < view.batch; ++b) {
      if (ends[b] == 0) {
        throw Error(ErrorCode::kValue,
                    fmt::format("given length 0 of sequence {} in 'sequence_length', expected at "
                                "least one step",
                                b));
      }
      const int64_t step = ends[b] - 1;
      numbers.data()[b] = (step * view.step_stride + b * view.batch_stride) / view.width;
    }
    // Read only.
    tensor = {const_cast<int64_t*>(numbers.on_device(context, view.batch)), &count, DType::kInt64};
  }
  // All are in range.
  Positions positions() const { return Positions(tensor, rows, OutOfRange::kClip, "SequenceLast"); }
  const int64_t rows;
  const Shape count;
  Tensor tensor;
};

void last_cpu(const SequenceParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  if (context.out(0).size() == 0) return;
  const SequenceView view(data.shape(), params.axis);
  const LastSteps last(lengths_of(params, context, 1), view, context);
  gather_rows(data.data, 1, last.rows, view.width * static_cast<int64_t>(dtype_size(data.dtype)),
              last.positions(), context.out(0).data, context);
}

// Inputs: gradient, data for its shape, perhaps lengths.
void backward_last_cpu(const SequenceParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  if (out.size() == 0) return;
  const SequenceView view(out.shape(), params.axis);
  const LastSteps last(lengths_of(params, context, 2), view, context);
  clear_memory(context, out.data, static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  put_rows(context.in(0).data, view.width * static_cast<int64_t>(dtype_size(out.dtype)),
           last.positions(), out.data, context);
}

void mask_cpu(const SequenceParams& params, KernelContext& context) {
  const Tensor& data = context.in(0);
  const Tensor& out = context.out(0);
  if (!params.use_sequence_length) {
    return copy_memory(context, data.data, out.data,
                       static_cast<std::size_t>(out.size()) * dtype_size(out.dtype));
  }
  const SequenceView view(out.shape(), params.axis);
  const Lengths lengths(&context.in(1), view, context);
  if (const GpuTable* gpu = gpu_table(context)) {
    return gpu->mask_steps(context.stream()->native(), view,
                           lengths.numbers().on_device(context, view.batch), params.value, data,
                           out);
  }
  copy_whole(data, out);
  dispatch_dtype<kNumeric>(out.dtype, "SequenceMask", [&]<class T>(TypeTag<T>) {
    const T value = convert<T>(params.value);
    parallel_for(
        view.batch, static_cast<double>(view.steps * view.width),
        [&](int64_t first, int64_t last) {
          for (int64_t b = first; b < last; ++b) {
            for (int64_t t = lengths[b]; t < view.steps; ++t)
              std::fill_n(out.as<T>() + t * view.step_stride + b * view.batch_stride, view.width,
                          value);
          }
        },
        1);
  });
}

void reverse_cpu(const SequenceParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &out = context.out(0);
  const SequenceView view(data.shape(), params.axis);
  const Lengths lengths(lengths_of(params, context, 1), view, context);
  if (const GpuTable* gpu = gpu_table(context)) {
    const bool given = params.use_sequence_length;
    return gpu->reverse_steps(context.stream()->native(), view,
                              given ? lengths.numbers().on_device(context, view.batch) : nullptr,
                              data, out);
  }
  if (out.size() == 0) return;
  const std::size_t bytes = dtype_size(data.dtype);
  const auto at = [&](int64_t step, int64_t b) {
    return static_cast<std::size_t>(step * view.step_stride + b * view.batch_stride) * bytes;
  };
  parallel_for(
      view.batch, static_cast<double>(view.steps * (view.width + 1)),
      [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b) {
          for (int64_t t = 0; t < view.steps; ++t) {
            const int64_t from = t < lengths[b] ? lengths[b] - 1 - t : t;
            std::memcpy(out.as<char>() + at(t, b), data.as<const char>() + at(from, b),
                        static_cast<std::size_t>(view.width) * bytes);
          }
        }
      },
      1);
}

int num_inputs(const SequenceParams& params) { return params.use_sequence_length ? 2 : 1; }

// Checks what all have in common; the lengths are one per sequence.
void infer_sequence(const SequenceParams& params, Infer& infer, InferArg data, int lengths) {
  if (params.axis < 0 || params.axis > 1)
    infer.fail(fmt::format("given axis {}, expected 0 or 1", params.axis));
  const bool has_lengths = lengths < infer.num_in();
  if (has_lengths && infer.in(lengths).dtype() == DType::kUnknown)
    infer.in(lengths).set_dtype(data.dtype());
  if (!data.rank_known()) return;
  if (data.ndim() < 2) data.fail("at least two dimensions");
  if (has_lengths) infer.in(lengths).set_shape({data.dim(1 - params.axis)});
}

void infer_same(const SequenceParams& params, Infer& infer) {
  infer.in(0).same_as(infer.out(0));
  infer_sequence(params, infer, infer.in(0), 1);
}

void infer_last(const SequenceParams& params, Infer& infer) {
  infer.in(0).same_dtype(infer.out(0));
  infer_sequence(params, infer, infer.in(0), 1);
  if (!infer.in(0).rank_known()) return;
  Shape shape{infer.in(0).dim(1 - params.axis)};
  for (int i = 2; i < infer.in(0).ndim(); ++i) shape.push_back(infer.in(0).dim(i));
  infer.out(0).set_shape(shape);
}

OpBuilder<SequenceParams> sequence_op(const char* name, const char* doc) {
  OpBuilder<SequenceParams> op(name);
  op.doc(doc)
      .input("data", "Steps and batch in the first two dimensions.")
      .input("sequence_length", "Length of each sequence, with use_sequence_length.")
      .num_inputs(num_inputs)
      .param("use_sequence_length", &SequenceParams::use_sequence_length, false,
             "Whether lengths are given; otherwise all steps count.");
  return op;
}

void add_axis(OpBuilder<SequenceParams>& op) {
  op.param("axis", &SequenceParams::axis, 0, "The dimension of the steps: 0 or 1.");
}

// A gradient whose first input is that of the output; the second the lengths.
Gradients with_lengths(const SequenceParams& params, Grad& grad, const char* op, Attrs attrs) {
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  if (!grad.wants(0)) return result;
  result[0] = params.use_sequence_length ? apply(op, {grad.dout(0), grad.in(1)}, std::move(attrs))
                                         : apply(op, {grad.dout(0)}, std::move(attrs));
  return result;
}

void define_mask() {
  OpBuilder<SequenceParams> mask =
      sequence_op("SequenceMask", "Sequences with a value after their end.");
  mask.alias("_npx_sequence_mask")
      .param("value", &SequenceParams::value, 0.0f, "The value after the end.");
  add_axis(mask);
  mask.inplace(0, 0).infer(infer_same).cpu(mask_cpu);
  mask.grad([](const SequenceParams& params, Grad& grad) {
    Attrs attrs = grad.attrs();
    std::erase_if(attrs, [](const auto& attr) { return attr.first == "value"; });
    return with_lengths(params, grad, "SequenceMask", std::move(attrs));
  });
}

void define_reverse() {
  OpBuilder<SequenceParams> reverse = sequence_op(
      "SequenceReverse", "Sequences in reverse order, what is after their end in place.");
  add_axis(reverse);
  reverse.infer(infer_same).cpu(reverse_cpu);
  reverse.grad([](const SequenceParams& params, Grad& grad) {
    return with_lengths(params, grad, "SequenceReverse", grad.attrs());
  });
}

void define_last() {
  OpBuilder<SequenceParams> last = sequence_op("SequenceLast", "The last step of each sequence.");
  add_axis(last);
  last.infer(infer_last).cpu(last_cpu).grad([](const SequenceParams& params, Grad& grad) {
    Gradients result(static_cast<std::size_t>(grad.num_in()));
    if (!grad.wants(0)) return result;
    std::vector<Value> inputs{grad.dout(0), grad.in(0)};
    if (params.use_sequence_length) inputs.push_back(grad.in(1));
    result[0] = apply("_backward_SequenceLast", inputs, grad.attrs());
    return result;
  });
}

void define_backward_last() {
  OpBuilder<SequenceParams> backward("_backward_SequenceLast");
  backward.doc("Puts the last steps back into zeros.")
      .input("head_grad", "Gradient of the output.")
      .input("data", "Its shape is that of the result.")
      .input("sequence_length", "Lengths.")
      .type_only(1)
      .num_inputs([](const SequenceParams& params) { return 1 + num_inputs(params); })
      .param("use_sequence_length", &SequenceParams::use_sequence_length, false, "As forward.");
  add_axis(backward);
  backward
      .infer([](const SequenceParams& params, Infer& infer) {
        InlineVector<InferArg, 2> given;
        for (int i = 1; i < infer.num_in(); ++i) given.push_back(infer.in(i));
        const InferArg result[] = {infer.in(0)};
        infer.follow([&params](Infer& forward) { infer_last(params, forward); }, given.span(),
                     result);
        infer.out(0).same_as(infer.in(1));
        infer.in(0).same_dtype(infer.out(0));
      })
      .cpu(backward_last_cpu)
      .grad([](const SequenceParams& params, Grad& grad) {
        Gradients result(static_cast<std::size_t>(grad.num_in()));
        if (!grad.wants(0)) return result;
        result[0] = params.use_sequence_length
                        ? apply("SequenceLast", {grad.dout(0), grad.in(2)}, grad.attrs())
                        : apply("SequenceLast", {grad.dout(0)}, grad.attrs());
        return result;
      });
}

[[maybe_unused]] const bool defined = [] {
  define_mask();
  define_reverse();
  define_last();
  define_backward_last();
  return mark_portable_waiting(
      {"SequenceMask", "SequenceReverse", "SequenceLast", "_backward_SequenceLast"});
}();

}  // namespace
}  // namespace mxnet
