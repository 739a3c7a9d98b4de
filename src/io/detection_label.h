// SPDX-License-Identifier: Apache-2.0
// The label of an image with objects, and what happens to it when the image is cut or padded.
#pragma once
#include <cstdint>
#include <vector>

namespace mxnet::io {

// Relative to the image: 0 is its left or upper edge, 1 the other.
struct Box {
  float left = 0, top = 0, right = 1, bottom = 1;

  float width() const { return right - left; }
  float height() const { return bottom - top; }
  float area() const { return width() > 0 && height() > 0 ? width() * height() : 0; }
};
Box intersection(const Box& a, const Box& b);

// Numbers of a record: header width A, object width B, A - 2 more numbers, then objects of B
// numbers each: class, left, top, right, bottom and B - 5 more (docs/recordio.md).
class DetectionLabel {
 public:
  struct Object {
    Box box;
    std::vector<float> numbers;  // all B, box included
  };

  // Throws Error(kValue) for numbers that do not follow this.
  explicit DetectionLabel(const std::vector<float>& numbers);

  const std::vector<Object>& objects() const { return objects_; }
  std::vector<float> numbers() const;

  void mirror();
  // The part `window` of the image becomes the image; it may reach beyond its edges. Boxes are cut
  // at its edges. Only objects for which `keep(original box)` holds stay.
  template <class Keep>
  void view(const Box& window, const Keep& keep) {
    std::vector<Object> kept;
    for (Object& object : objects_)
      if (keep(object.box)) kept.push_back(moved(object, window));
    objects_ = std::move(kept);
  }

 private:
  static Object moved(const Object& object, const Box& window);
  std::vector<float> header_;
  std::vector<Object> objects_;
};

}  // namespace mxnet::io
