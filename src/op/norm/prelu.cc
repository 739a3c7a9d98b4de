// SPDX-License-Identifier: Apache-2.0
// Rows that have one slope each; where few elements do, rows of whole samples.
#include "op/norm/prelu.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "op/loops/row_io.h"
#include "op/norm/activation_loops.h"
#include "op/norm/norm_loops.h"
#include "op/norm/row_sums.h"
#include "op/reducing/axes.h"
#include "op/reducing/evaluate.h"
#include "op/rows/binary_loops.h"
#include "op/run/gpu.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

// The axis of channels: 1, or 0 of a vector.
int channel_axis(int ndim) { return ndim < 2 ? 0 : 1; }

// Rows with one slope each: row r has that of channel r % channels.
struct SlopeRows {
  RowLayout rows;
  int64_t channels = 1;
};
SlopeRows slope_rows(const Shape& data, int64_t slopes) {
  if (data.ndim() == 0) return {RowLayout{}, 1};
  if (slopes == 1) return {rows_behind(data, data.ndim() - 1), 1};
  return {rows_behind(data, channel_axis(data.ndim()) + 1), slopes};
}

// Where each slope belongs to a few elements, rows are whole samples, or several where those are
// short, and have slopes by element.
constexpr int64_t kFewElements = 64;   // takes longer to be called for than to be computed
constexpr int64_t kShortSample = 512;  // elements that rows are to have at least
struct SampleRows {
  RowLayout rows;
  int64_t per_slope = 1;  // elements one behind another
  int64_t channels = 1;

  // Of the sums of slopes' gradients: rows that are added to the same, and how many such there are.
  // Both follow from the shape alone.
  int64_t together() const { return std::clamp<int64_t>(32768 / rows.length, 16, 4096); }
  int64_t parts() const { return (rows.outer + together() - 1) / together(); }

  template <class C>
  std::vector<C> slopes(const Tensor& gamma) const {
    std::vector<C> each(static_cast<std::size_t>(channels));
    std::vector<C> all(static_cast<std::size_t>(rows.length));
    const C* const slope = read_elements(gamma, 0, channels, 1, each.data());
    C* to = all.data();
    for (int64_t begin = 0; begin < rows.length; begin += channels * per_slope) {
      if (per_slope == 1) {
        to = std::copy_n(slope, channels, to);
      } else {
        for (int64_t c = 0; c < channels; ++c) to = std::fill_n(to, per_slope, slope[c]);
      }
    }
    return all;
  }
};
std::optional<SampleRows> sample_rows(const SlopeRows& slopes) {
  const int64_t count = slopes.rows.rows(), length = slopes.rows.length;
  if (slopes.channels == 1 || length >= kFewElements || count == 0 || length == 0) return {};
  int64_t samples = count / slopes.channels, together = 1;
  const int64_t sample = slopes.channels * length;
  for (int64_t n = std::min(samples, kShortSample / sample); n > 1 && together == 1; --n)
    if (samples % n == 0) together = n;
  return SampleRows{{samples / together, sample * together, 1}, length, slopes.channels};
}

// gamma with the axes around its channels that make it meet them.
Shape broadcast_shape(const Tensor& gamma, int ndim) {
  Shape shape(ndim, 1);
  if (gamma.size() != 1) shape[channel_axis(ndim)] = gamma.size();
  return shape;
}

void forward_on_gpu(const GpuTable& gpu, KernelContext& context) {
  const Tensor& in = context.in(0);
  const Shape shape = broadcast_shape(context.in(1), in.ndim());
  const Tensor gamma{context.in(1).data, &shape, in.dtype};
  bend_on_gpu(gpu, in, in, gamma, context.out(0), context);
}

// dgamma is the sum of dy * x where x is negative, which half types make in float.
void backward_on_gpu(const GpuTable& gpu, KernelContext& context) {
  NativeStream* stream = context.stream()->native();
  const Tensor &dy = context.in(0), &in = context.in(1), &dgamma = context.out(1);
  const Shape shape = broadcast_shape(context.in(2), in.ndim());
  const DType wide = in.dtype == DType::kFloat64 ? in.dtype : DType::kFloat32;
  const auto scratch = [&] {
    return Tensor{context.workspace(static_cast<std::size_t>(in.size()) * dtype_size(wide)),
                  in.shape_ptr, wide};
  };
  const Tensor negative = scratch(), product = scratch();
  gpu.convert(stream, in, negative);
  gpu.clip(stream, -std::numeric_limits<double>::infinity(), 0.0, negative, negative);
  gpu.convert(stream, dy, product);
  gpu.binary(stream, gpu.multiply, product, negative, product);
  AxisSet axes = all_axes(in.ndim());
  if (dgamma.size() != 1) axes &= ~(AxisSet{1} << channel_axis(in.ndim()));
  reduce_to({Reduction::sum}, product, axes, dgamma, context);
  // Last: dx may lie where dy or the data does.
  const Tensor gamma{context.in(2).data, &shape, in.dtype};
  bend_on_gpu(gpu, in, dy, gamma, context.out(0), context);
}

void bend_samples(const SampleRows& samples, const Tensor& in, const Tensor& gamma,
                  const Tensor& out) {
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> slopes = samples.slopes<C>(gamma);
    const auto bend = norm_loops<C>().bend;
    map_rows<C>(
        samples.rows, 1.0, out,
        [&](int64_t, C* y, const C* x) { bend(x, x, slopes.data(), y, samples.rows.length); }, in);
  });
}

void bend_samples_back(const SampleRows& samples, const Tensor& dy, const Tensor& in,
                       const Tensor& gamma, const Tensor& dx, const Tensor& dgamma, double* sums) {
  const int64_t length = samples.rows.length, together = samples.together();
  const int64_t parts = samples.parts();
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const std::vector<C> slopes = samples.slopes<C>(gamma);
    const NormLoops<C>& loops = norm_loops<C>();
    parallel_for(
        parts, 4.0 * static_cast<double>(together * length),
        [&](int64_t first, int64_t last) {
          const int64_t end = std::min(last * together, samples.rows.outer);
          RowReader<C> read_dy(dy, samples.rows, end), read_x(in, samples.rows, end);
          RowWriter<C> write(dx, samples.rows, end);
          std::fill(sums + first * length, sums + last * length, 0.0);
          for (int64_t r = first * together; r < end; ++r) {
            const C* g = read_dy(r);
            const C* x = read_x(r);
            C* to = write.begin(r);
            loops.add_negatives(g, x, length, sums + r / together * length);
            loops.bend(g, x, slopes.data(), to, length);
            write.finish(r);
          }
        },
        1);
  });
  for (int64_t part = 1; part < parts; ++part)
    for (int64_t i = 0; i < length; ++i) sums[i] += sums[part * length + i];
  for (int64_t c = 0; c < samples.channels; ++c) {
    double sum = 0;
    for (int64_t at = c * samples.per_slope; at < length;
         at += samples.channels * samples.per_slope)
      for (int64_t i = 0; i < samples.per_slope; ++i) sum += sums[at + i];
    write_element(dgamma, c, sum);
  }
}

void forward_on_cpu(const Tensor& in, const Tensor& gamma, const Tensor& out) {
  const SlopeRows slopes = slope_rows(in.shape(), gamma.size());
  if (const auto samples = sample_rows(slopes)) return bend_samples(*samples, in, gamma, out);
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const auto loop = activation_loop<C>(ActivationRow::leaky).value;
    map_rows<C>(
        slopes.rows, 4.0, out,
        [&](int64_t r, C* y, const C* x) {
          const double slope = read_element(gamma, r % slopes.channels);
          loop(x, y, slopes.rows.length, static_cast<C>(slope));
        },
        in);
  });
}

void backward_on_cpu(const Tensor& dy, const Tensor& in, const Tensor& gamma, const Tensor& dx,
                     const Tensor& dgamma, KernelContext& context) {
  const SlopeRows slopes = slope_rows(in.shape(), gamma.size());
  if (const auto samples = sample_rows(slopes)) {
    double* const sums = context.workspace_of<double>(samples->parts() * samples->rows.length);
    return bend_samples_back(*samples, dy, in, gamma, dx, dgamma, sums);
  }
  double* const row_sums = context.workspace_of<double>(slopes.rows.rows());
  const int64_t length = slopes.rows.length, count = slopes.rows.rows();
  with_row_type(in.dtype, [&](auto zero) {
    using C = decltype(zero);
    const auto loop = activation_loop<C>(ActivationRow::leaky).slope;
    const auto negative_dot = norm_loops<C>().negative_dot;
    const bool wide = accumulate_wide();
    map_rows<C>(
        slopes.rows, 8.0, dx,
        [&](int64_t r, C* to, const C* g, const C* x) {
          row_sums[r] = sum_blocks<C>(length, wide, [&](int64_t begin, int64_t n) {
            return negative_dot(g + begin, x + begin, n);
          });
          loop(g, x, to, length, static_cast<C>(read_element(gamma, r % slopes.channels)));
        },
        dy, in);
  });
  for (int64_t c = 0; c < slopes.channels; ++c) {
    double sum = 0;
    for (int64_t r = c; r < count; r += slopes.channels) sum += row_sums[r];
    write_element(dgamma, c, sum);
  }
}

}  // namespace

void bend_on_gpu(const GpuTable& gpu, const Tensor& x, const Tensor& value, const Tensor& slopes,
                 const Tensor& out, KernelContext& context) {
  NativeStream* stream = context.stream()->native();
  const auto bytes = static_cast<std::size_t>(out.size()) * dtype_size(out.dtype);
  const Tensor above{context.workspace(bytes), out.shape_ptr, out.dtype};
  const Tensor below{context.workspace(bytes), out.shape_ptr, out.dtype};
  gpu.binary_scalar(stream, static_cast<int>(BinaryRow::greater), x, 0.0, false, above);
  gpu.binary(stream, gpu.multiply, value, slopes, below);
  gpu.choose(stream, above, value, below, out);
}

void prelu_forward(KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) return forward_on_gpu(*gpu, context);
  forward_on_cpu(context.in(0), context.in(1), context.out(0));
}
void prelu_backward(KernelContext& context) {
  if (const GpuTable* gpu = gpu_table(context)) return backward_on_gpu(*gpu, context);
  backward_on_cpu(context.in(0), context.in(1), context.in(2), context.out(0), context.out(1),
                  context);
}

void infer_prelu(InferArg data, InferArg gamma) {
  gamma.same_dtype(data);
  if (!data.rank_known()) return;
  const int64_t channels = data.ndim() == 0 ? 1 : data.dim(channel_axis(data.ndim()));
  if (!gamma.rank_known()) {
    gamma.set_shape({channels});
  } else if (gamma.known() && gamma.shape().size() != 1) {
    const bool like_data = gamma.ndim() == data.ndim();
    const int axis = like_data ? channel_axis(data.ndim()) : 0;
    if ((gamma.ndim() != 1 && !like_data) || gamma.shape().size() != gamma.dim(axis) ||
        (channels >= 0 && gamma.dim(axis) != channels))
      gamma.fail("one element, or one for each of " + std::to_string(channels) + " channels");
  }
}

}  // namespace mxnet
