// SPDX-License-Identifier: Apache-2.0
// Cuts the map into parts that threads take, and compiles the loops for each instruction set.
#include "op/nn/conv_lines.h"

#include "base/simd.h"
#include "op/run/parallel.h"

// Vectors are passed between functions that are always inlined: no call, no ABI to warn of.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace mxnet {
namespace {

// A part of a map: of one image and group, some planes and lines of all its channels.
struct LinesPart {
  const float *image, *weight;  // of the group
  float *map, *copy;            // of the group; of the thread
  int64_t group, first_plane, planes, first_line, lines;
};

// One line of the copy: zeros, and in between what lies in the image from `from` on.
void copy_line(const ConvGeometry& g, const LinesCopy& copy, const float* from, float* to) {
  const int64_t stride = g.stride[2], pad = g.pad[2], width = g.image[2];
  if (from == nullptr) {
    std::fill_n(to, copy.line, 0.0F);
    return;
  }
  for (int64_t p = 0; p < stride; ++p, to += copy.part) {
    // to[i] is pixel i * stride + p - pad.
    const int64_t first = std::min(p >= pad ? 0 : (pad - p + stride - 1) / stride, copy.part);
    const int64_t start = first * stride + p - pad;
    const int64_t there = start >= width ? 0 : (width - 1 - start) / stride + 1;
    const int64_t n = std::min(there, copy.part - first);
    std::fill_n(to, first, 0.0F);
    if (stride == 1) {
      std::copy_n(from + start, n, to + first);
    } else {
      for (int64_t i = 0; i < n; ++i) to[first + i] = from[start + i * stride];
    }
    std::fill_n(to + first + n, copy.part - first - n, 0.0F);
  }
}

void copy_part(const ConvGeometry& g, const LinesCopy& copy, const LinesPart& part) {
  const int64_t planes = copy.planes_of(part.planes), lines = copy.lines_of(part.lines);
  const int64_t z0 = part.first_plane * g.stride[0] - g.pad[0];
  const int64_t y0 = part.first_line * g.stride[1] - g.pad[1];
  float* to = part.copy;
  for (int64_t c = 0; c < g.image_group(); ++c) {
    const float* const channel = part.image + c * g.image_size();
    for (int64_t z = z0; z < z0 + planes; ++z) {
      for (int64_t y = y0; y < y0 + lines; ++y, to += copy.line) {
        const bool inside = z >= 0 && z < g.image[0] && y >= 0 && y < g.image[1];
        copy_line(g, copy, inside ? channel + (z * g.image[1] + y) * g.image[2] : nullptr, to);
      }
    }
  }
}

#define MX_SIMD_FILE "op/nn/conv_lines.inc"
#include "base/simd_wide_targets.h"
#undef MX_SIMD_FILE

// Numbers of a copy, so that it stays in a second-level cache beside the lines of the map.
constexpr int64_t kCopy = 64 * 1024;
// Numbers of a vector at most.
constexpr int64_t kLongest = 16;

// Numbers of a map's line with those that fill its last vectors.
int64_t computed(const ConvGeometry& g) {
  const int64_t width = g.map[2];
  const int64_t together = g.map[1] > 1 ? kLongest : 8 * kLongest;
  return (width + together - 1) / together * together;
}

int64_t part_size(const ConvGeometry& g, const LinesCopy& copy) {
  return g.image_group() * copy.size(copy.planes, copy.lines);
}

}  // namespace

LinesCopy::LinesCopy(const ConvGeometry& g)
    : together(g.map[1] == 1 ? 1 : kLines),
      stride_z(g.stride[0]),
      reach_z(g.dilate[0] * (g.kernel[0] - 1) + 1),
      stride_y(g.stride[1]),
      reach_y(g.dilate[1] * (g.kernel[1] - 1) + 1),
      part(computed(g) + g.dilate[2] * (g.kernel[2] - 1) / g.stride[2] + 1),
      line(part * g.stride[2]),
      planes(g.map[0]),
      lines(g.map[1]) {
  const auto too_large = [&] { return part_size(g, *this) > kCopy; };
  while (too_large() && planes > 1) planes = (planes + 1) / 2;
  while (too_large() && lines > kLines) lines = (lines + 1) / 2;
}

bool suits_lines(const ConvGeometry& g) {
  // A product multiplies twice as fast as these loops, once it has channels enough: 3 to 12 take as
  // long either way, 5 to 5 half as long here, 7 to 30 half as long there.
  constexpr int64_t kMostPairs = 32;
  return simd_level() > 0 && g.groups > 1 && !g.channels_last && g.kernel_size() > 1 &&
         g.image_group() * g.map_group() <= kMostPairs && g.map_size() > 0 && g.image_size() > 0 &&
         part_size(g, LinesCopy(g)) <= 4 * kCopy;
}

void convolve_lines(const ConvGeometry& g, const float* image, const float* weight,
                    const LayerPost& post, float* map, const KernelContext& context) {
  const LinesCopy copy(g);
  const int64_t in_planes = (g.map[0] + copy.planes - 1) / copy.planes;
  const int64_t in_lines = (g.map[1] + copy.lines - 1) / copy.lines;
  const int64_t tasks = g.batch * g.groups * in_planes * in_lines;
  if (tasks == 0) return;
  const int64_t size = part_size(g, copy);
  const int64_t products = g.image_group() * g.kernel_size();
  const double cost = 0.125 * static_cast<double>(copy.planes * copy.lines * g.map[2]) *
                      static_cast<double>(products * g.map_group());
  const int64_t threads = std::min<int64_t>(tasks, threads_for(tasks, cost));
  auto* const copies = context.workspace_of<float>(threads * size);
  void (*const compute)(const ConvGeometry&, const LinesCopy&, const LinesPart&, const LayerPost&) =
      MX_SIMD_WIDE_AT(simd_level(), compute_part);
  parallel_for(
      threads, cost * static_cast<double>(tasks) / static_cast<double>(threads),
      [&](int64_t from, int64_t to) {
        for (int64_t thread = from; thread < to; ++thread) {
          for (int64_t task = thread * tasks / threads; task < (thread + 1) * tasks / threads;
               ++task) {
            LinesPart part;
            const int64_t group = task / in_planes / in_lines;  // of all images
            part.group = group % g.groups;
            part.image = image + group * g.image_group() * g.image_size();
            part.weight = weight + part.group * g.map_group() * products;
            part.map = map + group * g.map_group() * g.map_size();
            part.copy = copies + thread * size;
            part.first_plane = task / in_lines % in_planes * copy.planes;
            part.planes = std::min(copy.planes, g.map[0] - part.first_plane);
            part.first_line = task % in_lines * copy.lines;
            part.lines = std::min(copy.lines, g.map[1] - part.first_line);
            LayerPost own = post;
            if (own.bias != nullptr) own.bias += part.group * g.map_group();
            if (own.sum != nullptr)
              own.sum = static_cast<const float*>(post.sum) + (part.map - map);
            copy_part(g, copy, part);
            compute(g, copy, part, own);
          }
        }
      },
      1);
}

}  // namespace mxnet
