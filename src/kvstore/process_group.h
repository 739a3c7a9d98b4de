// SPDX-License-Identifier: Apache-2.0
// What distributed stores ask of the processes of a job: sums and copies over all of them, by name.
// The plug-in libmxnet_mpi.so implements it.
#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "base/error.h"
#include "kvstore/shared_place.h"

namespace mxnet::kvstore {

enum class CollectiveKind : int32_t { kSum, kBroadcast, kGather, kBarrier };

// What a request for several keys stands for: one request each, whose data lie one after the other.
struct RequestList {
  uint64_t id = 0;  // of names, counts and type: lists that differ have different ones
  std::vector<std::string> names;
  std::vector<int64_t> counts;  // elements
};

// All ranks give requests of the same names for each store; in what order they do does not matter,
// as long as it is the same order for each name; a broadcast and a sum of one name are two things,
// and may be given in any order. `data` must stay until `done` is called.
struct CollectiveRequest {
  CollectiveKind kind = CollectiveKind::kBarrier;
  std::string name;
  int32_t store = 0;  // its number: names of different stores have nothing to do with each other
  // Host memory. kSum: in and out. kBroadcast: in on rank 0, else out. kGather: `count` elements
  // for each rank, its own are in.
  void* data = nullptr;
  int64_t count = 0;  // elements
  DType dtype = DType::kUInt8;
  int priority = 0;  // higher goes earlier among those that all ranks have given
  // Null: a request of its own. kSum and kBroadcast may have one; ranks that give the same lists
  // save time, those that give other lists of the same names, or single ones, get the same results.
  std::shared_ptr<const RequestList> list;
  SharedPlace place;  // where others find `data`, of a group that shares memory
  // Called once, on a thread of the group that must not be kept: null, or what went wrong. What it
  // holds lives on where a process is lost: others may still read and write `data`.
  std::function<void(std::exception_ptr)> done;
};

// What a worker asks of one server. Its functions, and what they hold, live as long as somebody may
// read or write its memory, which may be longer than until `done` where a process is lost. Urgent
// calls leave first, and small ones may overtake big ones: what is to come after a call is called
// when that is done.
struct ServerCall {
  int server = 0;
  std::string head;            // says what is asked, and what the body is; short
  const void* body = nullptr;  // must stay until `done` is called
  int64_t bytes = 0;
  int priority = 0;
  int64_t slice_bytes = 0;  // bodies give way to more urgent ones after so many; 0 = never
  // Where an answer of that many bytes goes. On a thread of the group, as `done`.
  std::function<void*(int64_t bytes)> room;
  std::function<void(std::exception_ptr)> done;
};

// What a server says to that. `keep` holds `data` as long as somebody may read it: until it has
// left, or, when a process was lost meanwhile, for good. `under_way` goes when it has left or never
// will.
struct Answer {
  const void* data = nullptr;
  int64_t bytes = 0;
  std::shared_ptr<const void> keep, under_way;
  ErrorCode code = ErrorCode::kGeneric;  // of `error`
  std::string error;                     // empty: none
};

Answer answer_of(const std::exception_ptr& error);
Answer answer_of(std::string text);

// Bytes that arrive: nothing writes there before them, so that what somebody announces takes no
// memory until it comes. Copies share them.
class ArrivedBytes {
 public:
  ArrivedBytes() = default;
  ArrivedBytes(std::shared_ptr<char> data, std::size_t bytes)
      : data_(std::move(data)), size_(bytes) {}
  // Throws std::bad_alloc.
  explicit ArrivedBytes(std::size_t bytes)
      : ArrivedBytes({allocate(bytes), [](char* data) { ::operator delete(data, kAlignment); }},
                     bytes) {}
  explicit ArrivedBytes(std::string_view bytes) : ArrivedBytes(bytes.size()) {
    bytes.copy(data(), size_);
  }
  char* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  std::string_view text() const { return {data(), size_}; }

 private:
  static constexpr std::align_val_t kAlignment{64};
  // Sanitizers end a program whose plain new finds no memory, whoever catches that.
  static char* allocate(std::size_t bytes) {
    void* const data = ::operator new(bytes, kAlignment, std::nothrow);
    if (data == nullptr) throw std::bad_alloc();
    return static_cast<char*>(data);
  }
  std::shared_ptr<char> data_;
  std::size_t size_ = 0;
};

// Makes room for a body; on a thread of the group.
using BodyMaker = std::function<ArrivedBytes(std::size_t bytes)>;

// A call as the server sees it.
struct ServedCall {
  int worker = 0;
  bool left = false;  // no call: the worker has finished
  std::string head;
  ArrivedBytes body;
  std::function<void(Answer)> answer;  // to be called once, on any thread
};

struct ProcessGroupOptions {
  bool server = false;           // this process is one
  double heartbeat_seconds = 1;  // between signs of life
  double timeout_seconds = 8;    // without one, a rank counts as lost
  // Which small requests travel together depends on when they come, and with it the order of
  // additions among more than two ranks. False: each travels alone.
  bool batches = true;
};

// Of workers, and of servers that they may have. Thread-safe.
class ProcessGroup {
 public:
  virtual ~ProcessGroup() = default;
  virtual bool is_server() const = 0;
  virtual int rank() const = 0;     // among workers, of a server among servers
  virtual int size() const = 0;     // workers
  virtual int servers() const = 0;  // besides them
  // Whether the workers run on one machine: they sum faster what they can all see.
  virtual bool shares_memory() const { return false; }
  // Fails through `done`: Error(kGeneric) naming the rank where one is lost or has left,
  // Error(kValue) naming both sides where ranks disagree about what a name is.
  // REQUIRES: a worker.
  virtual void submit(CollectiveRequest request) = 0;
  // Fails through `done`, with what the server answered or as submit(). REQUIRES: a worker.
  virtual void call(ServerCall call) = 0;
  // Waits for a call. False: all workers have finished. Throws Error(kGeneric) naming a rank that
  // is lost. REQUIRES: a server.
  virtual bool next_call(ServedCall& call) = 0;
  // From now on big bodies of calls go where `maker` says; a group may go on as it does.
  virtual void make_bodies_by(const BodyMaker&) {}
  // Who is known to be gone; after the first one nobody counts further.
  virtual int lost_workers() const = 0;
  virtual int lost_servers() const = 0;
  // After so many seconds a wait is a long one.
  virtual double timeout_seconds() const { return ProcessGroupOptions().timeout_seconds; }

  // The number of the next store of this process: equal on all ranks, since all make the same
  // stores in the same order.
  int32_t number_store() { return stores_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<int32_t> stores_{0};
};

// As exported by the plug-in; the group is never destroyed.
inline constexpr const char* kProcessGroupEntry = "mxnet_process_group";
using ProcessGroupEntry = ProcessGroup* (*)(const ProcessGroupOptions& options);

// The group of this process, joined at the first call. Throws Error(kNotImplemented) that says what
// to install where there is no plug-in.
ProcessGroup& process_group();

// Of the groups 2 (servers) and 4 (workers), or their sum: how many are known to be gone.
int count_dead(const ProcessGroup& group, int groups);

// Makes a `done` whose call ends the future.
std::future<void> ending_of(std::function<void(std::exception_ptr)>& done);
// Returns when it has ended; throws where the program ends the wait, and the request goes on.
// `look` is called whenever so many seconds have passed, and may throw too.
void await(const std::future<void>& end);
void await(const std::future<void>& end, double seconds, const std::function<void()>& look);

}  // namespace mxnet::kvstore
