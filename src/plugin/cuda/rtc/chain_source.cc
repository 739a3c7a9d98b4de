// SPDX-License-Identifier: Apache-2.0
// Loads, one line a step, stores.
#include "plugin/cuda/rtc/chain_source.h"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/cuda/rtc/chain_ops.h"

namespace mxnet::cuda {
namespace {

constexpr std::size_t kVectorBytes = 16;  // the widest load of one thread

class Generator {
 public:
  Generator(const PointwiseChain& chain, const std::vector<ChainInput>& inputs)
      : chain_(chain), inputs_(inputs) {}

  // Empty = no operator is unknown.
  std::string make_steps() {
    for (std::size_t k = 0; k < chain_.steps.size(); ++k) {
      const PointwiseStep& step = chain_.steps[k];
      std::vector<ChainValue> in;
      in.reserve(step.in.size());
      for (const int source : step.in) in.push_back(value(source));
      const auto expression = step_expression(step, in, &functions_);
      if (!expression) return step.op->name();
      steps_ += fmt::format("      const {} {} = {};  // {}\n", computed_name(step.dtype),
                            value(-1 - static_cast<int>(k)).variable, *expression, step.op->name());
    }
    return "";
  }

  int vector() const {
    std::size_t widest = 1;
    for (const ChainInput& input : inputs_)
      if (!input.single) widest = std::max(widest, dtype_size(input.dtype));
    for (const int step : chain_.outputs)
      widest = std::max(widest, dtype_size(dtype_of_step(step)));
    return static_cast<int>(kVectorBytes / widest);
  }

  std::string text() const {
    const auto arrays = inputs_.size() + chain_.outputs.size();
    return fmt::format(
        "{prelude}namespace mxnet {{\nnamespace row_words {{\nnamespace this_chain {{\n{functions}"
        "struct Arguments {{\n  int64_t size, groups;\n  void* arrays[{most}];\n}};\n"
        "// Groups of kSize elements, from `i` to `end`.\n"
        "template <int kSize>\nMX_DEVICE void chain(const Arguments& a, int64_t i, int64_t end, "
        "int64_t stride) {{\n  // {count} arrays\n{singles}"
        "  for (; i < end; i += stride) {{\n{loads}{results}"
        "#pragma unroll\n    for (int k = 0; k < kSize; ++k) {{\n{reads}{steps}{writes}    }}\n"
        "{stores}  }}\n}}\n"
        "extern \"C\" __global__ void __launch_bounds__({threads}) {kernel}(Arguments a) {{\n"
        "  const int64_t first = int64_t(blockIdx.x) * blockDim.x + threadIdx.x;\n"
        "  const int64_t stride = int64_t(gridDim.x) * blockDim.x;\n"
        "  chain<{vector}>(a, first, a.groups, stride);\n"
        "  chain<1>(a, a.groups * {vector} + first, a.size, stride);\n}}\n"
        "}}  // namespace this_chain\n}}\n}}\n",
        fmt::arg("prelude", chain_prelude()), fmt::arg("functions", functions_.text()),
        fmt::arg("most", ChainSource::kMostArrays), fmt::arg("count", arrays),
        fmt::arg("singles", for_inputs(true,
                                       "  const {computed} x{n} = widen(*static_cast<const "
                                       "{stored}*>(a.arrays[{n}]));\n")),
        fmt::arg("loads", for_inputs(false,
                                     "    const auto p{n} = static_cast<const Pack<{stored}, "
                                     "kSize>*>(a.arrays[{n}])[i];\n")),
        fmt::arg("results", for_outputs("    Pack<{stored}, kSize> q{o};\n")),
        fmt::arg("reads",
                 for_inputs(false, "      const {computed} x{n} = widen(p{n}.values[k]);\n")),
        fmt::arg("steps", steps_),
        fmt::arg("writes",
                 for_outputs("      q{o}.values[k] = Narrow<{stored}>::from({value});\n")),
        fmt::arg(
            "stores",
            for_outputs("    static_cast<Pack<{stored}, kSize>*>(a.arrays[{n}])[i] = q{o};\n")),
        fmt::arg("threads", ChainSource::kThreads), fmt::arg("vector", vector()),
        fmt::arg("kernel", ChainSource::kKernel));
  }

 private:
  DType dtype_of_step(int step) const { return chain_.steps[static_cast<std::size_t>(step)].dtype; }
  ChainValue value(int source) const {
    if (source < 0) return {fmt::format("v{}", -1 - source), dtype_of_step(-1 - source)};
    return {fmt::format("x{}", source), inputs_[static_cast<std::size_t>(source)].dtype};
  }

  std::string for_inputs(bool single, const char* line) const {
    std::string lines;
    for (std::size_t n = 0; n < inputs_.size(); ++n) {
      if (inputs_[n].single != single) continue;
      lines += fmt::format(fmt::runtime(line), fmt::arg("n", n),
                           fmt::arg("stored", stored_name(inputs_[n].dtype)),
                           fmt::arg("computed", computed_name(inputs_[n].dtype)));
    }
    return lines;
  }
  std::string for_outputs(const char* line) const {
    std::string lines;
    for (std::size_t o = 0; o < chain_.outputs.size(); ++o) {
      const int step = chain_.outputs[o];
      lines += fmt::format(fmt::runtime(line), fmt::arg("o", o), fmt::arg("n", inputs_.size() + o),
                           fmt::arg("stored", stored_name(dtype_of_step(step))),
                           fmt::arg("value", value(-1 - step).variable));
    }
    return lines;
  }

  const PointwiseChain& chain_;
  const std::vector<ChainInput>& inputs_;
  SourceFunctions functions_;
  std::string steps_;
};

}  // namespace

std::optional<ChainSource> chain_source(const PointwiseChain& chain,
                                        const std::vector<ChainInput>& inputs,
                                        ChainRefusal* refusal) {
  const std::size_t arrays = inputs.size() + chain.outputs.size();
  if (arrays > std::size_t{ChainSource::kMostArrays}) {
    *refusal = {
        fmt::format("given {} arrays, expected at most {}", arrays, ChainSource::kMostArrays),
        true};
    return std::nullopt;
  }
  Generator generator(chain, inputs);
  if (const std::string unknown = generator.make_steps(); !unknown.empty()) {
    *refusal = {fmt::format("given the operator {}, which has no source text", unknown), false};
    return std::nullopt;
  }
  return ChainSource{generator.text(), generator.vector()};
}

}  // namespace mxnet::cuda
