// SPDX-License-Identifier: Apache-2.0
// Random numbers of any distribution (op/random/samplers.h, op/random/numpy_samplers.h): each
// element has a Philox sequence of its own, of which it takes as many words as it needs.
#include "op/random/numpy_samplers.h"
#include "op/random/samplers.h"
#include "plugin/cuda/computed.cuh"
#include "plugin/cuda/families.h"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/philox_draws.h"
#include "plugin/cuda/scatter.cuh"
#include "plugin/cuda/walk.h"

namespace mxnet {
namespace cuda {
namespace {

// A parameter: an array, or a number.
template <class F>
struct Parameter {
  Numbers<F> array;
  F number;
  MX_DEVICE F operator()(int64_t at) const { return array.data == nullptr ? number : array(at); }
};

// All distributions of a family share one kernel, which branches alike in all threads.
template <class F>
struct OfSamplers {
  using Number = F;
  samplers::Row row;
  MX_DEVICE F value(PhiloxDraws& draws, F a, F b) const {
    switch (row) {
#define MX_ROW(name)           \
  case samplers::Row::k##name: \
    return samplers::name::template draw<F>(draws, a, b);
      MX_SAMPLERS(MX_ROW)
#undef MX_ROW
    }
    return F(0);
  }
  MX_DEVICE void draw(PhiloxDraws& draws, F a, F b, F* number, F*) const {
    *number = value(draws, a, b);
  }
};
struct OfNumpy {
  using Number = float;
  numpy_samplers::Row row;
  MX_DEVICE numpy_samplers::Sample sample(PhiloxDraws& draws, float a, float b) const {
    switch (row) {
#define MX_ROW(name)                 \
  case numpy_samplers::Row::k##name: \
    return numpy_samplers::name()(draws, a, b);
      MX_NUMPY_SAMPLERS(MX_ROW)
#undef MX_ROW
    }
    return {0, 0};
  }
  MX_DEVICE void draw(PhiloxDraws& draws, float a, float b, float* number, float* slope) const {
    const numpy_samplers::Sample drawn = sample(draws, a, b);
    *number = drawn.value;
    *slope = drawn.slope;
  }
};

template <class Family>
struct DrawNumbers {
  using F = typename Family::Number;
  Family family;
  uint64_t key;
  Parameter<F> a, b;
  Walk<2> walk;
  Stored out, slope;
  MX_DEVICE void operator()(int64_t i) const {
    PhiloxDraws draws(key, i);
    int64_t at[2];
    walk.offsets(i, at);
    F number = 0, by_parameter = 0;
    family.draw(draws, a(at[0]), b(at[1]), &number, &by_parameter);
    out(i, number);
    if (slope.data != nullptr) slope(i, by_parameter);
  }
};

template <class Family>
void run_draw(NativeStream* stream, const GpuDraw& call, const Family& family) {
  using F = typename Family::Number;
  const Shape* shapes[2] = {};
  Parameter<F> parameters[2] = {};
  for (int k = 0; k < 2; ++k) {
    const Tensor* array = call.arrays[k];
    if (array != nullptr) {
      shapes[k] = &array->shape();
      parameters[k].array = {array->data, array->dtype};
    }
    parameters[k].number = static_cast<F>(call.numbers[k]);
  }
  const Stored slope = call.slope == nullptr ? Stored{nullptr, DType::kUnknown}
                                             : Stored{call.slope->data, call.slope->dtype};
  for_each(stream, "draw", call.out.size(),
           DrawNumbers<Family>{family,
                               call.key,
                               parameters[0],
                               parameters[1],
                               broadcast_walk<2>({shapes[0], shapes[1]}, call.out.shape()),
                               {call.out.data, call.out.dtype},
                               slope});
}

struct DrawIntegers {
  uint64_t key;
  uint64_t low, count;
  Stored out;
  MX_DEVICE void operator()(int64_t i) const {
    PhiloxDraws draws(key, i);
    const uint64_t high = draws.word();
    const uint64_t drawn = (high << 32) | draws.word();
    out(i, static_cast<int64_t>(low + drawn % count));
  }
};

// The first category whose running sum is above u; the last one where rounding leaves none.
template <class F>
MX_DEVICE int64_t category_at(const F* sums, int64_t categories, F u) {
  int64_t low = 0, high = categories - 1;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (sums[middle] > u)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

template <class P>
struct DrawCategories {
  uint64_t key;
  const float* sums;
  const P* probabilities;
  P* logs;
  Stored out;
  int64_t each, categories;
  MX_DEVICE void operator()(int64_t i) const {
    PhiloxDraws draws(key, i);
    const float u = draws.template uniform<float>();
    const int64_t row = i / each * categories;
    const int64_t drawn = category_at(sums + row, categories, u);
    out(i, drawn);
    if (logs != nullptr) logs[i] = narrow<P>(row_words::log(widen(probabilities[row + drawn])));
  }
};

// Draw i counts for row i / each.
struct CountCategories {
  uint64_t key;
  const double* sums;
  int64_t* counts;
  int64_t each, categories;
  MX_DEVICE void operator()(int64_t i) const {
    PhiloxDraws draws(key, i);
    const int64_t drawn = category_at(sums, categories, draws.template uniform<double>());
    atomic_add(counts + i / each * categories + drawn, int64_t{1});
  }
};

// Inputs: gradient of the logarithms, probabilities, categories. Somebody may have written over the
// latter: what names none adds to nothing, since nobody on the host waits to hear of it.
template <class T>
struct CategorySlope {
  const T *head, *probabilities;
  Integers drawn;
  T* out;
  int64_t each, categories;
  MX_DEVICE void operator()(int64_t i) const {
    const int64_t category = drawn(i);
    if (category < 0 || category >= categories) return;
    const int64_t at = i / each * categories + category;
    atomic_add(out + at, head[i] / probabilities[at]);
  }
};

void multinomial_slope(const void*, KernelContext& context) {
  const Tensor &data = context.in(1), &drawn = context.in(2);
  const int64_t categories = data.shape().back();
  const int64_t rows = categories == 0 ? 0 : data.size() / categories;
  compute(data.dtype, context, [&](auto& arrays, auto zero) {
    using T = decltype(zero);
    T* const out = arrays.zeroed_out(0);
    if (rows == 0) return;
    const int64_t each = drawn.size() / rows;
    scatter(arrays.stream(), "sample_multinomial", rows, each,
            CategorySlope<T>{
                arrays.in(0), arrays.in(1), {drawn.data, drawn.dtype}, out, each, categories});
  });
}

}  // namespace

void draw(NativeStream* stream, const GpuDraw& call) {
  if (call.family == GpuDraw::Family::kNumpy)
    return run_draw(stream, call, OfNumpy{static_cast<numpy_samplers::Row>(call.row)});
  const auto row = static_cast<samplers::Row>(call.row);
  if (call.out.dtype == DType::kFloat64)
    run_draw(stream, call, OfSamplers<double>{row});
  else
    run_draw(stream, call, OfSamplers<float>{row});
}

void draw_integers(NativeStream* stream, uint64_t key, int64_t low, uint64_t count,
                   const Tensor& out) {
  MX_ASSERT(count > 0);  // kernels would divide by it
  for_each(stream, "draw_integers", out.size(),
           DrawIntegers{key, static_cast<uint64_t>(low), count, {out.data, out.dtype}});
}

void draw_categories(NativeStream* stream, uint64_t key, const Tensor& sums,
                     const Tensor& probabilities, const Tensor& out, const Tensor* logs) {
  const int64_t categories = sums.shape().back();
  if (out.size() == 0) return;
  for_dtype<kFloating.bits_>(probabilities.dtype, "sample_multinomial", [&](auto element) {
    using P = decltype(element);
    for_each(stream, "draw_categories", out.size(),
             DrawCategories<P>{key,
                               sums.as<float>(),
                               probabilities.as<P>(),
                               logs == nullptr ? nullptr : logs->as<P>(),
                               {out.data, out.dtype},
                               out.size() / (sums.size() / categories),
                               categories});
  });
}

void count_categories(NativeStream* stream, uint64_t key, const double* sums, int64_t n,
                      const Tensor& out) {
  fill(stream, out, 0);
  const int64_t categories = out.shape().back();
  if (out.size() == 0) return;
  for_each(stream, "_npi_multinomial", out.size() / categories * n,
           CountCategories{key, sums, out.as<int64_t>(), n, categories});
}

void add_draws(std::vector<GpuKernelRow>* rows) {
  rows->push_back({"_backward_sample_multinomial", multinomial_slope, nullptr});
}

}  // namespace cuda
}  // namespace mxnet
