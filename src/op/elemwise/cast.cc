// SPDX-License-Identifier: Apache-2.0
// Changes of the element type: Cast, and those of automatic mixed precision, which touch floating
// arrays only.
#include <algorithm>

#include "op/loops/as_type.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"
#include "op/pointwise.h"
#include "op/run/gpu.h"

namespace mxnet {
namespace {

struct CastParams {
  DType dtype;
};

template <class P>
void cast_cpu(const P&, KernelContext& context) {
  for (int i = 0; i < context.num_out(); ++i)
    convert_tensor(context.in(i), context.out(i), context);
}

Value back_to(const Value& gradient, const Value& like) {
  return apply("_cast_like", {gradient, like});
}
Gradients cast_gradient(const CastParams&, Grad& grad) {
  return {back_to(grad.dout(0), grad.in(0))};
}

MX_OP(Cast, CastParams)
.doc("Elements converted to another type.")
    .alias("_npi_cast")
    .alias("_npx_cast")
    .alias("cast")
    .input("data", "The array.")
    .dtype_param("dtype", &CastParams::dtype, kAllTypes, false, nullptr, "Type of the result.")
    .inplace(0, 0)
    .infer([](const CastParams& p, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      infer.out(0).set_dtype(p.dtype);
    })
    .cpu(cast_cpu<CastParams>)
    .grad(cast_gradient);

MX_OP(amp_cast, CastParams)
.doc("Floating arrays converted to another type; others are given back.")
    .input("data", "The array.")
    .dtype_param("dtype", &CastParams::dtype, kNumeric, false, nullptr, "Type of the result.")
    .inplace(0, 0)
    .infer([](const CastParams& p, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      const DType in = infer.in(0).dtype();
      if (in != DType::kUnknown) infer.out(0).set_dtype(is_floating(in) ? p.dtype : in);
    })
    .cpu(cast_cpu<CastParams>)
    .grad(cast_gradient);

[[maybe_unused]] const bool pointwise = (mark_pointwise("Cast"), mark_pointwise("amp_cast"), true);

struct MulticastParams {
  int32_t num_outputs;
  bool cast_narrow;
};

// The widest (or narrowest) floating type among the inputs; float32 is wider than bfloat16, which
// is wider than float16.
int width(DType dtype) {
  return dtype == DType::kFloat64 ? 3 : dtype == DType::kFloat32 ? 2 : dtype == DType::kBFloat16;
}

void infer_multicast(const MulticastParams& p, Infer& infer) {
  for (int i = 0; i < infer.num_in(); ++i) infer.in(i).same_shape(infer.out(i));
  DType chosen = DType::kUnknown;
  for (int i = 0; i < infer.num_in(); ++i) {
    const DType type = infer.in(i).dtype();
    if (type == DType::kUnknown) return;
    if (!is_floating(type)) continue;
    const bool better = p.cast_narrow ? width(type) < width(chosen) : width(type) > width(chosen);
    if (chosen == DType::kUnknown || better) chosen = type;
  }
  for (int i = 0; i < infer.num_in(); ++i) {
    const DType type = infer.in(i).dtype();
    infer.out(i).set_dtype(is_floating(type) ? chosen : type);
  }
}

MX_OP(amp_multicast, MulticastParams)
.doc("Floating arrays converted to the widest type among them.")
    .inputs("data", "The arrays.", &MulticastParams::num_outputs, "")
    .outputs([](const MulticastParams& p) { return int{p.num_outputs}; })
    .visible_outputs([](const MulticastParams& p) { return int{p.num_outputs}; })
    .input_names([](const MulticastParams& p) { return numbered_names("data_", p.num_outputs); })
    .param("num_outputs", &MulticastParams::num_outputs, "Number of arrays.")
    .param("cast_narrow", &MulticastParams::cast_narrow, false, "The narrowest type instead.")
    .infer(infer_multicast)
    .cpu(cast_cpu<MulticastParams>)
    .grad([](const MulticastParams&, Grad& grad) {
      Gradients result;
      for (int i = 0; i < grad.num_in(); ++i)
        result.push_back(grad.wants(i) ? back_to(grad.dout(i), grad.in(i)) : Value());
      return result;
    });

// What gradients of mixed types are made of.
MX_OP(_cast_like, NoParams)
.doc("`data` in the type of `like`.")
    .input("data", "The array.")
    .input("like", "Its type is that of the result.")
    .type_only(1)
    .inplace(0, 0)
    .infer([](const NoParams&, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      infer.out(0).same_dtype(infer.in(1));
    })
    .cpu(cast_cpu<NoParams>)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{back_to(grad.dout(0), grad.in(0)), Value()};
    });

[[maybe_unused]] const bool portable =
    mark_portable({"Cast", "amp_cast", "amp_multicast", "_cast_like"});

}  // namespace
}  // namespace mxnet
