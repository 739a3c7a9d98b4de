// SPDX-License-Identifier: Apache-2.0
// Arrays with at least one, two or three dimensions; any number of them in one call.
#include "op/numbered_names.h"
#include "op/shape/same_elements.h"

namespace mxnet {
namespace {

struct AtleastParams {
  int32_t num_args;
};

// NumPy's places for the new dimensions: (n) becomes (1, n) and (1, n, 1); (m, n) becomes (m, n,
// 1).
Shape at_least(int ndim, const Shape& in) {
  if (in.ndim() >= ndim) return in;
  if (in.ndim() == 0) return Shape(ndim, 1);
  if (ndim == 2) return {1, in[0]};
  return in.ndim() == 1 ? Shape{1, in[0], 1} : Shape{in[0], in[1], 1};
}

template <int ndim>
void define(const char* name) {
  OpBuilder<AtleastParams>(name)
      .doc("Each array with dimensions of 1 added where it has fewer than the name says.")
      .inputs("arys", "The arrays.", &AtleastParams::num_args, "num_args")
      .param("num_args", &AtleastParams::num_args, "Number of arrays.")
      .at_least<int32_t>(1)
      .input_names([](const AtleastParams& p) { return numbered_names("ary", p.num_args); })
      .outputs([](const AtleastParams& p) { return p.num_args; })
      .infer([](const AtleastParams&, Infer& infer) {
        for (int i = 0; i < infer.num_in(); ++i) {
          infer.in(i).same_dtype(infer.out(i));
          if (infer.in(i).rank_known()) infer.out(i).set_shape(at_least(ndim, infer.in(i).shape()));
        }
      })
      .cpu([](const AtleastParams&, KernelContext& context) {
        for (int i = 0; i < context.num_in(); ++i)
          copy_elements(context.in(i), context.out(i), context);
      })
      .grad([](const AtleastParams&, Grad& grad) {
        Gradients result(static_cast<std::size_t>(grad.num_in()));
        for (int i = 0; i < grad.num_in(); ++i) {
          if (grad.wants(i) && grad.has_dout(i))
            result[static_cast<std::size_t>(i)] = apply("reshape_like", {grad.dout(i), grad.in(i)});
        }
        return result;
      });
}

[[maybe_unused]] const bool defined = [] {
  define<1>("_np_atleast_1d");
  define<2>("_np_atleast_2d");
  define<3>("_np_atleast_3d");
  return mark_portable({"_np_atleast_1d", "_np_atleast_2d", "_np_atleast_3d"});
}();

}  // namespace
}  // namespace mxnet
