// SPDX-License-Identifier: Apache-2.0
// The families that bring kernels by name, and how a kernel with typed parameters becomes a row of
// the table.
#pragma once
#include <vector>

#include "op/run/gpu_table.h"

namespace mxnet::cuda {

// REQUIRES: the operator `op` is declared with parameters of type P.
template <class P, void (*kKernel)(const P&, KernelContext&)>
GpuKernelRow kernel_row(const char* op) {
  return {op,
          [](const void* params, KernelContext& context) {
            kKernel(*static_cast<const P*>(params), context);
          },
          nullptr};
}

void add_adaptive_pooling(std::vector<GpuKernelRow>* rows);
void add_all_close(std::vector<GpuKernelRow>* rows);
void add_averages(std::vector<GpuKernelRow>* rows);
void add_borders(std::vector<GpuKernelRow>* rows);
void add_boxes(std::vector<GpuKernelRow>* rows);
void add_calibration(std::vector<GpuKernelRow>* rows);
void add_chains(std::vector<GpuKernelRow>* rows);
void add_cholesky(std::vector<GpuKernelRow>* rows);
void add_colours(std::vector<GpuKernelRow>* rows);
void add_columns(std::vector<GpuKernelRow>* rows);
void add_compression(std::vector<GpuKernelRow>* rows);
void add_counts(std::vector<GpuKernelRow>* rows);
void add_ctc(std::vector<GpuKernelRow>* rows);
void add_deformable(std::vector<GpuKernelRow>* rows);
void add_densities(std::vector<GpuKernelRow>* rows);
void add_detections(std::vector<GpuKernelRow>* rows);
void add_differences(std::vector<GpuKernelRow>* rows);
void add_draws(std::vector<GpuKernelRow>* rows);
void add_eigen(std::vector<GpuKernelRow>* rows);
void add_equations(std::vector<GpuKernelRow>* rows);
void add_factors(std::vector<GpuKernelRow>* rows);
void add_fourier(std::vector<GpuKernelRow>* rows);
void add_fully_connected(std::vector<GpuKernelRow>* rows);
void add_fused_convolutions(std::vector<GpuKernelRow>* rows);
void add_hawkes(std::vector<GpuKernelRow>* rows);
void add_histograms(std::vector<GpuKernelRow>* rows);
void add_images(std::vector<GpuKernelRow>* rows);
void add_isin(std::vector<GpuKernelRow>* rows);
void add_losses(std::vector<GpuKernelRow>* rows);
void add_matching(std::vector<GpuKernelRow>* rows);
void add_neighbours(std::vector<GpuKernelRow>* rows);
void add_parametric(std::vector<GpuKernelRow>* rows);
void add_polynomials(std::vector<GpuKernelRow>* rows);
void add_position_sensitive(std::vector<GpuKernelRow>* rows);
void add_product_slopes(std::vector<GpuKernelRow>* rows);
void add_proposals(std::vector<GpuKernelRow>* rows);
void add_quantized(std::vector<GpuKernelRow>* rows);
void add_quantized_layers(std::vector<GpuKernelRow>* rows);
void add_questions(std::vector<GpuKernelRow>* rows);
void add_recurrent(std::vector<GpuKernelRow>* rows);
void add_recurrent_slopes(std::vector<GpuKernelRow>* rows);
void add_regions(std::vector<GpuKernelRow>* rows);
void add_resize(std::vector<GpuKernelRow>* rows);
void add_sampling(std::vector<GpuKernelRow>* rows);
void add_series(std::vector<GpuKernelRow>* rows);
void add_spectra(std::vector<GpuKernelRow>* rows);
void add_suppression(std::vector<GpuKernelRow>* rows);
void add_training(std::vector<GpuKernelRow>* rows);
void add_triangular(std::vector<GpuKernelRow>* rows);
void add_unique(std::vector<GpuKernelRow>* rows);
void add_up_sampling(std::vector<GpuKernelRow>* rows);
void add_vector_norms(std::vector<GpuKernelRow>* rows);
void add_zipfian(std::vector<GpuKernelRow>* rows);

}  // namespace mxnet::cuda
