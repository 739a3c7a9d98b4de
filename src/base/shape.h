// SPDX-License-Identifier: Apache-2.0
// Shape of an array: up to kInlineDims dimensions without allocation. An unknown number of
// dimensions is ndim -1, an unknown dimension is -1, inside the library always; the older meaning
// of 0 is translated at the border (c_api).
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace mxnet {

class Shape {
 public:
  static constexpr int kInlineDims = 6;
  static constexpr int kMaxDims = 32;
  static constexpr int64_t kUnknownDim = -1;

  Shape() = default;  // unknown
  Shape(std::initializer_list<int64_t> dims) : Shape(std::span(dims.begin(), dims.size())) {}
  // Throws Error(kValue) above kMaxDims.
  explicit Shape(std::span<const int64_t> dims);
  Shape(int ndim, int64_t fill);  // all dimensions `fill`
  static Shape scalar() { return Shape(std::span<const int64_t>{}); }
  static Shape unknown(int ndim) { return Shape(ndim, kUnknownDim); }

  // Shapes are copied several times a call: up to kInlineDims that is a handful of instructions.
  Shape(const Shape& other) : ndim_(other.ndim_), inline_(other.inline_) {
    if (other.heap_) copy_heap(other);
  }
  Shape(Shape&& other) noexcept { *this = std::move(other); }
  Shape& operator=(const Shape& other) {
    if (heap_ || other.heap_) {
      copy_heap(other);
    } else {
      ndim_ = other.ndim_;
      inline_ = other.inline_;
    }
    return *this;
  }
  Shape& operator=(Shape&& other) noexcept {
    ndim_ = std::exchange(other.ndim_, -1);
    inline_ = other.inline_;
    heap_ = std::move(other.heap_);
    return *this;
  }

  bool rank_known() const { return ndim_ >= 0; }
  // Every dimension known.
  bool known() const {
    for (int64_t dim : *this)
      if (dim < 0) return false;
    return rank_known();
  }
  int ndim() const { return ndim_; }
  bool empty() const { return ndim_ <= 0; }
  int64_t operator[](int i) const { return data()[i]; }
  int64_t& operator[](int i) { return data()[i]; }
  int64_t back() const { return data()[ndim_ - 1]; }
  const int64_t* begin() const { return data(); }
  const int64_t* end() const { return data() + (ndim_ > 0 ? ndim_ : 0); }
  std::span<const int64_t> dims() const { return {begin(), end()}; }

  // Number of elements. REQUIRES: known(). Throws Error(kValue) where it does not fit int64.
  int64_t size() const;
  // Product of dimensions [first, last).
  int64_t size(int first, int last) const;

  void push_back(int64_t dim);
  bool operator==(const Shape& other) const {
    if (ndim_ != other.ndim_) return false;
    const int64_t *a = data(), *b = other.data();
    for (int i = 0; i < ndim_; ++i)
      if (a[i] != b[i]) return false;
    return true;
  }

 private:
  const int64_t* data() const { return heap_ ? heap_.get() : inline_.data(); }
  int64_t* data() { return heap_ ? heap_.get() : inline_.data(); }
  void copy_heap(const Shape& other);  // where one of the two has more than kInlineDims
  void resize(int ndim);               // keeps nothing

  int ndim_ = -1;
  std::array<int64_t, kInlineDims> inline_{};
  std::unique_ptr<int64_t[]> heap_;  // of kMaxDims, when ndim_ has exceeded kInlineDims
};

// "(2,3)", "(4,)", "()", "(?,3)", "None" for an unknown rank.
std::string to_string(const Shape& shape);

// The position that a possibly negative axis names. Throws Error(kValue, tag) naming axis and ndim
// where there is none.
int normalize_axis(int64_t axis, int ndim, const char* tag);

}  // namespace mxnet
