// SPDX-License-Identifier: Apache-2.0
// IdentityAttachKLSparseReg: the data itself; its gradient draws the mean activation of each unit
// towards a target, by the Kullback-Leibler divergence between the two.
#include "op/norm/sparsity_penalty.h"

#include <string>
#include <vector>

#include "op/loops/row_io.h"
#include "op/op_builder.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"

namespace mxnet {
namespace {

// One average a unit: along axis 1, over all other axes.
void infer_units(InferArg data, InferArg average) {
  average.same_dtype(data);
  if (!data.rank_known()) return;
  if (data.ndim() < 2) data.fail("rank 2 or more");
  average.set_shape({data.dim(1)});
}

// Inputs: gradient, data, moving averages of the activations, which are updated here. Read as the
// arrays lie, an example at a time.
void backward(const PenaltyParams& params, KernelContext& context) {
  const Tensor &dy = context.in(0), &data = context.in(1), &moving = context.in(2);
  const Tensor& dx = context.out(0);
  const RowLayout units = rows_along(data.shape(), 1);
  const int64_t inner = units.inner, example = units.length * inner;
  if (units.outer * example == 0) return;
  std::vector<double> pulls(static_cast<std::size_t>(units.length));
  {
    std::vector<double> room(static_cast<std::size_t>(example));
    for (int64_t n = 0; n < units.outer; ++n) {
      const double* from = read_elements(data, n * example, example, 1, room.data());
      for (double& sum : pulls)
        for (int64_t i = 0; i < inner; ++i) sum += *from++;
    }
  }
  for (int64_t unit = 0; unit < units.length; ++unit) {
    double& sum = pulls[static_cast<std::size_t>(unit)];
    const double mean = sum / static_cast<double>(units.outer * inner);
    const double average = params.moved(read_element(moving, unit), mean);
    write_element(moving, unit, average);
    sum = params.pull(average);
  }
  parallel_for(
      units.outer, 4.0 * static_cast<double>(example),
      [&](int64_t first, int64_t last) {
        std::vector<double> room(static_cast<std::size_t>(example)), result(room.size());
        for (int64_t n = first; n < last; ++n) {
          const double* from = read_elements(dy, n * example, example, 1, room.data());
          double* to = result.data();
          for (const double pull : pulls)
            for (int64_t i = 0; i < inner; ++i) *to++ = *from++ + pull;
          write_elements(dx, n * example, example, 1, result.data());
        }
      },
      1);
}

OpBuilder<PenaltyParams>& add_params(OpBuilder<PenaltyParams>& op) {
  return op
      .param("sparseness_target", &PenaltyParams::sparseness_target, 0.1f,
             "What mean activations should be.")
      .range<float>(0.0f, 1.0f)
      .param("penalty", &PenaltyParams::penalty, 0.001f, "Factor of the divergence.")
      .param("momentum", &PenaltyParams::momentum, 0.9f,
             "Share of the old value in a new moving average.")
      .range<float>(0.0f, 1.0f)
      .dtypes(kFloating);
}

bool define() {
  OpBuilder<PenaltyParams> op("IdentityAttachKLSparseReg");
  op.doc("The data; its gradient makes activations (between 0 and 1) sparse.")
      .input("data", "Activations, units along axis 1.");
  // Its state, the moving averages of the mean activations, was never described as an input.
  add_params(op)
      .num_inputs([](const PenaltyParams&) { return 2; })
      .input_names([](const PenaltyParams&) {
        return std::vector<std::string>{"data", "moving_avg"};
      })
      .states({1})
      .inplace(0, 0)
      .infer([](const PenaltyParams&, Infer& infer) {
        infer.in(0).same_as(infer.out(0));
        infer_units(infer.in(0), infer.in(1));
      })
      .cpu([](const PenaltyParams&, KernelContext& context) {
        const Tensor &in = context.in(0), &out = context.out(0);
        copy_memory(context, in.data, out.data,
                    static_cast<std::size_t>(in.size()) * dtype_size(in.dtype));
      })
      .loss()
      .grad([](const PenaltyParams&, Grad& grad) {
        return Gradients{apply("_backward_IdentityAttachKLSparseReg",
                               {grad.dout(0), grad.in(0), grad.in(1)}, grad.attrs()),
                         Value()};
      });
  OpBuilder<PenaltyParams> back("_backward_IdentityAttachKLSparseReg");
  back.doc("Gradient of IdentityAttachKLSparseReg; updates the moving averages.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The data.")
      .input("moving_avg", "Moving averages of the mean activations.");
  add_params(back)
      .mutates({2})
      .inplace(0, 0)
      .infer([](const PenaltyParams&, Infer& infer) {
        infer.in(0).same_as(infer.in(1)).same_as(infer.out(0));
        infer_units(infer.in(1), infer.in(2));
      })
      .cpu(backward);
  return mark_portable({"IdentityAttachKLSparseReg"});
}

[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
