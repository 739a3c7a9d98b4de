// SPDX-License-Identifier: Apache-2.0
// Three operations a bunch: one copies the values together, one ends when the group has summed, one
// copies to the targets. The values' many variables are released by the first, where they were
// read, not by the thread of the group, which has the next bunch to sum.
#include "kvstore/bunch.h"

#include <algorithm>
#include <array>
#include <cstring>

#include <fmt/format.h>

#include "base/fnv.h"
#include "base/stream_copy.h"
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
    const char* const data = value.data_as<char>();
    return use.written && data < use.last && use.first < data + value.bytes();
  });
}

void Bunch::begin(CollectiveKind kind, DType dtype) {
  contents_ = std::make_shared<Contents>();
  contents_->kind = kind;
  contents_->dtype = dtype;
}

void Bunch::append(const Piece& piece, const Place* values, const Place* targets) {
  Contents& all = *contents_;
  const std::size_t bytes = static_cast<std::size_t>(piece.count) * dtype_size(all.dtype);
  all.count += piece.count;
  all.pieces.push_back(piece);
  for (const Place& value : std::span(values, piece.values)) {
    UsedVariables::Use& use = used_[value.var];
    if (!use.read) reads_.push_back(value.var);
    use.read = true;
    all.values.push_back(value);
  }
  for (const Place& target : std::span(targets, piece.targets)) {
    UsedVariables::Use& use = used_[target.var];
    if (!use.written) writes_.push_back(target.var);
    use.first = use.written ? std::min<const char*>(use.first, target.data) : target.data;
    use.last = std::max<const char*>(use.last, target.data + bytes);
    use.written = true;
    all.targets.push_back(target);
  }
}

bool Bunch::add(CollectiveKind kind, const Key& key, Arrays values, const NDArray& like,
                NDArray* sum, Arrays targets) {
  if (repeated_ != nullptr) fill_from_matched();
  if (contents_) {
    const int64_t bytes = contents_->count * static_cast<int64_t>(dtype_size(like.dtype()));
    const bool fits = contents_->kind == kind && contents_->dtype == like.dtype() &&
                      bytes + static_cast<int64_t>(like.bytes()) <= kBunchBytes;
    refused_ = fits ? nullptr : &key;
    if (!fits || reads_what_is_written(values)) return false;
  } else {
    begin(kind, like.dtype());
  }
  const auto place = [](const NDArray& array) { return Place{array.var(), array.data_as<char>()}; };
  values_.clear();
  targets_.clear();
  for (const NDArray& value : values) values_.push_back(place(value));
  for (const NDArray& target : targets) targets_.push_back(place(target));
  append({&key, sum, like.size(), static_cast<uint32_t>(values_.size()),
          static_cast<uint32_t>(targets_.size())},
         values_.data(), targets_.data());
  return true;
}

bool Bunch::add(const Key& key, Arrays values, NDArray& to, Arrays outs) {
  return add(CollectiveKind::kSum, key, values, to, &to, outs);
}

bool Bunch::add_broadcast(const Key& key, const NDArray& value) {
  return add(CollectiveKind::kBroadcast, key, {&value, 1}, value, nullptr, {&value, 1});
}

// Whatever the operations and the checks before them depend on is compared: a variable or an
// address that was freed and taken anew is as good as the old one. Where a bunch ends is settled by
// the keys alone here too, so that processes of which only some know a list cut it alike.
bool Bunch::repeat(const Key& key, PickedArrays values, const NDArray& to, PickedArrays outs,
                   int priority) {
  if (repeated_ != nullptr && matched_.pieces == repeated_->contents->pieces.size()) {
    if (repeated_->next != &key) return false;
    send(priority);
  }
  if (contents_) return false;
  Known* known = repeated_;
  if (known == nullptr) {
    const auto found = known_.find(&key);
    if (found == known_.end() || found->second.contents->kind != CollectiveKind::kSum) return false;
    known = &found->second;
    matched_ = {};
  }
  const Contents& all = *known->contents;
  const Piece& piece = all.pieces[matched_.pieces];
  if (piece.key != &key || piece.values != values.size() || piece.targets != outs.size() ||
      piece.sum != &to || to.chunk() != known->packed.chunk() || to.offset() != matched_.bytes)
    return false;
  const auto same = [&](const NDArray& array, const Place& place) {  // sparse ones have no data()
    return !array.is_none() && array.var() == place.var && array.dtype() == all.dtype &&
           in_host_memory(array) && array.data() == place.data && array.shape() == to.shape();
  };
  const Place *value = all.values.data() + matched_.values,
              *target = all.targets.data() + matched_.targets;
  for (std::size_t i = 0; i < piece.values; ++i)
    if (!same(values[i], value[i])) return false;
  const bool in_place = piece.values == piece.targets;
  for (std::size_t i = 0; i < piece.targets; ++i) {
    const bool seen = in_place && &outs[i] == &values[i] && target[i].data == value[i].data;
    if (!seen && !same(outs[i], target[i])) return false;
  }
  repeated_ = known;
  matched_ = {matched_.pieces + 1, matched_.values + piece.values, matched_.targets + piece.targets,
              matched_.bytes + to.bytes()};
  return true;
}

// Goes on as if what has come again had come for the first time.
void Bunch::fill_from_matched() {
  const std::shared_ptr<const Contents> known = std::exchange(repeated_, nullptr)->contents;
  begin(known->kind, known->dtype);
  const Place *values = known->values.data(), *targets = known->targets.data();
  for (const Piece& piece : std::span(known->pieces).first(matched_.pieces)) {
    append(piece, values, targets);
    values += piece.values;
    targets += piece.targets;
  }
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
