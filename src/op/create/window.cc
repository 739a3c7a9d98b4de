// SPDX-License-Identifier: Apache-2.0
// Windows of signal processing: a sum of cosines over M points, symmetric.
#include <cmath>
#include <numbers>
#include <optional>

#include "op/create/create.h"

namespace mxnet {
namespace {

struct WindowParams {
  std::optional<int64_t> points;
  std::string ctx;
  DType dtype;
};

// c0 - c1 cos(a) + c2 cos(2a), a from 0 to 2 pi.
struct Cosines {
  double c0, c1, c2;
};
constexpr Cosines kHanning{0.5, 0.5, 0.0};
constexpr Cosines kHamming{0.54, 0.46, 0.0};
constexpr Cosines kBlackman{0.42, 0.5, 0.08};

template <const Cosines& kWindow>
void window_cpu(const WindowParams&, KernelContext& context) {
  const int64_t points = context.out(0).size();
  // Integers have always come from a pi in single precision: the middle is just below 1, and so 0.
  const double pi =
      is_floating(context.out(0).dtype) ? std::numbers::pi : double{std::numbers::pi_v<float>};
  fill_with(context.out(0), 64.0, [points, pi](int64_t i) {
    if (points == 1) return 1.0;
    const double a = 2.0 * pi * static_cast<double>(i) / static_cast<double>(points - 1);
    return kWindow.c0 - kWindow.c1 * std::cos(a) + kWindow.c2 * std::cos(2.0 * a);
  });
}

template <const Cosines& kWindow>
void define_window(const char* name, const char* doc) {
  OpBuilder<WindowParams> op(name);
  op.doc(doc)
      .param("M", &WindowParams::points, std::nullopt, "Number of points.")
      .type_text(", optional, default=None");
  add_context(op);
  op.dtype_param("dtype", &WindowParams::dtype, kNumbersOnly, false, "float32",
                 "Type of the result.")
      .infer([](const WindowParams& params, Infer& infer) {
        const int64_t points = params.points.value_or(0);
        infer.out(0).set_shape({points > 0 ? points : 0}).set_dtype(params.dtype);
      })
      .cpu(window_cpu<kWindow>);
}

bool define() {
  define_window<kHanning>("_npi_hanning", "The Hann window.");
  define_window<kHamming>("_npi_hamming", "The Hamming window.");
  define_window<kBlackman>("_npi_blackman", "The Blackman window.");
  return true;
}
[[maybe_unused]] const bool defined = define();

}  // namespace
}  // namespace mxnet
