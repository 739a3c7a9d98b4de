// SPDX-License-Identifier: Apache-2.0
// The two reshapes of the NumPy front end: NumPy's own, and the one with codes for whole ranges.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "op/length.h"
#include "op/shape/same_elements.h"

namespace mxnet {
namespace {

struct NumpyReshapeParams {
  Shape newshape;
  std::string order;
};
struct CodedReshapeParams {
  Shape newshape;
  bool reverse;
  std::string order;
};

void require_c_order(const std::string& order, Infer& infer) {
  if (order != "C")
    infer.fail(fmt::format("given order '{}', expected 'C': arrays are row-major", order));
}

// Replaces the one kUnknown (if any) in `result` so that it holds `size` elements.
void fill_unknown(Shape* result, int64_t size, const Shape& asked, Infer& infer) {
  int64_t known = 1;
  int unknown = -1;
  for (int i = 0; i < result->ndim(); ++i) {
    if ((*result)[i] != Shape::kUnknownDim) {
      known = length::times(known, (*result)[i]);
    } else if (unknown >= 0) {
      infer.fail(fmt::format("given newshape {}, expected at most one -1", to_string(asked)));
    } else {
      unknown = i;
    }
  }
  if (unknown < 0) return;
  if (known == 0)
    infer.in(0).fail("an array from which -1 in newshape " + to_string(asked) + " follows");
  (*result)[unknown] = size / known;
}

MX_OP(_np_reshape, NumpyReshapeParams)
.doc("The elements of `a` in another shape.")
    .input("a", "The array.")
    .param("newshape", &NumpyReshapeParams::newshape,
           "The shape; one dimension may be -1: inferred.")
    .param("order", &NumpyReshapeParams::order, "C", "Order of the elements: only 'C'.")
    .inplace(0, 0)
    .infer([](const NumpyReshapeParams& p, Infer& infer) {
      require_c_order(p.order, infer);
      infer.in(0).same_dtype(infer.out(0));
      infer_missing_dim(infer);
      for (const int64_t dim : p.newshape) {
        if (dim < -1)
          infer.fail(fmt::format("given dimension {} in newshape, expected at least -1", dim));
      }
      if (!infer.in(0).known()) return;
      Shape result = p.newshape;
      fill_unknown(&result, infer.in(0).shape().size(), p.newshape, infer);
      set_reshaped(infer, result);
    })
    .cpu(reshape_cpu<NumpyReshapeParams>)
    .grad(reshape_grad<NumpyReshapeParams>);

// Reads codes from left to right against the dimensions of the source.
class CodeReader {
 public:
  CodeReader(std::vector<int64_t> source, std::vector<int64_t> codes, Infer& infer)
      : source_(std::move(source)), codes_(std::move(codes)), infer_(infer) {}

  std::vector<int64_t> read() {
    for (at_ = 0; at_ < codes_.size(); ++at_) read_code(codes_[at_]);
    return std::move(result_);
  }

 private:
  void read_code(int64_t code) {
    switch (code) {
      case -1:  // inferred; speaks for one dimension
        result_.push_back(Shape::kUnknownDim);
        ++used_;
        break;
      case -2:  // as it is
        result_.push_back(take());
        break;
      case -3:  // left out
        if (const int64_t dim = take(); dim != 1)
          complain(fmt::format("-3 for a dimension of 1, not {}", dim));
        break;
      case -4:  // all that remain
        while (used_ < source_.size()) result_.push_back(take());
        break;
      case -5: {  // two merged
        const int64_t first = take();
        result_.push_back(first * take());
        break;
      }
      case -6:
        split();
        break;
      default:
        if (code < 0) complain(fmt::format("none below -6, not {}", code));
        result_.push_back(code);
        ++used_;
    }
  }
  void split() {
    if (at_ + 2 >= codes_.size()) complain("two numbers after -6");
    int64_t first = codes_[++at_], second = codes_[++at_];
    const int64_t whole = take();
    if (first == -1 && second == -1) complain("-1 for no more than one half of a split");
    if (first == -1 && second > 0) first = whole / second;
    if (second == -1 && first > 0) second = whole / first;
    if (first < 0 || second < 0 || first * second != whole)
      complain(fmt::format("two factors of {}, not {} and {}", whole, first, second));
    result_.push_back(first);
    result_.push_back(second);
  }
  int64_t take() {
    if (used_ >= source_.size()) complain("no more than there are dimensions");
    return source_[used_++];
  }
  [[noreturn]] void complain(const std::string& why) {
    infer_.in(0).fail("a shape that the codes of newshape fit: " + why);
  }

  const std::vector<int64_t> source_, codes_;
  Infer& infer_;
  std::size_t at_ = 0, used_ = 0;
  std::vector<int64_t> result_;
};

MX_OP(_npx_reshape, CodedReshapeParams)
.alias("_npi_reshape")
    .doc(
        "The elements of `a` in another shape. In `newshape` -1 is inferred, -2 keeps a dimension, "
        "-3 "
        "leaves out one of size 1, -4 takes all that remain, -5 merges two, -6 splits one into the "
        "two that follow.")
    .input("a", "The array.")
    .param("newshape", &CodedReshapeParams::newshape, "The shape, with codes.")
    .param("reverse", &CodedReshapeParams::reverse, false,
           "Whether codes are read from right to left.")
    .param("order", &CodedReshapeParams::order, "C", "Order of the elements: only 'C'.")
    .inplace(0, 0)
    .infer([](const CodedReshapeParams& p, Infer& infer) {
      require_c_order(p.order, infer);
      infer.in(0).same_dtype(infer.out(0));
      infer_missing_dim(infer);
      if (!infer.in(0).known()) return;
      const Shape& in = infer.in(0).shape();
      std::vector<int64_t> source(in.begin(), in.end());
      std::vector<int64_t> codes(p.newshape.begin(), p.newshape.end());
      if (p.reverse) {
        std::reverse(source.begin(), source.end());
        std::reverse(codes.begin(), codes.end());
      }
      std::vector<int64_t> dims = CodeReader(std::move(source), std::move(codes), infer).read();
      if (p.reverse) std::reverse(dims.begin(), dims.end());
      Shape result(dims);
      fill_unknown(&result, in.size(), p.newshape, infer);
      set_reshaped(infer, result);
    })
    .cpu(reshape_cpu<CodedReshapeParams>)
    .grad(reshape_grad<CodedReshapeParams>);

[[maybe_unused]] const bool portable = mark_portable({"_np_reshape", "_npx_reshape"});

}  // namespace
}  // namespace mxnet
