// SPDX-License-Identifier: Apache-2.0
// Whether what is kept is still of the arrays that are given.
#include "op/fused/packed_weight.h"

#include <algorithm>
#include <atomic>

#include "base/spin_lock.h"
#include "ndarray/made_of_values.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

MadeOfValues::Key key_of(const void* weight) {
  constexpr int64_t kOfThisFile = -3;  // no number of what others keep
  return {static_cast<int64_t>(reinterpret_cast<uintptr_t>(weight)), 0, 0, 0, 0, 0, 0, kOfThisFile};
}

}  // namespace

PackedForm packed_form(PackedBy by, const PackedForm& lies, const PackedForm& others) {
  if (lies.empty()) return {};
  PackedForm form{static_cast<int64_t>(by)};
  form.insert(form.end(), lies.begin(), lies.end());
  form.insert(form.end(), others.begin(), others.end());
  return form;
}

struct WeightKeeper::Source {
  const void *array, *data;
  DType dtype;
  uint64_t version;
  std::shared_ptr<const void> kept;
};

// What plans find of each other at a weight: it ends with the last of them, though the weight
// stays.
struct WeightKeeper::BesideWeight {
  struct Form {
    PackedForm form;
    std::weak_ptr<const Kept> kept;
  };
  // Relaxed: what is used at the same time is neither old.
  mutable std::atomic<uint64_t> plans_met{0};
  mutable Mutex mutex;
  mutable std::vector<Form> forms MX_GUARDED_BY(mutex);

  std::shared_ptr<const Kept> find(const PackedForm& form) const {
    const MutexLock lock(mutex);
    const auto at = std::ranges::find(forms, form, &Form::form);
    return at == forms.end() ? nullptr : at->kept.lock();
  }
  void put(const PackedForm& form, const std::shared_ptr<const Kept>& kept) const {
    const MutexLock lock(mutex);
    std::erase_if(forms,
                  [&](const Form& each) { return each.form == form || each.kept.expired(); });
    forms.push_back({form, kept});
  }
  void another_plan() const;
};

// Who holds what is packed keeps the arrays that it was made of, so that no others have their
// addresses.
struct WeightKeeper::Kept {
  std::vector<Source> sources;
  std::shared_ptr<const BesideWeight> beside;  // null: nobody shares it
  mutable std::atomic<uint64_t> used{0};       // when so many plans had met the weight

  bool is_current(const KernelContext& context, std::span<const InputOrigin> origins,
                  std::span<const int> inputs) const {
    if (sources.size() != inputs.size()) return false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Source& source = sources[i];
      const InputOrigin& now = origins[static_cast<std::size_t>(inputs[i])];
      const Tensor& tensor = context.in(inputs[i]);
      // Without an array (computed in this run, or written by others) it is another one each time.
      if (now.array == nullptr || now.array != source.array || now.version != source.version ||
          tensor.data != source.data || tensor.dtype != source.dtype)
        return false;
    }
    return true;
  }

  // Null where it has been given up.
  std::shared_ptr<const PackedWeight> use() const {
    if (beside != nullptr) {
      const uint64_t now = beside->plans_met.load(std::memory_order_relaxed);
      if (used.load(std::memory_order_relaxed) != now) used.store(now, std::memory_order_relaxed);
    }
    const SpinGuard guard(lock_);
    return packed_;
  }
  // Runs that have it keep what was there.
  void set(std::shared_ptr<const PackedWeight> packed) const {
    const SpinGuard guard(lock_);
    packed_.swap(packed);
  }

 private:
  mutable SpinLock lock_;
  mutable std::shared_ptr<const PackedWeight> packed_ MX_GUARDED_BY(lock_);
};

void WeightKeeper::BesideWeight::another_plan() const {
  const uint64_t met = plans_met.fetch_add(1, std::memory_order_relaxed) + 1;
  const MutexLock lock(mutex);
  for (const Form& each : forms) {
    const auto kept = each.kept.lock();
    if (kept != nullptr && kept->used.load(std::memory_order_relaxed) + kPlansRemembered < met)
      kept->set(nullptr);
  }
}

std::shared_ptr<const PackedWeight> WeightKeeper::shared_or_packed(
    const KernelContext& context, std::span<const InputOrigin> origins, std::span<const int> inputs,
    const Pack& pack) {
  uint64_t version = 0;
  const MadeOfValues::Key key = key_of(context.in(inputs[0]).data);
  MadeOfValues* const made = form_.empty() ? nullptr : context.made_of(inputs[0], &version);
  std::shared_ptr<const BesideWeight> beside;
  if (made != nullptr) {
    bool again = false;
    beside = std::static_pointer_cast<const BesideWeight>(made->find(version, key, &again));
    if (beside == nullptr) {
      beside = std::make_shared<const BesideWeight>();
      made->add(version, key, beside);
    }
    if (!std::exchange(has_met_, true)) beside->another_plan();
    if (auto kept = beside->find(form_); kept && kept->is_current(context, origins, inputs)) {
      kept_ = std::move(kept);
      if (auto packed = kept_->use()) return packed;
    }
  }
  auto packed = pack();
  if (kept_ == nullptr) {
    auto kept = std::make_shared<Kept>();
    for (const int i : inputs) {
      const InputOrigin& origin = origins[static_cast<std::size_t>(i)];
      kept->sources.push_back({origin.array, context.in(i).data, context.in(i).dtype,
                               origin.version,
                               origin.keep != nullptr ? origin.keep(origin.array) : nullptr});
    }
    kept->beside = beside;
    kept_ = std::move(kept);
    if (beside != nullptr) beside->put(form_, kept_);
  }
  kept_->set(packed);
  kept_->use();
  return packed;
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      std::span<const int> inputs,
                                                      const Pack& pack) {
  const MutexLock lock(mutex_);
  if (kept_ != nullptr && kept_->is_current(context, origins, inputs)) {
    if (auto packed = kept_->use()) return packed;
  } else {
    kept_ = nullptr;  // its memory may serve the next
  }
  return shared_or_packed(context, origins, inputs, pack);
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      int first, const Pack& pack) {
  InlineVector<int, 12> inputs;
  for (int i = first; i < context.num_in(); ++i) inputs.push_back(i);
  return get(context, origins, inputs.span(), pack);
}

}  // namespace mxnet
