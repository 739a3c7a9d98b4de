// SPDX-License-Identifier: Apache-2.0
// Operators that only tests need: with odd requests, several outputs, counters and failures.
#include "base/error.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

void same(const NoParams&, Infer& infer) {
  for (int i = 0; i < infer.num_in(); ++i) infer.in(i).same_as(infer.out(0));
  for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_as(infer.in(0));
}

// y = reversed x: wrong at once if it runs in place.
void reverse_cpu(const NoParams&, KernelContext& context) {
  const int64_t n = context.in(0).size();
  for (int64_t i = 0; i < n; ++i)
    context.out(0).as<float>()[i] = context.in(0).as<float>()[n - 1 - i];
}

MX_OP(_test_reverse, NoParams)
.doc("Turns an array around; not in place.")
    .input("data", "The array.")
    .infer(same)
    .cpu(reverse_cpu)
    .grad([](const NoParams&, Grad& grad) {
      return Gradients{apply("_test_reverse", {grad.dout(0)})};
    });

// A product whose gradient of one factor needs the other one only, and is made of itself.
MX_OP(_test_mul, NoParams)
.doc("Product.")
    .input("lhs", "A factor.")
    .input("rhs", "A factor.")
    .infer(same)
    .cpu([](const NoParams&, KernelContext& context) {
      for (int64_t i = 0; i < context.out(0).size(); ++i)
        context.out(0).as<float>()[i] = context.in(0).as<float>()[i] * context.in(1).as<float>()[i];
    })
    .grad([](const NoParams&, Grad& grad) {
      Gradients result(2);
      for (int i = 0; i < 2; ++i) {
        if (grad.wants(i))
          result[static_cast<std::size_t>(i)] = apply("_test_mul", {grad.dout(0), grad.in(1 - i)});
      }
      return result;
    });

// Two outputs: x + 1 and x * 2.
MX_OP(_test_split, NoParams)
.doc("Two functions of one array.")
    .input("data", "The array.")
    .outputs([](const NoParams&) { return 2; })
    .infer(same)
    .cpu([](const NoParams&, KernelContext& context) {
      for (int64_t i = 0; i < context.in(0).size(); ++i) {
        const float x = context.in(0).as<float>()[i];
        context.out(0).as<float>()[i] = x + 1;
        context.out(1).as<float>()[i] = x * 2;
      }
    })
    .grad([](const NoParams&, Grad& grad) { return Gradients{grad.dout(0) + grad.dout(1) * 2.0}; });

MX_OP(_test_fail, NoParams)
.doc("Its kernel fails.")
    .input("data", "The array.")
    .infer(same)
    .cpu([](const NoParams&, KernelContext&) {
      throw Error(ErrorCode::kValue, "_test_fail", "given anything, expected nothing");
    });

MX_OP(_test_no_gradient, NoParams)
.doc("A copy that cannot be differentiated.")
    .input("data", "The array.")
    .infer(same)
    .cpu([](const NoParams&, KernelContext& context) {
      std::copy_n(context.in(0).as<float>(), context.in(0).size(), context.out(0).as<float>());
    });

MX_OP(_test_block, NoParams)
.doc("A copy through which no gradient flows.")
    .input("data", "The array.")
    .infer(same)
    .cpu([](const NoParams&, KernelContext& context) {
      std::copy_n(context.in(0).as<float>(), context.in(0).size(), context.out(0).as<float>());
    })
    .zero_grad();

// state += data; returns the new state's double.
MX_OP(_test_update, NoParams)
.doc("Adds to a state in place.")
    .input("state", "Changed.")
    .input("data", "Added.")
    .mutates({0})
    .infer(same)
    .cpu([](const NoParams&, KernelContext& context) {
      for (int64_t i = 0; i < context.in(0).size(); ++i) {
        context.in(0).as<float>()[i] += context.in(1).as<float>()[i];
        context.out(0).as<float>()[i] = 2 * context.in(0).as<float>()[i];
      }
    });

// The first kernel takes float64 only, the second everything; each writes its number.
MX_OP(_test_kernels, NoParams)
.doc("Says which kernel ran.")
    .input("data", "The array.")
    .infer([](const NoParams&, Infer& infer) {
      infer.out(0).same_shape(infer.in(0)).set_dtype(DType::kFloat32);
    })
    .cpu([](const NoParams&, KernelContext& context) { context.out(0).as<float>()[0] = 1; },
         [](const NoParams&, const Signature& s) { return s.in[0].dtype == DType::kFloat64; },
         "first")
    .cpu([](const NoParams&, KernelContext& context) { context.out(0).as<float>()[0] = 2; },
         [](const NoParams&, const Signature& s) { return s.in[0].dtype != DType::kInt8; });

struct CountParams {
  int32_t count;
};

MX_OP(_test_sum_all, CountParams)
.doc("Sum of any number of arrays.")
    .inputs("args", "The arrays.", &CountParams::count, "num_args")
    .param("num_args", &CountParams::count, "How many.")
    .infer([](const CountParams&, Infer& infer) {
      for (int i = 0; i < infer.num_in(); ++i) infer.in(i).same_as(infer.out(0));
      infer.out(0).same_as(infer.in(0));
    })
    .cpu([](const CountParams&, KernelContext& context) {
      const int64_t n = context.out(0).size();
      for (int64_t i = 0; i < n; ++i) {
        float sum = 0;
        for (int k = 0; k < context.num_in(); ++k) sum += context.in(k).as<float>()[i];
        context.out(0).as<float>()[i] = sum;
      }
    })
    .grad([](const CountParams&, Grad& grad) {
      return Gradients(static_cast<std::size_t>(grad.num_in()), grad.dout(0));
    });

struct FillParams {
  Shape shape;
  float value;
};

MX_OP(_test_fill, FillParams)
.doc("An array without inputs.")
    .param("shape", &FillParams::shape, Shape(), "Its shape.")
    .param("value", &FillParams::value, 0.0f, "Its elements.")
    .infer([](const FillParams& params, Infer& infer) {
      infer.out(0).set_shape(params.shape).set_dtype(DType::kFloat32);
    })
    .cpu([](const FillParams& params, KernelContext& context) {
      std::fill_n(context.out(0).as<float>(), context.out(0).size(), params.value);
    });

}  // namespace
}  // namespace mxnet
