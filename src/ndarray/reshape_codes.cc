// SPDX-License-Identifier: Apache-2.0
// One pass from left to right; from the right by turning everything around.
#include "ndarray/reshape_codes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/error.h"

namespace mxnet {
namespace {

// One reading of a target from left to right.
class Resolver {
 public:
  Resolver(std::span<const int64_t> source, std::span<const int64_t> target)
      : source_(source), target_(target) {}

  std::vector<int64_t> run() {
    for (std::size_t i = 0; i < target_.size(); ++i) {
      const int64_t code = target_[i];
      if (code > 0) {
        result_.push_back(code);
        ++used_;
      } else if (code == 0) {
        result_.push_back(take());
      } else if (code == -1) {
        infer_here();
        ++used_;
      } else if (code == -2) {
        while (used_ < source_.size()) result_.push_back(take());
      } else if (code == -3) {
        const int64_t first = take();
        result_.push_back(product(first, take()));
      } else if (code == -4) {
        if (i + 2 >= target_.size()) refuse("two numbers after -4");
        split(target_[i + 1], target_[i + 2]);
        i += 2;
      } else {
        refuse(fmt::format("codes from -4 on, not {}", code));
      }
    }
    fill_inferred();
    return std::move(result_);
  }

 private:
  [[noreturn]] void refuse(const std::string& expected) const {
    throw Error(ErrorCode::kValue, "reshape",
                fmt::format("given shape ({}) for an array of shape ({}), expected {}",
                            fmt::join(target_, ","), fmt::join(source_, ","), expected));
  }

  int64_t take() {
    if (used_ >= source_.size()) refuse("codes for no more dimensions than there are");
    return source_[used_++];
  }

  int64_t product(int64_t a, int64_t b) const {
    if (a < 0 || b < 0) return Shape::kUnknownDim;
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result)) refuse("a number of elements below 2^63");
    return result;
  }

  static int64_t part(int64_t whole, int64_t other) {
    return whole < 0 || other < 0 ? Shape::kUnknownDim : whole / other;
  }

  void infer_here() {
    if (inferred_ >= 0) refuse("-1 no more than once");
    inferred_ = static_cast<int>(result_.size());
    result_.push_back(1);
  }

  void split(int64_t first, int64_t second) {
    const int64_t whole = take();
    if (first == -1 && second == -1) refuse("-1 for no more than one half of a split");
    if (first == -1 && second > 0) first = part(whole, second);
    if (second == -1 && first > 0) second = part(whole, first);
    if (std::min(first, second) < (whole < 0 ? -1 : 0) ||
        (whole >= 0 && product(first, second) != whole))
      refuse(fmt::format("two factors of {}, not {} and {}", whole, first, second));
    result_.push_back(first);
    result_.push_back(second);
  }

  void fill_inferred() {
    if (inferred_ < 0) return;
    int64_t total = 1, known = 1;
    for (int64_t dim : source_) total = product(total, dim);
    for (int64_t dim : result_) known = product(known, dim);
    result_[static_cast<std::size_t>(inferred_)] = known == 0 ? 0 : part(total, known);
  }

  std::span<const int64_t> source_, target_;
  std::size_t used_ = 0;  // dimensions of the source that are spoken for
  int inferred_ = -1;     // position of -1 in the result
  std::vector<int64_t> result_;
};

}  // namespace

Shape resolve_reshape(const Shape& shape, std::span<const int64_t> target, bool reverse) {
  std::vector<int64_t> source(shape.begin(), shape.end()), codes(target.begin(), target.end());
  if (reverse) {
    std::reverse(source.begin(), source.end());
    std::reverse(codes.begin(), codes.end());
  }
  std::vector<int64_t> result = Resolver(source, codes).run();
  if (reverse) std::reverse(result.begin(), result.end());
  return Shape(result);
}

}  // namespace mxnet
