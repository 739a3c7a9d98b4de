// SPDX-License-Identifier: Apache-2.0
// Recurrent layers whose weights are arrays of their own, as hybridized blocks have them. While no
// weight changes, their vector and what is packed of it are kept beside each of them: all plans of
// a network, whatever the lengths of its sequences, read the same.
#include "op/rnn/gathered.h"

#include <array>

#include "ndarray/made_of_values.h"
#include "op/op_builder.h"
#include "op/products/packed_floats.h"
#include "op/rnn/network.h"
#include "op/run/primitives.h"

namespace mxnet::rnn {
namespace {

// Inputs: those of RNN but the parameters, then the weights.
int first_weight(const RnnParams& params) {
  return params.length_input() - 1 + (params.use_sequence_length ? 1 : 0);
}
int num_inputs(const RnnParams& params) { return first_weight(params) + params.num_weights; }

std::size_t bytes_of(const Tensor& tensor) {
  return static_cast<std::size_t>(tensor.size()) * dtype_size(tensor.dtype);
}

// The vector, and what is packed of it.
struct Gathered {
  explicit Gathered(std::size_t bytes) : vector(bytes) {}
  PackedFloats vector;
  MadeOfValues made;  // of its only version
};
using GatheredRef = std::shared_ptr<Gathered>;

// The weights of one call, one after the other.
class Weights {
 public:
  Weights(const RnnParams& params, KernelContext& context)
      : context_(context), first_(first_weight(params)), end_(context.num_in()) {
    for (int i = first_; i < end_; ++i) {
      bytes_ += bytes_of(context.in(i));
      list_ = (list_ ^ address_of(i)) * 0x100000001b3;  // FNV's
    }
  }
  std::size_t bytes() const { return bytes_; }
  void copy_to(void* vector) const {
    auto* to = static_cast<char*>(vector);
    for (int i = first_; i < end_; ++i) {
      copy_memory(context_, context_.in(i).data, to, bytes_of(context_.in(i)));
      to += bytes_of(context_.in(i));
    }
  }
  // Null where one of them may change unseen, or where nothing is worth keeping yet.
  GatheredRef kept() const {
    bool again = true, same = true;
    GatheredRef found;
    for (int i = first_; i < end_; ++i) {
      uint64_t version = 0;
      MadeOfValues* const made = context_.made_of(i, &version);
      if (made == nullptr) return nullptr;
      bool again_here = false;
      auto beside =
          std::static_pointer_cast<const Gathered>(made->find(version, key(i), &again_here));
      if (i == first_) found = std::const_pointer_cast<Gathered>(beside);
      again = again && again_here;
      same = same && beside != nullptr && beside == found;
    }
    if (same || !again) return same ? found : nullptr;
    found = std::make_shared<Gathered>(bytes_);
    copy_to(found->vector.data());
    for (int i = first_; i < end_; ++i) {
      uint64_t version = 0;
      context_.made_of(i, &version)->add(version, key(i), found);
    }
    return found;
  }

 private:
  uint64_t address_of(int i) const { return reinterpret_cast<uintptr_t>(context_.in(i).data); }
  // Beside weight i. Layers that share it are told apart by their lists of weights; what two lists
  // of one number keep beside it in turn is not what the others of a list have, and not taken.
  MadeOfValues::Key key(int i) const {
    constexpr int64_t kGathered = -1;  // no address, which keys of packed weights begin with
    return {kGathered,
            i - first_,
            end_ - first_,
            static_cast<int64_t>(bytes_),
            static_cast<int64_t>(list_),
            static_cast<int64_t>(address_of(i)),
            0,
            0};
  }

  KernelContext& context_;
  const int first_, end_;
  std::size_t bytes_ = 0;
  uint64_t list_ = 0xcbf29ce484222325;  // a number of all addresses in their order
};

// Those of the call whose weights were gathered.
class OuterResources final : public KernelResources {
 public:
  explicit OuterResources(KernelContext& outer) : outer_(outer) {}
  void* workspace(std::size_t bytes) override { return outer_.workspace(bytes); }
  Tensor make_out(int i, const Shape& shape) override { return outer_.make_out(i, shape); }
  bool is_read(int i) const override { return outer_.is_read(i); }

 private:
  KernelContext& outer_;
};

template <bool packs>
void forward_cpu(const RnnParams& params, KernelContext& context) {
  const Weights weights(params, context);
  const GatheredRef kept = weights.kept();
  WeightHome home;
  void* vector = nullptr;
  if (kept != nullptr) {
    vector = kept->vector.data();
    home = {vector, &kept->made, 0};
  } else {
    vector = context.workspace(weights.bytes());
    weights.copy_to(vector);
  }
  const DType dtype = context.in(0).dtype;
  const Shape shape{static_cast<int64_t>(weights.bytes() / dtype_size(dtype))};
  std::array<Tensor, 5> in{context.in(0), Tensor{vector, &shape, dtype}};
  const auto states = static_cast<std::size_t>(first_weight(params));
  for (std::size_t i = 1; i < states; ++i) in[i + 1] = context.in(static_cast<int>(i));
  std::array<Tensor, 4> out;
  const auto num_out = static_cast<std::size_t>(context.num_out());
  for (std::size_t o = 0; o < num_out; ++o) out[o] = context.out(static_cast<int>(o));
  OuterResources resources(context);
  KernelContext inner({in.data(), states + 1}, {out.data(), num_out}, context.device(),
                      context.stream(), context.training(), resources);
  forward_on_host(params, packs, home, inner);
}

bool chooses_packed(const RnnParams&, const Signature&) { return packed_weights_chosen(); }

void infer(const RnnParams& params, Infer& infer) { infer_results(params, infer, 1); }

[[maybe_unused]] const OpBuilder<RnnParams> defined =
    OpBuilder<RnnParams>(kGatheredRnn)
        .doc("RNN in inference, with its parameters as arrays.")
        .input_list("values", "Inputs of RNN but the parameters, then arrays of these.")
        .num_inputs(num_inputs)
        .outputs(num_rnn_outputs)
        .dtypes(kAllTypes)  // of sequence_length
        .infer(infer)
        .cpu(forward_cpu<true>, chooses_packed, "packed")
        .cpu(forward_cpu<false>)
        .never_inline();

}  // namespace
}  // namespace mxnet::rnn
