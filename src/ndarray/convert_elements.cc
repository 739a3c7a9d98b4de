// SPDX-License-Identifier: Apache-2.0
// One loop for each pair of types; the halves in bulk.
#include "ndarray/convert_elements.h"

#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "base/half_bulk.h"

namespace mxnet {
namespace {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;
template <class T>
inline constexpr bool is_real = is_half<T> || std::is_floating_point_v<T>;

// float for the halves, otherwise the type itself: what arithmetic is done in.
template <class T>
auto widened(T value) {
  if constexpr (is_half<T>) {
    return static_cast<float>(value);
  } else {
    return value;
  }
}

template <class To, class From>
To convert_one(From value) {
  const auto wide = widened(value);
  if constexpr (std::is_same_v<To, bool>) {
    return wide != 0;
  } else if constexpr (is_real<From> && std::is_integral_v<To>) {
    // What x86 does: out of range and NaN give the lowest integer of the register, 32 bits for
    // narrow types, whose upper bits are then dropped.
    using Register = std::conditional_t<sizeof(To) == 8, int64_t, int32_t>;
    constexpr double kLimit = sizeof(To) == 8 ? 0x1p63 : 0x1p31;
    const double x = static_cast<double>(wide);
    const bool fits = x < kLimit && x > -kLimit - 1.0;
    return static_cast<To>(fits ? static_cast<Register>(x) : std::numeric_limits<Register>::min());
  } else {
    return static_cast<To>(wide);
  }
}

template <class To, class From>
void convert_all(void* to, const void* from, int64_t count) {
  auto* target = static_cast<To*>(to);
  const auto* source = static_cast<const From*>(from);
  if constexpr (std::is_same_v<To, From>) {
    if (count > 0) std::memcpy(target, source, static_cast<std::size_t>(count) * sizeof(To));
  } else if constexpr ((is_half<From> && std::is_same_v<To, float>) ||
                       (is_half<To> && std::is_same_v<From, float>)) {
    convert(source, target, static_cast<std::size_t>(count));
  } else {
    for (int64_t i = 0; i < count; ++i) target[i] = convert_one<To>(source[i]);
  }
}

template <class From>
void convert_from(void* to, DType to_dtype, const void* from, int64_t count) {
  switch (to_dtype) {
#define MX_CONVERT_TO(name, type, tag) \
  case DType::tag:                     \
    return convert_all<type, From>(to, from, count);
    MX_DTYPES(MX_CONVERT_TO)
#undef MX_CONVERT_TO
    case DType::kUnknown:
      break;
  }
  MX_ASSERT(!"an array of unknown type");
}

}  // namespace

void convert_elements(void* to, DType to_dtype, const void* from, DType from_dtype, int64_t count) {
  switch (from_dtype) {
#define MX_CONVERT_FROM(name, type, tag) \
  case DType::tag:                       \
    return convert_from<type>(to, to_dtype, from, count);
    MX_DTYPES(MX_CONVERT_FROM)
#undef MX_CONVERT_FROM
    case DType::kUnknown:
      break;
  }
  MX_ASSERT(!"an array of unknown type");
}

}  // namespace mxnet
