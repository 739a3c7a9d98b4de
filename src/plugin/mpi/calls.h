// SPDX-License-Identifier: Apache-2.0
// Calls of workers to servers, and the answers: a head, then a body in slices. Among what waits to
// be sent, the urgent goes first, slice by slice; small ones with the same way travel together.
#pragma once
#include <mpi.h>

#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/lock.h"
#include "kvstore/process_group.h"

namespace mxnet::mpi {

// What is asked for after the end.
std::exception_ptr left_already();

// Thread-safe: submit, next, make_bodies_by, and the answers of what next() gives. All else belongs
// to the thread that calls MPI.
class Calls {
 public:
  // `wake` is called when there is something new to send, `wake_other` when something has been sent
  // to a rank of `comm`.
  explicit Calls(
      std::function<void()> wake, std::function<void(int)> wake_other = [](int) {})
      : wake_(std::move(wake)), wake_other_(std::move(wake_other)) {}

  // `workers`: ranks of `comm` below it are workers, the others servers.
  void start(MPI_Comm comm, int workers);

  void submit(kvstore::ServerCall call);
  // Waits; false after close(), throws after close(error).
  bool next(kvstore::ServedCall& call);
  void make_bodies_by(const kvstore::BodyMaker& maker);

  // Sends and receives what it can; whether there was something.
  // Throws BadMessage naming who sent it; the group is of no more use then.
  bool turn();
  // Nothing is under way, and nobody waits for an answer.
  bool idle() const;
  // All that was to be sent has been; answers may be missing.
  bool sent() const;
  void worker_left(int worker);
  // All that waits fails with the error (null: there is nothing left that does), now and later. On
  // the thread that turns.
  void close(const std::exception_ptr& error);

 private:
  // Something to send.
  struct Parcel {
    int to = 0, tag = 0, body_tag = 0, priority = 0;
    uint64_t order = 0;
    std::vector<char> head;  // with the body behind it where that is small
    bool head_sent = false;
    const char* body = nullptr;  // of what is not in the head
    int64_t bytes = 0, sent = 0, gone_bytes = 0, slice = 0;
    bool gone() const { return head_sent && sent == bytes; }
  };
  struct MoreUrgent {
    bool operator()(const std::shared_ptr<Parcel>& a, const std::shared_ptr<Parcel>& b) const {
      return a->priority != b->priority ? a->priority > b->priority : a->order < b->order;
    }
  };
  // A body that arrives.
  struct Arriving {
    int64_t slices_left = 0;
    std::function<void()> done;
  };
  using Ended = std::function<void(const MPI_Status&)>;
  struct Waiting {
    kvstore::ServerCall call;
    bool answered = false;           // its body may still be on its way
    kvstore::ArrivedBytes unwanted;  // of an answer that nobody has room for
  };
  struct Answering {
    int worker, priority;
    uint64_t id;
    int64_t slice;
    kvstore::Answer answer;
  };

  void take_submitted();
  void send(std::shared_ptr<Parcel> parcel);
  void send_some();
  void send_heads();
  bool complete_some();
  bool hear();
  // Of the first frame, which they take off.
  void hear_call(int worker, std::string_view& bytes);
  void hear_answer(int server, std::string_view& bytes);
  kvstore::ArrivedBytes body_of(int64_t bytes);
  void receive(int from, int tag, char* to, int64_t bytes, int64_t slice,
               std::function<void()> done);
  void post(MPI_Request request, Ended ended);
  void deliver(kvstore::ServedCall call);

  const std::function<void()> wake_;
  const std::function<void(int)> wake_other_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int workers_ = 0;

  mutable Mutex mutex_;
  CondVar served_changed_;
  std::deque<kvstore::ServerCall> submitted_ MX_GUARDED_BY(mutex_);
  std::deque<Answering> answers_ MX_GUARDED_BY(mutex_);
  std::deque<kvstore::ServedCall> served_ MX_GUARDED_BY(mutex_);
  bool closed_ MX_GUARDED_BY(mutex_) = false;
  std::exception_ptr error_ MX_GUARDED_BY(mutex_);
  kvstore::BodyMaker body_maker_ MX_GUARDED_BY(mutex_);

  // The thread's own.
  uint64_t calls_ = 0, parcels_ = 0;
  std::multiset<std::shared_ptr<Parcel>, MoreUrgent> outbox_;
  int64_t bytes_sending_ = 0;
  // What an answer's body lies in, until all of it has left.
  struct Kept {
    std::shared_ptr<const void> body, under_way;
  };
  std::map<const Parcel*, Kept> kept_;
  std::vector<MPI_Request> requests_;  // of each, what is to be done when it has ended:
  std::vector<Ended> ends_;
  std::map<uint64_t, Waiting> waiting_;  // for answers
};

}  // namespace mxnet::mpi
