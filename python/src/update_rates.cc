// SPDX-License-Identifier: Apache-2.0
// What an optimizer counts and multiplies for each weight of each step, as it would in Python: its
// attributes may be changed between any two steps, so that nothing is kept from one to the next.
#include "call_errors.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

py::object checked(PyObject* made) {
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(made);
}

// mapping[key]; null without it.
py::object found_in(PyObject* mapping, PyObject* key) {
  if (!PyDict_Check(mapping)) {  // a ParameterDict, for example
    const int there = PySequence_Contains(mapping, key);
    if (there < 0) throw py::error_already_set();
    return there != 0 ? checked(PyObject_GetItem(mapping, key)) : py::object();
  }
  PyObject* value = PyDict_GetItemWithError(mapping, key);
  if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
  return py::reinterpret_borrow<py::object>(value);
}

// Products of a rate with factors, of which neighbours are often one object.
class Products {
 public:
  explicit Products(PyObject* rate) : rate_(rate) {}
  const py::object& with(const py::object& factor) {
    if (!product_ || factor.ptr() != factor_.ptr() || !PyFloat_CheckExact(factor.ptr()) ||
        !PyFloat_CheckExact(rate_)) {
      product_ = checked(PyNumber_Multiply(rate_, factor.ptr()));
      factor_ = factor;
    }
    return product_;
  }

 private:
  PyObject* const rate_;  // borrowed
  py::object factor_, product_;
};

// multiplied(rate, indices, attribute, parameters, factors, names): for each index the rate times
// that attribute of its parameter; without one times a factor by its index, or by its name.
PyObject* multiplied(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 6) throw py::type_error("multiplied: expected 6 arguments");
    PyObject *attribute = args[2], *parameters = args[3], *factors = args[4], *names = args[5];
    const py::object indices = checked(PySequence_Tuple(args[1]));
    const Py_ssize_t size = PyTuple_GET_SIZE(indices.ptr());
    const py::object one = py::float_(1.0);
    Products products(args[0]);
    py::list rates(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* index = PyTuple_GET_ITEM(indices.ptr(), i);
      py::object factor;
      if (const py::object parameter = found_in(parameters, index)) {
        factor = checked(PyObject_GetAttr(parameter.ptr(), attribute));
      } else {
        factor = found_in(factors, index);
      }
      if (!factor) {
        const py::object name = found_in(names, index);
        factor = found_in(factors, name ? name.ptr() : Py_None);
      }
      PyObject* rate = products.with(factor ? factor : one).inc_ref().ptr();
      PyList_SET_ITEM(rates.ptr(), i, rate);
    }
    return rates;
  });
}

// counted(counts, indices, begin, most): adds an update to the count of each index, and returns the
// largest count there is then.
PyObject* counted(PyObject*, PyObject* const* args, Py_ssize_t count) {
  return returning([&]() -> py::object {
    if (count != 4 || !PyDict_Check(args[0]))
      throw py::type_error("counted: expected a dictionary and 3 more arguments");
    const py::object indices = checked(PySequence_Tuple(args[1])), one = py::int_(1);
    py::object most = py::reinterpret_borrow<py::object>(args[3]);
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(indices.ptr()); ++i) {
      PyObject* index = PyTuple_GET_ITEM(indices.ptr(), i);
      const py::object before = found_in(args[0], index);
      py::object now = checked(PyNumber_Add(before ? before.ptr() : args[2], one.ptr()));
      if (PyDict_SetItem(args[0], index, now.ptr()) != 0) throw py::error_already_set();
      const int more = PyObject_RichCompareBool(now.ptr(), most.ptr(), Py_GT);
      if (more < 0) throw py::error_already_set();
      if (more != 0) most = std::move(now);
    }
    return most;
  });
}

PyMethodDef kFunctions[] = {
    fast_method("multiplied", multiplied,
                "A rate for each index: times its parameter's attribute, or times a factor."),
    fast_method("counted", counted, "Counts an update of each index; the largest count."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void register_update_rates(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), kFunctions) != 0) throw py::error_already_set();
}

}  // namespace mxnet::python
