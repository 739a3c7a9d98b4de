// SPDX-License-Identifier: Apache-2.0
// ExecutorBase: a symbol bound to arrays. Names, defaults and dictionaries are in
// mxnet/executor.py and mxnet/symbol/_bind.py.
#include <map>
#include <memory>

#include <pybind11/stl.h>

#include "array.h"
#include "check.h"
#include "columns.h"
#include "pointers.h"
#include "registrations.h"
#include "symbol.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// Device type and number.
using DeviceNumbers = std::pair<int, int>;
using Groups = std::map<std::string, DeviceNumbers>;

struct GroupColumns {
  explicit GroupColumns(const Groups& groups) {
    for (const auto& [name, device] : groups) {
      names.push_back(name.c_str());
      types.push_back(device.first);
      ids.push_back(device.second);
    }
  }
  uint32_t size() const { return static_cast<uint32_t>(names.size()); }
  std::vector<const char*> names;
  std::vector<int> types, ids;
};

// New handles that came out of a call, as arrays; None for null.
py::list owned_arrays(uint32_t count, const NDArrayHandle* handles) {
  const std::vector<NDArrayHandle> all(handles, handles + count);
  py::list arrays;
  for (const NDArrayHandle handle : all) {
    if (handle == nullptr) {
      arrays.append(py::none());
    } else {
      arrays.append(wrapped(handle));
    }
  }
  return arrays;
}

class ExecutorBase;
using ExecutorOwner = std::unique_ptr<ExecutorBase>;

// Threads that call one at once take turns in the library, so that no call waits there with the
// GIL: a monitor of another thread's turn needs that.
class ExecutorBase {
 public:
  explicit ExecutorBase(ExecutorHandle handle) : handle_(handle) {}
  ~ExecutorBase() { MXExecutorFree(handle_); }
  ExecutorBase(const ExecutorBase&) = delete;
  ExecutorBase& operator=(const ExecutorBase&) = delete;
  ExecutorHandle handle() const { return handle_; }

  void forward(bool is_train) const {
    check_blocking([&] { return MXExecutorForward(handle_, is_train ? 1 : 0); });
  }
  void backward(const py::sequence& head_grads, bool is_train) const {
    Handles grads = handles_of(head_grads);
    check_blocking([&] {
      return MXExecutorBackwardEx(handle_, static_cast<uint32_t>(grads.size()), grads.data(),
                                  is_train ? 1 : 0);
    });
  }
  py::list outputs() const {
    uint32_t count = 0;
    NDArrayHandle* handles = nullptr;
    check_blocking([&] { return MXExecutorOutputs(handle_, &count, &handles); });
    return owned_arrays(count, handles);
  }
  py::str text() const {
    const char* text = nullptr;
    check_blocking([&] { return MXExecutorPrint(handle_, &text); });
    return text;
  }
  std::unique_ptr<SymbolBase> optimized_symbol() const {
    SymbolHandle symbol = nullptr;
    check_blocking([&] { return MXExecutorGetOptimizedSymbol(handle_, &symbol); });
    return owned_symbol(symbol);
  }
  // None ends it.
  void set_monitor(const py::object& callback, bool all) {
    const bool none = callback.is_none();
    monitor_ = callback;
    check_blocking([&] {
      return MXExecutorSetMonitorCallbackEX(handle_, none ? nullptr : call_monitor, this, all);
    });
  }

 private:
  // Called on the thread that runs forward, without the GIL.
  static void call_monitor(const char* name, NDArrayHandle array, void* self) {
    const Gil held;
    try {
      const py::object value = wrapped(array);
      // One of its own: the callback may set another one, and so may other threads meanwhile.
      const py::object monitor = static_cast<ExecutorBase*>(self)->monitor_;
      if (!monitor.is_none()) call_function(monitor, name, value);
    } catch (py::error_already_set& error) {
      discard(error, "the monitor of an Executor");
    }
  }

  const ExecutorHandle handle_;
  py::object monitor_ = py::none();  // the newest, whichever the library was told last
};

ExecutorHandle handle_or_null(const ExecutorBase* executor) {
  return executor == nullptr ? nullptr : executor->handle();
}

ExecutorOwner bind(const SymbolBase& symbol, DeviceNumbers device, const Groups& groups,
                   const py::sequence& args, const py::sequence& grads,
                   std::vector<uint32_t> requests, const py::sequence& aux,
                   const ExecutorBase* shared) {
  Handles arg_handles = handles_of(args), aux_handles = handles_of(aux),
          grad_handles = optional_handles_of(grads);
  if (grad_handles.size() != arg_handles.size() || requests.size() != arg_handles.size())
    throw py::value_error("expected as many gradients and requests as arguments");
  GroupColumns map(groups);
  ExecutorHandle handle = nullptr;
  check_blocking([&] {
    return MXExecutorBindEX(symbol.handle(), device.first, device.second, map.size(),
                            map.names.data(), map.types.data(), map.ids.data(),
                            static_cast<uint32_t>(arg_handles.size()), arg_handles.data(),
                            grad_handles.data(), requests.data(),
                            static_cast<uint32_t>(aux_handles.size()), aux_handles.data(),
                            handle_or_null(shared), &handle);
  });
  return std::make_unique<ExecutorBase>(handle);
}

// What simple_bind and reshape give out.
struct MadeArrays {
  uint32_t num_args = 0, num_aux = 0;
  NDArrayHandle* args = nullptr;
  NDArrayHandle* grads = nullptr;
  NDArrayHandle* aux = nullptr;

  // The executor, arguments, gradients (None where there is none) and states.
  py::tuple with(ExecutorHandle handle) const {
    ExecutorOwner executor = std::make_unique<ExecutorBase>(handle);
    // Copied at once: wrapping calls the library again.
    const std::vector<NDArrayHandle> a(args, args + num_args), g(grads, grads + num_args),
        s(aux, aux + num_aux);
    return py::make_tuple(std::move(executor), owned_arrays(num_args, a.data()),
                          owned_arrays(num_args, g.data()), owned_arrays(num_aux, s.data()));
  }
};

// What is asked of gradients: one word, one for each argument, or words by name.
struct Requests {
  explicit Requests(const py::object& requests)
      : by_name(py::isinstance<py::dict>(requests)), one(py::isinstance<py::str>(requests)) {
    if (by_name) {
      for (const auto& [name, word] : py::reinterpret_borrow<py::dict>(requests)) {
        names.push_back(py::cast<std::string>(name));
        words.push_back(py::cast<std::string>(word));
      }
    } else {
      words = one ? Texts{py::cast<std::string>(requests)} : py::cast<Texts>(requests);
    }
  }

  const bool by_name, one;
  Texts names, words;
};

// None, or a dictionary of arrays that executors share, to which a bind adds those that it makes.
class SharedArrays {
 public:
  explicit SharedArrays(const py::object& arrays) : arrays_(arrays) {
    if (arrays.is_none()) return;
    for (const auto& [name, array] : py::reinterpret_borrow<py::dict>(arrays)) {
      texts_.push_back(py::cast<std::string>(name));
      handles.push_back(handle_of(array));
    }
    names = pointers(texts_);
    length = static_cast<int>(handles.size());
  }

  // What the bind has listed, which is the library's until its next call: to be copied before
  // anything is wrapped.
  struct Listed {
    Texts names;
    std::vector<NDArrayHandle> handles;
  };
  Listed copied(const char** listed_names, NDArrayHandle* listed) const {
    const int count = arrays_.is_none() ? 0 : length;
    return {Texts(listed_names, listed_names + count),
            std::vector<NDArrayHandle>(listed, listed + count)};
  }
  void update(const Listed& listed) const {
    const auto count = static_cast<uint32_t>(listed.handles.size());
    const py::list made = owned_arrays(count, listed.handles.data());
    for (uint32_t i = 0; i < count; ++i) arrays_[py::str(listed.names[i])] = made[i];
  }

  int length = -1;  // where there are none
  std::vector<const char*> names;
  std::vector<NDArrayHandle> handles;

 private:
  const py::object& arrays_;
  Texts texts_;
};

py::tuple simple_bind(const SymbolBase& symbol, DeviceNumbers device, const Groups& groups,
                      const py::object& requests, const NamedShapes& shapes,
                      const NamedNumbers& dtypes, const NamedNumbers& storage_types,
                      const Texts& shared_args, const py::object& buffer,
                      const ExecutorBase* shared) {
  Requests asked(requests);
  SharedArrays arrays(buffer);
  std::vector<const char*> names = pointers(asked.names), words = pointers(asked.words),
                           shared_names = pointers(shared_args);
  const char** updated_names = nullptr;
  NDArrayHandle* updated_handles = nullptr;
  GroupColumns map(groups);
  ShapeColumns<int64_t> given(shapes);
  Columns<int> types = columns_of(dtypes), storage = columns_of(storage_types);
  MadeArrays made;
  ExecutorHandle handle = nullptr;
  check_blocking([&] {
    return MXExecutorSimpleBindEx64(
        symbol.handle(), device.first, device.second, map.size(), map.names.data(),
        map.types.data(), map.ids.data(), asked.one ? 0 : static_cast<uint32_t>(words.size()),
        asked.by_name ? names.data() : nullptr, words.data(), given.size(), given.names.data(),
        given.dims.data(), given.starts.data(), types.size(), types.names.data(),
        types.values.data(), storage.size(), storage.names.data(), storage.values.data(),
        static_cast<uint32_t>(shared_names.size()), shared_names.data(), &arrays.length,
        arrays.names.data(), arrays.handles.data(), &updated_names, &updated_handles,
        &made.num_args, &made.args, &made.grads, &made.num_aux, &made.aux, handle_or_null(shared),
        &handle);
  });
  const SharedArrays::Listed listed = arrays.copied(updated_names, updated_handles);
  py::tuple result = made.with(handle);
  arrays.update(listed);
  return result;
}

py::tuple reshape(const ExecutorBase& from, bool partial_shaping, bool allow_up_sizing,
                  DeviceNumbers device, const Groups& groups, const NamedShapes& shapes) {
  GroupColumns map(groups);
  ShapeColumns<int> given(shapes);
  MadeArrays made;
  ExecutorHandle handle = nullptr;
  check_blocking([&] {
    return MXExecutorReshapeEx(partial_shaping ? 1 : 0, allow_up_sizing ? 1 : 0, device.first,
                               device.second, map.size(), map.names.data(), map.types.data(),
                               map.ids.data(), given.size(), given.names.data(), given.dims.data(),
                               given.starts.data(), &made.num_args, &made.args, &made.grads,
                               &made.num_aux, &made.aux, from.handle(), &handle);
  });
  return made.with(handle);
}

}  // namespace

void register_executor(py::module_& module) {
  py::class_<ExecutorBase>(module, "ExecutorBase", "Owns an executor of the library.")
      .def_property_readonly(
          "handle",
          [](const ExecutorBase& executor) {
            return py::reinterpret_steal<py::object>(pointer_object(executor.handle()));
          })
      .def("forward", &ExecutorBase::forward)
      .def("backward", &ExecutorBase::backward)
      .def("outputs", &ExecutorBase::outputs)
      .def("text", &ExecutorBase::text)
      .def("optimized_symbol", &ExecutorBase::optimized_symbol)
      .def("set_monitor", &ExecutorBase::set_monitor)
      .def("reshape", &reshape);
  module.def("bind", &bind);
  module.def("simple_bind", &simple_bind);
}

}  // namespace mxnet::python
