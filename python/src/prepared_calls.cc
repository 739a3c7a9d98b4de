// SPDX-License-Identifier: Apache-2.0
// From the values of a call's parameters to a prepared call: by comparing with the last few, or by
// their texts.
#include <algorithm>
#include <bit>

#include "check.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// mxnet.ndarray's function for values that are neither numbers nor texts. Guarded by the GIL.
py::handle g_text_of;

// Values of these types never change and say all they mean.
bool is_plain(PyObject* value) {
  if (value == Py_None || PyFloat_CheckExact(value) || PyLong_CheckExact(value) ||
      PyBool_Check(value) || PyUnicode_CheckExact(value) || PyType_Check(value))
    return true;
  if (!PyTuple_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i)
    if (!is_plain(PyTuple_GET_ITEM(value, i))) return false;
  return true;
}

// REQUIRES: plain values. 1, 1.0 and True differ, and so do 0.0 and -0.0: their texts do.
bool same_value(PyObject* a, PyObject* b) {
  if (a == b) return true;
  if (Py_TYPE(a) != Py_TYPE(b)) return false;
  if (PyFloat_CheckExact(a)) {
    const double x = PyFloat_AS_DOUBLE(a), y = PyFloat_AS_DOUBLE(b);
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  }
  if (PyUnicode_CheckExact(a)) return PyUnicode_Compare(a, b) == 0;
  if (PyLong_CheckExact(a)) return PyObject_RichCompareBool(a, b, Py_EQ) == 1;
  if (!PyTuple_CheckExact(a) || PyTuple_GET_SIZE(a) != PyTuple_GET_SIZE(b)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(a); ++i)
    if (!same_value(PyTuple_GET_ITEM(a, i), PyTuple_GET_ITEM(b, i))) return false;
  return true;
}

// As the library reads it.
std::string text_of(PyObject* value) {
  if (PyUnicode_Check(value)) return py::cast<std::string>(py::handle(value));
  if (value == Py_None || PyFloat_CheckExact(value) || PyLong_CheckExact(value) ||
      PyBool_Check(value))
    return py::cast<std::string>(py::str(py::handle(value)));
  if (PyTuple_CheckExact(value) || PyList_CheckExact(value)) {
    std::string text = "(";
    for (const py::handle item : py::reinterpret_borrow<py::sequence>(value)) {
      text += text_of(item.ptr());
      text += ", ";
    }
    if (text.size() > 1 && PySequence_Size(value) > 1) text.resize(text.size() - 2);
    return text + ")";
  }
  return py::cast<std::string>(g_text_of(py::handle(value)));
}

}  // namespace

bool PreparedCalls::matches(const Entry& entry, int num_inputs,
                            const std::vector<ParamValue>& params) {
  if (entry.num_inputs != num_inputs || entry.params.size() != params.size()) return false;
  for (std::size_t i = 0; i < params.size(); ++i) {
    const auto& [name, value] = entry.params[i];
    if (!same_value(name.ptr(), params[i].name) || !same_value(value.ptr(), params[i].value))
      return false;
  }
  return true;
}

std::vector<std::string> PreparedCalls::texts_of(const std::vector<ParamValue>& params) const {
  // A step of training differs from the one before in its rate alone, and digits are dear.
  const auto known = [&](std::size_t i) {
    return !entries_.empty() && entries_.front().params.size() == params.size() &&
           same_value(entries_.front().params[i].second.ptr(), params[i].value);
  };
  std::vector<std::string> texts;
  texts.reserve(params.size());
  // Asked for each anew: what a text runs in Python may call the operator, and other threads may.
  for (std::size_t i = 0; i < params.size(); ++i)
    texts.push_back(known(i) ? entries_.front().texts[i] : text_of(params[i].value));
  return texts;
}

PreparedCallRef PreparedCalls::prepare(int num_inputs, const std::vector<ParamValue>& params,
                                       const std::vector<std::string>& texts) const {
  std::vector<const char*> names, values;
  names.reserve(params.size());
  values.reserve(params.size());
  for (std::size_t i = 0; i < params.size(); ++i) {
    const char* name = PyUnicode_AsUTF8(params[i].name);
    if (name == nullptr) throw py::error_already_set();
    names.push_back(name);
    values.push_back(texts[i].c_str());
  }
  OpCallHandle handle = nullptr;
  check(MXOpCallCreate(op_, num_inputs, static_cast<int>(params.size()), names.data(),
                       values.data(), &handle));
  return std::make_shared<const PreparedCall>(handle);
}

PreparedCallRef PreparedCalls::find(int num_inputs, const std::vector<ParamValue>& params) {
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (!matches(entries_[i], num_inputs, params)) continue;
    if (i > 0)
      std::rotate(entries_.begin(), entries_.begin() + static_cast<long>(i),
                  entries_.begin() + static_cast<long>(i) + 1);
    return entries_.front().call;
  }
  std::vector<std::string> texts = texts_of(params);
  PreparedCallRef call = prepare(num_inputs, params, texts);
  if (!keeps_ || !std::all_of(params.begin(), params.end(),
                              [](const ParamValue& param) { return is_plain(param.value); }))
    return call;
  Entry entry{num_inputs, {}, std::move(texts), call};
  entry.params.reserve(params.size());
  for (const ParamValue& param : params)
    entry.params.emplace_back(py::reinterpret_borrow<py::object>(param.name),
                              py::reinterpret_borrow<py::object>(param.value));
  if (entries_.size() == kMost) entries_.pop_back();
  entries_.insert(entries_.begin(), std::move(entry));
  return call;
}

void register_prepared_calls(py::module_& module) {
  module.def(
      "set_text_maker",
      [](const py::function& maker) {
        g_text_of.dec_ref();
        g_text_of = py::function(maker).release();
      },
      py::arg("maker"), "Leaves the function that makes a parameter's text of an unusual value.");
}

}  // namespace mxnet::python
