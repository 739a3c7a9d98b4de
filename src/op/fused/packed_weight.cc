// SPDX-License-Identifier: Apache-2.0
// Whether what is kept is still of the arrays that are given.
#include "op/fused/packed_weight.h"

#include "ndarray/made_of_values.h"
#include "op/inline_vector.h"

namespace mxnet {
namespace {

MadeOfValues::Key key_of(const PackedForm& form, const void* weight) {
  constexpr int64_t kOfThisFile = -3;  // no number of what others keep
  uint64_t number = 0xcbf29ce484222325;
  for (const int64_t word : form) number = (number ^ static_cast<uint64_t>(word)) * 0x100000001b3;
  return {static_cast<int64_t>(reinterpret_cast<uintptr_t>(weight)),
          static_cast<int64_t>(number),
          0,
          0,
          0,
          0,
          0,
          kOfThisFile};
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

// Who holds what is packed keeps the arrays that it was made of, so that no others have their
// addresses.
struct WeightKeeper::Kept {
  std::vector<Source> sources;
  std::shared_ptr<const PackedWeight> packed;

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
};

// What plans find of each other: it ends with the last of them, though the weight stays.
struct WeightKeeper::BesideWeight {
  PackedForm form;
  std::weak_ptr<const Kept> kept;
};

std::shared_ptr<const WeightKeeper::Kept> WeightKeeper::kept_or_packed(
    const KernelContext& context, std::span<const InputOrigin> origins, std::span<const int> inputs,
    const Pack& pack) const {
  uint64_t version = 0;
  const MadeOfValues::Key key = key_of(form_, context.in(inputs[0]).data);
  MadeOfValues* const made = form_.empty() ? nullptr : context.made_of(inputs[0], &version);
  if (made != nullptr) {
    bool again = false;
    const auto beside =
        std::static_pointer_cast<const BesideWeight>(made->find(version, key, &again));
    if (beside != nullptr && beside->form == form_)
      if (auto kept = beside->kept.lock(); kept && kept->is_current(context, origins, inputs))
        return kept;
  }
  auto kept = std::make_shared<Kept>();
  kept->packed = pack();
  for (const int i : inputs) {
    const InputOrigin& origin = origins[static_cast<std::size_t>(i)];
    kept->sources.push_back({origin.array, context.in(i).data, context.in(i).dtype, origin.version,
                             origin.keep != nullptr ? origin.keep(origin.array) : nullptr});
  }
  if (made != nullptr)
    made->add(version, key, std::make_shared<const BesideWeight>(BesideWeight{form_, kept}));
  return kept;
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      std::span<const int> inputs,
                                                      const Pack& pack) {
  const MutexLock lock(mutex_);
  if (kept_ == nullptr || !kept_->is_current(context, origins, inputs)) {
    kept_ = nullptr;  // its memory may serve the next
    kept_ = kept_or_packed(context, origins, inputs, pack);
  }
  return {kept_, kept_->packed.get()};
}

std::shared_ptr<const PackedWeight> WeightKeeper::get(const KernelContext& context,
                                                      std::span<const InputOrigin> origins,
                                                      int first, const Pack& pack) {
  InlineVector<int, 12> inputs;
  for (int i = first; i < context.num_in(); ++i) inputs.push_back(i);
  return get(context, origins, inputs.span(), pack);
}

}  // namespace mxnet
