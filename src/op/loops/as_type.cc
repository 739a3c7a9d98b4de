// SPDX-License-Identifier: Apache-2.0
// The table of conversions: every type to every type, one loop each.
#include "op/loops/as_type.h"

#include "base/owned_lines.h"
#include "base/stream_copy.h"
#include "op/loops/convert.h"
#include "op/moving/past_caches.h"
#include "op/run/dispatch.h"
#include "op/run/gpu_table.h"
#include "op/run/moved_bytes.h"
#include "op/run/parallel.h"
#include "op/run/primitives.h"
#include "op/run/sweep.h"

namespace mxnet {
namespace {

// All elements by a loop; what is large goes to and fro and past the caches as elsewhere.
void convert_parts(const Tensor& from, const Tensor& to, ConvertLoop loop) {
  const auto read = static_cast<int64_t>(dtype_size(from.dtype));
  const auto written = static_cast<int64_t>(dtype_size(to.dtype));
  const int64_t count = from.size(), bytes = count * written;
  // A narrower result that is written past the caches by way of a block saves too little for it.
  const bool in_blocks = bytes >= Sweep::kLeastWritten &&
                         (written >= read || bytes < kPastCaches || owns_lines(bytes));
  parallel_for(
      count, cost_of_moving(static_cast<double>(read + written)), [&](int64_t first, int64_t last) {
        const char* x = static_cast<const char*>(from.data) + first * read;
        char* y = static_cast<char*>(to.data) + first * written;
        if (!in_blocks) return loop(x, y, last - first);
        const auto part = [&](int64_t at, char* results, int64_t n) {
          loop(x + at * read, results, n);
        };
        const auto run = [](const void* body, int64_t at, void* results, int64_t n) {
          (*static_cast<const decltype(part)*>(body))(at, static_cast<char*>(results), n);
        };
        write_in_blocks(y, written, last - first, count, count * read, from.data != to.data, true,
                        {ReadAlong{x, read}, ReadAlong{}}, {&part, run});
      });
}

}  // namespace

ConvertLoop convert_loop(DType from, DType to) {
  // Elements of bool are the 0 and 1 of uint8, and bytes are zero or not.
  const bool as_bytes = from == DType::kBool || (from == DType::kInt8 && to == DType::kBool);
  const DType type = as_bytes ? DType::kUInt8 : from;
  return dispatch_dtype<kNumeric>(type, "Cast", [&]<class From>(TypeTag<From>) -> ConvertLoop {
    return dispatch_dtype(to, "Cast", []<class To>(TypeTag<To>) -> ConvertLoop {
      return [](const void* x, void* y, int64_t n) {
        convert_array(static_cast<const From*>(x), static_cast<To*>(y), n);
      };
    });
  });
}

bool keeps_bits(DType from, DType to) {
  return from == to || (dtype_size(from) == 1 && dtype_size(to) == 1 && to != DType::kBool);
}

void convert_tensor(const Tensor& from, const Tensor& to, KernelContext& context) {
  const auto bytes = static_cast<std::size_t>(to.size()) * dtype_size(to.dtype);
  if (keeps_bits(from.dtype, to.dtype)) return copy_memory(context, from.data, to.data, bytes);
  if (const GpuTable* gpu = gpu_table(context))
    return gpu->convert(context.stream()->native(), from, to);
  convert_parts(from, to, convert_loop(from.dtype, to.dtype));
}

Tensor as_type(const Tensor& in, DType dtype, KernelContext& context) {
  if (in.dtype == dtype) return in;
  const auto bytes = static_cast<std::size_t>(in.size()) * dtype_size(dtype);
  const Tensor copy{context.workspace(bytes), in.shape_ptr, dtype};
  convert_tensor(in, copy, context);
  return copy;
}

}  // namespace mxnet
