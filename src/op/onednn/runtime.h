// SPDX-License-Identifier: Apache-2.0
// The library oneDNN in this process: its engine, a stream a thread, element types, and how a
// primitive is run. The headers of this folder are the only ones that name dnnl; they are included
// by files called *_onednn.cc and by nothing else.
#pragma once
#include <dnnl.hpp>

#include <initializer_list>
#include <memory>
#include <utility>

#include "base/dtype.h"
#include "op/kernel.h"
#include "op/onednn/instructions.h"

namespace mxnet::onednn {

// MXNET_ONEDNN_ENABLED, as it is now.
bool enabled();

// One for the process, never destroyed. Thread-safe.
const dnnl::engine& engine();
// The calling thread's own. Work on it is done when the call that submitted it returns.
const dnnl::stream& stream();

// oneDNN's name of an element type; undef for what it does not have (float64 among them).
dnnl::memory::data_type data_type(DType dtype);
// float32, float16 and bfloat16: what the kernels of oneDNN here take.
bool takes(DType dtype);
// takes() holds for all arrays of the call, oneDNN is enabled, and no array is empty or so large
// that its offsets need more than the 32 bits that some kernels have for them.
bool takes(const Signature& signature);

// What layers of inference plans compute in on data of this type: bfloat16 where the data are, or
// where MXNET_ONEDNN_BFLOAT16 asks for it, and the CPU multiplies it; float32 otherwise.
dnnl::memory::data_type inference_type(DType data);

// Shape of an array as oneDNN has it.
dnnl::memory::dims dims(const Shape& shape);
// Row-major.
dnnl::memory::desc plain_desc(const Tensor& tensor);
dnnl::memory::desc plain_desc(const dnnl::memory::dims& dims, dnnl::memory::data_type type);

// The scratchpad comes from the workspace of the run instead of from oneDNN.
dnnl::primitive_attr attributes();

bool is_reference(const char* implementation);
bool is_unimplemented(const dnnl::error& error);
// The primitive descriptor that make() gives; null where oneDNN has no implementation, or only its
// slow reference one.
template <class Make>
auto implemented(const Make& make) -> std::unique_ptr<decltype(make())> {
  try {
    auto desc = std::make_unique<decltype(make())>(make());
    return is_reference(desc->impl_info_str()) ? nullptr : std::move(desc);
  } catch (const dnnl::error& error) {
    if (is_unimplemented(error)) return nullptr;
    throw;
  }
}
// make(type) for arrays of this type; for float32 where the CPU has nothing fast for half types, so
// that operands are converted on their way.
template <class Make>
auto implemented_for(DType dtype, const Make& make) {
  auto desc = implemented([&] { return make(data_type(dtype)); });
  if (!desc && dtype != DType::kFloat32)
    desc = implemented([&] { return make(dnnl::memory::data_type::f32); });
  return desc;
}

// Runs `primitive` on memory objects that carry their data.
void execute(const dnnl::primitive& primitive,
             std::initializer_list<std::pair<int, dnnl_memory_t>> arguments);
void execute(const dnnl::primitive& primitive, std::span<const dnnl_exec_arg_t> arguments);

}  // namespace mxnet::onednn
