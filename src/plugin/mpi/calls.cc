// SPDX-License-Identifier: Apache-2.0
// Heads travel under one tag each way, several in one message; small bodies are part of them. The
// slices of a body have a tag of their own, so that those of several bodies may alternate.
#include "plugin/mpi/calls.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "plugin/mpi/frames.h"

namespace mxnet::mpi {
namespace {

using kvstore::Answer;
using kvstore::ArrivedBytes;
using kvstore::ServedCall;
using kvstore::ServerCall;

enum Tag : int { kCall = 1, kAnswer };
// Tags of bodies: two a call, of so many calls before they are used again.
constexpr int kBodyTags = 16;
constexpr uint64_t kTaggedCalls = 1 << 20;
// Heads go together up to so many bytes.
constexpr std::size_t kBundleBytes = 256 << 10;
// So many bytes may be on their way before the next slice is chosen: enough to keep the link busy,
// and little for an urgent call to wait for.
constexpr int64_t kWindow = 4 << 20;

// `make(bytes)`, room for a body that is to come.
template <class Make>
ArrivedBytes room_for(int64_t bytes, Make&& make) {
  try {
    return make(static_cast<std::size_t>(bytes));
  } catch (const std::exception& error) {
    throw BadMessage(
        fmt::format("given the news of {} bytes, expected fewer: there is no memory "
                    "for them ({})",
                    bytes, error.what()));
  }
}

int body_tag(uint64_t id, bool answer) {
  return kBodyTags + static_cast<int>(id % kTaggedCalls) * 2 + (answer ? 1 : 0);
}

}  // namespace

std::exception_ptr left_already() {
  return std::make_exception_ptr(
      Error(ErrorCode::kGeneric, "kvstore", "this process has left the job already"));
}

void Calls::start(MPI_Comm comm, int workers) {
  comm_ = comm;
  workers_ = workers;
}

void Calls::submit(ServerCall call) {
  std::exception_ptr error;
  {
    const MutexLock lock(mutex_);
    if (!closed_) {
      submitted_.push_back(std::move(call));
      return wake_();
    }
    error = error_ ? error_ : left_already();
  }
  call.done(error);
}

bool Calls::next(ServedCall& call) {
  const MutexLock lock(mutex_);
  while (served_.empty() && !closed_) served_changed_.wait(mutex_);
  if (error_) std::rethrow_exception(error_);
  if (served_.empty()) return false;
  call = std::move(served_.front());
  served_.pop_front();
  return true;
}

void Calls::make_bodies_by(const kvstore::BodyMaker& maker) {
  const MutexLock lock(mutex_);
  body_maker_ = maker;
}

ArrivedBytes Calls::body_of(int64_t bytes) {
  kvstore::BodyMaker maker;
  {
    const MutexLock lock(mutex_);
    maker = body_maker_;
  }
  return room_for(bytes,
                  [&](std::size_t size) { return maker ? maker(size) : ArrivedBytes(size); });
}

void Calls::deliver(ServedCall call) {
  {
    const MutexLock lock(mutex_);
    served_.push_back(std::move(call));
  }
  served_changed_.notify_one();
}

bool Calls::idle() const { return sent() && requests_.empty() && waiting_.empty(); }

bool Calls::sent() const {
  if (!outbox_.empty() || bytes_sending_ > 0) return false;
  const MutexLock lock(mutex_);
  return submitted_.empty() && answers_.empty();
}

void Calls::worker_left(int worker) {
  ServedCall call;
  call.worker = worker;
  call.left = true;
  deliver(std::move(call));
}

void Calls::close(const std::exception_ptr& error) {
  std::deque<ServerCall> late;
  std::deque<Answering> unsent;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    error_ = error;
    late.swap(submitted_);
    unsent.swap(answers_);
  }
  // Operations on a server end when what they answer with has left, which it never will: the end of
  // the process would wait for them. The memory of what is under way stays: other processes may
  // look into it until they hear of the loss, and MPI may write there, whenever it is called.
  unsent.clear();
  for (auto& [parcel, kept] : kept_) kept.under_way.reset();
  served_changed_.notify_all();
  const std::exception_ptr why = error ? error : left_already();
  for (ServerCall& call : late) call.done(why);
  for (auto& [id, waiting] : waiting_) waiting.call.done(why);
}

bool Calls::turn() {
  take_submitted();
  const bool heard = hear(), completed = complete_some();
  send_some();
  return heard || completed;
}

void Calls::take_submitted() {
  std::deque<ServerCall> calls;
  std::deque<Answering> answers;
  {
    const MutexLock lock(mutex_);
    calls.swap(submitted_);
    answers.swap(answers_);
  }
  for (ServerCall& call : calls) {
    const uint64_t id = calls_++;
    const auto parcel = std::make_shared<Parcel>();
    parcel->to = workers_ + call.server;
    parcel->tag = kCall;
    parcel->body_tag = body_tag(id, false);
    parcel->priority = call.priority;
    parcel->slice = slice_of(call.slice_bytes, call.bytes);
    parcel->head = bytes_of(CallHead{0, id, call.bytes, parcel->slice, 0, call.priority, 0},
                            call.head, call.body);
    parcel->body = static_cast<const char*>(call.body);
    parcel->bytes = is_small(call.bytes) ? 0 : call.bytes;
    waiting_[id].call = std::move(call);
    send(parcel);
  }
  for (Answering& answering : answers) {
    Answer& answer = answering.answer;
    const bool failed = !answer.error.empty();
    const auto parcel = std::make_shared<Parcel>();
    parcel->to = answering.worker;
    parcel->tag = kAnswer;
    parcel->body_tag = body_tag(answering.id, true);
    parcel->priority = answering.priority;
    const int64_t bytes = failed ? 0 : answer.bytes;
    parcel->slice = slice_of(answering.slice, bytes);
    parcel->bytes = is_small(bytes) ? 0 : bytes;
    parcel->body = static_cast<const char*>(answer.data);
    parcel->head = bytes_of(AnswerHead{0, answering.id, bytes, parcel->slice, 0, failed ? 1 : 0,
                                       static_cast<int32_t>(answer.code)},
                            answer.error, answer.data);
    if (parcel->bytes > 0)
      kept_[parcel.get()] = {std::move(answer.keep), std::move(answer.under_way)};
    send(parcel);
  }
}

void Calls::send(std::shared_ptr<Parcel> parcel) {
  parcel->order = parcels_++;
  outbox_.insert(std::move(parcel));
}

void Calls::send_some() {
  while (!outbox_.empty() && bytes_sending_ < kWindow) {
    const std::shared_ptr<Parcel> parcel = *outbox_.begin();
    if (!parcel->head_sent) send_heads();
    const int64_t part = std::min(parcel->slice, parcel->bytes - parcel->sent);
    if (part > 0) {
      MPI_Request request;
      MPI_Isend(parcel->body + parcel->sent, static_cast<int>(part), MPI_BYTE, parcel->to,
                parcel->body_tag, comm_, &request);
      wake_other_(parcel->to);
      parcel->sent += part;
      bytes_sending_ += part;
      post(request, [this, part, parcel](const MPI_Status&) {
        bytes_sending_ -= part;
        parcel->gone_bytes += part;
        if (parcel->gone_bytes == parcel->bytes) kept_.erase(parcel.get());
      });
    }
    while (!outbox_.empty() && (*outbox_.begin())->gone()) outbox_.erase(outbox_.begin());
  }
}

// The first one's, and those of the next as long as they go the same way and nothing else of one is
// to be sent before the next.
void Calls::send_heads() {
  const Parcel& first = **outbox_.begin();
  const auto bundle = std::make_shared<std::vector<char>>();
  for (const std::shared_ptr<Parcel>& parcel : outbox_) {
    if (parcel->head_sent || parcel->to != first.to || parcel->tag != first.tag) break;
    if (!bundle->empty() && bundle->size() + parcel->head.size() > kBundleBytes) break;
    bundle->insert(bundle->end(), parcel->head.begin(), parcel->head.end());
    parcel->head_sent = true;
    if (parcel->bytes > 0) break;
  }
  const auto bytes = static_cast<int64_t>(bundle->size());
  MPI_Request request;
  MPI_Isend(bundle->data(), static_cast<int>(bytes), MPI_BYTE, first.to, first.tag, comm_,
            &request);
  wake_other_(first.to);
  bytes_sending_ += bytes;
  post(request, [this, bytes, bundle](const MPI_Status&) { bytes_sending_ -= bytes; });
}

void Calls::post(MPI_Request request, Ended ended) {
  requests_.push_back(request);
  ends_.push_back(std::move(ended));
}

bool Calls::complete_some() {
  if (requests_.empty()) return false;
  int count = 0;
  std::vector<int> indices(requests_.size());
  std::vector<MPI_Status> statuses(requests_.size());
  MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices.data(),
               statuses.data());
  if (count == MPI_UNDEFINED || count == 0) return false;
  indices.resize(static_cast<std::size_t>(count));
  std::vector<std::pair<Ended, MPI_Status>> ended;
  ended.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i)
    ended.emplace_back(std::move(ends_[static_cast<std::size_t>(indices[i])]), statuses[i]);
  std::sort(indices.begin(), indices.end());
  for (auto i = indices.rbegin(); i != indices.rend(); ++i) {
    const auto at = static_cast<std::size_t>(*i);
    requests_[at] = requests_.back();
    ends_[at] = std::move(ends_.back());
    requests_.pop_back();
    ends_.pop_back();
  }
  for (const auto& [end, status] : ended) end(status);
  return true;
}

bool Calls::hear() {
  for (bool any = false;; any = true) {
    int there = 0;
    MPI_Status status;
    for (const int tag : {kCall, kAnswer}) {
      MPI_Iprobe(MPI_ANY_SOURCE, tag, comm_, &there, &status);
      if (there != 0) break;
    }
    if (there == 0) return any;
    int count = 0;
    MPI_Get_count(&status, MPI_BYTE, &count);
    std::vector<char> bundle(static_cast<std::size_t>(count));
    MPI_Recv(bundle.data(), count, MPI_BYTE, status.MPI_SOURCE, status.MPI_TAG, comm_,
             MPI_STATUS_IGNORE);
    try {
      for (std::string_view bytes(bundle.data(), bundle.size()); !bytes.empty();) {
        if (status.MPI_TAG == kCall) {
          hear_call(status.MPI_SOURCE, bytes);
        } else {
          hear_answer(status.MPI_SOURCE, bytes);
        }
      }
    } catch (const BadMessage& bad) {
      throw bad.sent_by(status.MPI_SOURCE);
    }
  }
}

void Calls::receive(int from, int tag, char* to, int64_t bytes, int64_t slice,
                    std::function<void()> done) {
  const auto arriving = std::make_shared<Arriving>();
  arriving->slices_left = (bytes + slice - 1) / slice;
  arriving->done = std::move(done);
  for (int64_t at = 0; at < bytes; at += slice) {
    MPI_Request request;
    const int expected = static_cast<int>(std::min(slice, bytes - at));
    MPI_Irecv(to + at, expected, MPI_BYTE, from, tag, comm_, &request);
    post(request, [arriving, expected, from](const MPI_Status& status) {
      // Of more MPI writes no more than there is room for, of fewer the rest is what was there.
      int given = 0;
      MPI_Get_count(&status, MPI_BYTE, &given);
      if (given != expected)
        throw BadMessage(fmt::format("given {} bytes of a body, expected {}", given, expected),
                         from);
      if (--arriving->slices_left == 0) arriving->done();
    });
  }
}

void Calls::hear_call(int worker, std::string_view& bytes) {
  const auto [head, text, body] = take_frame<CallHead>(bytes);
  const auto call = std::make_shared<ServedCall>();
  call->head = text;
  call->worker = worker;
  call->body = is_small(head.bytes) ? ArrivedBytes(body) : body_of(head.bytes);
  call->answer = [this, worker, id = head.id, slice = head.slice,
                  priority = head.priority](Answer answer) {
    {
      const MutexLock lock(mutex_);
      if (closed_) return;
      answers_.push_back({worker, priority, id, slice, std::move(answer)});
    }
    wake_();
  };
  if (is_small(head.bytes)) return deliver(std::move(*call));
  receive(worker, body_tag(head.id, false), call->body.data(), head.bytes, head.slice,
          [this, call] { deliver(std::move(*call)); });
}

void Calls::hear_answer(int server, std::string_view& bytes) {
  const auto [head, text, body] = take_frame<AnswerHead>(bytes);
  const auto found = waiting_.find(head.id);
  if (found == waiting_.end() || server != workers_ + found->second.call.server ||
      found->second.answered)
    throw BadMessage("given an answer, expected none: this process did not ask");
  Waiting& waiting = found->second;
  waiting.answered = true;
  std::exception_ptr error;
  void* to = nullptr;
  if (head.failed != 0) {
    error = std::make_exception_ptr(Error(static_cast<ErrorCode>(head.code), "kvstore",
                                          fmt::format("server {}: {}", waiting.call.server, text)));
  } else {
    try {
      to = waiting.call.room(head.bytes);
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) {
    waiting.unwanted = room_for(head.bytes, [](std::size_t bytes) { return ArrivedBytes(bytes); });
    to = waiting.unwanted.data();
  }
  const auto end = [this, id = head.id, error] {
    const auto done = std::move(waiting_.at(id).call.done);
    waiting_.erase(id);
    done(error);
  };
  if (is_small(head.bytes)) {
    if (!body.empty()) std::memcpy(to, body.data(), body.size());
    return end();
  }
  receive(server, body_tag(head.id, true), static_cast<char*>(to), head.bytes, head.slice, end);
}

}  // namespace mxnet::mpi
