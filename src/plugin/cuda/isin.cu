// SPDX-License-Identifier: Apache-2.0
// Whether elements are among some values (op/index/isin.cc): the values in order, and a binary
// search for each element.
#include "op/index/isin.h"

#include "plugin/cuda/families.h"
#include "plugin/cuda/launch.cuh"
#include "plugin/cuda/lines.cuh"
#include "plugin/cuda/sorted_lines.cuh"

namespace mxnet {
namespace cuda {
namespace {

constexpr char kTag[] = "_npi_isin";

// NaN comes last, and is not less than anything nor equal to it: no search finds one.
template <class Number>
struct Search {
  Numbers<Number> elements;
  const Number* values;
  const int64_t* order;
  int64_t count;
  bool invert;
  bool* found;

  MX_DEVICE void operator()(int64_t i) const {
    const Number element = elements(i);
    int64_t first = 0, last = count;
    while (first < last) {
      const int64_t middle = first + (last - first) / 2;
      if (values[order[middle]] < element)
        first = middle + 1;
      else
        last = middle;
    }
    found[i] = (first < count && values[order[first]] == element) != invert;
  }
};

template <class Number>
void search(const IsinParams& params, KernelContext& context) {
  const Tensor &elements = context.in(0), &tests = context.in(1), &out = context.out(0);
  NativeStream* const stream = context.stream()->native();
  const int64_t count = tests.size();
  const Tensor values{context.workspace_of<Number>(count + 1), &tests.shape(), dtype_of<Number>};
  const int64_t* order = nullptr;
  if (count > 0) {
    convert(stream, tests, values);
    order = sorted_places(context, values.as<const Number>(), 1, count, count, true);
  }
  for_each(stream, kTag, elements.size(),
           Search<Number>{{elements.data, elements.dtype},
                          values.as<const Number>(),
                          order,
                          count,
                          params.invert,
                          out.as<bool>()});
}

void isin(const IsinParams& params, KernelContext& context) {
  const bool real = is_floating(context.in(0).dtype) || is_floating(context.in(1).dtype);
  return real ? search<double>(params, context) : search<int64_t>(params, context);
}

}  // namespace

void add_isin(std::vector<GpuKernelRow>* rows) {
  rows->push_back(kernel_row<IsinParams, isin>(kTag));
}

}  // namespace cuda
}  // namespace mxnet
