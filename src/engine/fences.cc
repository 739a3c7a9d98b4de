// SPDX-License-Identifier: Apache-2.0
// One lock for all variables: only operations that meet work on a GPU take it, and no call of the
// device is made under it.
#include "engine/fences.h"

#include <algorithm>
#include <exception>

#include "engine/frame.h"
#include "engine/var.h"

namespace mxnet::engine {
namespace {

// Puts `fence`, which ends `stream`'s work so far, in the place of the one before it.
void keep_latest(std::vector<FenceRef>* list, const FenceRef& fence, const Stream& stream) {
  const auto before =
      std::find_if(list->begin(), list->end(), [&](const FenceRef& f) { return f->ends(stream); });
  if (before != list->end())
    *before = fence;
  else
    list->push_back(fence);
}

void collect(const Var* var, bool reads_too, std::vector<FenceRef>* list) {
  const VarFences* fences = var->fences();
  if (fences == nullptr) return;
  if (fences->write != nullptr) list->push_back(fences->write);
  if (reads_too) list->insert(list->end(), fences->reads.begin(), fences->reads.end());
}

}  // namespace

void complete_by_event() noexcept {
  if (Frame* frame = t_thread.frame) frame->leaves_work = true;
}

Stream* current_stream() noexcept {
  const Frame* frame = t_thread.frame;
  return frame != nullptr ? frame->stream : nullptr;
}

Fence::~Fence() { owner_.give_event(api_, device_, std::move(event_)); }

void Fence::order(Stream* stream) {
  if (stream == nullptr || &stream->api() != api_)
    event_->synchronize();
  else if (!ends(*stream))
    event_->block(*stream);
}

std::unique_ptr<Event> Fences::take_event(Stream& stream) {
  {
    MutexLock lock(spare_mutex_);
    for (std::size_t i = spare_.size(); i-- > 0;) {
      if (spare_[i].api != &stream.api() || spare_[i].device != stream.device()) continue;
      std::unique_ptr<Event> event = std::move(spare_[i].event);
      std::swap(spare_[i], spare_.back());
      spare_.pop_back();
      return event;
    }
  }
  return std::make_unique<Event>(stream.api(), stream.device());
}

void Fences::give_event(DeviceApi* api, int device, std::unique_ptr<Event> event) noexcept {
  try {
    MutexLock lock(spare_mutex_);
    spare_.push_back({api, device, std::move(event)});
  } catch (const std::bad_alloc&) {  // then it ends here
  }
}

bool Fences::pending_in(std::span<Var* const> vars) const {
  return std::any_of(vars.begin(), vars.end(),
                     [](const Var* var) { return var->fences() != nullptr; });
}

void Fences::order_behind_pending(std::span<Var* const> reads, std::span<Var* const> writes,
                                  Stream* stream) {
  if (!pending_in(reads) && !pending_in(writes)) return;
  List list;
  {
    MutexLock lock(mutex_);
    for (const Var* var : reads) collect(var, false, &list);
    for (const Var* var : writes) collect(var, true, &list);
  }
  for (const FenceRef& fence : list) fence->order(stream);
}

void Fences::leave(std::span<Var* const> reads, std::span<Var* const> writes, Stream& stream) {
  std::unique_ptr<Event> event = take_event(stream);
  event->record(stream);
  const auto fence = std::make_shared<Fence>(*this, std::move(event), stream);
  MutexLock lock(mutex_);
  any_.store(true, std::memory_order_relaxed);
  keep_latest(&latest_, fence, stream);
  for (Var* var : reads) keep_latest(&var->make_fences().reads, fence, stream);
  for (Var* var : writes) {
    VarFences& fences = var->make_fences();
    fences.write = fence;
    fences.reads.clear();
  }
}

void Fences::clear_pending(std::span<Var* const> writes) {
  if (!pending_in(writes)) return;
  MutexLock lock(mutex_);
  for (Var* var : writes) var->drop_fences();
}

void Fences::wait(Var* var, bool reads_too) {
  const std::span<Var*const> one{&var, 1}, none;
  order_behind(reads_too ? none : one, reads_too ? one : none, nullptr);
}

void Fences::wait_all() {
  if (!any()) return;
  List list;
  {
    MutexLock lock(mutex_);
    list = latest_;  // stays there: others may wait for all, too
  }
  std::exception_ptr error;
  for (const FenceRef& fence : list) {
    try {
      fence->order(nullptr);
    } catch (const std::exception&) {
      if (error == nullptr) error = std::current_exception();
    }
  }
  {
    MutexLock lock(mutex_);
    std::erase_if(latest_, [&](const FenceRef& fence) {
      return std::find(list.begin(), list.end(), fence) != list.end();
    });
  }
  if (error != nullptr) std::rethrow_exception(error);
}

void Fences::lock_for_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  mutex_.lock();
  spare_mutex_.lock();
}

void Fences::unlock_after_fork() MX_NO_THREAD_SAFETY_ANALYSIS {
  spare_mutex_.unlock();
  mutex_.unlock();
}

}  // namespace mxnet::engine
