// SPDX-License-Identifier: Apache-2.0
// Dictionaries of names, as the columns of pointers and numbers that the C ABI takes. Columns point
// into the maps that they are made of.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mxnet::python {

using NamedShapes = std::map<std::string, std::vector<int64_t>>;
using NamedNumbers = std::map<std::string, int>;

// Names and values of a map, side by side as the C ABI wants them.
template <class Value>
struct Columns {
  std::vector<const char*> names;
  std::vector<Value> values;
  uint32_t size() const { return static_cast<uint32_t>(names.size()); }
};

inline Columns<int> columns_of(const NamedNumbers& numbers) {
  Columns<int> columns;
  for (const auto& [name, number] : numbers) {
    columns.names.push_back(name.c_str());
    columns.values.push_back(number);
  }
  return columns;
}

template <class Dim>
struct ShapeColumns {
  explicit ShapeColumns(const NamedShapes& shapes) {
    for (const auto& [name, shape] : shapes) {
      names.push_back(name.c_str());
      for (const int64_t dim : shape) dims.push_back(static_cast<Dim>(dim));
      starts.push_back(static_cast<uint32_t>(dims.size()));
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(names.size()); }
  std::vector<const char*> names;
  std::vector<Dim> dims;
  std::vector<uint32_t> starts{0};
};

}  // namespace mxnet::python
