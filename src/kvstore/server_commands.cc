// SPDX-License-Identifier: Apache-2.0
// What workers tell servers beside values, and what happens where some wait for a worker in vain.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "kvstore/server.h"

namespace mxnet::kvstore {
namespace {

std::string command_name(int number) { return fmt::format("command {}", number); }

std::string first_value_of(const Key& key) {
  return fmt::format("the first value of key {}", to_string(key));
}

template <class Queue>
bool gave(const std::vector<Queue>& queues, int worker) {
  return !queues.empty() && !queues[static_cast<std::size_t>(worker)].empty();
}
// Somebody waits there for `worker`.
template <class Queue>
bool lacks(const std::vector<Queue>& queues, int worker) {
  return !gave(queues, worker) && std::any_of(queues.begin(), queues.end(),
                                              [](const Queue& queue) { return !queue.empty(); });
}

}  // namespace

void Server::command(const ServedCall& call, const Request& request,
                     const std::vector<Reply>& answers, const ServerController& controller) {
  commanded_ = &tables_[request.store];
  Answer answer;
  try {
    answer = answer_of(controller(request.command, std::string(call.body.text())));
  } catch (...) {
    answer = answer_of(std::current_exception());
  }
  commanded_ = nullptr;
  for (const Reply& each : answers) each(answer);
}

// Each worker's next one: no worker goes on before it has taken effect, or some would and others
// hear that it has not.
void Server::command_of_all(ServedCall& call, const Request& request,
                            const ServerController& controller) {
  auto& commands = tables_[request.store].commands;
  commands.resize(static_cast<std::size_t>(group_.size()));
  if (const int left = left_without(commands); left >= 0)
    return call.answer(unfinished(left, command_name(request.command)));
  auto& of_worker = commands[static_cast<std::size_t>(call.worker)];
  of_worker.push_back({request.command, std::move(call)});
  std::vector<Reply> answers;
  int odd = -1;  // a worker that gave another command than rank 0
  for (std::size_t worker = 0; worker < commands.size(); ++worker) {
    if (commands[worker].empty()) return;
    const Commanded& given = commands[worker].front();
    answers.push_back(given.call.answer);
    if (given.number != commands.front().front().number) odd = static_cast<int>(worker);
  }
  std::vector<Commanded> given;
  for (auto& queue : commands) {
    given.push_back(std::move(queue.front()));
    queue.pop_front();
  }
  if (odd < 0) return command(given.front().call, request, answers, controller);
  const Answer differ = answer_of(std::make_exception_ptr(
      Error(ErrorCode::kValue, "kvstore",
            fmt::format("rank 0 gave {}, rank {} gave {}; expected the same of all workers",
                        command_name(given.front().number), odd,
                        command_name(given[static_cast<std::size_t>(odd)].number)))));
  for (const Reply& each : answers) each(differ);
}

// What `worker` waits for that `other` is to do, and cannot before it has given a command of the
// store `asked`: it does so when all that it has pushed to that store before has been applied.
std::string Server::waits_for(int worker, int other, const Table& asked) const {
  for (const auto& [number, table] : tables_) {
    if (gave(table.commands, worker) && !gave(table.commands, other)) {
      const auto& first = table.commands[static_cast<std::size_t>(worker)].front();
      return command_name(first.number);
    }
  }
  for (const auto& [key, entry] : asked.entries)
    if (gave(entry.rounds, worker) && !gave(entry.rounds, other))
      return fmt::format("a push of key {}", to_string(key));
  return {};
}

std::string Server::who_is_missing(int worker) {
  std::string missing;
  for (auto& [number, table] : tables_) {
    if (!gave(table.commands, worker)) continue;
    const auto& mine = table.commands[static_cast<std::size_t>(worker)].front();
    for (int other = 0; other < group_.size(); ++other) {
      if (gave(table.commands, other)) continue;
      const std::string in_vain = waits_for(other, worker, table);
      const std::string what = command_name(mine.number);
      if (in_vain.empty()) {
        missing += fmt::format("{}{} waits for rank {}", missing.empty() ? "" : ", ", what, other);
        continue;
      }
      fail_commands(table,
                    fmt::format("{} waits for rank {} of {}, which has not given it and waits "
                                "for rank {}, with {}; expected the same calls of all workers",
                                what, other, group_.size(), worker, in_vain));
      break;
    }
  }
  return missing;
}

std::string Server::who_waits_for(int worker) const {
  for (const auto& [number, table] : tables_) {
    if (!lacks(table.commands, worker)) continue;
    for (int other = 0; other < group_.size(); ++other)
      if (gave(table.commands, other))
        return fmt::format(
            "rank {} has given {}, which waits for rank {} of {}", other,
            command_name(table.commands[static_cast<std::size_t>(other)].front().number), worker,
            group_.size());
  }
  return {};
}

void Server::fail_commands(Table& table, const std::string& error) {
  Answer answer;
  answer.code = ErrorCode::kValue;
  answer.error = error;
  for (auto& queue : table.commands)
    for (Commanded& waiting : std::exchange(queue, {})) waiting.call.answer(answer);
}

Answer Server::unfinished(int worker, const std::string& what) const {
  Answer answer;
  answer.error =
      fmt::format("rank {} of {} has finished, but {} waits for it", worker, group_.size(), what);
  return answer;
}

// Whoever waits for its next push would do so forever, and, where it was to give first values, for
// a key.
void Server::worker_left(int worker) {
  left_[static_cast<std::size_t>(worker)] = true;
  for (auto& [number, table] : tables_) {
    for (auto& [key, entry] : table.entries) {
      if (!lacks(entry.rounds, worker)) continue;
      for (auto& queue : entry.rounds) {
        for (Pushed& waiting : std::exchange(queue, {}))
          waiting.answer(unfinished(worker, fmt::format("key {}", to_string(key))));
      }
    }
    if (lacks(table.commands, worker)) {
      for (auto& queue : table.commands) {
        for (Commanded& waiting : std::exchange(queue, {}))
          waiting.call.answer(unfinished(worker, command_name(waiting.number)));
      }
    }
    if (worker != kGivesFirstValues) continue;
    for (auto& [key, calls] : std::exchange(table.early, {}))
      for (const ServedCall& waiting : calls)
        waiting.answer(unfinished(worker, first_value_of(key)));
  }
}

}  // namespace mxnet::kvstore
