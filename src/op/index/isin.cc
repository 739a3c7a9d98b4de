// SPDX-License-Identifier: Apache-2.0
// _npi_isin: whether each element equals one of some values. Numbers are compared as 64 bits, those
// of int64 where both arrays hold integers, else those of double, in which NaN equals nothing.
#include "op/index/isin.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/simd.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/index/isin.inc"
#include "base/simd_targets.h"

constexpr char kTag[] = "_npi_isin";
constexpr int64_t kBlock = 512;

// keys[0, n) = x[start, start + n) as numbers of 64 bits, zeros of both signs as one.
template <class Number>
void read_keys(const Tensor& x, int64_t start, int64_t n, uint64_t* keys) {
  std::array<Number, kBlock> numbers;
  constexpr bool kReal = std::is_floating_point_v<Number>;
  constexpr DTypeSet kTypes = kReal ? kAllTypes : kIntegers | DTypeSet::of(DType::kBool);
  dispatch_dtype<kTypes>(x.dtype, kTag, [&]<class T>(TypeTag<T>) {
    convert_array(x.as<T>() + start, numbers.data(), n);
  });
  for (int64_t i = 0; i < n; ++i)
    keys[i] = std::bit_cast<uint64_t>(numbers[static_cast<std::size_t>(i)] + Number{0});
}
void read_keys(const Tensor& x, int64_t start, int64_t n, bool real, uint64_t* keys) {
  (real ? read_keys<double> : read_keys<int64_t>)(x, start, n, keys);
}

// The values to look for: a few are compared one by one, integers near each other mark their places
// in a table, all others are in a hash table.
class Values {
 public:
  static constexpr int64_t kFew = 16;

  Values(const Tensor& values, bool real, KernelContext& context) : real_(real) {
    uint64_t* const all = context.workspace_of<uint64_t>(std::max<int64_t>(values.size(), 1));
    for (int64_t start = 0; start < values.size(); start += kBlock) {
      const int64_t n = std::min(kBlock, values.size() - start);
      read_keys(values, start, n, real, all + count_);
      count_ = real ? std::remove_if(all + count_, all + count_ + n, is_nan) - all : count_ + n;
    }
    all_ = all;
    if (real || !fill_marks(context)) fill_slots(context);
  }

  bool real() const { return real_; }
  bool few() const { return count_ <= kFew; }

  // The bits of a few, to[0, kMostBits), as elements of type T have them, which are real numbers if
  // the keys are; how many, counting some twice so that it is a multiple of four. Values that T
  // does not have are left out, and zero has two forms.
  static constexpr int64_t kMostBits = 20;
  template <class T, class Bits>
  int64_t list(Bits* to) const {
    using Whole = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
    int64_t listed = 0;
    bool zero = false;
    for (int64_t i = 0; i < count_; ++i) {
      const auto value = std::bit_cast<Whole>(all_[i]);
      const auto element = static_cast<T>(value);
      if (static_cast<Whole>(element) != value) continue;
      to[listed++] = std::bit_cast<Bits>(element);
      zero = zero || element == T(0);
    }
    if (std::is_floating_point_v<T> && zero) to[listed++] = std::bit_cast<Bits>(-T(0));
    for (; listed % 4 != 0; ++listed) to[listed] = to[listed - 1];
    return listed;
  }

  void find(const uint64_t* keys, int64_t n, bool* found) const {
    if (marks_ != nullptr)
      for (int64_t i = 0; i < n; ++i)
        found[i] = keys[i] - least_ <= span_ && marks_[keys[i] - least_];
    else
      for (int64_t i = 0; i < n; ++i) found[i] = contains(keys[i]);
  }

 private:
  // No number: this key's own presence is noted apart.
  static constexpr uint64_t kEmpty = ~uint64_t{0};

  static bool is_nan(uint64_t key) {
    const auto number = std::bit_cast<double>(key);
    return number != number;
  }

  // False where a table of the integers' range would take more memory than one of the hashes.
  bool fill_marks(KernelContext& context) {
    if (count_ == 0) return false;
    const auto as_integer = [](uint64_t a, uint64_t b) {
      return static_cast<int64_t>(a) < static_cast<int64_t>(b);
    };
    const auto [low, high] = std::minmax_element(all_, all_ + count_, as_integer);
    const uint64_t span = *high - *low;
    constexpr uint64_t kSmall = uint64_t{1} << 16;
    if (span >= std::max(kSmall, uint64_t{16} * static_cast<uint64_t>(count_))) return false;
    least_ = *low;
    span_ = span;
    const auto size = static_cast<int64_t>(span) + 1;
    bool* const marks = context.workspace_of<bool>(size);
    std::fill_n(marks, size, false);
    for (int64_t i = 0; i < count_; ++i) marks[all_[i] - least_] = true;
    marks_ = marks;
    return true;
  }

  // Where few slots are taken, whether one is can be foreseen; where the table would leave the
  // second-level cache, at most half are.
  void fill_slots(KernelContext& context) {
    constexpr int64_t kInCache = 4096;
    const uint64_t size =
        std::bit_ceil(static_cast<uint64_t>(count_ + 1) * (count_ <= kInCache ? 16 : 2));
    shift_ = 64 - std::countr_zero(size);
    mask_ = size - 1;
    auto* const slots = context.workspace_of<uint64_t>(static_cast<int64_t>(size));
    std::fill_n(slots, size, kEmpty);
    slots_ = slots;
    for (int64_t i = 0; i < count_; ++i) {
      slots[slot_of(all_[i])] = all_[i];
      holds_empty_ = holds_empty_ || all_[i] == kEmpty;
    }
  }

  // Where a key is, or the slot that is free for it.
  uint64_t slot_of(uint64_t key) const {
    constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio
    uint64_t at = (key ^ (key >> 29)) * kSpread;
    at = ((at ^ (at >> 32)) * kSpread) >> shift_;
    while ((slots_[at] != key) & (slots_[at] != kEmpty)) at = (at + 1) & mask_;
    return at;
  }
  bool contains(uint64_t key) const {
    return (slots_[slot_of(key)] == key) & ((key != kEmpty) | holds_empty_);
  }

  const bool real_;
  const uint64_t* all_ = nullptr;
  int64_t count_ = 0;
  const bool* marks_ = nullptr;
  uint64_t least_ = 0, span_ = 0;
  const uint64_t* slots_ = nullptr;
  uint64_t mask_ = 0;
  int shift_ = 0;
  bool holds_empty_ = false;
};

// found[0, n) for elements [start, start + n), n <= kBlock, of an array whose type is not that of
// the values, or of which there are many.
void find_by_keys(const Tensor& x, const Values& values, int64_t start, int64_t n, bool* found) {
  std::array<uint64_t, kBlock> keys;
  read_keys(x, start, n, values.real(), keys.data());
  values.find(keys.data(), n, found);
}

// The same where the values are few. Halves are compared as floats.
template <class T>
void find_listed(const Tensor& x, const Values& values, int64_t start, int64_t n, bool* found) {
  using C = ComputeType<T>;
  using Bits = std::conditional_t<sizeof(C) == 4, uint32_t, uint64_t>;
  std::array<Bits, Values::kMostBits> few;
  const int64_t count = values.list<C>(few.data());
  const T* const from = x.as<T>() + start;
  auto* const bytes = reinterpret_cast<uint8_t*>(found);  // of which compilers make vectors
  std::fill_n(bytes, n, uint8_t{0});
  std::array<float, kIsHalf<T> ? kBlock : 1> numbers;
  const void* elements = from;
  if constexpr (kIsHalf<T>) {
    convert_array(from, numbers.data(), n);
    elements = numbers.data();
  }
  MX_SIMD_CALL(find_few<Bits>)(elements, n, few.data(), count, bytes);
}

using Finder = void (*)(const Tensor& x, const Values& values, int64_t start, int64_t n,
                        bool* found);
Finder finder_of(DType type, const Values& values) {
  if (!values.few() || values.real() != is_floating(type)) return find_by_keys;
  return dispatch_dtype(type, kTag, []<class T>(TypeTag<T>) -> Finder {
    if constexpr (sizeof(T) == 1)
      return find_by_keys;
    else
      return find_listed<T>;
  });
}

// Answers for elements [first, last), which are written to `answers`.
void answer(const Tensor& x, const Values& values, bool invert, int64_t first, int64_t last,
            bool* answers) {
  const Finder find = finder_of(x.dtype, values);
  for (int64_t start = first; start < last; start += kBlock, answers += kBlock) {
    const int64_t n = std::min(kBlock, last - start);
    find(x, values, start, n, answers);
    if (invert)
      for (int64_t i = 0; i < n; ++i) answers[i] = !answers[i];
  }
}

void isin_cpu(const IsinParams& params, KernelContext& context) {
  const Tensor &x = context.in(0), &tests = context.in(1), &out = context.out(0);
  const Values values(tests, is_floating(x.dtype) || is_floating(tests.dtype), context);
  // What a look-up takes beside an addition.
  constexpr double kCost = 8;
  constexpr int64_t kPatterns = 256;
  if (dtype_size(x.dtype) > 1 || x.size() <= kPatterns) {
    return parallel_for(x.size(), kCost, [&](int64_t first, int64_t last) {
      answer(x, values, params.invert, first, last, out.as<bool>() + first);
    });
  }
  // Bytes: an answer for each there is.
  std::array<uint8_t, kPatterns> patterns;
  std::array<bool, kPatterns> answers;
  for (int64_t i = 0; i < kPatterns; ++i) {
    patterns[static_cast<std::size_t>(i)] =
        static_cast<uint8_t>(x.dtype == DType::kBool ? i != 0 : i);
  }
  const Shape shape{kPatterns};
  answer({patterns.data(), &shape, x.dtype}, values, params.invert, 0, kPatterns, answers.data());
  parallel_for(x.size(), 1.0, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) out.as<bool>()[i] = answers[x.as<uint8_t>()[i]];
  });
}

MX_OP(_npi_isin, IsinParams)
.doc("Whether each element is among some values.")
    .input("element", "The array.")
    .input("test_elements", "The values, in any shape.")
    .param("invert", &IsinParams::invert, false, "Whether to ask for elements that are not.")
    .infer([](const IsinParams&, Infer& infer) {
      infer.in(0).same_shape(infer.out(0));
      infer.out(0).set_dtype(DType::kBool);
    })
    .cpu(isin_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet
