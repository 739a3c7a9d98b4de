// SPDX-License-Identifier: Apache-2.0
// What a bunch holds: keys that are added, or are found to be those that were sent before.
#include "kvstore/bunch.h"

#include <algorithm>
#include <utility>

namespace mxnet::kvstore {
namespace {

// A key of at most so many bytes is copied to travel with others; bigger ones are worth a request
// of their own.
constexpr std::size_t kSmallBytes = 256 << 10;
// So many bytes travel at once, while the next are being copied.
constexpr int64_t kBunchBytes = 4 << 20;

}  // namespace

bool Bunch::suits(Arrays values, const NDArray& to, Arrays outs) {
  const auto plain = [&](const NDArray& array) {
    return in_host_memory(array) && !array.is_sparse() && array.dtype() == to.dtype();
  };
  return to.bytes() <= kSmallBytes && to.size() > 0 && plain(to) &&
         std::all_of(values.begin(), values.end(), plain) &&
         std::all_of(outs.begin(), outs.end(), plain);
}

void Bunch::begin(CollectiveKind kind, DType dtype) {
  contents_ = std::make_shared<Contents>();
  contents_->kind = kind;
  contents_->dtype = dtype;
}

void Bunch::append(const Piece& piece, const Place* values, const Place* targets) {
  Contents& all = *contents_;
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
    if (!fits) return false;
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

}  // namespace mxnet::kvstore
