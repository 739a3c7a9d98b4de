// SPDX-License-Identifier: Apache-2.0
// From an extension's table to the registry's description of an operator.
#include "c_api/ext_operator.h"

#include <fmt/format.h>

#include "c_api/ext_graph.h"
#include "graph/load.h"
#include "graph/subgraph_op.h"
#include "op/numbered_names.h"
#include "op/op_builder.h"

namespace mxnet {

using c_api::ExtParams;

// Fills what the typed builder fills, from a table instead of C++ types.
template <>
class OpBuilder<ExtParams> {
 public:
  using Run = void (*)(const void*, KernelContext&);

  template <class Counts>
  OpBuilder(const std::string& name, const MXExtOp& op, Counts /*of inputs and outputs*/)
      : op_(std::make_unique<OpDef>(name)) {
    op_->doc_ = "An operator of an extension library.";
    op_->args_.push_back({"data", "NDArray-or-Symbol[]", "What the operator takes."});
    op_->schema_.set_factory([&op] {
      auto params = std::make_shared<ExtParams>();
      params->op = &op;
      return std::static_pointer_cast<void>(std::move(params));
    });
    op_->num_inputs_ = [](const void* p) { return Counts::inputs(as(p)); };
    op_->num_outputs_ = Counts::outputs;
    op_->input_names_ =
        +[](const ExtParams& params) { return numbered_names("input", Counts::inputs(params)); };
    op_->inline_ = false;  // nobody knows how long it takes
  }
  // Called with all that the caller has given, last.
  OpBuilder& parse(void (*parse)(ExtParams*, std::string_view)) {
    op_->schema_.add(
        {"**", "", "Parameters of the operator itself.", false,
         [parse](void* p, std::string_view text) { parse(static_cast<ExtParams*>(p), text); },
         nullptr, false});
    return *this;
  }
  OpBuilder& infer(void (*rule)(const ExtParams&, Infer&)) {
    op_->infer_ = rule;
    return *this;
  }
  OpBuilder& mutates() {
    op_->mutated_ = [](const void* p) { return as(p).mutated; };
    return *this;
  }
  OpBuilder& cpu(Run run) {
    op_->kernels_.push_back({"extension", DeviceType::kCPU, {}, run});
    return *this;
  }
  OpBuilder& grad(Gradients (*rule)(const ExtParams&, Grad&)) {
    op_->grad_ = rule;
    op_->loss_ = true;  // it may be one, as any function of a user
    return *this;
  }
  OpBuilder& on_arrays() {
    op_->shape_from_values_ = +[](const ExtParams&, int) { return true; };
    return *this;
  }
  std::unique_ptr<OpDef> finish() { return std::move(op_); }

 private:
  static const ExtParams& as(const void* p) { return *static_cast<const ExtParams*>(p); }
  std::unique_ptr<OpDef> op_;
};

namespace c_api {
namespace {

bool has(const MXExtOp& op, int32_t flag) { return (op.flags & flag) != 0; }

struct OfForward {
  static int inputs(const ExtParams& params) { return params.num_inputs; }
  static int outputs(const ExtParams& params) { return params.num_outputs; }
};
// A gradient takes the outputs' gradients, inputs and outputs; it gives one for each input.
struct OfGradient {
  static int inputs(const ExtParams& params) { return params.num_inputs + 2 * params.num_outputs; }
  static int outputs(const ExtParams& params) { return params.num_inputs; }
};

void ask_mutated(ExtParams* params, const MXExtAttrs& attrs) {
  if (params->op->mutated == nullptr) return;
  params->mutated.resize(static_cast<std::size_t>(params->num_inputs));
  int32_t count = 0;
  call_extension(params->op->name, [&](MXExtMessage* message) {
    return params->op->mutated(params->op->self, &attrs, params->mutated.data(), params->num_inputs,
                               &count, message);
  });
  params->mutated.resize(static_cast<std::size_t>(count));
  for (const int i : params->mutated) {
    if (i < 0 || i >= params->num_inputs) {
      throw Error(ErrorCode::kValue, params->op->name,
                  fmt::format("given input {} as one that is written, expected one of {}", i,
                              params->num_inputs));
    }
  }
}

void ask_counts(ExtParams* params) {
  const MXExtOp& op = *params->op;
  const ExtAttrList attrs(params->attrs);
  const MXExtAttrs lent = attrs.get();
  if (op.counts != nullptr) {
    call_extension(op.name, [&](MXExtMessage* message) {
      return op.counts(op.self, &lent, &params->num_inputs, &params->num_outputs, message);
    });
    if (params->num_inputs < 0 || params->num_outputs < 1) {
      throw Error(ErrorCode::kValue, op.name,
                  fmt::format("given {} inputs and {} outputs by the extension, expected 0 or more "
                              "and 1 or more",
                              params->num_inputs, params->num_outputs));
    }
  }
  ask_mutated(params, lent);
}

void parse(ExtParams* params, std::string_view rest) {
  std::vector<std::string> texts;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    texts.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) {
    if (texts[i].starts_with("__") && texts[i].ends_with("__")) continue;  // the network's own
    params->attrs.emplace_back(std::move(texts[i]), std::move(texts[i + 1]));
  }
  if (!has(*params->op, kMXExtSubgraph)) ask_counts(params);
}

void infer_types(const ExtParams& params, Infer& infer) {
  const MXExtOp& op = *params.op;
  std::vector<int32_t> in, out(static_cast<std::size_t>(infer.num_out()), -1);
  for (int i = 0; i < infer.num_in(); ++i) {
    if (infer.in(i).dtype() == DType::kUnknown) return;
    in.push_back(static_cast<int32_t>(infer.in(i).dtype()));
  }
  const ExtAttrList attrs(params.attrs);
  const MXExtAttrs lent = attrs.get();
  call_extension(op.name, [&](MXExtMessage* message) {
    return op.infer_types(op.self, &lent, in.data(), infer.num_in(), out.data(), infer.num_out(),
                          message);
  });
  const auto dtype = [&](int32_t number) {
    const auto type = static_cast<DType>(number);
    if (type != DType::kUnknown && !kAllTypes.contains(type))
      infer.fail(fmt::format("given type {} by the extension, expected one there is", number));
    return type;
  };
  for (int i = 0; i < infer.num_in(); ++i)
    infer.in(i).set_dtype(dtype(in[static_cast<std::size_t>(i)]));
  for (int o = 0; o < infer.num_out(); ++o)
    infer.out(o).set_dtype(dtype(out[static_cast<std::size_t>(o)]));
}

void infer_shapes(const ExtParams& params, Infer& infer) {
  const MXExtOp& op = *params.op;
  std::vector<MXExtShape> in, out(static_cast<std::size_t>(infer.num_out()), MXExtShape{-1, {}});
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).known()) return;
    in.push_back(ext_shape(infer.in(i).shape()));
  }
  const ExtAttrList attrs(params.attrs);
  const MXExtAttrs lent = attrs.get();
  call_extension(op.name, [&](MXExtMessage* message) {
    return op.infer_shapes(op.self, &lent, in.data(), infer.num_in(), out.data(), infer.num_out(),
                           message);
  });
  for (int i = 0; i < infer.num_in(); ++i)
    infer.in(i).set_shape(shape_of_ext(in[static_cast<std::size_t>(i)]));
  for (int o = 0; o < infer.num_out(); ++o)
    infer.out(o).set_shape(shape_of_ext(out[static_cast<std::size_t>(o)]));
}

void infer_forward(const ExtParams& params, Infer& infer) {
  const bool types = has(*params.op, kMXExtInferTypes), shapes = has(*params.op, kMXExtInferShapes);
  if (params.part && !types && !shapes) {
    Registry::get().at("_CachedOp").infer(params.part.get(), infer);
    return;
  }
  if (types) {
    infer_types(params, infer);
  } else {
    infer.one_dtype();
  }
  if (shapes) infer_shapes(params, infer);
}

void infer_gradient(const ExtParams& params, Infer& infer) {
  for (int i = 0; i < params.num_inputs; ++i)
    infer.out(i).same_as(infer.in(params.num_outputs + i));
  for (int o = 0; o < params.num_outputs; ++o)
    infer.in(o).same_as(infer.in(params.num_outputs + params.num_inputs + o));
}

void* workspace(const MXExtCall* call, size_t bytes) noexcept {
  try {
    return static_cast<const KernelContext*>(call->host)->workspace(bytes);
  } catch (...) {  // no memory
    return nullptr;
  }
}

using Body = int (*MXExtOp::*)(void*, const MXExtCall*, MXExtMessage*);

void run_body(const void* p, KernelContext& context, Body body) {
  const ExtParams& params = *static_cast<const ExtParams*>(p);
  std::vector<MXExtTensor> in, out;
  for (int i = 0; i < context.num_in(); ++i)
    in.push_back(ext_tensor(context.in(i).data, context.in(i).shape(), context.in(i).dtype,
                            context.device()));
  for (int o = 0; o < context.num_out(); ++o)
    out.push_back(ext_tensor(context.out(o).data, context.out(o).shape(), context.out(o).dtype,
                             context.device()));
  const ExtAttrList attrs(params.attrs);
  const MXExtCall call{attrs.get(),      in.data(),         out.data(),
                       context.num_in(), context.num_out(), context.training() ? 1 : 0,
                       nullptr,          workspace,         &context};
  call_extension(params.op->name, [&](MXExtMessage* message) {
    return (params.op->*body)(params.op->self, &call, message);
  });
}

Gradients gradient(const ExtParams& params, Grad& grad) {
  std::vector<Value> inputs;
  inputs.reserve(static_cast<std::size_t>(grad.num_in()) +
                 2 * static_cast<std::size_t>(grad.num_out()));
  for (int o = 0; o < grad.num_out(); ++o) inputs.push_back(grad.dout(o));
  for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
  for (int o = 0; o < grad.num_out(); ++o) inputs.push_back(grad.out(o));
  const Value node = apply(ext_gradient_name(*params.op), inputs, grad.attrs());
  Gradients gradients;
  for (int i = 0; i < grad.num_in(); ++i) gradients.push_back(output(node, i));
  return gradients;
}

void check_table(const MXExtOp& op) {
  const auto expect = [&](bool there, const char* what) {
    if (!there) throw Error(ErrorCode::kValue, op.name, fmt::format("expected {}", what));
  };
  expect(has(op, kMXExtForward | kMXExtState), "a forward or a state");
  expect(has(op, kMXExtSubgraph) || op.counts != nullptr, "its numbers of inputs and outputs");
  expect(has(op, kMXExtSubgraph | kMXExtInferShapes), "inference of shapes");
  expect(!has(op, kMXExtForward) || op.forward != nullptr, "forward");
  expect(!has(op, kMXExtBackward) || op.backward != nullptr, "backward");
  expect(!has(op, kMXExtInferTypes) || op.infer_types != nullptr, "infer_types");
  expect(!has(op, kMXExtInferShapes) || op.infer_shapes != nullptr, "infer_shapes");
  expect(!has(op, kMXExtState) || (op.create_state != nullptr && op.state_forward != nullptr &&
                                   op.state_backward != nullptr && op.destroy_state != nullptr),
         "the functions of a state");
}

}  // namespace

ExtAttrList::ExtAttrList(const Attrs& attrs) {
  for (const auto& [key, value] : attrs) {
    keys_.push_back(key.c_str());
    values_.push_back(value.c_str());
  }
}

std::string ext_gradient_name(const MXExtOp& op) { return fmt::format("_backward_{}", op.name); }

std::vector<std::unique_ptr<OpDef>> make_ext_ops(const MXExtOp& op) {
  if (op.name == nullptr)
    throw Error(ErrorCode::kValue, "MXLoadLib", "given an operator without a name");
  check_table(op);
  std::vector<std::unique_ptr<OpDef>> made;
  OpBuilder<ExtParams> forward(op.name, op, OfForward());
  forward.parse(parse).infer(infer_forward);
  if (op.mutated != nullptr || has(op, kMXExtSubgraph)) forward.mutates();
  if (has(op, kMXExtState)) {
    forward.on_arrays();
  } else {
    forward.cpu([](const void* p, KernelContext& c) { run_body(p, c, &MXExtOp::forward); });
    if (has(op, kMXExtBackward)) {
      forward.grad(gradient);
      made.push_back(
          OpBuilder<ExtParams>(ext_gradient_name(op), op, OfGradient())
              .parse(parse)
              .infer(infer_gradient)
              .cpu([](const void* p, KernelContext& c) { run_body(p, c, &MXExtOp::backward); })
              .finish());
    }
  }
  made.push_back(forward.finish());
  return made;
}

ParamsPtr bind_ext_part(const void* given,
                        std::span<const std::shared_ptr<const ir::Graph>> graphs) {
  const OpDef& whole = Registry::get().at("_CachedOp");
  const auto& unbound = *static_cast<const ExtParams*>(given);
  auto params = std::make_shared<ExtParams>();
  params->op = unbound.op;
  params->attrs = unbound.attrs;
  params->part = params_with_subgraphs(whole, whole.parse({}), graphs);
  params->num_inputs = whole.num_inputs(params->part.get());
  params->num_outputs = whole.num_outputs(params->part.get());
  params->mutated = whole.mutated_inputs(params->part.get());
  params->attrs.emplace_back(MX_STR_SUBGRAPH_SYM_JSON, save_symbol(Symbol(*graphs[0])));
  return params;
}

std::vector<std::string> ext_part_output_names(const void* given) {
  const auto& params = *static_cast<const ExtParams*>(given);
  if (params.num_outputs == 1) return {"output"};
  return numbered_names("output", params.num_outputs);
}

}  // namespace c_api
}  // namespace mxnet
