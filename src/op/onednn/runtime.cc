// SPDX-License-Identifier: Apache-2.0
// Engine, streams, types and the call of a primitive through the C interface (the C++ one builds a
// hash map of its arguments each time).
#include "op/onednn/runtime.h"

#include <fmt/format.h>
#include <omp.h>

#include <limits>
#include <string_view>

#include "base/config.h"
#include "base/crowd_watch.h"
#include "base/error.h"
#include "base/leaked.h"
#include "base/of_thread.h"
#include "op/inline_vector.h"
#include "op/onednn/key.h"

namespace mxnet::onednn {

Key::Key() { add(omp_get_max_threads()); }

bool enabled() { return config().onednn.enabled; }

const dnnl::engine& engine() {
  static Leaked<dnnl::engine> engine(dnnl::engine::kind::cpu, 0);
  return *engine;
}

const dnnl::stream& stream() {
  struct Of {
    dnnl::stream stream{engine()};
  };
  return of_thread<Of>().stream;
}

dnnl::memory::data_type data_type(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return dnnl::memory::data_type::f32;
    case DType::kFloat16:
      return dnnl::memory::data_type::f16;
    case DType::kBFloat16:
      return dnnl::memory::data_type::bf16;
    case DType::kInt32:
      return dnnl::memory::data_type::s32;
    case DType::kInt8:
      return dnnl::memory::data_type::s8;
    case DType::kUInt8:
      return dnnl::memory::data_type::u8;
    default:
      return dnnl::memory::data_type::undef;
  }
}

bool takes(DType dtype) {
  return dtype == DType::kFloat32 || dtype == DType::kFloat16 || dtype == DType::kBFloat16;
}

bool takes(const Signature& signature) {
  if (!enabled()) return false;
  const auto fits = [](const Tensor& t) {
    return takes(t.dtype) && t.size() > 0 && t.size() <= std::numeric_limits<int32_t>::max();
  };
  return std::ranges::all_of(signature.in, fits) && std::ranges::all_of(signature.out, fits);
}

namespace {
bool may_use(dnnl::cpu_isa isa) {
  const auto needed = static_cast<unsigned>(isa);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & needed) == needed;
}
}  // namespace

bool multiplies_bfloat16() { return may_use(dnnl::cpu_isa::avx512_core_bf16); }
bool multiplies_bfloat16_in_tiles() { return may_use(dnnl::cpu_isa::avx512_core_amx); }

dnnl::memory::data_type inference_type(DType data) {
  const bool narrow =
      (data == DType::kBFloat16 || config().onednn.bfloat16) && multiplies_bfloat16();
  return narrow ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::dims dims(const Shape& shape) { return {shape.begin(), shape.end()}; }

dnnl::memory::desc plain_desc(const dnnl::memory::dims& dims, dnnl::memory::data_type type) {
  dnnl::memory::dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return {dims, type, strides};
}
dnnl::memory::desc plain_desc(const Tensor& tensor) {
  return plain_desc(dims(tensor.shape()), data_type(tensor.dtype));
}

dnnl::primitive_attr attributes() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

// Names like "ref:any" and "simple:any" are those of loops that only define the result.
bool is_reference(const char* implementation) {
  // The second is what pools lines of one dimension: thirty times slower than the plain kernel.
  const std::string_view name = implementation;
  return name.starts_with("ref") || name.starts_with("simple_nchw");
}

bool is_unimplemented(const dnnl::error& error) { return error.status == dnnl_unimplemented; }

void execute(const dnnl::primitive& primitive,
             std::initializer_list<std::pair<int, dnnl_memory_t>> arguments) {
  InlineVector<dnnl_exec_arg_t, 8> list;
  for (const auto& [argument, memory] : arguments)
    if (memory != nullptr) list.push_back({argument, memory});
  execute(primitive, list.span());
}

void execute(const dnnl::primitive& primitive, std::span<const dnnl_exec_arg_t> arguments) {
  look_for_crowd();  // its regions are not ours
  const dnnl_status_t status = dnnl_primitive_execute(
      primitive.get(), stream().get(), static_cast<int>(arguments.size()), arguments.data());
  if (status == dnnl_out_of_memory)
    throw Error(ErrorCode::kOutOfMemory, "onednn", "oneDNN found no memory for its own use");
  MX_ASSERT(status == dnnl_success);
}

}  // namespace mxnet::onednn
