// SPDX-License-Identifier: Apache-2.0
// Pooling of integers, channels first: maxima, and means to the nearest integer.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "op/op_builder.h"
#include "op/quantize/channels_last.h"
#include "op/quantize/layers.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet::quantize {
namespace {

// One plane. Rows of a window become one first, with whole vectors; what is left of it is short.
// `add` joins a pixel to a number, `join` two numbers, `store` gives the result of a number that is
// made of so many pixels.
template <class T, class Number, class Add, class Join, class Store>
void pool_plane(const Windows& w, const T* image, T* map, Number start, std::vector<Number>& row,
                const Add& add, const Join& join, const Store& store) {
  const int64_t width = w.image[2];
  for (int64_t z = 0; z < w.map[0]; ++z) {
    const Span deep = span_of(w, 0, z);
    for (int64_t y = 0; y < w.map[1]; ++y) {
      const Span high = span_of(w, 1, y);
      std::fill(row.begin(), row.end(), start);
      for (int64_t iz = deep.first; iz < deep.last; ++iz) {
        for (int64_t iy = high.first; iy < high.last; ++iy) {
          const T* from = image + (iz * w.image[1] + iy) * width;
          Number* to = row.data();
          for (int64_t x = 0; x < width; ++x) to[x] = add(to[x], from[x]);
        }
      }
      for (int64_t x = 0; x < w.map[2]; ++x) {
        const Span wide = span_of(w, 2, x);
        auto number = join(start, start);
        for (int64_t i = wide.first; i < wide.last; ++i)
          number = join(number, row[static_cast<std::size_t>(i)]);
        *map++ = store(number, deep.size() * high.size() * wide.size());
      }
    }
  }
}

void pooling_cpu(const PoolParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Windows w = windows_of(params, in.shape(), out.shape());
  const int64_t places = w.map_size(), kernel = w.kernel_size();
  const bool whole_kernel = params.count_include_pad.value_or(true);
  const auto width = static_cast<std::size_t>(w.image[2]);
  dispatch_dtype<DTypeSet::of(DType::kInt8, DType::kUInt8)>(
      in.dtype, "_contrib_quantized_pooling", [&]<class T>(TypeTag<T>) {
        const auto planes = [&](int64_t first, int64_t last) {
          std::vector<T> highest(width);
          std::vector<int32_t> sums(width);
          for (int64_t plane = first; plane < last; ++plane) {
            const T* image = in.as<T>() + plane * w.image_size();
            T* map = out.as<T>() + plane * places;
            if (params.type == PoolKind::kMax) {
              const auto higher = [](T a, T b) { return a > b ? a : b; };
              pool_plane(w, image, map, std::numeric_limits<T>::min(), highest, higher, higher,
                         [](T high, int64_t) { return high; });
            } else {
              pool_plane(
                  w, image, map, int32_t{0}, sums,
                  [](int32_t sum, T pixel) { return sum + int32_t{pixel}; },
                  [](int64_t a, int64_t b) { return a + b; },
                  [&](int64_t sum, int64_t count) {
                    return mean<T>(sum, whole_kernel ? kernel : count);
                  });
            }
          }
        };
        parallel_for(w.batch * w.channels,
                     static_cast<double>(w.image_size() + places * w.kernel[2]), planes, 1);
      });
  write_range(context, read_range(context, 1, 2));
}

PreparedKernelRef prepare_pooling_op(const OpDef&, const void* parsed, const Signature& signature,
                                     std::span<const LayoutRef> layouts) {
  const auto& params = *static_cast<const PoolParams*>(parsed);
  const Windows w = windows_of(params, signature.in[0].shape(), signature.out[0].shape());
  return prepare_pooling(
      {w, params.type == PoolKind::kMax, params.count_include_pad.value_or(true)}, signature,
      layouts[0]);
}
[[maybe_unused]] const bool prepared =
    add_prepared_kernel("_contrib_quantized_pooling", prepare_pooling_op);

void infer_quantized_pooling(const PoolParams& params, Infer& infer) {
  if (channels_last(params.layout)) infer.fail("given channels last, expected channels first");
  if (params.type != PoolKind::kMax && params.type != PoolKind::kAvg)
    infer.fail("given another pool_type, expected max or avg");
  expect_bytes(infer.in(0));
  infer.in(0).same_dtype(infer.out(0));
  infer_range_inputs(infer, 1, 3);
  infer_range_outputs(infer);
  infer_pooled_shape(params, infer);
}

MX_OP(_contrib_quantized_pooling, PoolParams)
.doc("Maxima or means of windows of integers.")
    .input("data", "Images, int8 or uint8.")
    .input("min_data", "Smallest real number of the data.")
    .input("max_data", "Largest real number of the data.")
    .param("kernel", &PoolParams::kernel, Shape::scalar(), "Size of the window.")
    .choice<PoolKind>("pool_type", &PoolParams::type,
                      {{"avg", PoolKind::kAvg},
                       {"lp", PoolKind::kLp},
                       {"max", PoolKind::kMax},
                       {"sum", PoolKind::kSum}},
                      "max", "What is taken of a window; sum and lp are refused.")
    .param("global_pool", &PoolParams::global, false,
           "Whether the window is the whole image, whatever the kernel.")
    .param("cudnn_off", &PoolParams::cudnn_off, false, "Whether cuDNN is not used, for GPUs.")
    .choice<PoolConvention>("pooling_convention", &PoolParams::convention,
                            {{"full", PoolConvention::kFull},
                             {"same", PoolConvention::kSame},
                             {"valid", PoolConvention::kValid}},
                            "valid", "Whether the last window must fit ('valid') or not.")
    .param("stride", &PoolParams::stride, Shape::scalar(), "Distance of windows; 1 by default.")
    .param("pad", &PoolParams::pad, Shape::scalar(), "What lies around the image.")
    .param("p_value", &PoolParams::power, std::nullopt, "Of lp, which is refused.")
    .param("count_include_pad", &PoolParams::count_include_pad, std::nullopt,
           "Whether means count padding as zeros; they do by default.")
    .choice<Layout>("layout", &PoolParams::layout,
                    layout_choices({Layout::kDefault, Layout::kNCW, Layout::kNCHW, Layout::kNCDHW,
                                    Layout::kNWC, Layout::kNHWC, Layout::kNDHWC}),
                    "None", "Order of the dimensions; channels last is refused.")
    .outputs([](const PoolParams&) { return 3; })
    .output("output")
    .output("min_output")
    .output("max_output")
    .infer(infer_quantized_pooling)
    .cpu(pooling_cpu)
    .zero_grad();

}  // namespace
}  // namespace mxnet::quantize
