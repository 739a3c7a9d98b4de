// SPDX-License-Identifier: Apache-2.0
// Reorders between plain arrays and what primitives want.
#include "op/onednn/operand.h"

#include "op/loops/half_arrays.h"
#include "op/onednn/key.h"
#include "op/products/packed_floats.h"

namespace mxnet::onednn {
namespace {

dnnl::memory without_data(const dnnl::memory::desc& desc) {
  return dnnl::memory(desc, engine(), DNNL_MEMORY_NONE);
}

// A weight in the layout of a primitive.
struct Lasting {
  Lasting(const dnnl::memory& plain, const dnnl::memory::desc& wanted)
      : from(plain.get_desc()), layout(wanted), memory(wanted.get_size()) {}
  bool is(const dnnl::memory& plain, const dnnl::memory::desc& wanted) const {
    const_dnnl_memory_desc_t desc = nullptr;  // plain's own, without a copy
    return dnnl_memory_get_memory_desc(plain.get(), &desc) == dnnl_success &&
           dnnl_memory_desc_equal(desc, from.get()) != 0 && layout == wanted;
  }
  dnnl::memory::desc from, layout;
  PackedFloats memory;
};

// Layouts of different strides mostly have different ones.
int64_t number_of(const dnnl::memory::desc& layout) {
  Key key;
  for (const dnnl::memory::dims& list :
       {layout.get_strides(), layout.get_inner_blks(), layout.get_inner_idxs()})
    key.add(list);
  return static_cast<int64_t>(key.hash() | 1);
}

}  // namespace

Operand::Operand(const dnnl::memory::desc& plain, const dnnl::memory::desc& wanted, bool output)
    : wanted_desc_(wanted), plain_(without_data(plain)) {
  if (plain == wanted) return;
  wanted_ = without_data(wanted);
  if (plain.get_data_type() == dnnl::memory::data_type::f16 &&
      wanted.get_data_type() == dnnl::memory::data_type::f32) {
    const dnnl::memory::desc wide(plain.get_dims(), wanted.get_data_type(), plain.get_strides());
    count_ = static_cast<int64_t>(wide.get_size() / sizeof(float));
    wide_ = without_data(wide);
    if (wide == wanted) return;
  }
  const dnnl::memory& from = output ? wanted_ : plain_for_reorder();
  reorder_ = dnnl::reorder(from, output ? plain_for_reorder() : wanted_);
}

dnnl_memory_t Operand::bind(const KernelContext& context, void* data, void* place) {
  if (!plain_) return nullptr;
  plain_.set_data_handle(data);
  if (!wanted_) return plain_.get();
  if (place == nullptr) place = context.workspace(wanted_desc_.get_size());
  wanted_.set_data_handle(place);
  if (wide_) {
    wide_.set_data_handle(reorder_ ? context.workspace(wide_.get_desc().get_size())
                                   : wanted_.get_data_handle());
  }
  return wanted_.get();
}

dnnl_memory_t Operand::load(const KernelContext& context, const void* data) {
  return fill(context, data);
}

dnnl_memory_t Operand::load_lasting(const KernelContext& context, int input) {
  constexpr int64_t kOfThisFile = -2;  // no number of what others keep
  const void* const data = context.in(input).data;
  uint64_t version = 0;
  MadeOfValues* const made = wanted_ ? context.made_of(input, &version) : nullptr;
  bool again = false;
  MadeOfValues::Made found;
  if (made != nullptr && layout_ == 0) layout_ = number_of(wanted_desc_);
  const MadeOfValues::Key key{
      static_cast<int64_t>(reinterpret_cast<uintptr_t>(data)), layout_, 0, 0, 0, 0, 0, kOfThisFile};
  if (made != nullptr) found = made->find(version, key, &again);
  if (!again) return load(context, data);
  auto lasting = std::static_pointer_cast<const Lasting>(found);
  if (lasting == nullptr || !lasting->is(plain_, wanted_desc_)) {
    lasting = std::make_shared<const Lasting>(plain_, wanted_desc_);
    fill(context, data, lasting->memory.data());
    made->add(version, key, lasting);
  }
  wanted_.set_data_handle(lasting->memory.data());
  lasting_ = std::move(lasting);
  return wanted_.get();
}

dnnl_memory_t Operand::fill(const KernelContext& context, const void* data, void* place) {
  // oneDNN takes inputs as void* too; it does not write them.
  const dnnl_memory_t memory = bind(context, const_cast<void*>(data), place);
  if (wide_) widen(DType::kFloat16, data, static_cast<float*>(wide_.get_data_handle()), count_);
  if (reorder_)
    execute(reorder_, {{DNNL_ARG_FROM, plain_for_reorder().get()}, {DNNL_ARG_TO, memory}});
  return memory;
}

dnnl_memory_t Operand::place(const KernelContext& context, void* data) {
  return bind(context, data);
}

void Operand::store() {
  if (reorder_)
    execute(reorder_, {{DNNL_ARG_FROM, wanted_.get()}, {DNNL_ARG_TO, plain_for_reorder().get()}});
  if (wide_)
    narrow(static_cast<const float*>(wide_.get_data_handle()), DType::kFloat16,
           plain_.get_data_handle(), count_);
}

Scratchpad::Scratchpad(const dnnl::memory::desc& desc) : bytes_(desc.get_size()) {
  if (bytes_ > 0) memory_ = without_data(desc);
}

dnnl_memory_t Scratchpad::take(const KernelContext& context) {
  if (bytes_ == 0) return nullptr;
  memory_.set_data_handle(context.workspace(bytes_));
  return memory_.get();
}

}  // namespace mxnet::onednn
