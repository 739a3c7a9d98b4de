// SPDX-License-Identifier: Apache-2.0
// A step of an optimizer over all weights in one call: operators that update one weight, or several
// at once, run one after the other without a return to Python in between.
#include <algorithm>
#include <string>

#include "array.h"
#include "check.h"
#include "operator.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

using Columns = std::vector<KeptItems>;

// The columns of a step, weights first, then gradients and states, all of one length.
Columns columns_of(const py::sequence& given) {
  Columns columns(given.size());
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i].keep(py::object(given[i]).ptr());
  for (const KeptItems& column : columns)
    if (column.size() != columns[0].size())
      throw py::value_error("given " + std::to_string(column.size()) + " arrays, expected " +
                            std::to_string(columns[0].size()) + ", one for each weight");
  return columns;
}

// One call of an operator on some of the weights.
struct Step {
  PreparedCallRef call;
  std::vector<NDArrayHandle> inputs, outputs;
};

Step make_step(OperatorData& op, const Columns& columns, std::size_t first, std::size_t last,
               const std::vector<ParamValue>& params) {
  Step step;
  step.inputs.reserve((last - first) * columns.size());
  step.outputs.reserve(last - first);
  for (std::size_t k = first; k < last; ++k) {
    for (const KeptItems& column : columns) step.inputs.push_back(handle_of(column[k]));
    step.outputs.push_back(output_handle_of(columns[0][k]));
  }
  step.call = op.calls->find(static_cast<int>(step.inputs.size()), params);
  return step;
}

int run(const Step& step) {
  int count = static_cast<int>(step.outputs.size());
  auto* inputs = const_cast<NDArrayHandle*>(step.inputs.data());
  auto* outputs = const_cast<NDArrayHandle*>(step.outputs.data());
  const int* storage_types = nullptr;
  return MXOpCallInvoke(step.call->handle(), static_cast<int>(step.inputs.size()), inputs, &count,
                        &outputs, &storage_types);
}

// Parameters of one call: the common ones, and of each rate its value or a tuple of its values.
class StepParams {
 public:
  StepParams(const py::dict& common, const py::dict& rates, std::size_t count, bool several)
      : several_(several), rates_(rates.size()) {
    for (const auto& [name, value] : common) params_.push_back({name.ptr(), value.ptr()});
    common_ = params_.size();
    std::size_t i = 0;
    for (const auto& [name, values] : rates) {
      rates_[i].name = name.ptr();
      rates_[i].values.keep(values.ptr());
      if (rates_[i++].values.size() != count)
        throw py::value_error(py::cast<std::string>(name) + ": expected one value for each of " +
                              std::to_string(count) + " weights");
    }
  }
  // Good until the next call.
  const std::vector<ParamValue>& of(std::size_t first, std::size_t last) {
    static PyObject* const kCount = PyUnicode_InternFromString("num_weights");
    params_.resize(common_);
    owned_.clear();
    for (const auto& [name, values] : rates_)
      params_.push_back({name, several_ ? part_of(values, first, last) : values[first]});
    if (several_) {
      owned_.push_back(py::int_(last - first));
      params_.push_back({kCount, owned_.back().ptr()});
    }
    return params_;
  }

 private:
  struct Rate {
    PyObject* name = nullptr;  // borrowed of the dictionary
    KeptItems values;
  };

  PyObject* part_of(const KeptItems& values, std::size_t first, std::size_t last) {
    py::tuple part(last - first);
    for (std::size_t k = first; k < last; ++k)
      PyTuple_SET_ITEM(part.ptr(), static_cast<Py_ssize_t>(k - first),
                       py::handle(values[k]).inc_ref().ptr());
    owned_.push_back(std::move(part));
    return owned_.back().ptr();
  }

  const bool several_;
  std::vector<Rate> rates_;
  std::vector<ParamValue> params_;  // borrowed: of the dictionaries, of owned_
  std::vector<py::object> owned_;
  std::size_t common_ = 0;
};

void update_weights(const py::handle& function, std::size_t size, const py::sequence& given,
                    const py::dict& rates, const py::dict& params) {
  if (!is_operator(function.ptr())) throw py::type_error("update_weights: expected an Operator");
  OperatorData& op = operator_data(function.ptr());
  const Columns columns = columns_of(given);
  if (columns.empty()) return;
  const std::size_t count = columns[0].size(), each = std::max<std::size_t>(size, 1);
  StepParams of_part(params, rates, count, size > 0);
  std::vector<Step> steps;
  steps.reserve((count + each - 1) / each);
  for (std::size_t first = 0; first < count; first += each) {
    const std::size_t last = std::min(first + each, count);
    steps.push_back(make_step(op, columns, first, last, of_part.of(first, last)));
  }
  check_blocking([&] {
    int result = 0;
    for (std::size_t i = 0; i < steps.size() && result == 0; ++i) result = run(steps[i]);
    return result;
  });
}

bool all_dense(const py::sequence& columns) {
  const ArrayClasses& classes = array_classes();
  for (const py::handle column : columns) {
    KeptItems arrays;
    arrays.keep(column.ptr());
    for (PyObject* array : arrays)
      if (PyObject_TypeCheck(array, classes.row_sparse) || PyObject_TypeCheck(array, classes.csr))
        return false;
  }
  return true;
}

}  // namespace

void register_weight_updates(py::module_& module) {
  module.def("update_weights", &update_weights, py::arg("operator"), py::arg("size"),
             py::arg("columns"), py::arg("rates"), py::arg("params"),
             "Runs an operator for each weight, or with a size above 0 for so many at once.");
  module.def("all_dense", &all_dense, py::arg("columns"), "Whether no array is sparse.");
}

}  // namespace mxnet::python
