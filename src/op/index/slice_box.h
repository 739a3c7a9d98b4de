// SPDX-License-Identifier: Apache-2.0
// A box of evenly spaced elements inside an array: what every kind of slice reads or writes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>

#include "op/kernel.h"
#include "op/moving/strided_copy.h"

namespace mxnet {

// One dimension of a slice. `step` may be negative, `count` zero.
struct SliceRange {
  int64_t begin, step, count;
};

// Python's rule for x[begin:end:step] on a dimension of size `size`. REQUIRES: step != 0.
SliceRange python_range(std::optional<int64_t> begin, std::optional<int64_t> end, int64_t step,
                        int64_t size);

class SliceBox {
 public:
  // All of an array of this shape. Borrows nothing.
  explicit SliceBox(const Shape& whole);

  // Narrows dimension i. REQUIRES: in bounds.
  void set(int i, SliceRange range);
  Shape shape() const;
  // Of the outermost dimension of several elements its places [first, last) alone, and how many
  // elements of the box come before them. REQUIRES: steps_forward().
  struct Part;
  Part part(int64_t first, int64_t last) const;
  // That dimension; the last one where all are of one element. REQUIRES: dimensions.
  int outermost() const;
  bool steps_forward() const;

  // On the device of the call: elements of the whole array into a contiguous one of the box's
  // shape, and back.
  void read(const void* whole, void* part, std::size_t element_bytes, KernelContext& context) const;
  void write(void* whole, const void* part, std::size_t element_bytes,
             KernelContext& context) const;
  // The element at `value`, in memory of the same device, to every place of the box.
  void fill(void* whole, const void* value, std::size_t element_bytes,
            KernelContext& context) const;

 private:
  StridedPlan plan() const;  // from the whole to the part

  Shape whole_;
  std::array<SliceRange, Shape::kMaxDims> ranges_;
};

struct SliceBox::Part {
  SliceBox box;
  int64_t skipped;
};

}  // namespace mxnet
