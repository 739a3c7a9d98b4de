// SPDX-License-Identifier: Apache-2.0
// Element types of arrays. The numbers are those of the C ABI and of saved files; 8 to 11 are
// reserved there.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/half.h"

namespace mxnet {

enum class DType : int8_t {
  kUnknown = -1,
  kFloat32 = 0,
  kFloat64 = 1,
  kFloat16 = 2,
  kUInt8 = 3,
  kInt32 = 4,
  kInt8 = 5,
  kInt64 = 6,
  kBool = 7,
  kBFloat16 = 12,
};

// All usable types: name as in Python, C++ type, enumerator. Everything that goes over types
// derives from this.
#define MX_DTYPES(ROW)                     \
  ROW(float32, float, kFloat32)            \
  ROW(float64, double, kFloat64)           \
  ROW(float16, ::mxnet::float16, kFloat16) \
  ROW(uint8, uint8_t, kUInt8)              \
  ROW(int32, int32_t, kInt32)              \
  ROW(int8, int8_t, kInt8)                 \
  ROW(int64, int64_t, kInt64)              \
  ROW(bool, bool, kBool)                   \
  ROW(bfloat16, ::mxnet::bfloat16, kBFloat16)

constexpr std::size_t dtype_size(DType dtype) {
  switch (dtype) {
#define MX_DTYPE_SIZE(name, type, tag) \
  case DType::tag:                     \
    return sizeof(type);
    MX_DTYPES(MX_DTYPE_SIZE)
#undef MX_DTYPE_SIZE
    case DType::kUnknown:
      break;
  }
  return 0;
}

constexpr std::string_view dtype_name(DType dtype) {
  switch (dtype) {
#define MX_DTYPE_NAME(name, type, tag) \
  case DType::tag:                     \
    return #name;
    MX_DTYPES(MX_DTYPE_NAME)
#undef MX_DTYPE_NAME
    case DType::kUnknown:
      break;
  }
  return "unknown";
}

// The type of a number from the C ABI or a file; nothing for reserved and unknown numbers.
constexpr std::optional<DType> dtype_from_number(int number) {
  switch (number) {
#define MX_DTYPE_NUMBER(name, type, tag) \
  case static_cast<int>(DType::tag):     \
    return DType::tag;
    MX_DTYPES(MX_DTYPE_NUMBER)
#undef MX_DTYPE_NUMBER
    default:
      return std::nullopt;
  }
}

constexpr std::optional<DType> dtype_from_name(std::string_view text) {
#define MX_DTYPE_FROM(name, type, tag) \
  if (text == #name) return DType::tag;
  MX_DTYPES(MX_DTYPE_FROM)
#undef MX_DTYPE_FROM
  return std::nullopt;
}

constexpr bool is_floating(DType t) {
  return t == DType::kFloat32 || t == DType::kFloat64 || t == DType::kFloat16 ||
         t == DType::kBFloat16;
}
constexpr bool is_integer(DType t) {
  return t == DType::kUInt8 || t == DType::kInt32 || t == DType::kInt8 || t == DType::kInt64;
}

template <class T>
struct DTypeOf;
#define MX_DTYPE_OF(name, type, tag)           \
  template <>                                  \
  struct DTypeOf<type> {                       \
    static constexpr DType value = DType::tag; \
  };
MX_DTYPES(MX_DTYPE_OF)
#undef MX_DTYPE_OF
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

// A set of types, for what a kernel or an operator takes.
class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  template <class... T>
  static constexpr DTypeSet of(T... types) {
    DTypeSet set;
    ((set.bits_ |= bit(types)), ...);
    return set;
  }
  constexpr bool contains(DType t) const { return t != DType::kUnknown && (bits_ & bit(t)) != 0; }
  constexpr DTypeSet operator|(DTypeSet other) const {
    DTypeSet set;
    set.bits_ = static_cast<uint16_t>(bits_ | other.bits_);
    return set;
  }

  // Public because a class used as a template argument must be structural; use the functions.
  uint16_t bits_ = 0;

 private:
  static constexpr uint16_t bit(DType t) {
    return static_cast<uint16_t>(1u << static_cast<int>(t));
  }
};

inline constexpr DTypeSet kFloating =
    DTypeSet::of(DType::kFloat32, DType::kFloat64, DType::kFloat16, DType::kBFloat16);
inline constexpr DTypeSet kIntegers =
    DTypeSet::of(DType::kUInt8, DType::kInt32, DType::kInt8, DType::kInt64);
inline constexpr DTypeSet kNumeric = kFloating | kIntegers;
inline constexpr DTypeSet kAllTypes = kNumeric | DTypeSet::of(DType::kBool);

}  // namespace mxnet
