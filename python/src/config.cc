// SPDX-License-Identifier: Apache-2.0
// The configuration table and variables. Texts that are no UTF-8 come out as os.environ would show
// them.
#include <optional>
#include <string>

#include "check.h"
#include "mxnet/c_api_ext.h"
#include "pybind11/stl.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

py::str text_of(const char* bytes) {
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeFSDefault(bytes));
}

// The reverse: the bytes of a str as os.environ would store them, refusing the 0 that C texts end
// at.
std::string bytes_of(const py::str& text) {
  PyObject* bytes = nullptr;
  if (PyUnicode_FSConverter(text.ptr(), &bytes) == 0) throw py::error_already_set();
  const py::bytes owned = py::reinterpret_steal<py::bytes>(bytes);
  return owned;
}

using SetFunction = int (*)(const char* name, const char* value);

void set(SetFunction function, const py::str& name, const std::optional<py::str>& value) {
  const std::string name_bytes = bytes_of(name);
  const std::string value_bytes = value.has_value() ? bytes_of(*value) : std::string();
  check(function(name_bytes.c_str(), value.has_value() ? value_bytes.c_str() : nullptr));
}

}  // namespace

void register_config(py::module_& module) {
  module.def("config_to_json", [] {
    const char* text = nullptr;
    check(MXConfigToJSON(&text));
    return py::str(text);
  });
  module.def(
      "config_get",
      [](const py::str& name) {
        const char* text = nullptr;
        check(MXConfigGet(bytes_of(name).c_str(), &text));
        return text_of(text);
      },
      py::arg("name"));
  module.def(
      "config_set",
      [](const py::str& name, const std::optional<py::str>& value) {
        set(&MXConfigSet, name, value);
      },
      py::arg("name"), py::arg("value"));
  module.def(
      "getenv",
      [](const py::str& name) -> std::optional<py::str> {
        const char* text = nullptr;
        check(MXGetEnv(bytes_of(name).c_str(), &text));
        return text != nullptr ? std::optional<py::str>(text_of(text)) : std::nullopt;
      },
      py::arg("name"));
  module.def(
      "setenv",
      [](const py::str& name, const std::optional<py::str>& value) { set(&MXSetEnv, name, value); },
      py::arg("name"), py::arg("value"));
}

}  // namespace mxnet::python
