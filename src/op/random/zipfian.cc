// SPDX-License-Identifier: Apache-2.0
// _sample_unique_zipfian: different classes with log-uniform frequencies, as candidates of a
// sampled softmax, and how many tries it took to find them.
#include "op/random/zipfian.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "op/generators/random_draws.h"
#include "op/generators/random_streams.h"
#include "op/op_builder.h"

namespace mxnet {
namespace {

void zipfian_cpu(const ZipfianParams& params, KernelContext& context) {
  const Tensor& out = context.out(0);
  const int64_t rows = out.dim(0), columns = out.dim(1);
  if (rows == 0) return;
  const double log_range = std::log(static_cast<double>(params.range_max));
  const int64_t portion = (rows + RandomStreams::kStreams - 1) / RandomStreams::kStreams;
  const double cost = 64.0 * static_cast<double>(columns);
  RandomStreams::of(context.device())
      .deal_portions(rows, portion, cost, [&](Mt19937& stream, int64_t first, int64_t last) {
        Draws draws(stream);
        for (int64_t row = first; row < last; ++row) {
          int64_t* classes = out.as<int64_t>() + row * columns;
          std::unordered_set<int64_t> seen;
          int64_t tries = 0;
          for (int64_t found = 0; found < columns; ++tries) {
            const int64_t candidate =
                zipfian_class(draws.uniform<double>(), log_range, params.range_max);
            if (seen.insert(candidate).second) classes[found++] = candidate;
          }
          context.out(1).as<int64_t>()[row] = tries;
        }
      });
}

MX_OP(_sample_unique_zipfian, ZipfianParams)
.doc(
    "Rows of different classes below range_max, class c with probability log((c + 2) / (c + 1)) / "
    "log(range_max + 1), and the number of tries for each row.")
    .param("range_max", &ZipfianParams::range_max, "Number of classes.")
    .at_least<int32_t>(1)
    .param("shape", &ZipfianParams::shape, Shape(), "Rows and classes in each.")
    .outputs([](const ZipfianParams&) { return 2; })
    .uses_random()
    .infer([](const ZipfianParams& params, Infer& infer) {
      infer.out(0).set_shape(params.shape).set_dtype(DType::kInt64);
      infer.out(1).set_dtype(DType::kInt64);
      const Shape& shape = infer.out(0).shape();
      if (!shape.known()) return;
      if (shape.ndim() != 2)
        infer.fail(fmt::format("given shape {}, expected two dimensions", to_string(shape)));
      if (shape[1] > params.range_max)
        infer.fail(fmt::format(
            "given {} different classes a row out of {}, expected no more than there are", shape[1],
            params.range_max));
      infer.out(1).set_shape({shape[0]});
    })
    .cpu(zipfian_cpu);

}  // namespace
}  // namespace mxnet
