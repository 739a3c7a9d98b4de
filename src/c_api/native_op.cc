// SPDX-License-Identifier: Apache-2.0
// Operators of users as the first versions had them: "_Native", on float32 in host memory, and
// "_NDArray", on arrays, take the address of a description as a text. Each description is put into
// the words of "Custom", which then runs it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "c_api/address_map.h"
#include "c_api/custom_op.h"
#include "c_api/ndarray_handle.h"
#include "exec/array_op.h"
#include "graph/subgraph_op.h"
#include "ndarray/host_write.h"
#include "op/op_builder.h"

namespace mxnet::c_api {
namespace {

enum Tag { kInput = 0, kOutput = 1, kInputGrad = 2, kOutputGrad = 3 };  // as NativeOpInfo has them

template <class Info>
constexpr const char* kName = std::is_same_v<Info, NativeOpInfo> ? "_Native" : "_NDArray";

// What is the same in both kinds.
struct AnyDescription {
  const char* name;
  bool need_top_grad;
  std::array<int (*)(), 8> callbacks{};
  std::array<void*, 8> contexts{};
};

// Holds a copy, so that the program's own may end before its last call.
template <class Info>
struct Description : AnyDescription {
  Info info;
};

template <class Info>
Description<Info>& description(void* state) {
  return static_cast<Description<Info>&>(*static_cast<AnyDescription*>(state));
}

template <class Function>
int (*any(Function function))() {
  return reinterpret_cast<int (*)()>(reinterpret_cast<void (*)()>(function));
}

// Functions of _Native cannot say that they fail.
template <class Call>
int answer(const Call& call) {
  if constexpr (std::is_void_v<decltype(call())>) {
    call();
    return 1;
  } else {
    return call() ? 1 : 0;
  }
}

// --- _Native: values in host memory

// The arrays of one call, with copies of those that are elsewhere.
class HostValues {
 public:
  // `written`: the kind of arrays that the call computes. Handles end here.
  HostValues(int size, void** handles, const int* tags, Tag written) {
    std::vector<NDArray> arrays;
    for (int i = 0; i < size; ++i) {
      arrays.push_back(array_of(handles[i], kName<NativeOpInfo>));
      ndarray_pool().destroy(handles[i], kName<NativeOpInfo>);
    }
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      if (arrays[i].is_none()) continue;  // not needed
      tags_.push_back(tags[i]);
      add(arrays[i], tags[i] == written);
    }
  }

  void run(void (*body)(int, float**, int*, unsigned**, int*, void*), void* context) {
    std::vector<float*> data;
    std::vector<int> ndims;
    std::vector<unsigned> dims;
    for (const NDArray& array : host_) {
      data.push_back(array.data_as<float>());
      ndims.push_back(array.shape().ndim());
      for (int d = 0; d < array.shape().ndim(); ++d)
        dims.push_back(static_cast<unsigned>(array.shape()[d]));
    }
    std::vector<unsigned*> shapes;
    for (unsigned* shape = dims.data(); const int ndim : ndims) {
      shapes.push_back(shape);
      shape += ndim;
    }
    body(static_cast<int>(data.size()), data.data(), ndims.data(), shapes.data(), tags_.data(),
         context);
    writes_.clear();
    for (std::size_t i = 0; i < host_.size(); ++i)
      if (!back_[i].is_none()) host_[i].copy_to(back_[i]);
  }

 private:
  void add(const NDArray& array, bool written) {
    const bool here = !array.is_sparse() && !array.device().is_gpu();
    const NDArray host =
        here ? array : NDArray(array.shape(), array.dtype(), Device::cpu(), "custom");
    if (!here && !written) array.copy_to(host);
    if (written)
      writes_.emplace_back(host);
    else
      host.wait_to_read();
    host_.push_back(host);
    back_.push_back(here || !written ? NDArray() : array);
  }

  std::vector<NDArray> host_, back_;  // to where results go, if not there
  std::deque<HostWrite> writes_;      // in place: they neither copy nor move
  std::vector<int> tags_;
};

// --- The words of "Custom", of either kind of description

template <class Info>
int drop(void* state) {
  delete &description<Info>(state);
  return 1;
}

template <class Info>
int list_arguments(char*** names, void* state) {
  const Info& info = description<Info>(state).info;
  return answer([&] { return info.list_arguments(names, info.p_list_arguments); });
}

template <class Info>
int list_outputs(char*** names, void* state) {
  const Info& info = description<Info>(state).info;
  return answer([&] { return info.list_outputs(names, info.p_list_outputs); });
}

template <class Info>
int infer_shape(int count, int* ndims, int** shapes, void* state) {
  const Info& info = description<Info>(state).info;
  return answer([&] {
    return info.infer_shape(count, ndims, reinterpret_cast<unsigned**>(shapes), info.p_infer_shape);
  });
}

int infer_type(int count, int* types, void* state) {
  for (int i = 0; i < count; ++i) {
    const auto type = static_cast<DType>(types[i]);
    if (type != DType::kUnknown && type != DType::kFloat32) {
      throw Error(ErrorCode::kType, static_cast<AnyDescription*>(state)->name,
                  fmt::format("given {}, expected float32", dtype_name(type)));
    }
    types[i] = static_cast<int>(DType::kFloat32);
  }
  return 1;
}

// The arrays are numbered one after another.
template <class Info>
int declare_needs(const int* output_grads, const int* inputs, const int* outputs, int* count,
                  int** needs, void* state) {
  const Description<Info>& description = c_api::description<Info>(state);
  if constexpr (std::is_same_v<Info, NDArrayOpInfo>) {
    return answer([&] {
      return description.info.declare_backward_dependency(
          output_grads, inputs, outputs, count, needs,
          description.info.p_declare_backward_dependency);
    });
  } else {
    // An end of the caller's own list, so that threads who ask at once share nothing.
    const std::ptrdiff_t num_out = inputs - output_grads;
    const int* const first = description.need_top_grad ? output_grads : inputs;
    *needs = const_cast<int*>(first);
    *count = static_cast<int>(outputs + num_out - first);
    return 1;
  }
}

// Calls `body`, which computes the arrays of the kind `written`.
template <class Body>
int compute(Body body, void* context, int size, void** ptrs, int* tags, Tag written) {
  if constexpr (std::is_same_v<Body, decltype(NDArrayOpInfo::forward)>) {
    return answer([&] { return body(size, ptrs, tags, context); });
  } else {
    HostValues(size, ptrs, tags, written).run(body, context);
    return 1;
  }
}

template <class Info>
int forward(int size, void** ptrs, int* tags, const int*, const int, void* state) {
  const Info& info = description<Info>(state).info;
  return compute(info.forward, info.p_forward, size, ptrs, tags, kOutput);
}

template <class Info>
int backward(int size, void** ptrs, int* tags, const int*, const int, void* state) {
  const Info& info = description<Info>(state).info;
  return compute(info.backward, info.p_backward, size, ptrs, tags, kInputGrad);
}

// `callbacks` with a description of their own as state.
template <class Info>
MXCallbackList with_state(const Description<Info>& from,
                          std::initializer_list<int (*)()> callbacks) {
  AnyDescription* state = new Description<Info>(from);
  std::copy(callbacks.begin(), callbacks.end(), state->callbacks.begin());
  state->contexts.fill(state);
  return {static_cast<int>(callbacks.size()), state->callbacks.data(), state->contexts.data()};
}

template <class Info>
int create_operator(const char*, int, unsigned**, const int*, const int*, MXCallbackList* made,
                    void* state) {
  *made = with_state(description<Info>(state),
                     {any(drop<Info>), any(forward<Info>), any(backward<Info>)});
  return 1;
}

// --- The operators

struct NativeParams {
  std::string info;
  bool need_top_grad = true;  // descriptions of _NDArray say what they need
  MadeOnce made;
};

[[noreturn]] void refuse(const char* name, const std::string& text, const char* what) {
  throw Error(ErrorCode::kValue, name,
              fmt::format("given info '{}', {}, expected the address, in hexadecimal digits, of a "
                          "description that this process holds",
                          text, what));
}

uintptr_t address_of(const char* name, const std::string& text) {
  const std::string_view digits = std::string_view(text).substr(text.starts_with("0x") ? 2 : 0);
  uintptr_t address = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), address, 16);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size())
    refuse(name, text, "which is no address");
  return address;
}

// Throws Error(kValue) where no description lies at the address.
template <class Info>
Info info_at(const std::string& text) {
  const uintptr_t address = address_of(kName<Info>, text);
  const AddressMap map;
  if (address % alignof(Info) != 0 || !map.readable(address, sizeof(Info)))
    refuse(kName<Info>, text, "where nothing lies");
  const Info& info = *reinterpret_cast<const Info*>(address);
  const auto runs = [&](auto function) { return map.runs(reinterpret_cast<uintptr_t>(function)); };
  bool all = runs(info.forward) && runs(info.backward) && runs(info.infer_shape) &&
             runs(info.list_outputs) && runs(info.list_arguments);
  if constexpr (std::is_same_v<Info, NDArrayOpInfo>)
    all = all && runs(info.declare_backward_dependency);
  if (!all) refuse(kName<Info>, text, "where something else lies");
  return info;
}

template <class Info>
const std::shared_ptr<const CustomProp>& prop_of(const NativeParams& params) {
  return params.made.get([&] {
    const Description<Info> description{{kName<Info>, params.need_top_grad},
                                        info_at<Info>(params.info)};
    return std::make_shared<const CustomProp>(
        kName<Info>, with_state(description, {any(drop<Info>), any(list_arguments<Info>),
                                              any(list_outputs<Info>), nullptr,
                                              any(infer_shape<Info>), any(declare_needs<Info>),
                                              any(create_operator<Info>), any(infer_type)}));
  });
}

template <class Info>
void run(const ParsedAttrsRef& parsed, std::span<NDArray* const> inputs, OutputRefs outputs,
         Device device, NodeState* state) {
  run_custom(prop_of<Info>(*static_cast<const NativeParams*>(parsed->params().get())), parsed,
             inputs, outputs, device, state);
}

template <class Info>
std::vector<std::string> output_names(const void* params) {
  return prop_of<Info>(*static_cast<const NativeParams*>(params))->outputs();
}

// The end of both operators' declarations.
template <class Info>
bool finish(OpBuilder<NativeParams>& op) {
  op.num_inputs([](const NativeParams& params) {
      return static_cast<int>(prop_of<Info>(params)->arguments().size());
    })
      .input_names([](const NativeParams& params) { return input_names(*prop_of<Info>(params)); })
      .outputs([](const NativeParams& params) {
        return static_cast<int>(prop_of<Info>(params)->outputs().size());
      })
      .infer([](const NativeParams& params, Infer& infer) { prop_of<Info>(params)->infer(infer); })
      .shape_from_values();
  return add_array_op(kName<Info>, {run<Info>}) &&
         add_subgraph_op(kName<Info>, {nullptr, output_names<Info>});
}

bool add_native() {
  OpBuilder<NativeParams> op(kName<NativeOpInfo>);
  op.doc("Calls an operator of the user, on float32 in host memory, by its description's address.")
      .input_list("data", "What the operator takes.")
      .param("info", &NativeParams::info, "The address of a NativeOpInfo.")
      .type_text("ptr, required")
      .param("need_top_grad", &NativeParams::need_top_grad, true,
             "Whether its gradient needs those of the outputs.");
  return finish<NativeOpInfo>(op);
}

bool add_ndarray() {
  OpBuilder<NativeParams> op(kName<NDArrayOpInfo>);
  op.doc("Calls an operator of the user, on float32 arrays, by its description's address.")
      .input_list("data", "What the operator takes.")
      .param("info", &NativeParams::info, "The address of an NDArrayOpInfo.")
      .type_text("ptr, required");
  return finish<NDArrayOpInfo>(op);
}

[[maybe_unused]] const bool added = add_native() && add_ndarray();

}  // namespace
}  // namespace mxnet::c_api
