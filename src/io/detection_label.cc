// SPDX-License-Identifier: Apache-2.0
// Labels of objects, in and out of their numbers.
#include "io/detection_label.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace mxnet::io {
namespace {

constexpr std::size_t kLeastHeader = 2, kLeastObject = 5;

}  // namespace

Box intersection(const Box& a, const Box& b) {
  return {std::max(a.left, b.left), std::max(a.top, b.top), std::min(a.right, b.right),
          std::min(a.bottom, b.bottom)};
}

DetectionLabel::DetectionLabel(const std::vector<float>& numbers) {
  const auto count = [&numbers](std::size_t i, std::size_t least) {
    const float value = i < numbers.size() ? numbers[i] : 0;
    const bool fits = value >= static_cast<float>(least) &&
                      value <= static_cast<float>(numbers.size() + kLeastObject);
    return fits ? static_cast<std::size_t>(value) : 0;
  };
  const std::size_t header = count(0, kLeastHeader), width = count(1, kLeastObject);
  if (header == 0 || width == 0 || numbers.size() < header ||
      (numbers.size() - header) % width != 0) {
    throw Error(
        ErrorCode::kValue, "detection label",
        fmt::format("given {} numbers ({}), expected a header of at least 2 with its own "
                    "width and that of an object (at least 5), then objects",
                    numbers.size(),
                    fmt::join(numbers.begin(),
                              numbers.begin() + static_cast<std::ptrdiff_t>(
                                                    std::min<std::size_t>(numbers.size(), 8)),
                              ", ")));
  }
  header_.assign(numbers.begin(), numbers.begin() + static_cast<std::ptrdiff_t>(header));
  for (std::size_t at = header; at < numbers.size(); at += width) {
    const auto first = numbers.begin() + static_cast<std::ptrdiff_t>(at);
    Object object;
    object.numbers.assign(first, first + static_cast<std::ptrdiff_t>(width));
    object.box = {first[1], first[2], first[3], first[4]};
    objects_.push_back(std::move(object));
  }
}

std::vector<float> DetectionLabel::numbers() const {
  std::vector<float> all = header_;
  for (const Object& object : objects_) {
    const std::size_t at = all.size();
    all.insert(all.end(), object.numbers.begin(), object.numbers.end());
    all[at + 1] = object.box.left;
    all[at + 2] = object.box.top;
    all[at + 3] = object.box.right;
    all[at + 4] = object.box.bottom;
  }
  return all;
}

void DetectionLabel::mirror() {
  for (Object& object : objects_) {
    const float left = object.box.left;
    object.box.left = 1 - object.box.right;
    object.box.right = 1 - left;
  }
}

DetectionLabel::Object DetectionLabel::moved(const Object& object, const Box& window) {
  Object result = object;
  const auto inside = [](float value) { return std::clamp(value, 0.0F, 1.0F); };
  result.box.left = inside((object.box.left - window.left) / window.width());
  result.box.right = inside((object.box.right - window.left) / window.width());
  result.box.top = inside((object.box.top - window.top) / window.height());
  result.box.bottom = inside((object.box.bottom - window.top) / window.height());
  return result;
}

}  // namespace mxnet::io
