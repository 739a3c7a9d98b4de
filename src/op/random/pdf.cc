// SPDX-License-Identifier: Apache-2.0
// _random_pdf_ operators: densities of samples. Each set of parameters has a row of samples.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "base/leaked.h"
#include "base/repeat_bytes.h"
#include "base/simd.h"
#include "op/inline_vector.h"
#include "op/loops/row_io.h"
#include "op/op_builder.h"
#include "op/random/distribution_words.h"
#include "op/random/pdf_loops.h"
#include "op/rows/unary_loops.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

using namespace densities;  // NOLINT(google-build-using-namespace): the rows below

using Op = OpBuilder<PdfParams>;
constexpr double kDensityCost = 64.0;

// Rows of samples, and how many there are in each.
struct Rows {
  Rows(const Tensor& sample, int64_t count)
      : count(count), length(count == 0 ? 0 : sample.size() / count) {}
  const int64_t count, length;
};

// Numbers in double that stay in the first-level cache: arrays of any type go through them.
constexpr int64_t kBlock = 256;
using Block = std::array<double, kBlock>;

// `count` numbers of an array from `at` on, where they lie or in the block.
const double* read_block(const Tensor& array, int64_t at, int64_t count, Block* block) {
  return read_elements<double>(array, at, count, 1, block->data());
}

// Samples, and their logarithms where the density asks for them.
template <class Dist>
struct Samples {
  Block wide, logs;
  const double* x = nullptr;

  void read(const Tensor& samples, int64_t at, int64_t count) {
    x = read_block(samples, at, count, &wide);
    if constexpr (Dist::kUsesLog) unary_loop<double>(UnaryRow::log).value(x, logs.data(), count);
  }
  // Of those without a use for it the logarithm is anything.
  double log_at(std::size_t k) const { return Dist::kUsesLog ? logs[k] : 0; }
};

template <class Dist>
void densities_of(const Dist& dist, const Samples<Dist>& samples, int64_t count, bool is_log,
                  Block* result) {
  MX_INDEPENDENT_STEPS
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
    (*result)[k] = dist.log_density(samples.x[k], samples.log_at(k));
  if (!is_log) unary_loop<double>(UnaryRow::exp).value(result->data(), result->data(), count);
}

#define MX_SIMD_FILE "op/random/pdf_lines.inc"
#include "base/simd_targets.h"

// Of samples [first, last), which share their parameters.
template <class Dist>
void densities_of_row(const Dist& dist, bool is_log, const Tensor& sample, const Tensor& out,
                      int64_t first, int64_t last) {
  // A few operations each: what goes through blocks takes twice as long.
  if constexpr (!Dist::kUsesLog && Dist::kContinuous) {
    if (is_log && sample.dtype == DType::kFloat32) {
      return MX_SIMD_CALL(log_densities<Dist>)(dist, sample.as<const float>() + first,
                                               out.as<float>() + first, last - first);
    }
  }
  Samples<Dist> samples;
  Block result;
  for (int64_t i = first, count = 0; i < last; i += count) {
    count = std::min(kBlock, last - i);
    samples.read(sample, i, count);
    densities_of(dist, samples, count, is_log, &result);
    write_elements(out, i, count, 1, result.data());
  }
}

// The same for all samples.
void densities_of_row(const Uniform& dist, bool is_log, const Tensor&, const Tensor& out,
                      int64_t first, int64_t last) {
  const double log_density = dist.log_density(0, 0);
  Block block;
  block.fill(is_log ? log_density : std::exp(log_density));
  write_elements(out, first, std::min(kBlock, last - first), 1, block.data());
  if (last - first <= kBlock) return;
  const auto bytes = static_cast<int64_t>(dtype_size(out.dtype));
  static_assert(kPatternBytes <= kBlock);
  repeat_bytes(out.as<char>() + first * bytes, (last - first) * bytes);
}

template <class Dist>
void pdf_cpu(const PdfParams& params, KernelContext& context) {
  const Tensor &sample = context.in(0), &first = context.in(1), &out = context.out(0);
  const Tensor& second = context.in(context.num_in() - 1);
  const Rows rows(sample, first.size());
  parallel_for(sample.size(), kDensityCost, [&](int64_t begin, int64_t end) {
    // Row by row: what depends on the parameters alone is computed once.
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / rows.length, last = std::min(end, (row + 1) * rows.length);
      const Dist dist(read_element(first, row), read_element(second, row), false);
      densities_of_row(dist, params.is_log, sample, out, i, last);
      i = last;
    }
  });
}

// Sums of `count` slopes by the parameters, each times its head; slopes by the samples.
template <class Dist>
void add_slopes(const Dist& dist, const Samples<Dist>& samples, const double* heads, int64_t count,
                Block* by_sample, std::array<double, 2>* sums) {
  double a = (*sums)[0], b = (*sums)[1];
#pragma omp simd reduction(+ : a, b)
  for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
    const Slopes slopes = dist.slopes(samples.x[k], samples.log_at(k));
    (*by_sample)[k] = heads[k] * slopes.sample;
    a += heads[k] * slopes.params[0];
    b += heads[k] * slopes.params[1];
  }
  *sums = {a, b};
}

// Inputs: gradient of the densities, samples, parameters. Outputs: gradients of samples,
// parameters.
template <class Dist>
void pdf_backward_cpu(const PdfParams& params, KernelContext& context) {
  const Tensor &head = context.in(0), &sample = context.in(1), &first = context.in(2);
  const Tensor& second = context.in(context.num_in() - 1);
  const Rows rows(sample, first.size());
  parallel_for(
      rows.count, kDensityCost * static_cast<double>(rows.length),
      [&](int64_t begin, int64_t end) {
        Samples<Dist> samples;
        Block wide, scaled, result;
        for (int64_t row = begin; row < end; ++row) {
          const Dist dist(read_element(first, row), read_element(second, row), true);
          std::array<double, 2> sums{};
          const int64_t last = (row + 1) * rows.length;
          for (int64_t i = row * rows.length, count = 0; i < last; i += count) {
            count = std::min(kBlock, last - i);
            samples.read(sample, i, count);
            const double* heads = read_block(head, i, count, &wide);
            if (!params.is_log) {
              densities_of(dist, samples, count, false, &result);
              MX_INDEPENDENT_STEPS
              for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k)
                scaled[k] = heads[k] * result[k];
              heads = scaled.data();
            }
            add_slopes(dist, samples, heads, count, &result, &sums);
            write_elements(context.out(0), i, count, 1, result.data());
          }
          for (std::size_t p = 0; p < Dist::kNames.size(); ++p)
            write_element(context.out(1 + static_cast<int>(p)), row, sums[p]);
        }
      },
      1);
}

// How many of a sample's dimensions an array of parameters has: any number of the first ones; all
// but the last where nothing is known of the array.
std::size_t shared_dims(const InferArg& array, int of_sample) {
  if (!array.shape().rank_known()) return static_cast<std::size_t>(of_sample - 1);
  if (array.ndim() > of_sample) array.fail("the first dimensions of the sample");
  return static_cast<std::size_t>(array.ndim());
}

void infer_pdf(const PdfParams&, Infer& infer) {
  infer.one_dtype();
  infer.in(0).same_shape(infer.out(0));
  for (int i = 2; i < infer.num_in(); ++i) infer.in(1).same_shape(infer.in(i));
  const Shape& sample = infer.in(0).shape();
  if (!sample.rank_known()) return;
  if (sample.ndim() == 0) infer.in(0).fail("at least one dimension");
  const Shape params(sample.dims().first(shared_dims(infer.in(1), sample.ndim())));
  for (int i = 1; i < infer.num_in(); ++i) infer.in(i).set_shape(params);
}

// Inputs: gradient of the densities, then those of the forward call, which `rule` is about.
template <void (*rule)(const PdfParams&, Infer&)>
void infer_backward(const PdfParams& params, Infer& infer) {
  infer.one_dtype();
  InlineVector<InferArg, 3> given;
  for (int i = 1; i < infer.num_in(); ++i) given.push_back(infer.in(i));
  const InferArg densities[] = {infer.in(0)};
  infer.follow([&params](Infer& forward) { rule(params, forward); }, given.span(), densities);
  for (int o = 0; o < infer.num_out(); ++o) infer.in(1 + o).same_shape(infer.out(o));
}

void flag(Op& op) {
  op.param("is_log", &PdfParams::is_log, false,
           "Whether logarithms of the densities are asked for.")
      .dtypes(kFloating);
}

// The gradient as one fused node, an output for each input.
Gradients gradient_by(const std::string& backward, Grad& grad, bool of_sample) {
  std::vector<Value> inputs = {grad.dout(0)};
  for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
  const Value node = apply(backward, inputs, grad.attrs());
  Gradients gradients;
  for (int i = 0; i < grad.num_in(); ++i)
    gradients.push_back(i == 0 && !of_sample ? Value() : output(node, i));
  return gradients;
}

// Names of the rows' operators; gradient rules are plain functions and find theirs by type.
template <class Dist>
std::string& backward_name() {
  static Leaked<std::string> name;
  return *name;
}

template <class Dist>
void define(const std::string& name) {
  backward_name<Dist>() = "_backward_pdf_" + name;
  Op op(("_random_pdf_" + name).c_str());
  doc_of_distribution(op, "Densities of", name,
                      " at samples, a row of them for each set of parameters.");
  op.alias(("random_pdf_" + name).c_str())
      .input("sample", "Samples; the parameters have their first dimensions.");
  for (const char* param : Dist::kNames) op.input(param, "Parameter of the distribution.");
  flag(op);
  op.infer(infer_pdf).cpu(pdf_cpu<Dist>).grad([](const PdfParams&, Grad& grad) {
    return gradient_by(backward_name<Dist>(), grad, Dist::kContinuous);
  });

  Op backward(backward_name<Dist>().c_str());
  backward.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the densities.")
      .input("sample", "Samples.");
  for (const char* param : Dist::kNames) backward.input(param, "Parameter of the distribution.");
  flag(backward);
  backward.outputs([](const PdfParams&) { return 1 + static_cast<int>(Dist::kNames.size()); })
      .infer(infer_backward<infer_pdf>)
      .cpu(pdf_backward_cpu<Dist>);
}

// Dirichlet: samples are vectors along the last axis.
struct Vectors {
  Vectors(const Tensor& sample, const Tensor& alpha)
      : width(alpha.ndim() == 0 ? 1 : alpha.shape().back()),
        rows(width == 0 ? 0 : alpha.size() / width),
        samples(rows == 0 ? 0 : sample.size() / width / rows) {}
  const int64_t width, rows, samples;  // samples: in each row
};

// Vectors of a tensor as doubles, one at a time.
class VectorReader {
 public:
  VectorReader(const Tensor& tensor, int64_t width)
      : tensor_(tensor), width_(width), room_(static_cast<std::size_t>(width)) {}
  const double* operator()(int64_t i) {
    return read_elements(tensor_, i * width_, width_, 1, room_.data());
  }

 private:
  const Tensor& tensor_;
  const int64_t width_;
  std::vector<double> room_;
};

double dirichlet_log_density(const double* x, const double* alpha, int64_t width) {
  double sum = 0, result = 0;
  for (int64_t i = 0; i < width; ++i) {
    sum += alpha[i];
    result += (alpha[i] - 1) * std::log(x[i]) - log_gamma(alpha[i]);
  }
  return result + log_gamma(sum);
}

void dirichlet_cpu(const PdfParams& params, KernelContext& context) {
  const Vectors v(context.in(0), context.in(1));
  VectorReader sample(context.in(0), v.width), concentrations(context.in(1), v.width);
  for (int64_t i = 0; i < v.rows * v.samples; ++i) {
    const double log_density =
        dirichlet_log_density(sample(i), concentrations(i / v.samples), v.width);
    write_element(context.out(0), i, params.is_log ? log_density : std::exp(log_density));
  }
}

void dirichlet_backward_cpu(const PdfParams& params, KernelContext& context) {
  const Vectors v(context.in(1), context.in(2));
  const auto width = static_cast<std::size_t>(v.width);
  VectorReader sample(context.in(1), v.width), concentrations(context.in(2), v.width);
  std::vector<double> sums(width), slopes(width), common(width);
  for (int64_t row = 0; row < v.rows; ++row) {
    const double* const alpha = concentrations(row);
    const double total = log_gamma_slope(std::accumulate(alpha, alpha + v.width, 0.0));
    for (std::size_t k = 0; k < width; ++k) common[k] = total - log_gamma_slope(alpha[k]);
    std::fill(sums.begin(), sums.end(), 0.0);
    for (int64_t i = row * v.samples; i < (row + 1) * v.samples; ++i) {
      const double* const x = sample(i);
      const double density = params.is_log ? 1 : std::exp(dirichlet_log_density(x, alpha, v.width));
      const double head = read_element(context.in(0), i) * density;
      for (std::size_t k = 0; k < width; ++k) {
        slopes[k] = head * (alpha[k] - 1) / x[k];
        sums[k] += head * (std::log(x[k]) + common[k]);
      }
      write_elements(context.out(0), i * v.width, v.width, 1, slopes.data());
    }
    write_elements(context.out(1), row * v.width, v.width, 1, sums.data());
  }
}

// Concentrations are vectors of the samples' length, in as many of the first dimensions of the
// samples as they have themselves. One sample alone has one density in an array.
void infer_dirichlet(const PdfParams&, Infer& infer) {
  infer.one_dtype();
  const Shape& sample = infer.in(0).shape();
  if (!sample.rank_known()) return;
  if (sample.ndim() == 0) infer.in(0).fail("at least one dimension");
  const auto outer = static_cast<std::size_t>(sample.ndim() - 1);
  infer.out(0).set_shape(outer == 0 ? Shape{1} : Shape(sample.dims().first(outer)));
  const std::size_t shared = std::max<std::size_t>(shared_dims(infer.in(1), sample.ndim()), 1);
  Shape alpha(sample.dims().first(shared - 1));
  alpha.push_back(sample.back());
  infer.in(1).set_shape(alpha);
}

[[maybe_unused]] const bool defined = [] {
#define MX_DENSITY(dist, name) define<dist>(name);
  MX_DENSITIES(MX_DENSITY)
#undef MX_DENSITY

  Op dirichlet("_random_pdf_dirichlet");
  dirichlet.doc("Dirichlet densities of vectors along the last axis.")
      .alias("random_pdf_dirichlet")
      .input("sample", "Vectors; the concentrations have their first dimensions.")
      .input("alpha", "Concentrations.");
  flag(dirichlet);
  dirichlet.infer(infer_dirichlet).cpu(dirichlet_cpu).grad([](const PdfParams&, Grad& grad) {
    return gradient_by("_backward_pdf_dirichlet", grad, true);
  });
  Op backward("_backward_pdf_dirichlet");
  backward.doc("Gradient of the operator after whose name it is called.")
      .input("head_grad", "Gradient of the densities.")
      .input("sample", "Samples.")
      .input("alpha", "Concentrations.");
  flag(backward);
  backward.outputs([](const PdfParams&) { return 2; })
      .infer(infer_backward<infer_dirichlet>)
      .cpu(dirichlet_backward_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
