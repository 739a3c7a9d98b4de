// SPDX-License-Identifier: Apache-2.0
// Products of multi-head attention on arrays in which the heads' queries, keys and values are
// interleaved: each head is multiplied where it lies. On a GPU each pass is one call of the product
// primitive: heads of all examples lie at equal distances.
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <new>

#include "op/computed.h"
#include "op/gpu_table.h"
#include "op/op_builder.h"
#include "op/op_cost.h"
#include "op/packed_gemm.h"
#include "op/parallel.h"
#include "op/primitives.h"

namespace mxnet {
namespace {

struct HeadsParams {
  int32_t heads;
};

// (time, batch, heads * parts * size): of each head `parts` vectors lie side by side.
struct Interleaved {
  int64_t time, batch, heads, size;
  int parts;

  Interleaved(const Shape& shape, int heads_of, int parts_of)
      : time(shape[0]),
        batch(shape[1]),
        heads(heads_of),
        size(shape[2] / (int64_t{heads_of} * parts_of)),
        parts(parts_of) {}
  int64_t stride() const { return batch * heads * parts * size; }
  int64_t count() const { return batch * heads; }
  // The `part` of head number `i` of batch * heads, one vector a row.
  template <class T>
  T* at(T* data, int64_t i, int part) const {
    return data + (i * parts + part) * size;
  }
  template <class T>
  packed_gemm::View<T> rows(const T* data, int64_t i, int part) const {
    return {at(data, i, part), stride(), 1};
  }
  template <class T>
  packed_gemm::View<T> columns(const T* data, int64_t i, int part) const {
    return {at(data, i, part), 1, stride()};
  }
};

template <class T>
struct Factors {
  packed_gemm::View<T> a, b;
  T* c;
};

// c = alpha * a b for `count` pairs of m x k and k x n matrices; pair(i) says where they are.
template <class T, class Pair>
void each_product(int64_t count, int64_t m, int64_t n, int64_t k, int64_t ldc, double alpha,
                  const Pair& pair) {
  if (m == 0 || n == 0) return;
  const T scale = static_cast<T>(alpha);
  const double cost =
      static_cast<double>(m) * static_cast<double>(n) * (static_cast<double>(k) / 16 + 1);
  parallel_for(
      count, cost,
      [&](int64_t first, int64_t last) {
        constexpr std::align_val_t kLine{64};
        const auto bytes = static_cast<std::size_t>(packed_gemm::packed_size<T>(k, n)) * sizeof(T);
        const auto release = [](void* p) { ::operator delete(p, kLine); };
        const std::unique_ptr<void, decltype(release)> memory(::operator new(bytes, kLine),
                                                              release);
        T* packed = static_cast<T*>(memory.get());
        for (int64_t i = first; i < last; ++i) {
          const Factors<T> f = pair(i);
          packed_gemm::pack(f.b, k, n, 0, n, packed);
          packed_gemm::multiply(m, n, k, f.a, packed, f.c, ldc, false, 0, n);
          if (scale == T{1}) continue;
          for (int64_t r = 0; r < m; ++r) {
            for (int64_t j = 0; j < n; ++j) f.c[r * ldc + j] *= scale;
          }
        }
      },
      1);
}

double qk_scale(const Interleaved& heads) { return 1 / std::sqrt(static_cast<double>(heads.size)); }

// Keys (or values) may come with the queries (`parts` 3) or apart from them (2).
struct Roles {
  bool self;  // one array holds all
  int query_parts() const { return self ? 3 : 1; }
  int memory_parts() const { return self ? 3 : 2; }
  int key() const { return self ? 1 : 0; }
  int value() const { return self ? 2 : 1; }
};

// One vector of each head after the other, as the product primitive sees a matrix.
struct HeadMatrix {
  const void* data;
  int64_t ld, step;  // between rows, between heads
};
HeadMatrix matrix_of(const Interleaved& heads, const Tensor& tensor, int part) {
  const auto bytes = static_cast<std::size_t>(heads.size * part) * dtype_size(tensor.dtype);
  return {tensor.as<std::byte>() + bytes, heads.stride(), heads.parts * heads.size};
}
HeadMatrix packed(const Tensor& tensor, int64_t rows, int64_t columns) {
  return {tensor.data, columns, rows * columns};
}

// c = alpha * op(a) op(b) for every head: m x k by k x n.
void gpu_products(const GpuTable& gpu, KernelContext& context, DType dtype, int64_t heads,
                  double alpha, int64_t m, int64_t n, int64_t k, HeadMatrix a, bool transpose_a,
                  HeadMatrix b, bool transpose_b, HeadMatrix c) {
  gpu.gemm(context.stream()->native(),
           {.dtype = dtype,
            .transpose_a = transpose_a,
            .transpose_b = transpose_b,
            .m = m,
            .n = n,
            .k = k,
            .a = a.data,
            .lda = a.ld,
            .step_a = a.step,
            .b = b.data,
            .ldb = b.ld,
            .step_b = b.step,
            .c = const_cast<void*>(c.data),
            .ldc = c.ld,
            .step_c = c.step,
            .batch = heads,
            .alpha = alpha},
           context);
}
void clear(KernelContext& context, const Tensor& tensor) {
  clear_memory(context, tensor.data,
               static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype));
}

template <bool self>
void qk_gpu(const GpuTable& gpu, const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  const Tensor &q = context.in(0), &k = context.in(self ? 0 : 1), &out = context.out(0);
  const Interleaved queries(q.shape(), params.heads, kRoles.query_parts());
  const Interleaved keys(k.shape(), params.heads, kRoles.memory_parts());
  gpu_products(gpu, context, out.dtype, queries.count(), qk_scale(queries), queries.time, keys.time,
               queries.size, matrix_of(queries, q, 0), false, matrix_of(keys, k, kRoles.key()),
               true, packed(out, queries.time, keys.time));
}

template <bool self>
void qk_backward_gpu(const GpuTable& gpu, const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  const Tensor &dout = context.in(0), &q = context.in(1), &k = context.in(self ? 1 : 2);
  const Tensor &dq = context.out(0), &dk = context.out(self ? 0 : 1);
  const Interleaved queries(q.shape(), params.heads, kRoles.query_parts());
  const Interleaved keys(k.shape(), params.heads, kRoles.memory_parts());
  const HeadMatrix slopes = packed(dout, queries.time, keys.time);
  const double scale = qk_scale(queries);
  clear(context, dk);  // nothing flows to the values
  gpu_products(gpu, context, dq.dtype, queries.count(), scale, queries.time, queries.size,
               keys.time, slopes, false, matrix_of(keys, k, kRoles.key()), false,
               matrix_of(queries, dq, 0));
  gpu_products(gpu, context, dk.dtype, queries.count(), scale, keys.time, queries.size,
               queries.time, slopes, true, matrix_of(queries, q, 0), false,
               matrix_of(keys, dk, kRoles.key()));
}

template <bool self>
void valatt_gpu(const GpuTable& gpu, const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  const Tensor &v = context.in(0), &attention = context.in(1), &out = context.out(0);
  const Interleaved values(v.shape(), params.heads, kRoles.memory_parts());
  const Interleaved result(out.shape(), params.heads, 1);
  gpu_products(gpu, context, out.dtype, values.count(), 1, result.time, values.size, values.time,
               packed(attention, result.time, values.time), false,
               matrix_of(values, v, kRoles.value()), false, matrix_of(result, out, 0));
}

template <bool self>
void valatt_backward_gpu(const GpuTable& gpu, const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  const Tensor &dout = context.in(0), &v = context.in(1), &attention = context.in(2);
  const Tensor &dv = context.out(0), &dattention = context.out(1);
  const Interleaved result(dout.shape(), params.heads, 1);
  const Interleaved values(v.shape(), params.heads, kRoles.memory_parts());
  clear(context, dv);
  gpu_products(gpu, context, dv.dtype, values.count(), 1, values.time, values.size, result.time,
               packed(attention, result.time, values.time), true, matrix_of(result, dout, 0), false,
               matrix_of(values, dv, kRoles.value()));
  gpu_products(gpu, context, dv.dtype, values.count(), 1, result.time, values.time, values.size,
               matrix_of(result, dout, 0), false, matrix_of(values, v, kRoles.value()), true,
               packed(dattention, result.time, values.time));
}

template <bool self>
void qk_cpu(const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  if (const GpuTable* gpu = gpu_table(context)) return qk_gpu<self>(*gpu, params, context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T* q = arrays.in(0);
    const T* k = self ? q : arrays.in(1);
    const Interleaved queries(context.in(0).shape(), params.heads, kRoles.query_parts());
    const Interleaved keys(context.in(self ? 0 : 1).shape(), params.heads, kRoles.memory_parts());
    T* out = arrays.out(0);
    each_product<T>(queries.count(), queries.time, keys.time, queries.size, keys.time,
                    qk_scale(queries), [&](int64_t i) {
                      return Factors<T>{queries.rows(q, i, 0), keys.columns(k, i, kRoles.key()),
                                        out + i * queries.time * keys.time};
                    });
  });
}

// Inputs: dout, then those of qk.
template <bool self>
void qk_backward_cpu(const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  if (const GpuTable* gpu = gpu_table(context)) return qk_backward_gpu<self>(*gpu, params, context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *q = arrays.in(1);
    const T* k = self ? q : arrays.in(2);
    const Interleaved queries(context.in(1).shape(), params.heads, kRoles.query_parts());
    const Interleaved keys(context.in(self ? 1 : 2).shape(), params.heads, kRoles.memory_parts());
    T* dq = arrays.out(0);
    T* dk = self ? dq : arrays.out(1);
    const int64_t size = queries.size, area = queries.time * keys.time;
    const int memory = self ? 0 : 1;  // nothing flows to the values
    std::memset(memory == 0 ? dq : dk, 0,
                static_cast<std::size_t>(context.out(memory).size()) * sizeof(T));
    each_product<T>(queries.count(), queries.time, size, keys.time, queries.stride(),
                    qk_scale(queries), [&](int64_t i) {
                      return Factors<T>{{dout + i * area, keys.time, 1},
                                        keys.rows(k, i, kRoles.key()),
                                        queries.at(dq, i, 0)};
                    });
    each_product<T>(queries.count(), keys.time, size, queries.time, keys.stride(),
                    qk_scale(queries), [&](int64_t i) {
                      return Factors<T>{{dout + i * area, 1, keys.time},
                                        queries.rows(q, i, 0),
                                        keys.at(dk, i, kRoles.key())};
                    });
  });
}

template <bool self>
void valatt_cpu(const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  if (const GpuTable* gpu = gpu_table(context)) return valatt_gpu<self>(*gpu, params, context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *v = arrays.in(0), *attention = arrays.in(1);
    const Interleaved values(context.in(0).shape(), params.heads, kRoles.memory_parts());
    const Interleaved result(context.out(0).shape(), params.heads, 1);
    T* out = arrays.out(0);
    each_product<T>(values.count(), result.time, values.size, values.time, result.stride(), 1,
                    [&](int64_t i) {
                      return Factors<T>{{attention + i * result.time * values.time, values.time, 1},
                                        values.rows(v, i, kRoles.value()),
                                        result.at(out, i, 0)};
                    });
  });
}

// Inputs: dout, then those of valatt.
template <bool self>
void valatt_backward_cpu(const HeadsParams& params, KernelContext& context) {
  constexpr Roles kRoles{self};
  if (const GpuTable* gpu = gpu_table(context))
    return valatt_backward_gpu<self>(*gpu, params, context);
  compute(context.in(0).dtype, context, [&](auto& arrays, auto tag) {
    using T = typename decltype(tag)::type;
    const T *dout = arrays.in(0), *v = arrays.in(1), *attention = arrays.in(2);
    const Interleaved result(context.in(0).shape(), params.heads, 1);
    const Interleaved values(context.in(1).shape(), params.heads, kRoles.memory_parts());
    const int64_t area = result.time * values.time;
    T *dv = arrays.out(0), *dattention = arrays.out(1);
    std::memset(dv, 0, static_cast<std::size_t>(context.out(0).size()) * sizeof(T));
    each_product<T>(values.count(), values.time, values.size, result.time, values.stride(), 1,
                    [&](int64_t i) {
                      return Factors<T>{{attention + i * area, 1, values.time},
                                        result.rows(dout, i, 0),
                                        values.at(dv, i, kRoles.value())};
                    });
    each_product<T>(
        values.count(), result.time, values.time, values.size, values.time, 1, [&](int64_t i) {
          return Factors<T>{result.rows(dout, i, 0), values.columns(v, i, kRoles.value()),
                            dattention + i * area};
        });
  });
}

// The array is (time, batch, heads * parts * size). False while that is not known.
bool check_interleaved(const HeadsParams& params, InferArg arg, int parts) {
  arg.set_shape(Shape{-1, -1, -1});
  if (params.heads <= 0) arg.fail(fmt::format("a positive number of heads, not {}", params.heads));
  if (arg.dim(2) >= 0 && arg.dim(2) % (int64_t{params.heads} * parts) != 0)
    arg.fail(fmt::format("(time, batch, heads * {} * size) with {} heads", parts, params.heads));
  return arg.known();
}

template <bool self>
void infer_qk(const HeadsParams& params, Infer& infer) {
  constexpr Roles kRoles{self};
  infer.one_dtype();
  if (!check_interleaved(params, infer.in(0), kRoles.query_parts())) return;
  InferArg keys = infer.in(self ? 0 : 1);
  if (!self) {
    keys.set_shape(Shape{-1, infer.in(0).dim(1), 2 * infer.in(0).dim(2)});
    if (!check_interleaved(params, keys, kRoles.memory_parts())) return;
  }
  infer.out(0).set_shape(Shape{infer.in(0).dim(1) * params.heads, infer.in(0).dim(0), keys.dim(0)});
}

template <bool self>
void infer_valatt(const HeadsParams& params, Infer& infer) {
  constexpr Roles kRoles{self};
  infer.one_dtype();
  if (!check_interleaved(params, infer.in(0), kRoles.memory_parts())) return;
  const Shape& values = infer.in(0).shape();
  infer.in(1).set_shape(Shape{values[1] * params.heads, self ? values[0] : -1, values[0]});
  infer.out(0).set_shape(Shape{infer.in(1).dim(1), values[1], values[2] / kRoles.memory_parts()});
}

// Gradients have the shapes of the inputs 1, 2, ...
void infer_gradients(const HeadsParams&, Infer& infer) {
  infer.one_dtype();
  for (int i = 0; i < infer.num_out(); ++i) infer.out(i).same_shape(infer.in(1 + i));
}

template <int inputs>
Gradients backward(Grad& grad, const char* op) {
  std::vector<Value> values{grad.dout(0)};
  for (int i = 0; i < inputs; ++i) values.push_back(grad.in(i));
  const Value first = apply(op, values, grad.attrs());
  Gradients result{first};
  if (inputs == 2) result.push_back(output(first, 1));
  return result;
}

constexpr const char* kHeadsDoc = "Number of heads.";
constexpr const char* kSelfDoc =
    "Queries, keys and values, (time, batch, heads * 3 * size), of each head side by side.";
constexpr const char* kMemoryDoc =
    "Keys and values, (time, batch, heads * 2 * size), of each head side by side.";

MX_OP(_contrib_interleaved_matmul_selfatt_qk, HeadsParams)
.doc("Products of queries and keys of self-attention, divided by the root of their length.")
    .input("queries_keys_values", kSelfDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_qk<true>)
    .cpu(qk_cpu<true>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<1>(grad, "_backward_interleaved_matmul_selfatt_qk");
    });

MX_OP(_backward_interleaved_matmul_selfatt_qk, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_selfatt_qk.")
    .input("dout", "Gradient of the products.")
    .input("queries_keys_values", kSelfDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_gradients)
    .cpu(qk_backward_cpu<true>);

MX_OP(_contrib_interleaved_matmul_encdec_qk, HeadsParams)
.doc("Products of queries and keys of attention, divided by the root of their length.")
    .input("queries", "Queries, (time, batch, heads * size).")
    .input("keys_values", kMemoryDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_qk<false>)
    .cpu(qk_cpu<false>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_encdec_qk");
    });

MX_OP(_backward_interleaved_matmul_encdec_qk, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_encdec_qk.")
    .input("dout", "Gradient of the products.")
    .input("queries", "Queries, (time, batch, heads * size).")
    .input("keys_values", kMemoryDoc)
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients)
    .cpu(qk_backward_cpu<false>);

MX_OP(_contrib_interleaved_matmul_selfatt_valatt, HeadsParams)
.doc("Values of self-attention, weighted by the attention that they are paid.")
    .input("queries_keys_values", kSelfDoc)
    .input("attention", "Weights, (batch * heads, time, time).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_valatt<true>)
    .cpu(valatt_cpu<true>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_selfatt_valatt");
    });

MX_OP(_backward_interleaved_matmul_selfatt_valatt, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_selfatt_valatt.")
    .input("dout", "Gradient of the weighted values.")
    .input("queries_keys_values", kSelfDoc)
    .input("attention", "Weights, (batch * heads, time, time).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients)
    .cpu(valatt_backward_cpu<true>);

MX_OP(_contrib_interleaved_matmul_encdec_valatt, HeadsParams)
.doc("Values of attention, weighted by the attention that they are paid.")
    .input("keys_values", kMemoryDoc)
    .input("attention", "Weights, (batch * heads, time of queries, time of keys).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .dtypes(kFloating)
    .infer(infer_valatt<false>)
    .cpu(valatt_cpu<false>)
    .grad([](const HeadsParams&, Grad& grad) {
      return backward<2>(grad, "_backward_interleaved_matmul_encdec_valatt");
    });

MX_OP(_backward_interleaved_matmul_encdec_valatt, HeadsParams)
.doc("Gradient of _contrib_interleaved_matmul_encdec_valatt.")
    .input("dout", "Gradient of the weighted values.")
    .input("keys_values", kMemoryDoc)
    .input("attention", "Weights, (batch * heads, time of queries, time of keys).")
    .param("heads", &HeadsParams::heads, kHeadsDoc)
    .outputs([](const HeadsParams&) { return 2; })
    .dtypes(kFloating)
    .infer(infer_gradients)
    .cpu(valatt_backward_cpu<false>);

[[maybe_unused]] const bool portable = mark_portable(
    {"_contrib_interleaved_matmul_selfatt_qk", "_backward_interleaved_matmul_selfatt_qk",
     "_contrib_interleaved_matmul_selfatt_valatt", "_backward_interleaved_matmul_selfatt_valatt",
     "_contrib_interleaved_matmul_encdec_qk", "_backward_interleaved_matmul_encdec_qk",
     "_contrib_interleaved_matmul_encdec_valatt", "_backward_interleaved_matmul_encdec_valatt"});
[[maybe_unused]] const bool products = mark_products(
    {"_contrib_interleaved_matmul_selfatt_qk", "_contrib_interleaved_matmul_selfatt_valatt",
     "_contrib_interleaved_matmul_encdec_qk", "_contrib_interleaved_matmul_encdec_valatt"});

}  // namespace
}  // namespace mxnet
