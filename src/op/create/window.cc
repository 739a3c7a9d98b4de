// SPDX-License-Identifier: Apache-2.0
// Windows of signal processing: a sum of cosines over M points, symmetric.
#include "op/create/window.h"

#include <algorithm>
#include <optional>

#include "base/simd.h"
#include "op/create/create.h"
#include "op/loops/convert.h"
#include "op/math/vector_math.h"

namespace mxnet {
namespace {

#define MX_SIMD_FILE "op/create/window_loops.inc"
#include "base/simd_targets.h"

struct WindowParams {
  std::optional<int64_t> points;
  std::string ctx;
  DType dtype;
};

void fill_window(const Tensor& out, const Window& window) {
  constexpr int64_t kBlock = 256;
  constexpr double kCost = 8.0;
  dispatch_dtype(out.dtype, "creation", [&]<class T>(TypeTag<T>) {
    T* const to = out.as<T>();
    if (window.points == 1) {
      *to = convert<T>(window(0));
      return;
    }
    parallel_for(window.points, kCost, [&](int64_t first, int64_t last) {
      double points[kBlock];
      for (int64_t i = first; i < last; i += kBlock) {
        const int64_t n = std::min(kBlock, last - i);
        MX_SIMD_CALL(window_points)(window, i, points, n);
        convert_array(points, to + i, n);
      }
    });
  });
}

template <const Cosines& kWindow>
void window_cpu(const WindowParams&, KernelContext& context) {
  const Tensor& out = context.out(0);
  fill_window(out, Window{kWindow, pi_of_window(out.dtype), out.size()});
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
