// SPDX-License-Identifier: Apache-2.0
// Concatenation and stacking. The operators differ in what they take their arrays for (a row, a
// column, a page) and along which dimension they then lay them side by side.
#include <fmt/format.h>

#include "op/inline_vector.h"
#include "op/length.h"
#include "op/op_builder.h"
#include "op/params/dense_and_sparse.h"
#include "op/run/gpu.h"
#include "op/shape/joining.h"

namespace mxnet {
namespace {

enum class Join : uint8_t {
  kConcat,
  kConcatenate,
  // The release's stack takes arrays of the first one's length in whatever shape, in that of the
  // first: programs stack an index (n,) with a column (n, 1) of drawn categories.
  kStack,
  kNumpyStack,
  kHstack,
  kVstack,
  kDstack,
  kColumns
};

// An operator, and its gradient _backward_<name>: the gradient of the result, then the arrays, for
// their shapes.
struct JoinOp {
  Join kind;
  const char* name;

  std::string backward_name() const { return std::string("_backward_") + name; }
};

// An array as the operator sees it.
Shape part_shape(Join kind, const JoinParams& params, const Shape& in, const char* tag) {
  const int ndim = in.ndim();
  switch (kind) {
    case Join::kConcat:
    case Join::kHstack:
      return ndim == 0 && kind == Join::kHstack ? Shape{1} : in;
    case Join::kConcatenate:
      return params.axis ? in : Shape{in.known() ? in.size() : Shape::kUnknownDim};
    case Join::kStack:
    case Join::kNumpyStack: {
      const int axis = normalize_axis(params.dim, ndim + 1, tag);
      Shape out = Shape::scalar();
      for (int i = 0; i <= ndim; ++i) out.push_back(i == axis ? 1 : in[i < axis ? i : i - 1]);
      return out;
    }
    case Join::kVstack:
      return ndim == 0 ? Shape{1, 1} : ndim == 1 ? Shape{1, in[0]} : in;
    case Join::kDstack:
      return ndim == 0   ? Shape{1, 1, 1}
             : ndim == 1 ? Shape{1, in[0], 1}
             : ndim == 2 ? Shape{in[0], in[1], 1}
                         : in;
    case Join::kColumns:
      return ndim == 0 ? Shape{1, 1} : ndim == 1 ? Shape{in[0], 1} : in;
  }
  return in;
}

// The dimension of the result along which the parts lie.
int join_axis(Join kind, const JoinParams& params, int ndim, const char* tag) {
  switch (kind) {
    case Join::kConcat:
    case Join::kStack:
    case Join::kNumpyStack:
      return normalize_axis(params.dim, ndim, tag);
    case Join::kConcatenate:
      return normalize_axis(params.axis.value_or(0), ndim, tag);
    case Join::kHstack:
      return ndim == 1 ? 0 : 1;
    case Join::kVstack:
      return 0;
    case Join::kDstack:
      return 2;
    case Join::kColumns:
      return 1;
  }
  return 0;
}

bool same_length(const InferArg& a, const InferArg& b) {
  return a.known() && b.known() && a.shape().size() == b.shape().size();
}

// What is known of the result while some dimensions of the parts are not; where parts do not fit is
// said once all are.
void infer_joined_partly(Join kind, const JoinParams& params, Infer& infer, const char* tag) {
  for (int i = 0; i < infer.num_in(); ++i)
    if (!infer.in(i).rank_known()) return;
  Shape out = part_shape(kind, params, infer.in(0).shape(), tag);
  const int axis = join_axis(kind, params, out.ndim(), tag);
  for (int i = 1; i < infer.num_in(); ++i) {
    const Shape part = part_shape(kind, params, infer.in(i).shape(), tag);
    if (part.ndim() != out.ndim()) return;
    for (int d = 0; d < out.ndim(); ++d)
      if (d != axis && out[d] < 0) out[d] = part[d];
    out[axis] = length::plus(out[axis], part[axis]);
  }
  infer.out(0).set_shape(out);
}

bool parts_known(Infer& infer) {
  for (int i = 0; i < infer.num_in(); ++i)
    if (!infer.in(i).known()) return false;
  return true;
}

void infer_joined(Join kind, const JoinParams& params, Infer& infer, const char* tag) {
  infer.one_dtype();
  if (!parts_known(infer)) return infer_joined_partly(kind, params, infer, tag);
  Shape out = part_shape(kind, params, infer.in(0).shape(), tag);
  const int axis = join_axis(kind, params, out.ndim(), tag);
  for (int i = 1; i < infer.num_in(); ++i) {
    if (kind == Join::kStack && same_length(infer.in(0), infer.in(i))) {
      ++out[axis];
      continue;
    }
    const Shape part = part_shape(kind, params, infer.in(i).shape(), tag);
    bool fits = part.ndim() == out.ndim();
    for (int d = 0; fits && d < out.ndim(); ++d) fits = d == axis || part[d] == out[d];
    if (!fits) {
      infer.in(i).fail(fmt::format("the shape of {}, {}, but for dimension {}", infer.in(0).name(),
                                   to_string(infer.in(0).shape()), axis));
    }
    out[axis] += part[axis];
  }
  infer.out(0).set_shape(out);
}

// What shapes that are not known yet follow from the others. Along the axis of a concatenation:
// what the result holds beyond the other parts; with `evenly` several that are missing share it.
void infer_concat_parts(int dim, Infer& infer, const char* tag, bool evenly) {
  Shape common = infer.out(0).shape();
  for (int i = 0; i < infer.num_in() && !common.rank_known(); ++i) common = infer.in(i).shape();
  if (!common.rank_known() || common.ndim() == 0) return;
  const int axis = normalize_axis(dim, common.ndim(), tag);
  common[axis] = Shape::kUnknownDim;
  const auto learn = [&](InferArg arg) {
    if (!arg.rank_known() || arg.ndim() != common.ndim()) return;
    for (int d = 0; d < common.ndim(); ++d)
      if (d != axis && common[d] < 0) common[d] = arg.dim(d);
  };
  for (int i = 0; i < infer.num_in(); ++i) learn(infer.in(i));
  learn(infer.out(0));
  InlineVector<int, 8> missing;
  int64_t total = 0;
  for (int i = 0; i < infer.num_in(); ++i) {
    infer.in(i).set_shape(common);
    const int64_t length = infer.in(i).dim(axis);
    if (length < 0) {
      missing.push_back(i);
    } else {
      total += length;
    }
  }
  if (missing.empty()) common[axis] = total;
  infer.out(0).set_shape(common);
  const int64_t whole = infer.out(0).dim(axis);
  if (missing.empty() || whole < total || (missing.size() > 1 && !evenly)) return;
  const auto count = static_cast<int64_t>(missing.size());
  if ((whole - total) % count != 0) return;
  for (int i : missing.span()) infer.in(i).set_dim(axis, (whole - total) / count);
}

// Arrays of one shape, or length; the result's without the new dimension.
void infer_stack_parts(Join kind, const JoinParams& params, Infer& infer, const char* tag) {
  InferArg first = infer.in(0);
  const Shape& out = infer.out(0).shape();
  if (out.rank_known() && out.ndim() > 0) {
    const int axis = normalize_axis(params.dim, out.ndim(), tag);
    Shape part = Shape::scalar();
    for (int i = 0; i < out.ndim(); ++i)
      if (i != axis) part.push_back(out[i]);
    first.set_shape(part);
  }
  for (int pass = 0; pass < 2; ++pass)
    for (int i = 1; i < infer.num_in(); ++i)
      if (kind != Join::kStack || !same_length(first, infer.in(i))) first.same_shape(infer.in(i));
}

Attrs without_count(const Attrs& attrs) {
  Attrs result;
  for (const auto& attr : attrs)
    if (attr.first != "num_args") result.push_back(attr);
  return result;
}

void infer_join(const JoinOp& op, const JoinParams& params, Infer& infer) {
  const char* const tag = op.name;
  if (op.kind == Join::kConcat) {
    // Both directions of a recurrent layer take the same input.
    const bool evenly = std::string_view(op.name) == "_rnn_param_concat";
    infer_concat_parts(params.dim, infer, tag, evenly);
  }
  if (op.kind == Join::kConcatenate && params.axis && !parts_known(infer))
    infer_concat_parts(*params.axis, infer, tag, false);
  if (op.kind == Join::kStack || op.kind == Join::kNumpyStack)
    infer_stack_parts(op.kind, params, infer, tag);
  infer_joined(op.kind, params, infer, tag);
}
void join_parts(const JoinOp& op, const JoinParams& params, KernelContext& context) {
  InlineVector<Tensor, 8> parts;
  for (int i = 0; i < context.num_in(); ++i) parts.push_back(context.in(i));
  const Tensor& whole = context.out(0);
  copy_parts(whole, join_axis(op.kind, params, whole.ndim(), op.name), parts.span(),
             PartsCopy::kJoin, context);
}
Gradients join_gradient(const JoinOp& op, Grad& grad) {
  std::vector<Value> inputs{grad.dout(0)};
  for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
  Attrs attrs = without_count(grad.attrs());
  attrs.emplace_back("num_args", std::to_string(grad.num_in()));
  const Value parts = apply(op.backward_name(), inputs, std::move(attrs));
  Gradients result;
  for (int i = 0; i < grad.num_in(); ++i) result.push_back(output(parts, i));
  return result;
}

void infer_gradients(const JoinOp& op, const JoinParams& params, Infer& infer) {
  InlineVector<InferArg, 8> parts;
  for (int i = 1; i < infer.num_in(); ++i) parts.push_back(infer.in(i));
  const InferArg whole[] = {infer.in(0)};
  infer.follow([&](Infer& forward) { infer_join(op, params, forward); }, parts.span(), whole);
  for (int i = 0; i < infer.num_out(); ++i) {
    infer.out(i).same_shape(infer.in(1 + i));
    infer.out(i).same_dtype(infer.in(0));
  }
}
void split_gradients(const JoinOp& op, const JoinParams& params, KernelContext& context) {
  InlineVector<Tensor, 8> parts;
  for (int i = 0; i < context.num_out(); ++i) parts.push_back(context.out(i));
  const Tensor& whole = context.in(0);
  copy_parts(whole, join_axis(op.kind, params, whole.ndim(), op.name), parts.span(),
             PartsCopy::kSplit, context);
}
Gradients gradient_of_gradients(const JoinOp& op, const JoinParams& params, Grad& grad) {
  std::vector<Value> parts;
  parts.reserve(static_cast<std::size_t>(params.num_args));
  for (int i = 0; i < params.num_args; ++i) parts.push_back(grad.dout(i));
  Gradients result(static_cast<std::size_t>(grad.num_in()));
  result[0] = apply(op.name, parts, without_count(grad.attrs()));
  return result;
}

// The functions of an operator, which know no more than which one it is.
struct JoinFunctions {
  void (*infer)(const JoinParams&, Infer&);
  void (*join)(const JoinParams&, KernelContext&);
  Gradients (*gradient)(const JoinParams&, Grad&);
  void (*infer_back)(const JoinParams&, Infer&);
  void (*split)(const JoinParams&, KernelContext&);
  Gradients (*gradient_back)(const JoinParams&, Grad&);
};
template <const JoinOp& kOp>
constexpr JoinFunctions kFunctions = {
    [](const JoinParams& params, Infer& infer) { infer_join(kOp, params, infer); },
    [](const JoinParams& params, KernelContext& context) { join_parts(kOp, params, context); },
    [](const JoinParams&, Grad& grad) { return join_gradient(kOp, grad); },
    [](const JoinParams& params, Infer& infer) { infer_gradients(kOp, params, infer); },
    [](const JoinParams& params, KernelContext& context) { split_gradients(kOp, params, context); },
    [](const JoinParams& params, Grad& grad) { return gradient_of_gradients(kOp, params, grad); }};

void define_backward(const JoinOp& which, const JoinFunctions& functions,
                     void (*declare)(OpBuilder<JoinParams>&)) {
  OpBuilder<JoinParams> op(which.backward_name().c_str());
  op.doc("Gradients of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the result.")
      .input("data", "The arrays; only their shapes matter.")
      .num_inputs([](const JoinParams& p) { return 1 + p.num_args; })
      .outputs([](const JoinParams& p) { return p.num_args; })
      .infer(functions.infer_back)
      .cpu(functions.split)
      .grad(functions.gradient_back);
  mark_portable({which.name, which.backward_name()});
  for (int i = 1; i < 64; ++i) op.type_only(i);
  op.param("num_args", &JoinParams::num_args, "Number of arrays.");
  declare(op);
}

OpBuilder<JoinParams> define(const JoinOp& which, const JoinFunctions& functions, const char* doc,
                             void (*declare)(OpBuilder<JoinParams>&), bool count_first = true) {
  OpBuilder<JoinParams> op(which.name);
  op.doc(doc).inputs("data", "The arrays.", &JoinParams::num_args, "num_args");
  if (!count_first) declare(op);
  op.param("num_args", &JoinParams::num_args, "Number of arrays.").at_least<int32_t>(1);
  if (count_first) declare(op);
  op.infer(functions.infer).cpu(functions.join).grad(functions.gradient);
  define_backward(which, functions, declare);
  return op;
}
template <const JoinOp& kOp, class... Rest>
OpBuilder<JoinParams> define(const char* doc, Rest... rest) {
  return define(kOp, kFunctions<kOp>, doc, rest...);
}

// Automatic names of variables: arg0, arg1, ... or data0, data1, ...
std::vector<std::string> arg_names(const JoinParams& params) {
  std::vector<std::string> names;
  names.reserve(static_cast<std::size_t>(params.num_args));
  for (int i = 0; i < params.num_args; ++i) names.push_back("arg" + std::to_string(i));
  return names;
}

void no_params(OpBuilder<JoinParams>&) {}
void dim_param(OpBuilder<JoinParams>& op) {
  op.param("dim", &JoinParams::dim, 1, "The dimension along which the arrays are joined.");
}
void unused_dim_param(OpBuilder<JoinParams>& op) {
  op.param("dim", &JoinParams::dim, 1,
           "Accepted for compatibility: the dimension follows from the name.");
}
void stack_param(OpBuilder<JoinParams>& op) {
  op.param("axis", &JoinParams::dim, 0, "Position of the new dimension in the result.");
}
void axis_param(OpBuilder<JoinParams>& op) {
  op.listed("dim", "int, optional, default='1'", "Not accepted: the parameter is called axis.");
  op.param("axis", &JoinParams::axis, 0,
           "The dimension along which the arrays are joined; None joins them as rows.")
      .unlisted();
}

constexpr JoinOp kConcat = {Join::kConcat, "Concat"};
constexpr JoinOp kRnn = {Join::kConcat, "_rnn_param_concat"};
constexpr JoinOp kConcatenate = {Join::kConcatenate, "_npi_concatenate"};
constexpr JoinOp kStack = {Join::kStack, "stack"};
constexpr JoinOp kNumpyStack = {Join::kNumpyStack, "_npi_stack"};
constexpr JoinOp kHstack = {Join::kHstack, "_npi_hstack"};
constexpr JoinOp kVstack = {Join::kVstack, "_npi_vstack"};
constexpr JoinOp kDstack = {Join::kDstack, "_npi_dstack"};
constexpr JoinOp kColumns = {Join::kColumns, "_npi_column_stack"};

[[maybe_unused]] const bool defined = [] {
  define<kConcat>("Arrays joined along a dimension.", dim_param)
      .alias("concat")
      .alias("_sparse_concat")
      .input_names(arg_names);
  define<kRnn>("Parameters of a recurrent layer joined in one array.", dim_param)
      .alias("_npi_rnn_param_concat")
      .input_names(arg_names);
  define<kConcatenate>("Arrays joined along a dimension.", axis_param).output("out");
  define<kStack>("Arrays joined along a new dimension.", stack_param, false).input_names(arg_names);
  define<kNumpyStack>("Arrays joined along a new dimension.", stack_param, false)
      .input_names(arg_names);
  define<kHstack>(
      "Arrays side by side: along the second dimension, or the only "
      "one.",
      unused_dim_param)
      .output("out");
  define<kVstack>("Arrays (rows, where they have one dimension) below each other.", no_params)
      .input_names(arg_names);
  define<kDstack>("Arrays behind each other, along the third dimension.", unused_dim_param)
      .output("out");
  define<kColumns>(
      "Arrays (columns, where they have one dimension) side by "
      "side.",
      no_params)
      .input_names(arg_names);
  return true;
}();

}  // namespace
}  // namespace mxnet
