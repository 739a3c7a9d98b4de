// SPDX-License-Identifier: Apache-2.0
// What a server does: it holds its part of the keys, changes them by what workers push, and
// answers.
#pragma once
#include <deque>
#include <map>
#include <unordered_map>
#include <vector>

#include "kvstore/host_reducer.h"
#include "kvstore/kvstore.h"
#include "kvstore/process_group.h"
#include "kvstore/wire.h"

namespace mxnet::kvstore {

// One thread, which only pushes engine operations: keys are worked on beside each other, and an
// answer leaves when its key has the value that it tells of.
class Server {
 public:
  // `group` must outlive the server and what it has pushed.
  explicit Server(ProcessGroup& group);

  // Of the store whose command is being obeyed; otherwise of all that have none of their own.
  // Without one, what is pushed replaces what is held.
  void set_updater(Updater updater);
  // Until all workers have finished. Throws Error(kGeneric) naming a rank that is lost.
  void run(const ServerController& controller);
  // Of one call. What is wrong with it goes back as its answer.
  void handle(ServedCall call, const ServerController& controller);

 private:
  using Reply = std::function<void(Answer)>;
  static constexpr int kGivesFirstValues = 0;  // a worker
  struct Pushed {
    NDArray value;
    Reply answer;
  };
  struct Entry {
    Key key;
    NDArray value;
    Buffers buffers;
    std::vector<std::deque<Pushed>> rounds;  // by worker: pushes that wait for the others'
  };

  // A command of all workers, as one of them gave it.
  struct Commanded {
    int number;
    ServedCall call;
  };

  // Of one store of the workers.
  struct Table {
    Updater updater;
    std::unordered_map<Key, Entry> entries;
    std::unordered_map<Key, std::vector<ServedCall>> early;  // for keys that are not there yet
    std::vector<std::deque<Commanded>> commands;  // by worker: those that wait for the others'
  };

  void obey(ServedCall& call, const Request& request, const ServerController& controller);
  void command(const ServedCall& call, const Request& request, const std::vector<Reply>& answers,
               const ServerController& controller);
  void command_of_all(ServedCall& call, const Request& request, const ServerController& controller);
  void init(ServedCall& call, const Request& request);
  void push(ServedCall& call, const Request& request, Entry& entry);
  void push_round(Entry& entry, const Updater& updater);
  void apply(Entry& entry, std::vector<NDArray> values, std::vector<Reply> answers,
             const Updater& updater);
  NDArray sum(Entry& entry, const std::vector<NDArray>& values);
  const Updater& updater_of(const Table& table) const;
  static void pull(ServedCall& call, Entry& entry);
  static void pull_rows(ServedCall& call, Entry& entry);
  void worker_left(int worker);
  // As the commands of these names (wire.h).
  std::string who_is_missing(int worker);
  std::string who_waits_for(int worker) const;
  std::string waits_for(int worker, int other, const Table& asked) const;
  static void fail_commands(Table& table, const std::string& error);
  bool has_left(int worker) const { return left_[static_cast<std::size_t>(worker)]; }
  // The first worker that has finished and whose queue is empty; -1: none.
  template <class Queue>
  int left_without(const std::vector<Queue>& queues) const {
    for (std::size_t worker = 0; worker < queues.size(); ++worker)
      if (left_[worker] && queues[worker].empty()) return static_cast<int>(worker);
    return -1;
  }
  // `what` waits for a worker that has finished.
  Answer unfinished(int worker, const std::string& what) const;

  ProcessGroup& group_;
  HostReducer reducer_;
  Updater updater_;
  std::map<int32_t, Table> tables_;
  Table* commanded_ = nullptr;  // whose command is being obeyed
  std::vector<bool> left_;      // by worker: has finished
};

}  // namespace mxnet::kvstore
