// SPDX-License-Identifier: Apache-2.0
// KVStoreHandle owns a store; what is decided about keys, lists and optimizers is in mxnet/kvstore.
#include <pybind11/stl.h>

#include <algorithm>
#include <deque>
#include <exception>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "array.h"
#include "check.h"
#include "mxnet/c_api_ext.h"
#include "registrations.h"

namespace py = pybind11;

namespace mxnet::python {
namespace {

// The types that the items of a list have, each once: lists of thousands have one or two.
py::set kinds_of(const py::sequence& items) {
  const auto fast = py::reinterpret_steal<py::object>(PySequence_Fast(items.ptr(), "no sequence"));
  if (!fast) throw py::error_already_set();
  py::set kinds;
  const PyTypeObject* last = nullptr;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); ++i) {
    PyTypeObject* const kind = Py_TYPE(PySequence_Fast_GET_ITEM(fast.ptr(), i));
    if (kind != last) kinds.add(py::handle(reinterpret_cast<PyObject*>(kind)));
    last = kind;
  }
  return kinds;
}

// Integers, or texts and pointers to them.
class Keys {
 public:
  explicit Keys(const py::sequence& keys) {
    if (keys.size() > 0 && py::isinstance<py::str>(keys[0])) {
      kept_ = py::tuple(keys);
      pointers_.reserve(kept_.size());
      for (const py::handle text : kept_) {
        pointers_.push_back(PyUnicode_AsUTF8(text.ptr()));
        if (pointers_.back() == nullptr) throw py::error_already_set();
      }
    } else {
      numbers_ = keys.cast<std::vector<int>>();
    }
  }
  bool are_texts() const { return !pointers_.empty(); }
  uint32_t size() const {
    return static_cast<uint32_t>(are_texts() ? pointers_.size() : numbers_.size());
  }
  const int* numbers() const { return numbers_.data(); }
  const char** texts() { return pointers_.data(); }

 private:
  std::vector<int> numbers_;
  py::tuple kept_;  // whose texts these are:
  std::vector<const char*> pointers_;
};

// Threads that call it at once take turns in the library, so that no call waits there with the GIL:
// an updater of another thread's turn needs that. All else is guarded by the GIL.
class Store {
 public:
  explicit Store(const std::string& type) {
    check_blocking([&] { return MXKVStoreCreate(type.c_str(), &handle_); });
  }
  ~Store() {
    if (handle_ != nullptr)  // its end may wait for other processes
      without_gil([this] { return MXKVStoreFree(handle_); });
  }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  KVStoreHandle handle() const { return handle_; }

  std::string type() const {
    const char* text = nullptr;
    check(MXKVStoreGetType(handle_, &text));
    return text;
  }
  template <int (*kGet)(KVStoreHandle, int*)>
  int number() const {
    int value = 0;
    check(kGet(handle_, &value));
    return value;
  }
  int num_dead_node(int node, int timeout) const {
    int value = 0;
    check(MXKVStoreGetNumDeadNode(handle_, node, &value, timeout));
    return value;
  }

  void init(const py::sequence& keys, const py::sequence& values) {
    Keys k(keys);
    Handles v = handles_of(values);
    check_count(k, v);
    run([&] {
      return k.are_texts() ? MXKVStoreInitEx(handle_, k.size(), k.texts(), v.data())
                           : MXKVStoreInit(handle_, k.size(), k.numbers(), v.data());
    });
  }
  void push(const py::sequence& keys, const py::sequence& values, int priority) {
    Keys k(keys);
    Handles v = handles_of(values);
    check_count(k, v);
    run([&] {
      return k.are_texts() ? MXKVStorePushEx(handle_, k.size(), k.texts(), v.data(), priority)
                           : MXKVStorePush(handle_, k.size(), k.numbers(), v.data(), priority);
    });
  }
  void pull(const py::sequence& keys, const py::sequence& outs, int priority, bool ignore_sparse) {
    Keys k(keys);
    Handles v = handles_of(outs);
    check_count(k, v);
    run([&] {
      return k.are_texts() ? MXKVStorePullWithSparseEx(handle_, k.size(), k.texts(), v.data(),
                                                       priority, ignore_sparse)
                           : MXKVStorePullWithSparse(handle_, k.size(), k.numbers(), v.data(),
                                                     priority, ignore_sparse);
    });
  }
  void pull_rows(const py::sequence& keys, const py::sequence& outs, const py::sequence& row_ids,
                 int priority) {
    Keys k(keys);
    Handles v = handles_of(outs), rows = handles_of(row_ids);
    check_count(k, v);
    check_count(k, rows);
    run([&] {
      return k.are_texts() ? MXKVStorePullRowSparseEx(handle_, k.size(), k.texts(), v.data(),
                                                      rows.data(), priority)
                           : MXKVStorePullRowSparse(handle_, k.size(), k.numbers(), v.data(),
                                                    rows.data(), priority);
    });
  }
  void push_pull(const py::sequence& keys, const py::sequence& values, const py::sequence& out_keys,
                 const py::sequence& outs, int priority) {
    exchange(&MXKVStorePushPull, &MXKVStorePushPullEx, keys, values, out_keys, outs, priority);
  }
  void broadcast(const py::sequence& keys, const py::sequence& values, const py::sequence& out_keys,
                 const py::sequence& outs, int priority) {
    exchange(&MXKVStoreBroadcast, &MXKVStoreBroadcastEx, keys, values, out_keys, outs, priority);
  }

  void set_updater(py::function updater) {
    // The earlier ones stay: servers have one for each of the workers' stores.
    updaters_.push_back({this, std::move(updater)});
    run([&, last = &updaters_.back()] {
      return MXKVStoreSetUpdaterEx(handle_, update_number, update_text, last);
    });
  }
  void set_compression(const std::map<std::string, std::string>& params) {
    std::vector<const char*> keys, values;
    for (const auto& [key, value] : params) {
      keys.push_back(key.c_str());
      values.push_back(value.c_str());
    }
    run([&] {
      return MXKVStoreSetGradientCompression(handle_, static_cast<uint32_t>(keys.size()),
                                             keys.data(), values.data());
    });
  }
  void barrier() {
    run([&] { return MXKVStoreBarrier(handle_); });
  }
  void set_barrier_before_exit(bool wait) {
    run([&] { return MXKVStoreSetBarrierBeforeExit(handle_, wait ? 1 : 0); });
  }
  void send_command(int head, const std::string& body) {
    run([&] { return MXKVStoreSendCommmandToServers(handle_, head, body.c_str()); });
  }
  // In how many parts a key lies on servers, and the shape that these have together.
  std::pair<int, std::vector<int64_t>> placement(const std::variant<int, std::string>& key) {
    const auto* const text = std::get_if<std::string>(&key);
    int parts = 0, dim = 0;
    const int64_t* shape = nullptr;
    run([&] {
      return MXKVStoreGetPlacement(handle_, text != nullptr ? text->c_str() : nullptr,
                                   text != nullptr ? 0 : std::get<int>(key), &parts, &dim, &shape);
    });
    return {parts, {shape, shape + std::max(dim, 0)}};
  }
  std::vector<py::bytes> ask_servers(int head, const std::string& body) {
    uint32_t count = 0;
    const char** replies = nullptr;
    const size_t* sizes = nullptr;
    run([&] {
      return MXKVStoreAskServers(handle_, head, body.data(), body.size(), &count, &replies, &sizes);
    });
    std::vector<py::bytes> result;
    for (uint32_t i = 0; i < count; ++i) result.emplace_back(replies[i], sizes[i]);
    return result;
  }
  // The controller gets a number and bytes, and returns bytes; what it raises is its answer.
  void run_server(py::function controller) {
    controller_ = std::move(controller);
    serving_ = true;
    run([&] { return MXKVStoreServe(handle_, respond, this); });
  }

 private:
  static void check_count(const Keys& keys, const Handles& handles) {
    if (handles.size() != keys.size()) {
      throw py::value_error("given " + std::to_string(keys.size()) + " keys and " +
                            std::to_string(handles.size()) +
                            " arrays, expected as many arrays as keys");
    }
  }

  template <class Number, class Text>
  void exchange(Number number, Text text, const py::sequence& keys, const py::sequence& values,
                const py::sequence& out_keys, const py::sequence& outs, int priority) {
    Keys k(keys);
    Handles v = handles_of(values);
    check_count(k, v);
    if (keys.is(out_keys) && values.is(outs)) {  // in place
      return run([&] {
        return k.are_texts() ? text(handle_, k.size(), k.texts(), k.size(), k.texts(), v.data(),
                                    v.data(), priority)
                             : number(handle_, k.size(), k.numbers(), k.size(), k.numbers(),
                                      v.data(), v.data(), priority);
      });
    }
    Keys ok(out_keys);
    Handles o = handles_of(outs);
    check_count(ok, o);
    if (k.are_texts() != ok.are_texts())
      throw py::value_error("given integer and string keys, expected keys of one kind");
    run([&] {
      return k.are_texts() ? text(handle_, k.size(), k.texts(), ok.size(), ok.texts(), v.data(),
                                  o.data(), priority)
                           : number(handle_, k.size(), k.numbers(), ok.size(), ok.numbers(),
                                    v.data(), o.data(), priority);
    });
  }

  // What a callback into Python raised comes before what the call itself complains about.
  template <class Call>
  void run(Call&& call) {
    raised_ = nullptr;
    const int result = without_gil(call);
    if (raised_) std::rethrow_exception(std::exchange(raised_, nullptr));
    check(result);
  }

  template <class Body>
  void call_python(Body&& body) noexcept {
    const Gil acquired;
    try {
      if (!raised_) body();
    } catch (...) {
      raised_ = std::current_exception();
    }
  }
  struct Updater {
    Store* store;
    py::function call;
  };
  template <class K>
  static void update(K key, NDArrayHandle pushed, NDArrayHandle stored, void* updater) noexcept {
    auto* self = static_cast<Updater*>(updater);
    self->store->call_python([&] {
      const py::object value = wrapped(pushed), target = wrapped(stored);
      call_function(self->call, key, value, target);
    });
    self->store->tell_failure();
  }
  // To the library, for the worker whose push it was.
  void tell_failure() noexcept {
    if (!raised_) return;
    const Gil acquired;
    try {
      std::rethrow_exception(raised_);
    } catch (const std::exception& error) {
      MXKVStoreFailUpdate(error.what());
    }
    if (serving_) raised_ = nullptr;
  }
  static void update_number(int key, NDArrayHandle pushed, NDArrayHandle stored, void* updater) {
    update(key, pushed, stored, updater);
  }
  static void update_text(const char* key, NDArrayHandle pushed, NDArrayHandle stored,
                          void* updater) {
    update(std::string(key), pushed, stored, updater);
  }
  static int respond(int head, const char* body, size_t size, const char** reply,
                     size_t* reply_size, void* self) {
    auto* store = static_cast<Store*>(self);
    const Gil acquired;
    int failed = 0;
    try {
      store->reply_ =
          call_function(store->controller_, head, py::bytes(body, size)).cast<std::string>();
    } catch (const std::exception& error) {
      store->reply_ = error.what();
      failed = 1;
    }
    *reply = store->reply_.data();
    *reply_size = store->reply_.size();
    return failed;
  }

  KVStoreHandle handle_ = nullptr;
  std::deque<Updater> updaters_;  // at places that stay
  py::function controller_;
  std::string reply_;
  bool serving_ = false;
  // By a callback of a call that is under way on this thread.
  static inline thread_local std::exception_ptr raised_;
};

}  // namespace

void register_kvstore(py::module_& module) {
  module.def("kinds_of", &kinds_of, "The types of the items of a list.");
  py::class_<Store>(module, "KVStoreHandle")
      .def(py::init<const std::string&>(), py::arg("type"))
      .def_property_readonly(
          "value", [](const Store& store) { return reinterpret_cast<uintptr_t>(store.handle()); })
      .def_property_readonly("type", &Store::type)
      .def_property_readonly("rank", &Store::number<MXKVStoreGetRank>)
      .def_property_readonly("group_size", &Store::number<MXKVStoreGetGroupSize>)
      .def("num_dead_node", &Store::num_dead_node)
      .def("init", &Store::init)
      .def("push", &Store::push)
      .def("pull", &Store::pull)
      .def("row_sparse_pull", &Store::pull_rows)
      .def("pushpull", &Store::push_pull)
      .def("broadcast", &Store::broadcast)
      .def("set_updater", &Store::set_updater)
      .def("set_gradient_compression", &Store::set_compression)
      .def("barrier", &Store::barrier)
      .def("set_barrier_before_exit", &Store::set_barrier_before_exit)
      .def("send_command", &Store::send_command)
      .def_property_readonly("num_servers", &Store::number<MXKVStoreGetNumServers>)
      .def("placement", &Store::placement)
      .def("ask_servers", &Store::ask_servers)
      .def("run_server", &Store::run_server);
}

}  // namespace mxnet::python
