// SPDX-License-Identifier: Apache-2.0
// libFuzzer on texts of parameter values: fuzz_param -max_total_time=60 -max_len=64. A text is
// refused, or means a value whose own text means the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "op/params/param_text.h"

namespace {

template <class T>
void check(std::string_view text) {
  using Text = mxnet::ParamText<T>;
  std::string printed;
  try {
    printed = Text::print(Text::parse(text));
  } catch (const mxnet::ParamError& error) {
    if (error.detail.empty()) std::abort();
    return;
  }
  if (Text::print(Text::parse(printed)) != printed) std::abort();
}

template <class... T>
void check_each(std::string_view text) {
  (check<T>(text), ...);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mxnet::Shape;
  using std::optional, std::vector;
  check_each<int32_t, int64_t, uint32_t, uint64_t, float, double, bool, std::string, Shape,
             optional<int32_t>, optional<int64_t>, optional<float>, optional<double>,
             optional<bool>, optional<Shape>, vector<optional<int64_t>>, vector<int64_t>,
             vector<float>, vector<double>, vector<Shape>>(
      {reinterpret_cast<const char*>(data), size});
  return 0;
}
