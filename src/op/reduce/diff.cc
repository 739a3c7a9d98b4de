// SPDX-License-Identifier: Apache-2.0
// Differences of neighbours: along an axis (_npi_diff) and of the flattened array (_npi_ediff1d).
#include "op/reduce/diff.h"

#include <algorithm>

#include "op/inline_vector.h"
#include "op/loops/blockwise.h"
#include "op/loops/convert.h"
#include "op/op_builder.h"
#include "op/rows/half_loops.h"
#include "op/run/dispatch.h"
#include "op/run/parallel.h"

namespace mxnet {
namespace {

constexpr DTypeSet kTypes = kNumeric;
constexpr DTypeSet kDiffTypes = kTypes | DTypeSet::of(DType::kBool);

// The loops of a - b; integers wrap. Half types go through float where the processor has no loop.
template <class T>
BinaryLoop<T, T> subtraction() {
  if constexpr (!kIsHalf<T>) {
    return binary_loop<T, T>(BinaryRow::subtract);
  } else {
    const BinaryLoop<T, T> direct = half_loop<T>(BinaryRow::subtract);
    if (direct.arrays != nullptr) return direct;
    BinaryLoop<T, T> loop{};
    loop.arrays = [](const T* a, const T* b, T* y, int64_t n) {
      through_float(binary_loop<float, float>(BinaryRow::subtract).arrays, y, n, a, b);
    };
    loop.left_scalar = [](const T* a, const T* b, T* y, int64_t n) {
      const float left = *a;
      const auto from_left = binary_loop<float, float>(BinaryRow::subtract).left_scalar;
      through_float([&](const float* x, float* r, int64_t m) { from_left(&left, x, r, m); }, y, n,
                    b);
    };
    return loop;
  }
}

Attrs diff_attrs(const DiffParams& params) {
  return {{"n", std::to_string(params.n)}, {"axis", std::to_string(params.axis)}};
}

// y (outer x size - 1 x inner) = neighbours of x (outer x size x inner). Elements of one outer part
// are neighbours at distance `inner`.
template <class T>
void difference(const T* x, T* y, int64_t outer, int64_t size, int64_t inner) {
  const int64_t part = (size - 1) * inner;
  const auto subtract = subtraction<T>().arrays;
  if (outer == 1) {
    parallel_writes(y, part, 1.0, [&](int64_t first, int64_t last) {
      subtract(x + inner + first, x + first, y + first, last - first);
    });
    return;
  }
  parallel_for(
      outer, static_cast<double>(part),
      [&](int64_t first, int64_t last) {
        for (int64_t o = first; o < last; ++o) {
          const T* from = x + o * (part + inner);
          subtract(from + inner, from, y + o * part, part);
        }
      },
      1);
}

// The transposed step: x (outer x size x inner) receives from y (outer x size - 1 x inner).
template <class T>
void difference_back(const T* y, T* x, int64_t outer, int64_t size, int64_t inner) {
  const int64_t part = (size - 1) * inner;
  const BinaryLoop<T, T> subtract = subtraction<T>();
  const T zero = T(0);
  parallel_for(
      outer, static_cast<double>(part),
      [&](int64_t first, int64_t last) {
        for (int64_t o = first; o < last; ++o) {
          const T* from = y + o * part;
          T* to = x + o * (part + inner);
          subtract.left_scalar(&zero, from, to, inner);
          subtract.arrays(from, from + inner, to + inner, part - inner);
          std::copy_n(from + part - inner, inner, to + part);
        }
      },
      1);
}

// n steps over two buffers; `full` is the shape on the side without differences.
template <bool back>
void diff_cpu(const DiffParams& params, KernelContext& context) {
  const Tensor &in = context.in(0), &out = context.out(0);
  const Shape& full = (back ? out : in).shape();
  const int axis = normalize_axis(params.axis, full.ndim(), "_npi_diff");
  const int64_t outer = full.size(0, axis), size = full[axis];
  const int64_t inner = full.size(axis + 1, full.ndim());
  // Whether neighbours in bool differ, as NumPy says, is their difference modulo 2.
  const bool modulo_2 = in.dtype == DType::kBool;
  dispatch_dtype<kTypes>(
      modulo_2 ? DType::kUInt8 : in.dtype, "_npi_diff", [&]<class T>(TypeTag<T>) {
        T* to = out.as<T>();
        if (in.size() == 0 || out.size() == 0) {  // nothing, however many steps
          std::fill_n(to, out.size(), T(0));
          return;
        }
        if (params.n == 0) {
          if (in.data != out.data) std::copy_n(in.as<T>(), in.size(), to);
          return;
        }
        const int64_t room = params.n == 1 ? 0 : full.size();
        T* buffers[2] = {context.workspace_of<T>(std::max<int64_t>(room, 1)),
                         context.workspace_of<T>(std::max<int64_t>(room, 1))};
        const T* from = in.as<T>();
        for (int32_t step = 0; step < params.n; ++step) {
          T* next = step + 1 == params.n ? to : buffers[step % 2];
          if (back) {
            difference_back(from, next, outer, size - params.n + step + 1, inner);
          } else {
            difference(from, next, outer, size - step, inner);
          }
          from = next;
        }
      });
  if (modulo_2) {
    for (auto *odd = out.as<uint8_t>(), *end = odd + out.size(); odd != end; ++odd) *odd &= 1;
  }
}

void infer_diff(const DiffParams& params, Infer& infer) {
  if (params.n < 0) infer.fail("given n=" + std::to_string(params.n) + ", expected n >= 0");
  infer.one_dtype();
  if (!infer.in(0).rank_known()) return;
  if (infer.in(0).ndim() == 0) infer.in(0).fail("at least one dimension");
  Shape shape = infer.in(0).shape();
  int64_t& size = shape[infer.axis(params.axis, infer.in(0))];
  if (size >= 0) size = std::max<int64_t>(0, size - params.n);
  infer.out(0).set_shape(shape);
}

MX_OP(_npi_diff, DiffParams)
.doc("n-th differences of neighbours along an axis.")
    .input("a", "The array.")
    .param("n", &DiffParams::n, 1, "How often differences are taken.")
    .param("axis", &DiffParams::axis, -1, "The axis.")
    .dtypes(kDiffTypes)
    .infer(infer_diff)
    .cpu(diff_cpu<false>)
    .grad([](const DiffParams& params, Grad& grad) {
      return Gradients{apply("_backward_npi_diff", {grad.dout(0), grad.in(0)}, diff_attrs(params))};
    });

MX_OP(_backward_npi_diff, DiffParams)
.doc("Gradient of _npi_diff.")
    .input("head_grad", "Gradient of the output.")
    .input("like", "Input of the forward call.")
    .type_only(1)
    .param("n", &DiffParams::n, 1, "How often differences were taken.")
    .param("axis", &DiffParams::axis, -1, "The axis.")
    .dtypes(kTypes)
    .infer([](const DiffParams& params, Infer& infer) {
      infer.one_dtype();
      infer.follow(infer_diff, params, {infer.in(1)}, {infer.in(0)});
      infer.out(0).same_shape(infer.in(1));
    })
    .cpu(diff_cpu<true>)
    .grad([](const DiffParams& params, Grad& grad) {
      return Gradients{apply("_npi_diff", {grad.dout(0)}, diff_attrs(params)), Value()};
    });

// ---- ediff1d: what comes before, the differences, what comes after
// -------------------------------

OpBuilder<EdiffParams> declare(const char* name, const char* doc) {
  OpBuilder<EdiffParams> op(name);
  op.doc(doc)
      .param("to_begin_arr_given", &EdiffParams::to_begin_arr_given, false,
             "Whether an array comes before the differences.")
      .param("to_end_arr_given", &EdiffParams::to_end_arr_given, false,
             "Whether an array comes after the differences.")
      .param("to_begin_scalar", &EdiffParams::to_begin_scalar, std::optional<double>(),
             "A number that comes before the differences.")
      .param("to_end_scalar", &EdiffParams::to_end_scalar, std::optional<double>(),
             "A number that comes after the differences.")
      .dtypes(kTypes);
  return op;
}

void ediff_cpu(const EdiffParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const EdiffParts parts(params, [&](int i) { return context.in(i).size(); });
  dispatch_dtype<kTypes>(out.dtype, "_npi_ediff1d", [&]<class T>(TypeTag<T>) {
    const auto put = [&](T* to, bool array, int input, const std::optional<double>& scalar) {
      if (array) {
        std::copy_n(context.in(input).as<T>(), context.in(input).size(), to);
      } else if (scalar) {
        *to = convert<T>(*scalar);
      }
    };
    T* to = out.as<T>();
    put(to, params.to_begin_arr_given, 1, params.to_begin_scalar);
    if (parts.middle > 0)
      difference(context.in(0).as<T>(), to + parts.begin, 1, parts.middle + 1, 1);
    put(to + parts.begin + parts.middle, params.to_end_arr_given, params.arrays() - 1,
        params.to_end_scalar);
  });
}

// Inputs: gradient of the output, then the forward call's inputs, of which only shapes matter.
void ediff_back_cpu(const EdiffParams& params, KernelContext& context) {
  const EdiffParts parts(params, [&](int i) { return context.in(i + 1).size(); });
  dispatch_dtype<kTypes>(context.in(0).dtype, "_npi_ediff1d", [&]<class T>(TypeTag<T>) {
    const T* dy = context.in(0).as<T>();
    const Tensor& dx = context.out(0);
    if (parts.middle > 0) {
      difference_back(dy + parts.begin, dx.as<T>(), 1, parts.middle + 1, 1);
    } else {
      std::fill_n(dx.as<T>(), dx.size(), T(0));
    }
    if (params.to_begin_arr_given) std::copy_n(dy, parts.begin, context.out(1).as<T>());
    if (params.to_end_arr_given) {
      std::copy_n(dy + parts.begin + parts.middle, parts.end,
                  context.out(params.arrays() - 1).as<T>());
    }
  });
}

void infer_ediff(const EdiffParams& params, Infer& infer) {
  infer.one_dtype();
  for (int i = 0; i < infer.num_in(); ++i) {
    if (!infer.in(i).known()) return;
  }
  const EdiffParts parts(params, [&](int i) { return infer.in(i).shape().size(); });
  infer.out(0).set_shape({parts.begin + parts.middle + parts.end});
}

[[maybe_unused]] const bool defined = [] {
  declare("_npi_ediff1d", "Differences of neighbours in the flattened array.")
      .input("input1", "The array.")
      .input("input2", "What comes before, or after if nothing comes before.")
      .input("input3", "What comes after.")
      .num_inputs([](const EdiffParams& params) { return params.arrays(); })
      .infer(infer_ediff)
      .cpu(ediff_cpu)
      .grad([](const EdiffParams& params, Grad& grad) {
        std::vector<Value> inputs{grad.dout(0)};
        for (int i = 0; i < grad.num_in(); ++i) inputs.push_back(grad.in(i));
        const Value first = apply("_npi_backward_ediff1d", inputs, grad.attrs());
        Gradients result;
        for (int i = 0; i < params.arrays(); ++i) result.push_back(output(first, i));
        return result;
      });
  declare("_npi_backward_ediff1d", "Gradient of _npi_ediff1d.")
      .input("head_grad", "Gradient of the output.")
      .input("input1", "The array.")
      .input("input2", "What came before, or after if nothing came before.")
      .input("input3", "What came after.")
      .type_only(1)
      .type_only(2)
      .type_only(3)
      .num_inputs([](const EdiffParams& params) { return 1 + params.arrays(); })
      .outputs([](const EdiffParams& params) { return params.arrays(); })
      .infer([](const EdiffParams& params, Infer& infer) {
        infer.one_dtype();
        InlineVector<InferArg, 3> arrays;
        for (int i = 0; i < params.arrays(); ++i) arrays.push_back(infer.in(i + 1));
        const InferArg result[] = {infer.in(0)};
        infer.follow([&params](Infer& forward) { infer_ediff(params, forward); }, arrays.span(),
                     result);
        for (int i = 0; i < params.arrays(); ++i) infer.out(i).same_shape(infer.in(i + 1));
      })
      .cpu(ediff_back_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet
