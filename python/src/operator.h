// SPDX-License-Identifier: Apache-2.0
// An operator as a Python callable, with the calls that it has prepared.
#pragma once
#include <pybind11/pybind11.h>

#include <memory>
#include <string>
#include <vector>

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"

namespace mxnet::python {

// A parameter of a call; borrowed.
struct ParamValue {
  PyObject* name;   // str
  PyObject* value;  // anything
};

// Owns an OpCallHandle. Shared by the operator and calls that run without the GIL.
class PreparedCall {
 public:
  explicit PreparedCall(OpCallHandle handle) : handle_(handle) {}
  ~PreparedCall() { MXOpCallFree(handle_); }
  PreparedCall(const PreparedCall&) = delete;
  PreparedCall& operator=(const PreparedCall&) = delete;
  OpCallHandle handle() const { return handle_; }

 private:
  const OpCallHandle handle_;
};
using PreparedCallRef = std::shared_ptr<const PreparedCall>;

// The last few calls of an operator by their parameters' values, most recent first. Guarded by the
// GIL. Values that could change under their name are compared by what they say.
class PreparedCalls {
 public:
  // Without `keeps` each call is prepared anew.
  PreparedCalls(OpHandle op, bool keeps) : op_(op), keeps_(keeps) {}
  // Throws what preparing the call throws.
  PreparedCallRef find(int num_inputs, const std::vector<ParamValue>& params);

 private:
  static constexpr std::size_t kMost = 8;
  struct Entry {
    int num_inputs;
    std::vector<std::pair<pybind11::object, pybind11::object>> params;
    std::vector<std::string> texts;  // of the values
    PreparedCallRef call;
  };
  static bool matches(const Entry& entry, int num_inputs, const std::vector<ParamValue>& params);
  std::vector<std::string> texts_of(const std::vector<ParamValue>& params) const;
  PreparedCallRef prepare(int num_inputs, const std::vector<ParamValue>& params,
                          const std::vector<std::string>& texts) const;

  const OpHandle op_;
  const bool keeps_;
  std::vector<Entry> entries_;
};

struct OperatorData {
  struct Argument {
    pybind11::str name;
    bool array;
  };
  OperatorData(std::string name, bool numpy);

  const std::string name;  // as it was asked for
  // Takes and makes mx.np arrays; others make them when an input is one.
  const bool numpy;
  OpHandle op = nullptr;
  std::string doc;
  bool variadic = false;  // any number of arrays comes first
  // The registry shows none of its arrays (_copyto): those that come first are taken as they come.
  bool undescribed = false;
  std::vector<Argument> arguments;  // in the order in which they are given by position
  std::unique_ptr<PreparedCalls> calls;
};

struct OperatorObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  OperatorData* data;
  PyObject* attributes;  // __dict__
};

bool is_operator(PyObject* object);
inline OperatorData& operator_data(PyObject* object) {
  return *reinterpret_cast<OperatorObject*>(object)->data;
}

// Runs an operator without the GIL. `out` is null, an array or a sequence of arrays; a new
// reference to it, to the result or to a list of results, as mx.np arrays if `numpy`. Null with an
// exception set on failure.
PyObject* invoke_operator(OperatorData& op, NDArrayHandle* inputs, int num_inputs,
                          const std::vector<ParamValue>& params, PyObject* out, bool numpy);

}  // namespace mxnet::python
