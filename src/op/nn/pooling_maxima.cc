// SPDX-License-Identifier: Apache-2.0
// Where the maxima of windows are, and what goes there. Windows of a line of the map are looked
// through side by side, a vector of them at a time, whatever their step and however short the line.
#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.h"
#include "op/nn/pooling_lines.h"
#include "op/nn/pooling_plain.h"
#include "op/nn/pooling_walk.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// Vectors go along windows, of which there are few, rather than across.
bool windows_are_wide(const PoolGeometry& g) { return g.kernel[2] > 2 * g.map[2]; }

// How a line of an image is laid out for the windows along it: pixels a step apart follow each
// other, so that pixel k of all windows is a run of numbers; as far as whole vectors reach, with
// room for what lies outside of the image.
class LineBySteps {
 public:
  template <class T>
  LineBySteps(const PoolGeometry& g, const T*)
      : width_(g.image[2]), stride_(g.stride[2]), pad_(g.pad[2]) {
    constexpr int64_t kVector = 64 / sizeof(T);
    const auto whole = [](int64_t n) { return (n + kVector - 1) / kVector * kVector; };
    places_ = whole(g.map[2]);
    reach_ = (g.kernel[2] - 1) / stride_;
    sums_ = whole(g.map[2] + reach_);
    length_ = std::max(places_ + reach_, sums_);
    runs_ = std::min(stride_, g.kernel[2]);
    for (int64_t k = 0; k < g.kernel[2]; ++k)
      starts_.push_back(k % stride_ * length_ + k / stride_);
    find_run(0, &even_, &evens_);
    find_run(1, &odd_, &odds_);
  }

  // Windows of a line, those beyond the map included.
  int64_t places() const { return places_; }
  // Runs of numbers, the length of each, what of it windows of the map see (whole vectors), and how
  // many windows before it one at a place of it may be.
  int64_t runs() const { return runs_; }
  int64_t length() const { return length_; }
  int64_t sums() const { return sums_; }
  int64_t reach() const { return reach_; }
  int64_t size() const { return runs_ * length_; }
  // Where the runs of pixels 0, 1, ... of the windows begin.
  const std::vector<int64_t>& starts() const { return starts_; }

  // A line of the image into its layout, and back: what is inside of both.
  template <class T>
  void lay_out(const T* line, T* layout) const {
    if (stride_ == 1) return void(std::copy_n(line, evens_, layout + even_));
    if (stride_ != 2 || runs_ != 2)
      return for_each([&](int64_t at, int64_t pixel) { layout[at] = line[pixel]; });
    const int64_t pairs = std::min(evens_, odds_);
    pool_lines<T>().part(line, layout + even_, layout + odd_, pairs);
    for (int64_t j = pairs; j < evens_; ++j) layout[even_ + j] = line[2 * j];
    for (int64_t j = pairs; j < odds_; ++j) layout[odd_ + j] = line[2 * j + 1];
  }
  template <class T>
  void put_back(const T* layout, T* line) const {
    if (stride_ == 1) return void(std::copy_n(layout + even_, evens_, line));
    if (stride_ != 2 || runs_ != 2)
      return for_each([&](int64_t at, int64_t pixel) { line[pixel] = layout[at]; });
    const int64_t pairs = std::min(evens_, odds_);
    pool_lines<T>().weave(layout + even_, layout + odd_, line, pairs);
    for (int64_t j = pairs; j < evens_; ++j) line[2 * j] = layout[even_ + j];
    for (int64_t j = pairs; j < odds_; ++j) line[2 * j + 1] = layout[odd_ + j];
  }

 private:
  // fn(number of the layout, pixel of the line).
  template <class F>
  void for_each(const F& fn) const {
    for (int64_t run = 0; run < runs_; ++run) {
      const int64_t ahead = pad_ - run;  // of the first pixel of the image
      const int64_t first = ahead > 0 ? (ahead + stride_ - 1) / stride_ : 0;
      const int64_t rest = width_ - 1 + ahead;
      const int64_t last = rest < 0 ? 0 : std::min(length_, rest / stride_ + 1);
      const int64_t number = run * length_ + first, pixel = first * stride_ - ahead;
      for (int64_t i = 0; i < last - first; ++i) fn(number + i, pixel + i * stride_);
    }
  }

  // Every stride-th pixel from `pixel` on: where the first of them is, and how many there are.
  void find_run(int64_t pixel, int64_t* start, int64_t* count) const {
    const int64_t run = (pixel + pad_) % stride_, at = (pixel + pad_) / stride_;
    *start = run * length_ + at;
    *count = std::clamp<int64_t>((width_ - pixel + stride_ - 1) / stride_, 0,
                                 std::max<int64_t>(length_ - at, 0));
  }

  int64_t width_, stride_, pad_;
  int64_t places_, reach_, sums_, length_, runs_;
  // Where the pixels from the first and from the second on are in the layout, and how many.
  int64_t even_, evens_, odd_, odds_;
  std::vector<int64_t> starts_;
};

// The greatest numbers of the windows of a line of the map.
template <class T>
class MaximaOfLine {
 public:
  using Pixel = typename PoolLines<T>::Pixel;

  explicit MaximaOfLine(const PoolGeometry& g)
      : geometry_(g), steps_(g, static_cast<const T*>(nullptr)), wide_(windows_are_wide(g)) {
    const auto places = static_cast<std::size_t>(steps_.places());
    best_.resize(places);
    which_.assign(static_cast<std::size_t>(steps_.reach() + steps_.length()), Pixel{-1});
    first_.assign(places, Pixel{-1});
    for (int64_t x = 0; x < g.map[2]; ++x) {
      const PoolGeometry::Window window = g.window(2, x);
      columns_.push_back(window);
      if (window.size() > 0 && !wide_)
        first_[static_cast<std::size_t>(x)] =
            static_cast<Pixel>(window.begin - x * g.stride[2] + g.pad[2]);
    }
    if (wide_) return;
    slots_ = {std::min(g.kernel[0], g.image[0]), std::min(g.kernel[1], g.image[1])};
    held_.resize(static_cast<std::size_t>(slots_[0] * slots_[1]));
    pixels_.resize(held_.size() * steps_.starts().size());
    seen_.reserve(held_.size());
    numbers_.assign(held_.size() * static_cast<std::size_t>(steps_.size()),
                    -std::numeric_limits<T>::infinity());
  }

  void start(const T* plane) {
    plane_ = plane;
    std::fill(held_.begin(), held_.end(), -1);
  }

  // Of the windows (z, y, x) for all x.
  void find(int64_t z, int64_t y, const PoolGeometry::Window& planes,
            const PoolGeometry::Window& lines) {
    const PoolGeometry& g = geometry_;
    if (wide_) {
      std::fill(best_.begin(), best_.end(), -std::numeric_limits<T>::infinity());
      std::fill_n(window_numbers(), best_.size(), Pixel{-1});
      find_in_windows(planes, lines);
    } else {
      find_across(planes, lines);
    }
    for (int64_t x = 0; x < g.map[2] && g.zero_padding; ++x) {
      const auto at = static_cast<std::size_t>(x);
      if (g.sees_zero(z, y, x) && best_[at] < 0) window_numbers()[x] = Pixel{-1};
    }
  }

  // Of window x; -1 where there is none, or padding is greater.
  int64_t pixel(int64_t x) const {
    const int64_t which = this->which()[x];
    if (wide_ || which < 0) return which;
    const PoolGeometry& g = geometry_;
    return seen_[static_cast<std::size_t>(which / g.kernel[2])] * g.image[2] + which % g.kernel[2] -
           g.pad[2] + x * g.stride[2];
  }

  // Unless windows are wide: pixel k of window x in line i of those that the windows see is number
  // i * kernel + k; -1 for those beyond the map, as far before and after it as they reach.
  const Pixel* which() const { return which_.data() + steps_.reach(); }
  const std::vector<int64_t>& seen() const { return seen_; }

 private:
  Pixel* window_numbers() { return which_.data() + steps_.reach(); }

  void find_across(const PoolGeometry::Window& planes, const PoolGeometry::Window& lines) {
    const PoolGeometry& g = geometry_;
    seen_.clear();
    const T** pixel = pixels_.data();
    for (int64_t z = planes.begin; z < planes.end; ++z) {
      for (int64_t y = lines.begin; y < lines.end; ++y) {
        seen_.push_back(z * g.image[1] + y);
        const T* const line = line_by_steps(z, y);
        for (const int64_t start : steps_.starts()) *pixel++ = line + start;
      }
    }
    // Where nothing is larger than -inf it is the first pixel, if there is one.
    loops_.find(best_.data(), window_numbers(), first_.data(), pixels_.data(),
                pixel - pixels_.data(), steps_.places());
  }

  // Lines that the next windows see too are kept.
  const T* line_by_steps(int64_t z, int64_t y) {
    const PoolGeometry& g = geometry_;
    const auto slot = static_cast<std::size_t>(z % slots_[0] * slots_[1] + y % slots_[1]);
    T* const to = numbers_.data() + static_cast<int64_t>(slot) * steps_.size();
    const int64_t line = z * g.image[1] + y;
    if (std::exchange(held_[slot], line) != line) {
      const T* const from = plane_ + line * g.image[2];
      steps_.lay_out(from, to);
    }
    return to;
  }

  void find_in_windows(const PoolGeometry::Window& planes, const PoolGeometry::Window& lines) {
    const int64_t first_line =
        (planes.begin * geometry_.image[1] + lines.begin) * geometry_.image[2];
    for (std::size_t x = 0; x < columns_.size(); ++x)
      if (columns_[x].size() > 0)
        window_numbers()[x] = static_cast<Pixel>(first_line + columns_[x].begin);
    const auto look = [&](std::size_t x, int64_t first, int64_t pixels) {
      const int64_t at = loops_.find_first(&best_[x], plane_ + first, pixels);
      if (at >= 0) window_numbers()[x] = static_cast<Pixel>(first + at);
    };
    if (columns_.size() == 1 && columns_[0].size() == geometry_.image[2]) {
      // Lines that are seen whole are one.
      for (int64_t z = planes.begin; z < planes.end; ++z)
        look(0, (z * geometry_.image[1] + lines.begin) * geometry_.image[2],
             lines.size() * geometry_.image[2]);
      return;
    }
    for_each_seen(geometry_, planes, lines, [&](int64_t line) {
      for (std::size_t x = 0; x < columns_.size(); ++x)
        look(x, line + columns_[x].begin, columns_[x].size());
    });
  }

  const PoolGeometry& geometry_;
  const PoolLines<T>& loops_ = pool_lines<T>();
  const LineBySteps steps_;
  const bool wide_;
  const T* plane_ = nullptr;
  std::vector<PoolGeometry::Window> columns_;
  std::vector<T> best_;
  std::vector<Pixel> which_, first_;
  std::vector<const T*> pixels_;
  std::array<int64_t, 2> slots_{};
  std::vector<int64_t> held_;  // the line of each slot of numbers_
  std::vector<T> numbers_;
  std::vector<int64_t> seen_;  // lines
};

// visit(maxima of a line, plane, the line's first place) after start(plane), in threads, with what
// make() gives to each of them.
template <class T, class Make>
void for_each_line_of_maxima(const PoolGeometry& g, const T* image, const Make& make) {
  const double cost =
      0.25 * static_cast<double>(g.map_size() * g.kernel[0] * g.kernel[1] * g.kernel[2]);
  if (g.image_size() > std::numeric_limits<typename PoolLines<T>::Pixel>::max())
    throw Error(ErrorCode::kValue, "given an image of more than 2^31 - 1 pixels");
  parallel_for(
      g.batch * g.channels, cost,
      [&](int64_t first, int64_t last) {
        MaximaOfLine<T> maxima(g);
        auto worker = make();
        for (int64_t plane = first; plane < last; ++plane) {
          maxima.start(image + plane * g.image_size());
          worker.start(plane);
          for_each_line(g, [&](int64_t place, int64_t z, int64_t y, auto planes, auto lines) {
            if (planes.size() == 0 || lines.size() == 0) return;
            maxima.find(z, y, planes, lines);
            worker.visit(maxima, plane, place);
          });
          worker.finish(plane);
        }
      },
      1);
}

// Adds gradients at the pixels of the maxima, in lines laid out by steps.
template <class T>
class ToFirst {
 public:
  using Pixel = typename PoolLines<T>::Pixel;

  ToFirst(const PoolGeometry& g, const T* dmap, T* dimage)
      : geometry_(g), steps_(g, dmap), wide_(windows_are_wide(g)), dmap_(dmap), dimage_(dimage) {
    if (wide_) return;
    numbers_.resize(static_cast<std::size_t>(g.image[0] * g.image[1] * steps_.size()));
    heads_.resize(static_cast<std::size_t>(steps_.reach() + steps_.length()));
  }

  void start(int64_t plane) {
    if (wide_) {
      std::fill_n(dimage_ + plane * geometry_.image_size(), geometry_.image_size(), T{0});
    } else {
      std::fill(numbers_.begin(), numbers_.end(), T{0});
    }
  }

  void visit(const MaximaOfLine<T>& maxima, int64_t plane, int64_t place) {
    const PoolGeometry& g = geometry_;
    const T* const heads = dmap_ + plane * g.map_size() + place;
    if (wide_) {
      for (int64_t x = 0; x < g.map[2]; ++x)
        if (const int64_t pixel = maxima.pixel(x); pixel >= 0)
          dimage_[plane * g.image_size() + pixel] += heads[x];
      return;
    }
    std::copy_n(heads, g.map[2], heads_.begin() + steps_.reach());
    const int64_t stride = g.stride[2];
    int64_t number = 0;
    for (const int64_t line : maxima.seen()) {
      T* const runs = numbers_.data() + line * steps_.size();
      for (int64_t k = 0; k < steps_.runs(); ++k)
        loops_.add_where(runs + k * steps_.length(), steps_.sums(), heads_.data() + steps_.reach(),
                         maxima.which(), static_cast<Pixel>(number + k), static_cast<Pixel>(stride),
                         (g.kernel[2] - 1 - k) / stride + 1);
      number += g.kernel[2];
    }
  }

  void finish(int64_t plane) {
    if (wide_) return;
    const PoolGeometry& g = geometry_;
    T* to = dimage_ + plane * g.image_size();
    // Where windows leave gaps.
    if (g.stride[2] > g.kernel[2] || g.map[2] * g.stride[2] < g.image[2] + g.pad[2])
      std::fill_n(to, g.image_size(), T{0});
    const T* from = numbers_.data();
    for (int64_t line = 0; line < g.image[0] * g.image[1]; ++line) {
      steps_.put_back(from, to);
      to += g.image[2];
      from += steps_.size();
    }
  }

 private:
  const PoolGeometry& geometry_;
  const PoolLines<T>& loops_ = pool_lines<T>();
  const LineBySteps steps_;
  const bool wide_;
  const T* dmap_;
  T* dimage_;
  std::vector<T> numbers_, heads_;
};

template <class T>
struct FromFirst {
  const PoolGeometry& geometry;
  const T* picked;
  T* map;

  void start(int64_t plane) const {
    std::fill_n(map + plane * geometry.map_size(), geometry.map_size(), T{0});
  }
  void visit(const MaximaOfLine<T>& maxima, int64_t plane, int64_t place) const {
    for (int64_t x = 0; x < geometry.map[2]; ++x)
      if (const int64_t pixel = maxima.pixel(x); pixel >= 0)
        map[plane * geometry.map_size() + place + x] =
            picked[plane * geometry.image_size() + pixel];
  }
  void finish(int64_t) const {}
};

// Windows of 2 x 2 that tile the image, but for what may be left at its ends.
bool are_tiles_of_four(const PoolGeometry& g) {
  const auto all = [](const PoolGeometry::Sizes& sizes, int64_t depth, int64_t side) {
    return sizes[0] == depth && sizes[1] == side && sizes[2] == side;
  };
  return all(g.kernel, 1, 2) && all(g.stride, 1, 2) && all(g.pad, 0, 0) &&
         2 * g.map[1] <= g.image[1] && 2 * g.map[2] <= g.image[2];
}

template <class T>
void tiles_to_first(const PoolGeometry& g, const T* image, const T* dmap, T* dimage) {
  const PoolLines<T>& loops = pool_lines<T>();
  const int64_t width = g.image[2], area = g.image[1] * width, n = g.map[2];
  parallel_for(
      g.batch * g.channels * g.image[0], static_cast<double>(area),
      [&](int64_t first, int64_t last) {
        for (int64_t plane = first; plane < last; ++plane) {
          const T *from = image + plane * area, *heads = dmap + plane * g.map[1] * n;
          T *to = dimage + plane * area, *const end = to + area;
          for (int64_t y = 0; y < g.map[1]; ++y) {
            loops.spread_of_four(from, from + width, heads, to, to + width, n);
            std::fill(to + 2 * n, to + width, T{0});
            std::fill(to + width + 2 * n, to + 2 * width, T{0});
            from += 2 * width;
            to += 2 * width;
            heads += n;
          }
          std::fill(to, end, T{0});
        }
      },
      1);
}

}  // namespace

template <class T>
void pool_to_first(const PoolGeometry& g, const T* image, const T* dmap, T* dimage) {
  if (are_tiles_of_four(g)) return tiles_to_first(g, image, dmap, dimage);
  for_each_line_of_maxima(g, image, [&] { return ToFirst<T>(g, dmap, dimage); });
}

template <class T>
void pool_from_first(const PoolGeometry& g, const T* image, const T* picked, T* map) {
  for_each_line_of_maxima(g, image, [&] { return FromFirst<T>{g, picked, map}; });
}

#define MX_INSTANTIATE(T)                                                      \
  template void pool_to_first<T>(const PoolGeometry&, const T*, const T*, T*); \
  template void pool_from_first<T>(const PoolGeometry&, const T*, const T*, T*);
MX_INSTANTIATE(float)
MX_INSTANTIATE(double)
#undef MX_INSTANTIATE

}  // namespace mxnet
