// SPDX-License-Identifier: Apache-2.0
// Kernels of _random_pdf_: densities of samples (op/random/pdf_loops.h), computed in double as on
// the CPU.
#include "op/random/pdf_loops.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"

namespace mxnet {
namespace cuda {
namespace {

using densities::PdfParams;
using Doubles = Computed<double>;

template <class F>
void in_double(KernelContext& context, const F& fn) {
  Doubles arrays(context);
  fn(arrays);
  arrays.write_back();
}

// The logarithm of a sample, where the density asks for it.
template <class Dist>
MX_DEVICE double log_of(double x) {
  return Dist::kUsesLog ? ::log(x) : 0;
}

template <class Dist>
struct Density {
  const double *sample, *first, *second;
  double* out;
  int64_t length;
  bool is_log;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / length;
    const Dist dist(first[row], second[row], false);
    const double log_density = dist.log_density(sample[i], log_of<Dist>(sample[i]));
    out[i] = is_log ? log_density : ::exp(log_density);
  }
};

template <class Dist>
void density(const PdfParams& params, KernelContext& context) {
  const int64_t rows = context.in(1).size(), size = context.in(0).size();
  if (size == 0) return;
  in_double(context, [&](Doubles& arrays) {
    const double* first = arrays.in(1);
    const double* second = context.num_in() > 2 ? arrays.in(2) : first;
    for_each(arrays.stream(), "random_pdf", size,
             Density<Dist>{arrays.in(0), first, second, arrays.out(0), size / rows, params.is_log});
  });
}

// A group for each row of samples.
template <class Dist>
struct DensitySlope {
  static constexpr int kParams = static_cast<int>(Dist::kNames.size());
  struct Sums {
    double of[2];
  };
  const double *head, *sample, *first, *second;
  double *dsample, *dparams[2];
  int64_t length;
  bool is_log;
  MX_DEVICE Sums part(int64_t row, int lane, int lanes) const {
    const Dist dist(first[row], second[row], true);
    Sums sums{};
    for (int64_t i = row * length + lane; i < (row + 1) * length; i += lanes) {
      const double log_x = log_of<Dist>(sample[i]);
      const densities::Slopes slopes = dist.slopes(sample[i], log_x);
      const double density = is_log ? 1 : ::exp(dist.log_density(sample[i], log_x));
      const double d = head[i] * density;
      dsample[i] = d * slopes.sample;
      for (int p = 0; p < kParams; ++p) sums.of[p] += d * slopes.params[p];
    }
    return sums;
  }
  MX_DEVICE Sums merge(const Sums& a, const Sums& b) const {
    return {{a.of[0] + b.of[0], a.of[1] + b.of[1]}};
  }
  MX_DEVICE void finish(int64_t row, const Sums& sums) const {
    for (int p = 0; p < kParams; ++p) dparams[p][row] = sums.of[p];
  }
};

// Inputs: gradient of the densities, samples, parameters.
template <class Dist>
void density_slope(const PdfParams& params, KernelContext& context) {
  const int64_t rows = context.in(2).size(), size = context.in(1).size();
  in_double(context, [&](Doubles& arrays) {
    constexpr bool kTwo = DensitySlope<Dist>::kParams == 2;
    const double* first = arrays.in(2);
    const double* second = kTwo ? arrays.in(3) : first;
    double *dsample = arrays.out(0), *dfirst = arrays.out(1);
    double* dsecond = kTwo ? arrays.out(2) : nullptr;
    for_each_group(arrays.stream(), "random_pdf", rows, false,
                   DensitySlope<Dist>{arrays.in(0),
                                      arrays.in(1),
                                      first,
                                      second,
                                      dsample,
                                      {dfirst, dsecond},
                                      rows == 0 ? 0 : size / rows,
                                      params.is_log});
  });
}

// Dirichlet: samples are vectors of `width` numbers, `samples` for each set of concentrations.
struct Vectors {
  int64_t width, rows, samples;
  Vectors(const Tensor& sample, const Tensor& alpha)
      : width(alpha.ndim() == 0 ? 1 : alpha.shape().back()),
        rows(width == 0 ? 0 : alpha.size() / width),
        samples(rows == 0 ? 0 : sample.size() / width / rows) {}
};

// Times `head` where there is one.
struct Dirichlet {
  Vectors v;
  const double *sample, *alpha, *head;
  double* out;
  bool is_log;
  MX_DEVICE void operator()(int64_t i) const {
    const double *x = sample + i * v.width, *a = alpha + i / v.samples * v.width;
    double sum = 0, log_density = 0;
    for (int64_t k = 0; k < v.width; ++k) {
      sum += a[k];
      log_density += (a[k] - 1) * ::log(x[k]) - log_gamma(a[k]);
    }
    log_density += log_gamma(sum);
    if (head == nullptr)
      out[i] = is_log ? log_density : ::exp(log_density);
    else
      out[i] = head[i] * (is_log ? 1 : ::exp(log_density));
  }
};

void dirichlet(const PdfParams& params, KernelContext& context) {
  const Vectors v(context.in(0), context.in(1));
  in_double(context, [&](Doubles& arrays) {
    for_each(arrays.stream(), "random_pdf", v.rows * v.samples,
             Dirichlet{v, arrays.in(0), arrays.in(1), nullptr, arrays.out(0), params.is_log});
  });
}

// One concentration, and the numbers of the samples that it is of.
struct DirichletSlope {
  Vectors v;
  const double *head, *sample, *alpha;  // head: times the density
  double *dsample, *dalpha;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t row = i / v.width, k = i - row * v.width;
    double total = 0;
    for (int64_t j = 0; j < v.width; ++j) total += alpha[row * v.width + j];
    const double a = alpha[i];
    const double common = densities::log_gamma_slope(total) - densities::log_gamma_slope(a);
    double sum = 0;
    for (int64_t s = row * v.samples; s < (row + 1) * v.samples; ++s) {
      const int64_t at = s * v.width + k;
      dsample[at] = head[s] * (a - 1) / sample[at];
      sum += head[s] * (::log(sample[at]) + common);
    }
    dalpha[i] = sum;
  }
};

void dirichlet_slope(const PdfParams& params, KernelContext& context) {
  const Vectors v(context.in(1), context.in(2));
  in_double(context, [&](Doubles& arrays) {
    const int64_t count = v.rows * v.samples;
    double* const heads = context.workspace_of<double>(count > 0 ? count : 1);
    const double *sample = arrays.in(1), *alpha = arrays.in(2);
    for_each(arrays.stream(), "random_pdf", count,
             Dirichlet{v, sample, alpha, arrays.in(0), heads, params.is_log});
    for_each(arrays.stream(), "random_pdf", v.rows * v.width,
             DirichletSlope{v, heads, sample, alpha, arrays.out(0), arrays.out(1)});
  });
}

}  // namespace

void add_densities(std::vector<GpuKernelRow>* rows) {
#define MX_DENSITY(dist, name)                                                           \
  rows->push_back(kernel_row<PdfParams, density<densities::dist>>("_random_pdf_" name)); \
  rows->push_back(kernel_row<PdfParams, density_slope<densities::dist>>("_backward_pdf_" name));
  MX_DENSITIES(MX_DENSITY)
#undef MX_DENSITY
  rows->push_back(kernel_row<PdfParams, cuda::dirichlet>("_random_pdf_dirichlet"));
  rows->push_back(kernel_row<PdfParams, cuda::dirichlet_slope>("_backward_pdf_dirichlet"));
}

}  // namespace cuda
}  // namespace mxnet
