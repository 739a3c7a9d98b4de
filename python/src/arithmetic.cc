// SPDX-License-Identifier: Apache-2.0
// +, -, <, ... on arrays: straight from CPython's slots to operators, whose names Python gives once
// (mxnet/ndarray/arithmetic.py, mxnet/_numpy/arithmetic.py). An operand that is neither an array
// nor a number is left to its own class.
#include "arithmetic.h"

#include <cstring>

#include "array.h"
#include "call_errors.h"
#include "check.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

enum Binary {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kPower,
  kMatrixMultiply,
  kAnd,
  kOr,
  kXor,
  kLess,
  kLessEqual,
  kEqual,
  kNotEqual,
  kGreater,
  kGreaterEqual,
  kNumBinary
};
constexpr const char* kBinaryNames[kNumBinary] = {
    "add", "subtract", "multiply", "divide",     "modulo", "power",     "matmul",  "and",
    "or",  "xor",      "less",     "less_equal", "equal",  "not_equal", "greater", "greater_equal"};
enum Unary { kNegative, kAbsolute, kInvert, kNumUnary };
constexpr const char* kUnaryNames[kNumUnary] = {"negative", "absolute", "invert"};

// Operators by kind of array (mx.nd, mx.np); null where there is none. Owned, never given back.
struct Table {
  struct Row {
    PyObject* arrays = nullptr;
    PyObject* scalar = nullptr;    // array OP number
    PyObject* reversed = nullptr;  // number OP array
  };
  Row binary[kNumBinary];
  PyObject* unary[kNumUnary] = {};
};
Table g_tables[2];
PyObject* g_scalar = nullptr;  // "scalar"
PyObject* g_minus_one = nullptr;
constexpr int kBoolNumber = 7;  // among the C ABI's types of elements

PyObject* not_implemented() { return new_reference(Py_NotImplemented); }

}  // namespace

bool is_number(PyObject* object) {
  return PyFloat_Check(object) || PyLong_Check(object) ||
         (array_classes().scalar != nullptr &&
          PyObject_TypeCheck(object, array_classes().scalar) != 0);
}

PyObject* call_arrays(PyObject* op, PyObject* a, PyObject* b, PyObject* out) {
  if (op == nullptr) return not_implemented();
  if (as_array(a)->numpy != as_array(b)->numpy) {
    PyErr_Format(PyExc_TypeError,
                 "%s: given an mx.nd and an mx.np array, expected two of one kind; as_np_ndarray() "
                 "and as_nd_ndarray() show an array as the other",
                 operator_data(op).name.c_str());
    return nullptr;
  }
  static const std::vector<ParamValue> none;
  NDArrayHandle inputs[2] = {as_array(a)->handle, as_array(b)->handle};
  return guarded_call(
      [&] { return invoke_operator(operator_data(op), inputs, 2, none, out, as_array(a)->numpy); });
}

PyObject* call_scalar(PyObject* op, PyObject* array, PyObject* number, PyObject* out) {
  if (op == nullptr) return not_implemented();
  return guarded_call([&]() -> PyObject* {
    py::object plain;  // True, and NumPy's numbers, as the library reads them
    if (!PyFloat_CheckExact(number) && !PyLong_CheckExact(number)) {
      plain = py::reinterpret_steal<py::object>(PyNumber_Float(number));
      if (!plain) return nullptr;
      number = plain.ptr();
    }
    const std::vector<ParamValue> params{{g_scalar, number}};
    NDArrayHandle input = as_array(array)->handle;
    return invoke_operator(operator_data(op), &input, 1, params, out, as_array(array)->numpy);
  });
}

PyObject* call_unary(PyObject* op, PyObject* a, PyObject* out) {
  if (op == nullptr) return not_implemented();
  static const std::vector<ParamValue> none;
  NDArrayHandle input = as_array(a)->handle;
  return guarded_call(
      [&] { return invoke_operator(operator_data(op), &input, 1, none, out, as_array(a)->numpy); });
}

namespace {

// What an mx.nd array and something else give. NumPy would make an array of its own out of it and
// of one of NumPy's, of which autograd and devices know nothing, and equality would be False.
template <Binary kOp>
PyObject* refuse(PyObject* other) {
  if (std::strcmp(Py_TYPE(other)->tp_name, "numpy.ndarray") != 0) return not_implemented();
  PyErr_Format(PyExc_TypeError,
               "%s: given an mx.nd array and a numpy.ndarray, expected two arrays of one kind; "
               "mx.nd.array() makes one",
               kBinaryNames[kOp]);
  return nullptr;
}

template <Binary kOp>
PyObject* binary(PyObject* a, PyObject* b) {
  const bool left = is_array(a), right = is_array(b);
  const bool numpy = (left && as_array(a)->numpy) || (right && as_array(b)->numpy);
  const Table::Row& row = g_tables[numpy].binary[kOp];
  if (left && right) return call_arrays(row.arrays, a, b, nullptr);
  if (left && is_number(b)) return call_scalar(row.scalar, a, b, nullptr);
  if (right && is_number(a)) return call_scalar(row.reversed, b, a, nullptr);
  return numpy ? not_implemented() : refuse<kOp>(left ? b : a);
}

template <Binary kOp>
PyObject* in_place(PyObject* a, PyObject* b) {
  const Table::Row& row = g_tables[as_array(a)->numpy].binary[kOp];
  if (is_array(b)) return call_arrays(row.arrays, a, b, a);
  if (is_number(b)) return call_scalar(row.scalar, a, b, a);
  PyObject* refused = as_array(a)->numpy ? not_implemented() : refuse<kOp>(b);
  if (kOp != kAdd || refused != Py_NotImplemented) return refused;
  // Classes that inherit the slot of += have it as that of sequences too, whose NotImplemented
  // Python takes for the sum.
  Py_DECREF(refused);
  return PyNumber_Add(a, b);
}

PyObject* power(PyObject* a, PyObject* b, PyObject* modulus) {
  return modulus == Py_None ? binary<kPower>(a, b) : not_implemented();
}

template <Unary kOp>
PyObject* unary(PyObject* a) {
  PyObject* op = g_tables[as_array(a)->numpy].unary[kOp];
  if (op == nullptr) {
    PyErr_Format(PyExc_TypeError, "%s: given %s, expected another type", kUnaryNames[kOp],
                 Py_TYPE(a)->tp_name);
    return nullptr;
  }
  if constexpr (kOp == kNegative) {
    // Of bool it is a number: no operator of one array makes one of another type.
    int dtype = 0;
    if (MXNDArrayGetDType(as_array(a)->handle, &dtype) == 0 && dtype == kBoolNumber)
      return binary<kMultiply>(a, g_minus_one);
  }
  return call_unary(op, a, nullptr);
}

PyObject* compare(PyObject* a, PyObject* b, int op) {
  // Python's own answer would be False, where NumPy compares elements.
  if (as_array(a)->numpy && (PyList_Check(b) || PyTuple_Check(b))) {
    PyErr_Format(
        PyExc_TypeError,
        "comparison: given a %s, expected an mx.np array or a number; mx.np.array makes one",
        Py_TYPE(b)->tp_name);
    return nullptr;
  }
  switch (op) {
    case Py_LT:
      return binary<kLess>(a, b);
    case Py_LE:
      return binary<kLessEqual>(a, b);
    case Py_EQ:
      return binary<kEqual>(a, b);
    case Py_NE:
      return binary<kNotEqual>(a, b);
    case Py_GT:
      return binary<kGreater>(a, b);
    default:
      return binary<kGreaterEqual>(a, b);
  }
}

PyObject* owned_operator(const py::handle& op) {
  if (op.is_none()) return nullptr;
  if (!is_operator(op.ptr())) throw py::type_error("expected operators or None");
  return op.inc_ref().ptr();
}

void set_arithmetic(bool numpy, const py::dict& operators) {
  Table& table = g_tables[numpy];
  for (const auto& [key, value] : operators) {
    const auto name = py::cast<std::string>(key);
    bool found = false;
    for (int i = 0; i < kNumBinary; ++i) {
      if (name != kBinaryNames[i]) continue;
      const auto row = py::reinterpret_borrow<py::tuple>(value);
      table.binary[i] = {owned_operator(row[0]), owned_operator(row[1]), owned_operator(row[2])};
      found = true;
    }
    for (int i = 0; i < kNumUnary; ++i) {
      if (name != kUnaryNames[i]) continue;
      table.unary[i] = owned_operator(value);
      found = true;
    }
    if (!found) throw py::value_error("no arithmetic is called " + name);
  }
}

}  // namespace

void append_arithmetic(std::vector<PyType_Slot>* slots) {
  const PyType_Slot all[] = {
      type_slot(Py_nb_add, binary<kAdd>),
      type_slot(Py_nb_subtract, binary<kSubtract>),
      type_slot(Py_nb_multiply, binary<kMultiply>),
      type_slot(Py_nb_true_divide, binary<kDivide>),
      type_slot(Py_nb_remainder, binary<kModulo>),
      type_slot(Py_nb_power, power),
      type_slot(Py_nb_matrix_multiply, binary<kMatrixMultiply>),
      type_slot(Py_nb_and, binary<kAnd>),
      type_slot(Py_nb_or, binary<kOr>),
      type_slot(Py_nb_xor, binary<kXor>),
      type_slot(Py_nb_inplace_add, in_place<kAdd>),
      type_slot(Py_nb_inplace_subtract, in_place<kSubtract>),
      type_slot(Py_nb_inplace_multiply, in_place<kMultiply>),
      type_slot(Py_nb_inplace_true_divide, in_place<kDivide>),
      type_slot(Py_nb_inplace_remainder, in_place<kModulo>),
      // No power: `a **= b` names a new array, which may have another type and be recorded.
      type_slot(Py_nb_inplace_matrix_multiply, in_place<kMatrixMultiply>),
      type_slot(Py_nb_inplace_and, in_place<kAnd>),
      type_slot(Py_nb_inplace_or, in_place<kOr>),
      type_slot(Py_nb_inplace_xor, in_place<kXor>),
      type_slot(Py_nb_negative, unary<kNegative>),
      type_slot(Py_nb_absolute, unary<kAbsolute>),
      type_slot(Py_nb_invert, unary<kInvert>),
      type_slot(Py_tp_richcompare, compare),
  };
  slots->insert(slots->end(), std::begin(all), std::end(all));
}

void register_arithmetic(py::module_& module) {
  static PyMethodDef functions[] = {
      {"is_number", [](PyObject*, PyObject* object) { return PyBool_FromLong(is_number(object)); },
       METH_O, "Whether an operand is a number of Python's or NumPy's."},
      {nullptr, nullptr, 0, nullptr}};
  if (PyModule_AddFunctions(module.ptr(), functions) != 0) throw py::error_already_set();
  g_scalar = PyUnicode_InternFromString("scalar");
  g_minus_one = PyLong_FromLong(-1);
  module.def("set_arithmetic", &set_arithmetic, py::arg("numpy"), py::arg("operators"),
             "Operators by the names of Python's: (arrays, array OP number, number OP array).");
}

}  // namespace mxnet::python
