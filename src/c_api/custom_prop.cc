// SPDX-License-Identifier: Apache-2.0
// Registration of operators of the user, and what their descriptions say.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/leaked.h"
#include "base/numpy_shape.h"
#include "c_api/custom_op.h"
#include "c_api/guard.h"

namespace mxnet::c_api {
namespace {

struct Creators {
  Mutex mutex;
  std::map<std::string, CustomOpPropCreator, std::less<>> by_name MX_GUARDED_BY(mutex);
};

Creators& creators() {
  static Leaked<Creators> creators;
  return *creators;
}

CustomOpPropCreator creator_of(const std::string& op_type) {
  const MutexLock lock(creators().mutex);
  const auto known = creators().by_name.find(op_type);
  return known == creators().by_name.end() ? nullptr : known->second;
}

// Shapes as the callbacks have them: an int for each dimension, 0 (with NumPy shapes -1) for what
// is not known.
class IntShapes {
 public:
  void add(const Shape& shape) {
    const int unknown = is_numpy_shape() ? -1 : 0;
    std::vector<int> dims;
    dims.reserve(static_cast<std::size_t>(std::max(0, shape.ndim())));
    for (int i = 0; i < shape.ndim(); ++i) {
      if (!std::in_range<int>(shape[i])) {
        throw Error(ErrorCode::kValue, "Custom",
                    fmt::format("given shape {}, expected dimensions below 2^31: callbacks have "
                                "them as int",
                                to_string(shape)));
      }
      dims.push_back(shape[i] < 0 ? unknown : static_cast<int>(shape[i]));
    }
    ndims.push_back(shape.rank_known() ? shape.ndim() : unknown);
    dims_.push_back(std::move(dims));
  }
  int** data() {
    pointers_.clear();
    for (std::vector<int>& dims : dims_) pointers_.push_back(dims.data());
    return pointers_.data();
  }
  std::size_t size() const { return ndims.size(); }
  // What the callee has set.
  Shape shape(std::size_t i) const {
    const bool numpy = is_numpy_shape();
    if (ndims[i] < 0 || (ndims[i] == 0 && !numpy)) return {};
    std::vector<int64_t> dims;
    for (int d = 0; d < ndims[i]; ++d) {
      const int dim = pointers_[i][d];
      dims.push_back(dim < 0 || (dim == 0 && !numpy) ? Shape::kUnknownDim : dim);
    }
    return Shape(dims);
  }

  std::vector<int> ndims;

 private:
  std::vector<std::vector<int>> dims_;
  std::vector<int*> pointers_;
};

[[noreturn]] void fail(const std::string& label, const char* what) {
  throw Error(ErrorCode::kGeneric, label,
              Callbacks::failure(fmt::format("the operator {}: its callback has failed", what)));
}

}  // namespace

std::shared_ptr<const CustomProp> registered_prop(
    const std::string& op_type, const std::map<std::string, std::string>& parameters) {
  if (op_type.empty()) {
    throw Error(ErrorCode::kValue, "Custom",
                "given no op_type, expected the name of a registered operator");
  }
  const CustomOpPropCreator creator = creator_of(op_type);
  if (creator == nullptr) {
    throw Error(ErrorCode::kValue, "Custom",
                fmt::format("given op_type '{}', expected one that was registered "
                            "(mx.operator.register, MXCustomOpRegister)",
                            op_type));
  }
  MXCallbackList list{};
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : parameters) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  const std::string label = fmt::format("Custom({})", op_type);
  Callbacks::forget_error();
  if (creator(op_type.c_str(), static_cast<int>(keys.size()), keys.data(), values.data(), &list) ==
      0)
    fail(label, "could not be created");
  return std::make_shared<const CustomProp>(label, list);
}

CustomProp::CustomProp(std::string label, const MXCallbackList& list)
    : label_(std::move(label)), callbacks_(list, kCustomOpPropDelete) {
  arguments_ = this->list(kCustomOpPropListArguments);
  outputs_ = this->list(kCustomOpPropListOutputs);
  states_ = this->list(kCustomOpPropListAuxiliaryStates);
}

void CustomProp::fail(const char* what) const { c_api::fail(label_, what); }

void CustomProp::fail_without_call(const char* what) const {
  Callbacks::forget_error();
  fail(what);
}

std::vector<std::string> CustomProp::list(CustomOpPropCallbacks callback) const {
  std::vector<std::string> names;
  if (!callbacks_.has(callback)) return names;
  char** given = nullptr;
  if (callbacks_.attempt<CustomOpListFunc>(callback, &given) == 0)
    fail("could not list its arrays");
  for (; given != nullptr && *given != nullptr; ++given) names.emplace_back(*given);
  return names;
}

// Asked only where something is known: descriptions look at what they get.
void CustomProp::infer(Infer& infer) const {
  const auto num_args = static_cast<int>(arguments_.size());
  bool shapes = num_args == 0, types = num_args == 0;
  for (int i = 0; i < num_args; ++i) {
    shapes = shapes || infer.in(i).rank_known();
    types = types || infer.in(i).dtype() != DType::kUnknown;
  }
  if (shapes) infer_shapes(infer);
  if (types) infer_dtypes(infer);
}

void CustomProp::infer_shapes(Infer& infer) const {
  const std::size_t num_args = arguments_.size(), num_out = outputs_.size();
  if (!callbacks_.has(kCustomOpPropInferShape)) fail_without_call("has no shapes");
  IntShapes shapes;
  for (std::size_t i = 0; i < num_args; ++i) shapes.add(infer.in(static_cast<int>(i)).shape());
  for (std::size_t i = 0; i < num_out + states_.size(); ++i) shapes.add({});
  if (callbacks_.attempt<CustomOpInferShapeFunc>(kCustomOpPropInferShape,
                                                 static_cast<int>(shapes.size()),
                                                 shapes.ndims.data(), shapes.data()) == 0)
    fail("could not infer shapes");
  for (std::size_t i = 0; i < num_args; ++i)
    infer.in(static_cast<int>(i)).set_shape(shapes.shape(i));
  for (std::size_t o = 0; o < num_out; ++o)
    infer.out(static_cast<int>(o)).set_shape(shapes.shape(num_args + o));
  for (std::size_t s = 0; s < states_.size(); ++s)
    infer.in(static_cast<int>(num_args + s)).set_shape(shapes.shape(num_args + num_out + s));
}

void CustomProp::infer_dtypes(Infer& infer) const {
  const std::size_t num_args = arguments_.size(), num_out = outputs_.size();
  std::vector<int> types;
  for (std::size_t i = 0; i < num_args; ++i)
    types.push_back(static_cast<int>(infer.in(static_cast<int>(i)).dtype()));
  types.resize(num_args + num_out + states_.size(), static_cast<int>(DType::kUnknown));
  if (!callbacks_.has(kCustomOpPropInferType)) {  // one type for all, as before there were others
    const auto known = std::find_if(types.begin(), types.end(),
                                    [](int t) { return t != static_cast<int>(DType::kUnknown); });
    if (known != types.end()) std::fill(types.begin(), types.end(), *known);
  } else if (callbacks_.attempt<CustomOpInferTypeFunc>(
                 kCustomOpPropInferType, static_cast<int>(types.size()), types.data()) == 0) {
    fail("could not infer types");
  }
  const auto type = [&](std::size_t i) { return static_cast<DType>(types[i]); };
  for (std::size_t i = 0; i < num_args; ++i) infer.in(static_cast<int>(i)).set_dtype(type(i));
  for (std::size_t o = 0; o < num_out; ++o)
    infer.out(static_cast<int>(o)).set_dtype(type(num_args + o));
  for (std::size_t s = 0; s < states_.size(); ++s)
    infer.in(static_cast<int>(num_args + s)).set_dtype(type(num_args + num_out + s));
}

std::vector<StorageType> CustomProp::output_storage(std::span<NDArray* const> inputs) const {
  const std::size_t num_args = arguments_.size(), num_out = outputs_.size();
  std::vector<int> types;
  for (std::size_t i = 0; i < num_args; ++i)
    types.push_back(static_cast<int>(inputs[i]->storage_type()));
  types.resize(num_args + num_out + states_.size(), static_cast<int>(StorageType::kUndefined));
  if (callbacks_.has(kCustomOpPropInferStorageType) &&
      callbacks_.attempt<CustomOpInferStorageTypeFunc>(
          kCustomOpPropInferStorageType, static_cast<int>(types.size()), types.data()) == 0)
    fail("could not infer storage types");
  std::vector<StorageType> storage;
  for (std::size_t o = 0; o < num_out; ++o)
    storage.push_back(static_cast<StorageType>(types[num_args + o]));
  return storage;
}

std::vector<StorageType> CustomProp::gradient_storage(const CustomOperator::Tagged& arrays) const {
  constexpr int kInputGrad = 2;  // those are asked for; other arrays that are left out are dense
  std::vector<int> types, tags;
  for (const auto& [array, tag] : arrays) {
    const StorageType left_out = tag == kInputGrad ? StorageType::kUndefined : StorageType::kDense;
    types.push_back(static_cast<int>(array.is_none() ? left_out : array.storage_type()));
    tags.push_back(tag);
  }
  if (callbacks_.has(kCustomOpPropBackwardInferStorageType) &&
      callbacks_.attempt<CustomOpBackwardInferStorageTypeFunc>(
          kCustomOpPropBackwardInferStorageType, static_cast<int>(types.size()), types.data(),
          tags.data()) == 0)
    fail("could not infer storage types of gradients");
  std::vector<StorageType> storage;
  for (std::size_t i = 0; i < types.size(); ++i)
    if (tags[i] == kInputGrad) storage.push_back(static_cast<StorageType>(types[i]));
  return storage;
}

std::vector<bool> CustomProp::gradient_needs() const {
  const std::size_t num_args = arguments_.size(), num_out = outputs_.size();
  std::vector<int> numbers(num_args + 2 * num_out);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<bool> needs(numbers.size(), true);
  if (!callbacks_.has(kCustomOpPropDeclareBackwardDependency)) return needs;
  int count = 0;
  int* needed = nullptr;
  if (callbacks_.attempt<CustomOpBwdDepFunc>(
          kCustomOpPropDeclareBackwardDependency, static_cast<const int*>(numbers.data()),
          static_cast<const int*>(numbers.data() + num_out),
          static_cast<const int*>(numbers.data() + num_out + num_args), &count, &needed) == 0)
    fail("could not say what its gradient needs");
  needs.assign(needs.size(), false);
  for (int i = 0; i < count; ++i)
    if (needed[i] >= 0 && static_cast<std::size_t>(needed[i]) < needs.size())
      needs[static_cast<std::size_t>(needed[i])] = true;
  return needs;
}

std::shared_ptr<const CustomOperator> CustomProp::new_operator(const std::vector<ArrayType>& inputs,
                                                               Device device) const {
  if (!callbacks_.has(kCustomOpPropCreateOperator)) fail_without_call("has no body");
  IntShapes shapes;
  std::vector<int> dtypes;
  for (const ArrayType& type : inputs) {
    shapes.add(type.shape);
    dtypes.push_back(static_cast<int>(type.dtype));
  }
  MXCallbackList list{};
  if (callbacks_.attempt<CustomOpCreateFunc>(
          kCustomOpPropCreateOperator, to_string(device).c_str(), static_cast<int>(inputs.size()),
          reinterpret_cast<unsigned**>(shapes.data()), static_cast<const int*>(shapes.ndims.data()),
          static_cast<const int*>(dtypes.data()), &list) == 0)
    fail("could not be made for these shapes");
  return std::make_shared<const CustomOperator>(list);
}

}  // namespace mxnet::c_api

int MXCustomOpRegister(const char* op_type, CustomOpPropCreator creator) {
  using namespace mxnet::c_api;
  return guarded([&] {
    require(op_type, "MXCustomOpRegister", "op_type");
    require(reinterpret_cast<const void*>(creator), "MXCustomOpRegister", "creator");
    const mxnet::MutexLock lock(creators().mutex);
    creators().by_name[op_type] = creator;
  });
}
