// SPDX-License-Identifier: Apache-2.0
// Networks in short.
#include "symbols.h"

#include <fstream>
#include <iterator>
#include <vector>

#include "op/op_builder.h"
#include "paths.h"

namespace mxnet::graph_test {
namespace {

// A normalisation as symbols see it: two states, two hidden outputs.
MX_OP(_test_norm, NoParams)
.input("data", "")
    .input("gamma", "")
    .input("moving_mean", "")
    .input("moving_var", "")
    .mutates({2, 3})
    .outputs([](const NoParams&) { return 3; })
    .visible_outputs([](const NoParams&) { return 1; })
    .output("output")
    .output("mean")
    .output("var")
    .infer([](const NoParams&, Infer& infer) {
      infer.one_dtype();
      infer.in(0).same_shape(infer.out(0));
      if (!infer.in(0).rank_known()) return;
      const Shape channels{infer.in(0).dim(1)};
      for (int i = 1; i < 4; ++i) infer.in(i).set_shape(channels);
      infer.out(1).set_shape(channels);
      infer.out(2).set_shape(channels);
    });

}  // namespace

Symbol var(std::string name) { return Symbol::variable(std::move(name)); }

Symbol call(std::string_view op, std::string name, std::initializer_list<Symbol> inputs,
            Attrs attrs) {
  Symbol symbol = Symbol::atomic(Registry::get().at(op), std::move(attrs));
  std::vector<const Symbol*> args;
  for (const Symbol& input : inputs) args.push_back(&input);
  symbol.compose(std::move(name), {}, args);
  return symbol;
}

Symbol call_by_name(std::string_view op, std::string name,
                    std::initializer_list<std::pair<std::string_view, Symbol>> inputs,
                    Attrs attrs) {
  Symbol symbol = Symbol::atomic(Registry::get().at(op), std::move(attrs));
  std::vector<std::string_view> keys;
  std::vector<const Symbol*> args;
  for (const auto& [key, input] : inputs) {
    keys.push_back(key);
    args.push_back(&input);
  }
  symbol.compose(std::move(name), keys, args);
  return symbol;
}

std::string read_symbol_file(const std::string& name) {
  std::ifstream file(test_data("symbols/" + name), std::ios::binary);
  EXPECT_TRUE(file) << name;
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace mxnet::graph_test
