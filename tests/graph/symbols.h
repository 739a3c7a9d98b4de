// SPDX-License-Identifier: Apache-2.0
// Networks in short, for tests.
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>

#include "graph/symbol.h"

namespace mxnet::graph_test {

Symbol var(std::string name);
// An operator by name with inputs by position.
Symbol call(std::string_view op, std::string name, std::initializer_list<Symbol> inputs,
            Attrs attrs = {});
// The same with inputs by name.
Symbol call_by_name(std::string_view op, std::string name,
                    std::initializer_list<std::pair<std::string_view, Symbol>> inputs,
                    Attrs attrs = {});
std::string read_symbol_file(const std::string& name);  // of tests/data/symbols
// The message of the error that `body` throws; fails the test if there is none.
template <class Body>
[[nodiscard]] std::string message_of(const Body& body);

}  // namespace mxnet::graph_test

#include <gtest/gtest.h>

#include "base/error.h"

template <class Body>
std::string mxnet::graph_test::message_of(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    EXPECT_NE(error.code(), ErrorCode::kInternal) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "no error";
  return "";
}
