// SPDX-License-Identifier: Apache-2.0
// The thread of a group: what this rank asks for, and what rank 0 decides. Messages: Wishes from
// each rank to rank 0, a Decision from rank 0 to each, a heartbeat both ways, a goodbye to rank 0.
#include "plugin/mpi/mpi_group.h"

#include <sys/prctl.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/mpi/awake.h"
#include "plugin/mpi/frames.h"
#include "plugin/mpi/messages.h"

namespace mxnet::mpi {
namespace {

using kvstore::CollectiveRequest;

// Between looks at the network: short while something is under way, longer when nothing is.
constexpr std::chrono::microseconds kBusyNap{20}, kIdleNap{500};
constexpr unsigned long kTimerSlack = 1000;  // ns that naps may last longer; else 50,000
// Timeouts for which a process of this machine may be without a core.
constexpr int kMostTimeouts = 10;

// What a list stands for, each by itself; the last to end ends the whole.
std::vector<CollectiveRequest> parts_of(CollectiveRequest whole) {
  struct Ending {
    std::function<void(std::exception_ptr)> done;
    std::size_t left;
    std::exception_ptr error;
  };
  const auto list = std::move(whole.list);
  const auto ending =
      std::make_shared<Ending>(Ending{std::move(whole.done), list->names.size(), nullptr});
  whole.list = nullptr;
  whole.place = {};  // parts of it lie elsewhere
  std::vector<CollectiveRequest> parts(list->names.size(), whole);
  char* data = static_cast<char*>(whole.data);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].name = list->names[i];
    parts[i].count = list->counts[i];
    parts[i].data = data;
    data += static_cast<std::size_t>(list->counts[i]) * dtype_size(whole.dtype);
    parts[i].done = [ending](const std::exception_ptr& error) {
      if (error && !ending->error) ending->error = error;
      if (--ending->left == 0) ending->done(ending->error);
    };
  }
  return parts;
}

}  // namespace

MpiGroup::MpiGroup(const kvstore::ProcessGroupOptions& options)
    : options_(options), calls_([this] { bell_.ring(); }, [this](int rank) { bell_.ring(rank); }) {
  std::promise<void> joined;
  thread_ = std::thread([&] { run(joined); });
  joined.get_future().get();
}

int MpiGroup::lost_workers() const {
  const int lost = lost_.load(std::memory_order_relaxed);  // a plain number
  return lost >= 0 && lost < size_ ? 1 : 0;
}

int MpiGroup::lost_servers() const {
  return lost_.load(std::memory_order_relaxed) >= size_ ? 1 : 0;
}

void MpiGroup::submit(CollectiveRequest request) {
  {
    const MutexLock lock(mutex_);
    if (!closed_) {
      submitted_.push_back(std::move(request));
      return bell_.ring();
    }
  }
  request.done(left_already());
}

void MpiGroup::close() {
  std::deque<CollectiveRequest> late;
  {
    const MutexLock lock(mutex_);
    closed_ = true;
    late.swap(submitted_);
  }
  for (CollectiveRequest& request : late) request.done(lost_rank_ >= 0 ? loss() : left_already());
  calls_.close(nullptr);
}

void MpiGroup::leave() {
  {
    const MutexLock lock(mutex_);
    if (leaving_) return;
    leaving_ = true;
  }
  bell_.ring();
  thread_.join();
}

void MpiGroup::start_mpi() {
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  // Workers first, then servers: where nothing else is said, ranks are those among all.
  int world_rank = 0, all = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &all);
  MPI_Comm_split(MPI_COMM_WORLD, 0, world_rank + (options_.server ? all : 0), &control_);
  MPI_Comm_rank(control_, &rank_);
  MPI_Comm_split(control_, options_.server ? 1 : 0, rank_, &data_);
  int beside = 0;
  MPI_Comm_size(data_, &beside);
  size_ = options_.server ? all - beside : beside;
  all_ = all;
  MPI_Comm for_calls;
  MPI_Comm_dup(control_, &for_calls);
  calls_.start(for_calls, size_);
  coordinator_ = std::make_unique<Coordinator>(size_, options_.batches);
  bell_.meet(control_);
  ring_ = std::make_unique<RingSum>(data_, rank_, size_);
  shared_ = std::make_unique<SharedSum>(data_, is_server() ? rank_ - size_ : rank_, beside);
  next_beat_ = next_check_ = Clock::now();
  for (int other = 0; other < all_; ++other) {
    const Doorbell::Sleeper there = bell_.sleeper(other);
    peers_.push_back({Clock::now(),
                      there.process == 0 ? NearThread() : NearThread(there.process, there.thread),
                      Starving(kMostTimeouts * seconds(options_.timeout_seconds))});
  }
}

void MpiGroup::run(std::promise<void>& joined) {
  start_mpi();
  joined.set_value();
  prctl(PR_SET_TIMERSLACK, kTimerSlack);
  bool said_goodbye = false;
  Clock::time_point left{};  // when it was to leave
  Clock::time_point last_active = Clock::now();
  Awake awake;
  while (!ended_) {
    const uint32_t heard = bell_.rings();
    bool leaving;
    {
      const MutexLock lock(mutex_);
      leaving = leaving_ && submitted_.empty();
    }
    if (leaving && lost_rank_ >= 0) break;
    if (leaving && left == Clock::time_point()) left = Clock::now();
    // An interrupted wait may have left behind what never ends: others wait for this process in
    // turn.
    const bool for_long = leaving && !is_server() && calls_.sent() &&
                          Clock::now() - left > seconds(options_.timeout_seconds);
    leaving = leaving && pending_.empty() && (is_server() || calls_.idle());
    if ((leaving || for_long) && !said_goodbye) {
      said_goodbye = true;
      say_goodbye();
    }
    // A server that ends on its own leaves others waiting, who are told by rank 0.
    if (leaving && is_server() && outgoing_.empty()) break;
    const bool active = turn(leaving);
    const auto now = Clock::now();
    if (active) {
      last_active = now;
    } else if (awake.stays(last_active, now)) {
      std::this_thread::yield();
      awake.gave_way(now, Clock::now());
    } else {
      bell_.sleep(heard, nap(last_active));
    }
  }
  for (; !outgoing_.empty() && lost_rank_ < 0; reap_sends()) {
  }
  // With somebody lost, the end of MPI would wait for it forever.
  if (lost_rank_ < 0 && ended_) MPI_Finalize();
  close();
}

// The longer nothing happens, the longer it sleeps; but what MPI goes on with by itself, or others
// do without ringing, is urgent.
MpiGroup::Clock::duration MpiGroup::nap(Clock::time_point last_active) const {
  if (!outgoing_.empty() || (!pending_.empty() && !bell_.all_near())) return kBusyNap;
  return std::clamp<Clock::duration>((Clock::now() - last_active) / 8, kBusyNap, kIdleNap);
}

// Whether there was something to do. After a loss MPI is left alone: what it still knows of buffers
// is not to be moved on.
bool MpiGroup::turn(bool leaving) {
  const bool asked = take_submitted();
  if (lost_rank_ >= 0) {
    if (rank_ == 0) reap_sends();
    return false;
  }
  bool received = false, called = false;
  try {
    received = receive();
    if (lost_rank_ >= 0 || ended_) return true;
    called = servers() > 0 && calls_.turn();
  } catch (const BadMessage& bad) {
    tell_loss(bad.from(), bad.what());
    lose(bad.from(), bad.what());
    return true;
  }
  if (rank_ == 0) decide(leaving);
  watch();
  reap_sends();
  return asked || received || called;
}

bool MpiGroup::take_submitted() {
  std::deque<CollectiveRequest> fresh;
  {
    const MutexLock lock(mutex_);
    fresh.swap(submitted_);
  }
  std::vector<Wish> wishes;
  for (CollectiveRequest& request : fresh) {
    if (lost_rank_ >= 0) {
      request.done(loss());
    } else {
      ask(std::move(request), wishes);
    }
  }
  ask_rank_zero(wishes);
  return !fresh.empty();
}

void MpiGroup::ask(CollectiveRequest request, std::vector<Wish>& wishes) {
  const Wish wish = wish_of(request);
  if (request.list && (!options_.batches || split_.count(wish.id) != 0)) {
    for (CollectiveRequest& part : parts_of(std::move(request))) ask(std::move(part), wishes);
    return;
  }
  pending_[wish.id].push_back(std::move(request));
  wishes.push_back(wish);
}

void MpiGroup::ask_rank_zero(const std::vector<Wish>& wishes) {
  if (rank_ == 0) {
    for (const Wish& wish : wishes) coordinator_->ask(0, wish);
    return;
  }
  if (wishes.empty()) return;
  send(0, kWish, bytes_of(wishes));
}

void MpiGroup::split(const std::vector<uint64_t>& ids) {
  std::vector<Wish> wishes;
  for (const uint64_t id : ids) {
    split_.insert(id);
    const auto found = pending_.find(id);
    if (found == pending_.end()) continue;
    auto rounds = std::move(found->second);
    pending_.erase(found);
    for (CollectiveRequest& request : rounds) ask(std::move(request), wishes);
  }
  ask_rank_zero(wishes);
}

bool MpiGroup::receive() {
  bool any = false;
  while (true) {
    int there = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, control_, &there, &status);
    if (there == 0) return any;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<char> bytes(static_cast<std::size_t>(count));
    MPI_Recv(bytes.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, control_,
             MPI_STATUS_IGNORE);
    Peer& peer = peers_[static_cast<std::size_t>(status.MPI_SOURCE)];
    peer.heard = Clock::now();
    if (status.MPI_TAG == kHeartbeat) continue;
    any = true;
    try {
      hear(status.MPI_SOURCE, status.MPI_TAG, bytes);
    } catch (const BadMessage& bad) {
      throw bad.sent_by(status.MPI_SOURCE);
    }
    if (lost_rank_ >= 0) return true;
  }
}

// Each of these has one sort of sender and of receiver.
void MpiGroup::hear(int from, int tag, const std::vector<char>& bytes) {
  if (tag == kWish && rank_ == 0 && from < size_) {
    for (const Wish& wish : wishes_of(bytes)) coordinator_->ask(from, wish);
  } else if (tag == kDecision && from == 0) {
    obey(decision_of(bytes));
  } else if (tag == kGoodbye) {
    peers_[static_cast<std::size_t>(from)].leaving = true;
    if (is_server() && from < size_) calls_.worker_left(from);
  } else if (tag == kLoss) {
    hear_loss(bytes);
  } else {
    throw BadMessage(fmt::format("given {} bytes with tag {}, expected none", bytes.size(), tag));
  }
}

void MpiGroup::send(int to, int tag, std::vector<char> bytes) {
  outgoing_.push_back({std::move(bytes), MPI_REQUEST_NULL});
  Outgoing& message = outgoing_.back();
  MPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), MPI_BYTE, to, tag,
            control_, &message.request);
  if (tag != kHeartbeat) bell_.ring(to);
}

void MpiGroup::reap_sends() {
  for (auto message = outgoing_.begin(); message != outgoing_.end();) {
    int done = 0;
    MPI_Test(&message->request, &done, MPI_STATUS_IGNORE);
    message = done != 0 ? outgoing_.erase(message) : std::next(message);
  }
}

}  // namespace mxnet::mpi
