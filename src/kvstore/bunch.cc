// SPDX-License-Identifier: Apache-2.0
// Two operations a bunch: one ends when the group has summed, the other copies to the targets.
#include "kvstore/bunch.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/fnv.h"
#include "engine/engine.h"

namespace mxnet::kvstore {
namespace {

// A key of at most so many bytes is copied to travel with others; bigger ones are worth a request
// of their own.
constexpr std::size_t kSmallBytes = 256 << 10;
// So many bytes travel at once, while the next are being copied.
constexpr int64_t kBunchBytes = 4 << 20;

// Lists that are remembered: a program has a few that come again and again.
constexpr std::size_t kMostLists = 64;

// The length, too: texts one after the other are to differ from the same letters cut otherwise.
void take_text(Fnv& hash, std::string_view text) {
  hash.take_word(text.size());
  hash.take(text);
}

}  // namespace

UsedVariables::Use& UsedVariables::place(const Var* var) {
  const auto mixed =
      static_cast<std::size_t>(reinterpret_cast<uintptr_t>(var) * 11400714819323198485ULL >> 20);
  for (std::size_t at = mixed;; ++at) {
    Use& use = uses_[at & (uses_.size() - 1)];
    if (use.bunch != bunch_ || use.var == var) return use;
  }
}

UsedVariables::Use& UsedVariables::operator[](const Var* var) {
  if (2 * count_ >= uses_.size()) {
    const std::vector<Use> old =
        std::exchange(uses_, std::vector<Use>(std::max<std::size_t>(64, 2 * uses_.size())));
    for (const Use& use : old)
      if (use.bunch == bunch_) place(use.var) = use;
  }
  Use& use = place(var);
  if (use.bunch != bunch_) {
    use = {.var = var, .bunch = bunch_};
    ++count_;
  }
  return use;
}

bool Bunch::suits(Arrays values, const NDArray& to, Arrays outs) {
  const auto plain = [&](const NDArray& array) {
    return in_host_memory(array) && !array.is_sparse() && array.dtype() == to.dtype();
  };
  return to.bytes() <= kSmallBytes && to.size() > 0 && plain(to) &&
         std::all_of(values.begin(), values.end(), plain) &&
         std::all_of(outs.begin(), outs.end(), plain);
}

// Everything is read before anything is written: a key that is to see what an earlier one of the
// call writes must wait for it. What is written of one memory counts as one piece of it.
bool Bunch::reads_what_is_written(Arrays values) {
  return std::any_of(values.begin(), values.end(), [&](const NDArray& value) {
    const UsedVariables::Use& use = used_[value.var()];
    return use.written && value.offset() < use.last && use.first < value.offset() + value.bytes();
  });
}

bool Bunch::add(CollectiveKind kind, const Key& key, Arrays values, const NDArray& to,
                Arrays outs) {
  if (contents_) {
    const int64_t bytes = contents_->count * static_cast<int64_t>(dtype_size(to.dtype()));
    if (contents_->kind != kind || contents_->dtype != to.dtype() ||
        bytes + static_cast<int64_t>(to.bytes()) > kBunchBytes || reads_what_is_written(values))
      return false;
  } else {
    contents_ = std::make_shared<Contents>();
    contents_->kind = kind;
    contents_->dtype = to.dtype();
  }
  Contents& all = *contents_;
  all.count += to.size();
  all.pieces.push_back(
      {to.size(), static_cast<uint32_t>(values.size()), static_cast<uint32_t>(1 + outs.size())});
  for (const NDArray& value : values) {
    UsedVariables::Use& use = used_[value.var()];
    if (!use.read) all.reads.push_back(value.var());
    use.read = true;
    all.values.push_back({value.chunk(), value.offset()});
  }
  const auto write = [&](const NDArray& target) {
    UsedVariables::Use& use = used_[target.var()];
    const std::size_t first = target.offset(), last = first + target.bytes();
    if (!use.written) all.writes.push_back(target.var());
    use.first = use.written ? std::min(use.first, first) : first;
    use.last = std::max(use.last, last);
    use.written = true;
    all.targets.push_back({target.chunk(), target.offset()});
  };
  write(to);
  for (const NDArray& out : outs) write(out);
  keys_.push_back(key);
  return true;
}

bool Bunch::add(const Key& key, Arrays values, const NDArray& to, Arrays outs) {
  return add(CollectiveKind::kSum, key, values, to, outs);
}

bool Bunch::add_broadcast(const Key& key, const NDArray& value) {
  return add(CollectiveKind::kBroadcast, key, {&value, 1}, value, {});
}

// Two lists that differ in a key, its size or the type are different lists, so that processes that
// disagree about one never mix them up.
std::shared_ptr<const RequestList> Bunch::list_of(const Contents& contents) {
  Fnv local;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    local.take_word(std::hash<Key>()(keys_[i]));
    local.take_word(static_cast<uint64_t>(contents.pieces[i].count));
  }
  local.take_word(static_cast<uint64_t>(contents.dtype));
  if (known_.size() > kMostLists) known_.clear();
  Known& known = known_[local.folded()];
  if (known.list && known.keys == keys_) return known.list;
  const auto list = std::make_shared<RequestList>();
  Fnv shared;
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    list->names.push_back(to_string(keys_[i]));
    list->counts.push_back(contents.pieces[i].count);
    take_text(shared, list->names.back());
    shared.take_word(static_cast<uint64_t>(list->counts.back()));
  }
  shared.take_word(static_cast<uint64_t>(contents.dtype));
  list->id = shared.folded();
  known = {keys_, list};
  return list;
}

void Bunch::gather(const Contents& contents, SumOrder order, char* to) {
  const Place* value = contents.values.data();
  std::vector<const void*> in;
  for (const Piece& piece : contents.pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
    if (piece.values == 1) {
      std::memcpy(to, value->data(), bytes);
    } else {
      in.clear();
      for (uint32_t i = 0; i < piece.values; ++i) in.push_back(value[i].data());
      const std::array<void*, 1> out{to};
      sum_on_host(
          {.in = in, .out = out, .count = piece.count, .dtype = contents.dtype, .order = order});
    }
    value += piece.values;
    to += bytes;
  }
}

void Bunch::scatter(const Contents& contents, const char* from) {
  const Place* target = contents.targets.data();
  for (const Piece& piece : contents.pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
    for (const Place* const end = target + piece.targets; target != end; ++target)
      std::memcpy(target->data(), from, bytes);
    from += bytes;
  }
}

void Bunch::send(int priority) {
  if (!contents_) return;
  const auto list = list_of(*contents_);
  const std::shared_ptr<const Contents> contents = std::exchange(contents_, nullptr);
  // What is only written is written whole: what failed there before is of no interest.
  for (Var* var : contents->writes)
    if (!used_[var].read) Engine::get().forget_failure(var);
  keys_.clear();
  used_.clear();
  const NDArray packed(Shape{contents->count}, contents->dtype, Device::cpu(), "kvstore");
  const std::array<Var*, 1> between{packed.var()};
  const bool broadcast = contents->kind == CollectiveKind::kBroadcast;
  Engine::get().push_async(
      [contents, list, packed, priority, group = &group_, store = store_, order = order_](
          const RunContext&, OnComplete complete) {
        gather(*contents, order, packed.data_as<char>());
        CollectiveRequest request;
        request.kind = contents->kind;
        request.name = list->names.size() == 1 ? list->names.front()
                                               : fmt::format("{} and {} more", list->names.front(),
                                                             list->names.size() - 1);
        request.store = store;
        request.data = packed.data();
        request.count = contents->count;
        request.dtype = contents->dtype;
        request.priority = priority;
        if (list->names.size() > 1) request.list = list;
        request.done = [complete, packed](const std::exception_ptr& error) {
          error ? complete.fail(error) : complete();
        };
        group->submit(std::move(request));
      },
      {.device = Device::cpu(),
       .reads = contents->reads,
       .writes = between,
       .property = FnProperty::kCPUPrioritized,
       .priority = priority,
       .name = broadcast ? "KVStoreBroadcast" : "KVStoreAllReduce"});
  Engine::get().push(
      [contents, packed](const RunContext&) { scatter(*contents, packed.data_as<char>()); },
      {.device = Device::cpu(),
       .reads = between,
       .writes = contents->writes,
       .property = FnProperty::kCPUPrioritized,
       .priority = priority,
       .name = "KVStoreTake"});
}

}  // namespace mxnet::kvstore
