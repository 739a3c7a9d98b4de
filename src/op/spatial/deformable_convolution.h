// SPDX-License-Identifier: Apache-2.0
// What a deformable convolution looks at, for the host and for kernels: each place of its kernel
// moves by learnt offsets and is weighted by a mask, if there is one.
#pragma once
#include <cstdint>

#include "base/host_device.h"
#include "base/shape.h"
#include "op/spatial/sampling.h"

namespace mxnet {

enum class DeformableLayout : int32_t { kNone, kNCDHW, kNCHW, kNCW };

// One struct for both operators; the plain one has signed counts, the modulated one a step.
struct DeformableParams {
  Shape kernel, stride, dilate, pad;
  int32_t filters, groups, deformable_groups;
  uint32_t filters_u, groups_u, deformable_groups_u, im2col_step;
  uint64_t workspace;
  bool no_bias;
  DeformableLayout layout;
};

struct DeformableGeometry {
  bool modulated;
  int64_t filters, groups, deformable_groups;
  int64_t kernel[2], stride[2], dilate[2], pad[2];
  int64_t batch = 0, channels = 0, size[2] = {}, out[2] = {};

  DeformableGeometry(const DeformableParams& p, bool modulated_)
      : modulated(modulated_),
        filters(modulated ? p.filters_u : p.filters),
        groups(modulated ? p.groups_u : p.groups),
        deformable_groups(modulated ? p.deformable_groups_u : p.deformable_groups) {
    for (int i = 0; i < 2; ++i) {
      kernel[i] = p.kernel.ndim() == 2 ? p.kernel[i] : 0;
      stride[i] = p.stride.ndim() == 2 ? p.stride[i] : 1;
      dilate[i] = p.dilate.ndim() == 2 ? p.dilate[i] : 1;
      pad[i] = p.pad.ndim() == 2 ? p.pad[i] : 0;
    }
  }
  DeformableGeometry(const DeformableParams& p, bool modulated_, const Shape& data)
      : DeformableGeometry(p, modulated_) {
    set_data(data);
  }
  void set_data(const Shape& data) {
    batch = data[0];
    channels = data[1];
    for (int i = 0; i < 2; ++i) {
      size[i] = data[2 + i];
      out[i] = (size[i] + 2 * pad[i] - dilate[i] * (kernel[i] - 1) - 1) / stride[i] + 1;
    }
  }
  MX_HOST_DEVICE int64_t area() const { return size[0] * size[1]; }
  MX_HOST_DEVICE int64_t out_area() const { return out[0] * out[1]; }
  MX_HOST_DEVICE int64_t kernel_area() const { return kernel[0] * kernel[1]; }
  MX_HOST_DEVICE int64_t rows() const { return channels * kernel_area(); }  // of columns
  MX_HOST_DEVICE int64_t channels_of_offset() const { return channels / deformable_groups; }
  // That have an offset each: of all deformable groups.
  MX_HOST_DEVICE int64_t places() const { return deformable_groups * kernel_area(); }
};

// Inputs of the forward operator: data, offset, [mask], weight, [bias].
struct DeformableSlots {
  bool modulated, bias_used;
  int mask() const { return 2; }
  int weight() const { return modulated ? 3 : 2; }
  int bias() const { return weight() + 1; }
  int count() const { return weight() + (bias_used ? 2 : 1); }
};
template <bool modulated>
DeformableSlots slots_of(const DeformableParams& params) {
  return {modulated, !params.no_bias};
}

// One image: offsets are (deformable groups, kernel places, y and x, out area).
template <class T>
struct DeformedImage {
  DeformableGeometry g;
  const T *data, *offset, *mask;  // mask may be null

  MX_HOST_DEVICE BilinearSample<T> sample(int64_t place, int64_t at) const {
    const int64_t k = place % g.kernel_area(), area = g.out_area();
    const T* moved = offset + 2 * place * area + at;
    const int64_t y = at / g.out[1] * g.stride[0] - g.pad[0] + k / g.kernel[1] * g.dilate[0];
    const int64_t x = at % g.out[1] * g.stride[1] - g.pad[1] + k % g.kernel[1] * g.dilate[1];
    return BilinearSample<T>(static_cast<T>(y) + moved[0], static_cast<T>(x) + moved[area],
                             g.size[0], g.size[1], g.modulated ? Outside::kZeros : Outside::kEdge);
  }
  MX_HOST_DEVICE T factor(int64_t place, int64_t at) const {
    return mask == nullptr ? T{1} : mask[place * g.out_area() + at];
  }
  // fn(channel, row of the columns) for what place `place` of a deformable group samples.
  template <class F>
  MX_HOST_DEVICE void channels(int64_t place, const F& fn) const {
    const int64_t group = place / g.kernel_area(), k = place % g.kernel_area();
    for (int64_t c = group * g.channels_of_offset(); c < (group + 1) * g.channels_of_offset(); ++c)
      fn(c, c * g.kernel_area() + k);
  }

  // What place `place` sees at place `at` of the result.
  MX_HOST_DEVICE void to_columns(int64_t place, int64_t at, T* columns) const {
    const BilinearSample<T> s = sample(place, at);
    const T weight = factor(place, at);
    channels(place, [&](int64_t c, int64_t row) {
      columns[row * g.out_area() + at] = weight * s.value(data + c * g.area());
    });
  }
  // From gradients of the columns: writes doffset and dmask (if there is one); `add(sum, value)`
  // adds to ddata.
  template <class Add>
  MX_HOST_DEVICE void from_columns(int64_t place, int64_t at, const T* dcolumns, T* ddata,
                                   T* doffset, T* dmask, const Add& add) const {
    const int64_t area = g.out_area();
    const BilinearSample<T> s = sample(place, at);
    const T weight = factor(place, at);
    T dy{0}, dx{0}, dweight{0};
    channels(place, [&](int64_t c, int64_t row) {
      const T d = dcolumns[row * area + at];
      const T* plane = data + c * g.area();
      for (int k = 0; k < 4; ++k)
        if (s.at[k] >= 0) add(ddata + c * g.area() + s.at[k], s.weight[k] * (d * weight));
      dy += d * s.value_slope_y(plane);
      dx += d * s.value_slope_x(plane);
      dweight += d * s.value(plane);
    });
    doffset[2 * place * area + at] = dy * weight;
    doffset[(2 * place + 1) * area + at] = dx * weight;
    if (dmask != nullptr) dmask[place * area + at] = dweight;
  }
};

// Image n of a batch.
template <class T>
DeformedImage<T> deformed_image(const DeformableGeometry& g, int64_t n, const T* data,
                                const T* offset, const T* mask) {
  const int64_t numbers = g.places() * g.out_area();
  return {g, data + n * g.channels * g.area(), offset + n * 2 * numbers,
          mask == nullptr ? nullptr : mask + n * numbers};
}

}  // namespace mxnet
