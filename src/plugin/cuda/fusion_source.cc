// SPDX-License-Identifier: Apache-2.0
// Stringises the rows and writes kernels of them.
#include "plugin/cuda/fusion_source.h"

#include <fmt/format.h>

#include <string_view>

#include "base/error.h"
#include "op/elemwise/binary_rows.h"
#include "op/elemwise/unary_rows.h"
#include "plugin/cuda/row_words_text.h"

namespace mxnet::cuda {
namespace {

using Kind = RowText::Kind;

constexpr RowText kRows[] = {
#define MX_REAL(name, aliases, doc, value, slope, uses) \
  {#name, Kind::kUnary, #value, true}, {#name, Kind::kUnarySlope, "dy * (" #slope ")", true},
#define MX_EXACT(name, aliases, doc, value, slope, uses) \
  {#name, Kind::kUnary, #value, false}, {#name, Kind::kUnarySlope, "dy * (" #slope ")", true},
    MX_UNARY_ROWS(MX_REAL) MX_UNARY_EXACT_ROWS(MX_EXACT)
#undef MX_REAL
#undef MX_EXACT
#define MX_BINARY(name, doc, value, slope_a, slope_b)              \
  {#name, Kind::kBinary, #value, false},                           \
      {#name, Kind::kLeftSlope, "dy * (" #slope_a ")", true},      \
      {#name, Kind::kRightSlope, "dy * (" #slope_b ")", true},
#define MX_VALUE(name, doc, value) {#name, Kind::kBinary, #value, false},
        MX_BINARY_ROWS(MX_BINARY) MX_INTEGER_ROWS(MX_VALUE) MX_COMPARE_ROWS(MX_VALUE)
#undef MX_BINARY
#undef MX_VALUE
};

// Stored types that are not the language's, and how to read and write each.
constexpr const char* kStorage = R"(
struct float16 { unsigned short bits; };
struct bfloat16 { unsigned short bits; };
template <class To, class From> MX_DEVICE To load(From x) { return static_cast<To>(x); }
template <class To> MX_DEVICE To load(float16 x) {
  float y; asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits)); return static_cast<To>(y);
}
template <class To> MX_DEVICE To load(bfloat16 x) {
  return static_cast<To>(__uint_as_float(static_cast<unsigned>(x.bits) << 16));
}
template <class To> struct Store {
  template <class From> MX_DEVICE static To of(From x) { return static_cast<To>(x); }
};
template <> struct Store<float16> {
  template <class From> MX_DEVICE static float16 of(From x) {
    float16 y; asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x))); return y;
  }
};
template <> struct Store<bfloat16> {
  template <class From> MX_DEVICE static bfloat16 of(From x) {
    bfloat16 y; asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(y.bits) : "f"(static_cast<float>(x))); return y;
  }
};
template <> struct Store<bool> {
  template <class From> MX_DEVICE static bool of(From x) { return x != From(0); }
};
using namespace mxnet::row_words;
)";

// As it is stored, and as it is computed with.
const char* stored(DType dtype) {
  switch (dtype) {
    case DType::kFloat32:
      return "float";
    case DType::kFloat64:
      return "double";
    case DType::kFloat16:
      return "float16";
    case DType::kBFloat16:
      return "bfloat16";
    case DType::kUInt8:
      return "unsigned char";
    case DType::kInt8:
      return "signed char";
    case DType::kInt32:
      return "int";
    case DType::kInt64:
      return "long long";
    case DType::kBool:
      return "bool";
    case DType::kUnknown:
      break;
  }
  throw Error(ErrorCode::kInternal, "fusion", "an element type is unknown");
}
const char* computed(DType dtype, bool real) {
  const bool half = dtype == DType::kFloat16 || dtype == DType::kBFloat16;
  if (half || (real && !is_floating(dtype))) return "float";
  return dtype == DType::kBool ? "unsigned char" : stored(dtype);
}

// The names that a row gives its arguments, in the order of the operator's inputs.
std::vector<const char*> argument_names(Kind kind) {
  switch (kind) {
    case Kind::kUnary:
      return {"x"};
    case Kind::kUnarySlope:
      return {"dy", "x"};
    case Kind::kBinary:
      return {"a", "b"};
    case Kind::kLeftSlope:
    case Kind::kRightSlope:
      break;
  }
  return {"dy", "a", "b"};
}

std::string source_of(const FusedChain& chain, int in) {
  if (in < 0) return fmt::format("s{}", -1 - in);
  const bool single = chain.inputs[static_cast<std::size_t>(in)].single;
  return fmt::format("in{}[{}]", in, single ? "0" : "i");
}

std::string step_text(const FusedChain& chain, std::size_t k) {
  const FusedStep& step = chain.steps[k];
  const bool real = step.row != nullptr && step.row->real;
  const Kind kind = step.row == nullptr ? Kind::kUnary : step.row->kind;
  std::string text = fmt::format("    {} s{}; {{ using T = {};", stored(step.result), k,
                                 computed(step.compute, real));
  std::size_t next = 0;
  int at = 0;
  for (const char* name : argument_names(kind)) {
    if (at++ == step.number_at) {
      // A hexadecimal number is exact; it is rounded as an element of the type would be.
      text += fmt::format(" const T {} = load<T>(Store<{}>::of({:a}));", name, stored(step.compute),
                          step.number);
    } else {
      text += fmt::format(" const T {} = load<T>({});", name, source_of(chain, step.in[next++]));
    }
  }
  if (kind == Kind::kUnarySlope) text += " const T y = x; (void)y;";
  return text + fmt::format(" s{} = Store<{}>::of({}); }}\n", k, stored(step.result),
                            step.row == nullptr ? "x" : step.row->expression);
}

}  // namespace

std::span<const RowText> row_texts() { return kRows; }

const RowText* find_row(RowText::Kind kind, std::string_view name) {
  for (const RowText& row : kRows)
    if (row.kind == kind && name == row.name) return &row;
  return nullptr;
}

const std::string& fused_prelude() {
  static const std::string text = std::string(kRowWordsText) + kStorage;
  return text;
}

std::string fused_kernel(const FusedChain& chain, const std::string& name) {
  std::string text = fmt::format("extern \"C\" __global__ void {}(long long n", name);
  for (std::size_t i = 0; i < chain.inputs.size(); ++i)
    text += fmt::format(", const {}* in{}", stored(chain.inputs[i].dtype), i);
  for (std::size_t o = 0; o < chain.outputs.size(); ++o) {
    const FusedStep& step = chain.steps[static_cast<std::size_t>(chain.outputs[o])];
    text += fmt::format(", {}* out{}", stored(step.result), o);
  }
  text +=
      ") {\n  const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;\n"
      "  for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; "
      "i += stride) {\n";
  for (std::size_t k = 0; k < chain.steps.size(); ++k) text += step_text(chain, k);
  for (std::size_t o = 0; o < chain.outputs.size(); ++o)
    text += fmt::format("    out{}[i] = s{};\n", o, chain.outputs[o]);
  return text + "  }\n}\n";
}

}  // namespace mxnet::cuda
