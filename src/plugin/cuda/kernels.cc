// SPDX-License-Identifier: Apache-2.0
// Gathers the primitives, and the kernels that each family lists.
#include "plugin/cuda/kernels.h"

#include <vector>

#include "base/config.h"
#include "op/rows/binary_loops.h"
#include "plugin/cuda/attention.h"
#include "plugin/cuda/families.h"
#include "plugin/cuda/primitives.h"

namespace mxnet::cuda {
namespace {

std::vector<GpuKernelRow> kernels_of_families() {
  std::vector<GpuKernelRow> all;
  add_adaptive_pooling(&all);
  add_all_close(&all);
  add_attention(&all);
  add_averages(&all);
  add_borders(&all);
  add_boxes(&all);
  add_calibration(&all);
  add_chains(&all);
  add_cholesky(&all);
  add_colours(&all);
  add_columns(&all);
  add_compression(&all);
  add_counts(&all);
  add_ctc(&all);
  add_deformable(&all);
  add_densities(&all);
  add_detections(&all);
  add_differences(&all);
  add_draws(&all);
  add_eigen(&all);
  add_equations(&all);
  add_factors(&all);
  add_fourier(&all);
  add_fully_connected(&all);
  add_fused_convolutions(&all);
  add_hawkes(&all);
  add_histograms(&all);
  add_images(&all);
  add_isin(&all);
  add_losses(&all);
  add_matching(&all);
  add_neighbours(&all);
  add_parametric(&all);
  add_polynomials(&all);
  add_position_sensitive(&all);
  add_product_slopes(&all);
  add_proposals(&all);
  add_quantized(&all);
  add_quantized_layers(&all);
  add_questions(&all);
  add_recurrent(&all);
  add_recurrent_slopes(&all);
  add_regions(&all);
  add_resize(&all);
  add_sampling(&all);
  add_series(&all);
  add_spectra(&all);
  add_suppression(&all);
  add_training(&all);
  add_triangular(&all);
  add_unique(&all);
  add_up_sampling(&all);
  add_vector_norms(&all);
  add_zipfian(&all);
  return all;
}

}  // namespace

bool sums_in_order() { return config().cuda.enforce_determinism; }

const GpuTable& kernels() {
  static const std::vector<GpuKernelRow> rows = kernels_of_families();
  static const GpuTable table = {
      .kernels = rows,
      .unary = unary,
      .unary_slope = unary_slope,
      .multiply = static_cast<int>(BinaryRow::multiply),
      .divide = static_cast<int>(BinaryRow::divide),
      .binary = binary,
      .binary_scalar = binary_scalar,
      .binary_slope = binary_slope,
      .convert = convert,
      .accumulate = accumulate,
      .fill = fill,
      .copy_strided = copy_strided,
      .sum_strided = sum_strided,
      .reduce = reduce,
      .spread = spread,
      .activation = activation,
      .activation_slope = activation_slope,
      .softmax = softmax,
      .softmax_slope = softmax_slope,
      .update = update,
      .gather_rows = gather_rows,
      .sum_rows = sum_rows,
      .put_rows = put_rows,
      .mask_steps = mask_steps,
      .reverse_steps = reverse_steps,
      .gemm = gemm,
      .convolve = convolve,
      .sum_channels = sum_channels,
      .pool = pool,
      .pool_slope = pool_slope,
      .pool_pick = pool_pick,
      .batch_norm = batch_norm,
      .batch_norm_slope = batch_norm_slope,
      .pick = pick,
      .put = put,
      .random = random,
      .draw = draw,
      .draw_integers = draw_integers,
      .draw_categories = draw_categories,
      .count_categories = count_categories,
      .keep_mask = keep_mask,
      .choose = choose,
      .one_hot = one_hot,
      .clip = clip,
      .clip_slope = clip_slope,
      .row_norm = row_norm,
      .row_norm_slope = row_norm_slope,
      .class_slope = class_slope,
      .arg = arg,
      .order = order,
      .running_sum = running_sum,
      .resample = resample,
      .count_up = count_up,
  };
  return table;
}

}  // namespace mxnet::cuda
