// SPDX-License-Identifier: Apache-2.0
// Layers of integers (op/quantize/layers.h): exact sums in int32, which wrap around as on the CPU.
#include <algorithm>

#include "op/params/dense_and_sparse.h"
#include "op/quantize/layers.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/product_steps.h"
#include "plugin/cuda/quantized.cuh"

namespace mxnet {
namespace cuda {
namespace {

using namespace quantize;  // NOLINT(google-build-using-namespace): whose kernels these are

// --- products ------------------------------------------------------------------------------------

// What the int32 of a product stand for.
struct ProductEnds {
  RangeEnds data, weight, out;
  float data_steps;
  MX_DEVICE void operator()(int64_t) const {
    out.write(product_range(data.magnitude() / data_steps, weight.magnitude() / kInt8));
  }
};

// What is added to number i of a layer's results.
struct DenseBias {
  const int8_t* bias;  // null: nothing
  RangeEnds data_ends, weight_ends, bias_ends;
  DType data_type;
  Divider columns;
  MX_DEVICE uint32_t operator()(int64_t i) const {
    if (bias == nullptr) return 0;
    const double scale = steps_of_bias(data_ends.magnitude(), data_type, weight_ends.magnitude(),
                                       bias_ends.magnitude());
    const int64_t column = i - columns.quotient(i) * columns.by();
    return static_cast<uint32_t>(bias_steps(bias[column], scale));
  }
};
struct AddDenseBias {
  DenseBias bias;
  int32_t* out;
  MX_DEVICE void operator()(int64_t i) const {
    out[i] = static_cast<int32_t>(static_cast<uint32_t>(out[i]) + bias(i));
  }
};

// A warp for each number of the result: rows of data times rows of the weight.
struct ByteProducts {
  Numbers<int32_t> data;
  const int8_t* weight;
  DenseBias bias;
  int32_t* out;
  int64_t depth;
  MX_DEVICE uint32_t part(int64_t i, int lane, int lanes) const {
    const int64_t at = bias.columns.quotient(i), row = at * depth,
                  filter = (i - at * bias.columns.by()) * depth;
    uint32_t sum = 0;
    for (int64_t k = lane; k < depth; k += lanes)
      sum += static_cast<uint32_t>(data(row + k) * weight[filter + k]);
    return sum;
  }
  MX_DEVICE uint32_t merge(uint32_t a, uint32_t b) const { return a + b; }
  MX_DEVICE void finish(int64_t i, uint32_t sum) const {
    out[i] = static_cast<int32_t>(sum + bias(i));
  }
};

// Rows of `data` times rows of the weight, on tensor cores; false where it is left to do.
bool multiply_rows(NativeStream* stream, int64_t rows, const int8_t* data, const Tensor& weight,
                   int32_t* out, KernelContext& context) {
  const int64_t n = weight.dim(0), k = weight.size() / n;
  return multiply_bytes(stream,
                        {.dtype = DType::kInt8,
                         .transpose_a = false,
                         .transpose_b = true,
                         .m = rows,
                         .n = n,
                         .k = k,
                         .a = data,
                         .lda = k,
                         .b = weight.data,
                         .ldb = k,
                         .c = out,
                         .ldc = n},
                        context);
}

void fully_connected(const FullyConnectedParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &weight = context.in(1), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const int ends = params.arrays();
  const RangeEnds of_data = ends_in(context, ends), of_weight = ends_in(context, ends + 2);
  const bool adds = !params.no_bias;
  const int64_t columns = weight.dim(0), depth = weight.dim(1);
  const DenseBias bias{
      adds ? context.in(2).as<int8_t>() : nullptr,     of_data,    of_weight,
      adds ? ends_in(context, ends + 4) : RangeEnds{}, data.dtype, Divider(columns)};
  constexpr const char* kName = "_contrib_quantized_fully_connected";
  if (data.dtype == DType::kInt8 && are_bytes_for_tensor_cores(columns, depth) &&
      multiply_rows(stream, out.size() / columns, data.as<int8_t>(), weight, out.as<int32_t>(),
                    context)) {
    if (adds) for_each(stream, kName, out.size(), AddDenseBias{bias, out.as<int32_t>()});
  } else {
    for_each_group(
        stream, kName, out.size(), false,
        ByteProducts{{data.data, data.dtype}, weight.as<int8_t>(), bias, out.as<int32_t>(), depth});
  }
  for_each(stream, kName, 1, ProductEnds{of_data, of_weight, ends_out(context), limit(data.dtype)});
}

// What is added to the map of a filter.
struct MapBias {
  const int8_t* bias;  // null: nothing
  RangeEnds data_ends, weight_ends, bias_ends;
  DType data_type;
  MX_DEVICE uint32_t operator()(int64_t filter) const {
    if (bias == nullptr) return 0;
    const double scale = steps_of_map_bias(data_ends.magnitude(), data_type,
                                           weight_ends.magnitude(), bias_ends.magnitude());
    return static_cast<uint32_t>(bias_steps(bias[filter], scale));
  }
};

// A number of the map: image, filter, place.
struct ByteConvolve {
  Windows windows;
  Numbers<int32_t> data;
  const int8_t* weight;
  MapBias bias;
  int32_t* map;
  int64_t filters, filters_of_group, channels_of_group;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t places = windows.map_size(), area = windows.image_size();
    const int64_t filter = i / places % filters, image = i / places / filters;
    const int64_t first = filter / filters_of_group * channels_of_group;
    const int64_t from = (image * windows.channels + first) * area;
    const int64_t kernel = windows.kernel_size();
    const int8_t* of_filter = weight + filter * channels_of_group * kernel;
    uint32_t sum = bias(filter);
    windows.visit(i % places, [&](int64_t k, int64_t at) {
      for (int64_t c = 0; c < channels_of_group; ++c)
        sum += static_cast<uint32_t>(data(from + c * area + at) * of_filter[c * kernel + k]);
    });
    map[i] = static_cast<int32_t>(sum);
  }
};

// What the filters see at each place of a map: number i is a channel of a place of an image.
struct TakePatches {
  Windows windows;
  const int8_t* images;
  int8_t* patches;
  Divider channels, places;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = channels.quotient(i), image = places.quotient(row);
    const int64_t plane = image * channels.by() + i - row * channels.by();
    const int64_t kernel = windows.kernel_size();
    int8_t* const patch = patches + i * kernel;
    for (int64_t k = 0; k < kernel; ++k) patch[k] = 0;
    windows.visit(row - image * places.by(), [&](int64_t k, int64_t at) {
      patch[k] = images[plane * windows.image_size() + at];
    });
  }
};
// Products lie filter by filter at each place, maps place by place of each filter.
struct PlaceProducts {
  const int32_t* products;
  MapBias bias;
  int32_t* map;
  Divider places, filters;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t plane = places.quotient(i), image = filters.quotient(plane);
    const int64_t place = i - plane * places.by(), filter = plane - image * filters.by();
    const int32_t product = products[(image * places.by() + place) * filters.by() + filter];
    map[i] = static_cast<int32_t>(static_cast<uint32_t>(product) + bias(filter));
  }
};

// As products on tensor cores, some images at a time: false where it is left to do.
bool convolve_as_products(const ByteConvolve& call, const Tensor& weight, KernelContext& context) {
  constexpr int64_t kMostScratch = int64_t{64} << 20;  // bytes; one image takes what it takes
  constexpr const char* kName = "_contrib_quantized_conv";
  const Windows& windows = call.windows;
  const int64_t filters = call.filters, places = windows.map_size();
  const int64_t depth = windows.channels * windows.kernel_size();
  if (call.data.dtype != DType::kInt8 || call.filters_of_group != filters ||
      !are_bytes_for_tensor_cores(filters, depth))
    return false;
  NativeStream* const stream = context.stream()->native();
  const int64_t for_one = places * (depth + filters * static_cast<int64_t>(sizeof(int32_t)));
  const int64_t fitting = std::clamp<int64_t>(kMostScratch / std::max<int64_t>(for_one, 1), 1,
                                              std::max<int64_t>(windows.batch, 1));
  auto* const products = context.workspace_of<int32_t>(fitting * places * filters);
  auto* const patches = context.workspace_of<int8_t>(fitting * places * depth);
  const auto* images = static_cast<const int8_t*>(call.data.data);
  int32_t* map = call.map;
  for (int64_t first = 0; first < windows.batch; first += fitting) {
    const int64_t count = std::min(fitting, windows.batch - first);
    for_each(stream, kName, count * places * windows.channels,
             TakePatches{windows, images, patches, Divider(windows.channels), Divider(places)});
    if (!multiply_rows(stream, count * places, patches, weight, products, context)) return false;
    for_each(stream, kName, count * places * filters,
             PlaceProducts{products, call.bias, map, Divider(places), Divider(filters)});
    images += count * windows.channels * windows.image_size();
    map += count * filters * places;
  }
  return true;
}

void convolution(const quantize::ConvParams& params, KernelContext& context) {
  const Tensor &data = context.in(0), &weight = context.in(1), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const Windows windows = windows_of(params, data.shape(), out.shape());
  const int64_t filters = weight.dim(0), groups = params.num_group;
  const int ends = params.arrays();
  const RangeEnds of_data = ends_in(context, ends), of_weight = ends_in(context, ends + 2);
  const MapBias bias{params.no_bias ? nullptr : context.in(2).as<int8_t>(), of_data, of_weight,
                     params.no_bias ? RangeEnds{} : ends_in(context, ends + 4), data.dtype};
  const ByteConvolve call{
      windows, {data.data, data.dtype}, weight.as<int8_t>(),      bias, out.as<int32_t>(),
      filters, filters / groups,        windows.channels / groups};
  if (!convolve_as_products(call, weight, context))
    for_each(stream, "_contrib_quantized_conv", out.size(), call);
  // A step of the data counts as one of int8 for uint8 too (op/quantize/convolution.cc).
  for_each(stream, "_contrib_quantized_conv", 1,
           ProductEnds{of_data, of_weight, ends_out(context), kInt8});
}

// --- pooling and joining -------------------------------------------------------------------------

struct CopyEnds {
  RangeEnds from, to;
  MX_DEVICE void operator()(int64_t) const { to.write(from()); }
};

template <class T>
struct PoolBytes {
  Windows windows;
  const T* images;
  T* maps;
  bool maxima, whole_kernel;
  MX_DEVICE void operator()(int64_t i) const {
    const T* image = images + i / windows.map_size() * windows.image_size();
    T high = std::numeric_limits<T>::min();
    int64_t sum = 0, count = 0;
    windows.visit(i % windows.map_size(), [&](int64_t, int64_t at) {
      high = image[at] > high ? image[at] : high;
      sum += image[at];
      ++count;
    });
    maps[i] = maxima ? high : mean<T>(sum, whole_kernel ? windows.kernel_size() : count);
  }
};
void pooling(const PoolParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  for_dtype<kBytes.bits_>(in.dtype, "_contrib_quantized_pooling", [&](auto type) {
    using T = decltype(type);
    for_each(stream, "_contrib_quantized_pooling", out.size(),
             PoolBytes<T>{windows_of(params, in.shape(), out.shape()), in.as<T>(), out.as<T>(),
                          params.type == PoolKind::kMax, params.count_include_pad.value_or(true)});
  });
  for_each(stream, "_contrib_quantized_pooling", 1,
           CopyEnds{ends_in(context, 1), ends_out(context)});
}

struct WidenEnds {
  RangeEnds part, all;
  bool first;
  MX_DEVICE void operator()(int64_t) const {
    const Range mine = part(), others = first ? mine : all();
    all.write({mine.min < others.min ? mine.min : others.min,
               mine.max > others.max ? mine.max : others.max});
  }
};
// Rows of a part into rows of the result.
template <class To>
struct PlacePart {
  RangeEnds part, all;
  Numbers<int32_t> in;
  To* out;
  int64_t row, out_row, offset;
  MX_DEVICE void operator()(int64_t i) const {
    const float end = part.magnitude(), all_end = all.magnitude();
    const int32_t x = in(i);
    // Bytes that stand for the same numbers in both stay what they are.
    const bool same = in.dtype == dtype_of<To> && end == all_end;
    out[i / row * out_row + offset + i % row] =
        same ? static_cast<To>(x)
             : nearest<To>(static_cast<float>(x) *
                           steps_of_part(end, in.dtype, all_end, dtype_of<To>));
  }
};
void concat(const JoinParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const RangeEnds all = ends_out(context);
  const auto ends_of = [&](int i) { return ends_in(context, params.num_args + 2 * i); };
  for (int i = 0; i < params.num_args; ++i)
    for_each(stream, "_contrib_quantized_concat", 1, WidenEnds{ends_of(i), all, i == 0});
  const int axis = params.dim < 0 ? params.dim + out.ndim() : params.dim;  // inferred: in range
  const int64_t rows = out.shape().size(0, axis);
  if (out.size() == 0) return;
  for_dtype<kBytes.bits_>(out.dtype, "_contrib_quantized_concat", [&](auto type) {
    using To = decltype(type);
    int64_t offset = 0;
    for (int i = 0; i < params.num_args; ++i) {
      const Tensor& in = context.in(i);
      const int64_t row = in.size() / rows;
      for_each(
          stream, "_contrib_quantized_concat", in.size(),
          PlacePart<To>{
              ends_of(i), all, {in.data, in.dtype}, out.as<To>(), row, out.size() / rows, offset});
      offset += row;
    }
  });
}

}  // namespace

void add_quantized_layers(std::vector<GpuKernelRow>* rows) {
  rows->push_back(
      kernel_row<FullyConnectedParams, fully_connected>("_contrib_quantized_fully_connected"));
  rows->push_back(kernel_row<quantize::ConvParams, convolution>("_contrib_quantized_conv"));
  rows->push_back(kernel_row<PoolParams, pooling>("_contrib_quantized_pooling"));
  rows->push_back(kernel_row<JoinParams, concat>("_contrib_quantized_concat"));
}

}  // namespace cuda
}  // namespace mxnet
