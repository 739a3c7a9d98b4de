// SPDX-License-Identifier: Apache-2.0
// How a bunch travels, by three operations: one copies the values together, one ends when the group
// has summed, one copies to the targets. The values' many variables are released by the first,
// where they were read, not by the thread of the group, which has the next bunch to sum.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "base/fnv.h"
#include "base/stream_copy.h"
#include "engine/engine.h"
#include "kvstore/bunch.h"

namespace mxnet::kvstore {
namespace {

// Lists that are remembered: a program has a few that come again and again.
constexpr std::size_t kMostLists = 64;

// From so many bytes on they are copied together past the caches. The processor that sums them next
// is another one, and so is the one that had this memory last: taking it over line by line would
// take longer than the copy.
constexpr std::size_t kStreamBytes = 1 << 20;

// Arrays of a page or less each begin where the processor expects nothing: one of the next is asked
// for while one is copied, as far as it is as long.
constexpr std::ptrdiff_t kAhead = 4;
void fetch_ahead(const char* data, std::size_t bytes) {
  constexpr std::size_t kLine = 64, kMost = 2048;
  for (std::size_t at = 0; at < std::min(bytes, kMost); at += kLine) __builtin_prefetch(data + at);
}

void copy_near(void* to, const void* from, std::size_t bytes) noexcept {
  std::memcpy(to, from, bytes);
}

// The length, too: texts one after the other are to differ from the same letters cut otherwise.
void take_text(Fnv& hash, std::string_view text) {
  hash.take_word(text.size());
  hash.take(text);
}

// What is done with `later` comes after what was done with `earlier`.
void keep_order(std::span<Var* const> earlier, Var* later) {
  for (Var* var : earlier) Engine::get().forget_failure(var);
  const std::array<Var*, 1> writes{later};
  Engine::get().push([](const RunContext&) {}, {.device = Device::cpu(),
                                                .reads = earlier,
                                                .writes = writes,
                                                .property = FnProperty::kCPUPrioritized,
                                                .name = "KVStoreMove"});
}

}  // namespace

void leave_bunch(NDArray& sum) {
  if (sum.is_sparse() || sum.bytes() == sum.chunk()->bytes()) return;
  const NDArray left =
      std::exchange(sum, NDArray(sum.shape(), sum.dtype(), sum.device(), "kvstore"));
  const std::array<Var*, 1> earlier{left.var()};
  keep_order(earlier, sum.var());
}

bool Bunch::same_list(const Contents& a, const Contents& b) {
  return a.dtype == b.dtype && std::equal(a.pieces.begin(), a.pieces.end(), b.pieces.begin(),
                                          b.pieces.end(), [](const Piece& one, const Piece& other) {
                                            return one.key == other.key && one.count == other.count;
                                          });
}

// Two lists that differ in a key, its size or the type are different lists, so that processes that
// disagree about one never mix them up.
std::shared_ptr<const RequestList> Bunch::make_list(const Contents& contents) {
  auto list = std::make_shared<RequestList>();
  Fnv hash;
  for (const Piece& piece : contents.pieces) {
    list->names.push_back(to_string(*piece.key));
    list->counts.push_back(piece.count);
    take_text(hash, list->names.back());
    hash.take_word(static_cast<uint64_t>(piece.count));
  }
  hash.take_word(static_cast<uint64_t>(contents.dtype));
  list->id = hash.folded();
  return list;
}

void Bunch::gather(const Contents& contents, SumOrder order, char* to) {
  const Place *value = contents.values.data(), *const end = value + contents.values.size();
  std::vector<const void*> in;
  const std::size_t all = static_cast<std::size_t>(contents.count) * dtype_size(contents.dtype);
  const auto copy = all >= kStreamBytes ? stream_copy : copy_near;
  for (const Piece& piece : contents.pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
    if (end - value > kAhead) fetch_ahead(value[kAhead].data, bytes);
    if (piece.values == 1) {
      copy(to, value->data, bytes);
    } else {
      in.clear();
      for (uint32_t i = 0; i < piece.values; ++i) in.push_back(value[i].data);
      const std::array<void*, 1> out{to};
      sum_on_host(
          {.in = in, .out = out, .count = piece.count, .dtype = contents.dtype, .order = order});
    }
    value += piece.values;
    to += bytes;
  }
  finish_stream_copies();
}

void Bunch::scatter(const Contents& contents, const char* from) {
  const Place *target = contents.targets.data(), *const last = target + contents.targets.size();
  for (const Piece& piece : contents.pieces) {
    const std::size_t bytes = static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
    for (const Place* const end = target + piece.targets; target != end; ++target) {
      if (last - target > kAhead) fetch_ahead(target[kAhead].data, bytes);
      std::memcpy(target->data, from, bytes);
    }
    from += bytes;
  }
}

// The sums of one key are formed one after the other, wherever they lie: all ranks are to give
// their requests in the same order.
void Bunch::move_sums(const Contents& contents, const NDArray& packed) {
  std::vector<NDArray> left;  // live until the move is pushed
  std::vector<Var*> earlier;
  std::size_t offset = 0;
  for (const Piece& piece : contents.pieces) {
    earlier.push_back(piece.sum->var());
    left.push_back(std::exchange(
        *piece.sum, NDArray(packed.chunk(), offset, piece.sum->shape(), contents.dtype)));
    offset += static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
  }
  std::sort(earlier.begin(), earlier.end());
  earlier.erase(std::unique(earlier.begin(), earlier.end()), earlier.end());
  keep_order(earlier, packed.var());
}

// The packed values stay between the calls, as what the sums lie in; also when the same keys come
// with other arrays: memory that others see is dear to make.
void Bunch::take_memory(Known& known) {
  const Contents& contents = *known.contents;
  const Shape shape{contents.count};
  if (contents.kind == CollectiveKind::kBroadcast) {
    known.packed = NDArray(shape, contents.dtype, Device::cpu(), "kvstore");
    return;
  }
  std::size_t offset = 0;
  const auto in_place = [&](const Piece& piece) {
    const bool there = piece.sum->chunk() == known.packed.chunk() && piece.sum->offset() == offset;
    offset += static_cast<std::size_t>(piece.count) * dtype_size(contents.dtype);
    return there;
  };
  if (!known.packed.is_none() && known.packed.size() == contents.count &&
      std::all_of(contents.pieces.begin(), contents.pieces.end(), in_place))
    return;
  known.place = {};
  known.packed = group_.shares_memory() ? make_shared_array(shape, contents.dtype, known.place)
                                        : NDArray(shape, contents.dtype, Device::cpu(), "kvstore");
  move_sums(contents, known.packed);
}

// All processes add up, or copy, what is packed.
PreparedRef Bunch::prepare_exchange(const Known& known, const OpSpec& spec) const {
  return Engine::get().prepare_async(
      [contents = known.contents, list = known.list, packed = known.packed, place = known.place,
       priority = known.priority, group = &group_,
       store = store_](const RunContext&, OnComplete complete) {
        const std::vector<std::string>& names = list->names;
        CollectiveRequest request;
        request.kind = contents->kind;
        request.name = names.size() == 1
                           ? names.front()
                           : fmt::format("{} and {} more", names.front(), names.size() - 1);
        request.store = store;
        request.data = packed.data();
        request.count = contents->count;
        request.dtype = contents->dtype;
        request.priority = priority;
        if (names.size() > 1) request.list = list;
        request.place = place;
        request.done = [complete, packed](std::exception_ptr error) {
          error ? complete.fail(std::move(error)) : complete();
        };
        group->submit(std::move(request));
      },
      spec);
}

void Bunch::prepare(Known& known, int priority) {
  take_memory(known);
  const std::shared_ptr<const Contents> contents = known.contents;
  const NDArray packed = known.packed;
  const std::array<Var*, 1> between{packed.var()};
  known.priority = priority;
  known.overwritten = {packed.var()};
  for (Var* var : writes_)
    if (!used_[var].read) known.overwritten.push_back(var);
  const auto spec = [=](std::span<Var* const> reads, std::span<Var* const> writes,
                        const char* name) {
    return OpSpec{.device = Device::cpu(),
                  .reads = reads,
                  .writes = writes,
                  .property = FnProperty::kCPUPrioritized,
                  .priority = priority,
                  .name = name};
  };
  known.collect = Engine::get().prepare(
      [contents, packed, order = order_](const RunContext&) {
        gather(*contents, order, packed.data_as<char>());
      },
      spec(reads_, between, "KVStoreCollect"));
  const bool broadcast = contents->kind == CollectiveKind::kBroadcast;
  known.sum = prepare_exchange(
      known, spec({}, between, broadcast ? "KVStoreBroadcast" : "KVStoreAllReduce"));
  known.take = nullptr;
  if (writes_.empty()) return;
  known.take = Engine::get().prepare(
      [contents, packed](const RunContext&) { scatter(*contents, packed.data_as<char>()); },
      spec(between, writes_, "KVStoreTake"));
}

// What is only written is written whole: what failed there before is of no interest.
void Bunch::push(const Known& known) {
  for (Var* var : known.overwritten) Engine::get().forget_failure(var);
  Engine::get().push(known.collect);
  Engine::get().push(known.sum);
  if (known.take) Engine::get().push(known.take);
}

void Bunch::send(int priority) {
  if (repeated_ != nullptr && repeated_->priority == priority &&
      matched_.pieces == repeated_->contents->pieces.size())
    return push(*std::exchange(repeated_, nullptr));
  if (repeated_ != nullptr) fill_from_matched();
  if (!contents_) return;
  if (known_.size() > kMostLists) known_.clear();
  Known& known = known_[contents_->pieces.front().key];
  if (!known.contents || !same_list(*known.contents, *contents_))
    known.list = make_list(*contents_);
  known.contents = std::exchange(contents_, nullptr);
  known.next = std::exchange(refused_, nullptr);
  prepare(known, priority);
  reads_.clear();
  writes_.clear();
  used_.clear();
  push(known);
}

}  // namespace mxnet::kvstore
