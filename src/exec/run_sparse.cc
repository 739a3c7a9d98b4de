// SPDX-License-Identifier: Apache-2.0
// A kernel always fills a whole output: the caller's own, or an empty stand-in that then replaces
// or is added to it.
#include "exec/run_sparse.h"

#include <array>
#include <cstring>

#include "base/error.h"
#include "base/lock.h"
#include "ndarray/sparse_check.h"
#include "ndarray/sparse_convert.h"
#include "ndarray/sparse_store.h"
#include "op/inline_vector.h"
#include "op/run/accumulate.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

using Arrays = InlineVector<NDArray, 4>;

// Scratch memory that several threads of one kernel may ask for.
class SharedResources final : public KernelResources {
 public:
  ~SharedResources() override {
    for (const Block& block : blocks_) Storage::get().release(block, nullptr);
  }
  void* workspace(std::size_t bytes) override {
    const Block block = Storage::get().allocate(bytes, Device::cpu(), "workspace", nullptr);
    const MutexLock lock(mutex_);
    return blocks_.emplace_back(block).data;
  }
  Tensor make_out(int, const Shape&) override { MX_ASSERT(false); }

 private:
  Mutex mutex_;
  InlineVector<Block, 4> blocks_ MX_GUARDED_BY(mutex_);
};

void check_indices(const SparseOp& sparse, const KernelCall& call) {
  for (std::size_t i = 0; i < call.in.size(); ++i) {
    const NDArray& array = *call.in[i];
    if (call.op.type_only(static_cast<int>(i))) continue;  // nobody waited for its contents
    switch (sparse.check) {
      case IndexCheck::kNone:
        break;
      case IndexCheck::kInside:
        require_safe_format(array);
        break;
      case IndexCheck::kRows:
        require_rows_format(array);
        break;
      case IndexCheck::kDistinct:
        require_distinct_format(array);
        break;
    }
  }
}

bool has_wide_indices(const NDArray& array) {
  for (int i = 0; i < array.sparse().num_aux(); ++i)
    if (array.sparse().aux_dtype(i) != DType::kInt64) return false;
  return true;
}

bool is_input(const KernelCall& call, const NDArray& out) {
  for (const NDArray* in : call.in)
    if (in->chunk() == out.chunk()) return true;
  return false;
}

// Whether the kernel may fill the caller's array itself.
bool direct(const SparseOp& sparse, const KernelCall& call, const NDArray& out, Request request) {
  if (request == Request::kAdd || request == Request::kNull) return false;
  if (is_input(call, out)) return sparse.in_place && call.in[0]->chunk() == out.chunk();
  if (!out.is_sparse()) return true;
  // A kernel that finds a wrong index by the way leaves the caller's array as it was.
  return sparse.check != IndexCheck::kRows && has_wide_indices(out);
}

NDArray stand_in(const NDArray& out) {
  return out.is_sparse() ? NDArray(out.storage_type(), out.shape(), out.dtype(), Device::cpu())
                         : NDArray(out.shape(), out.dtype(), Device::cpu());
}

// out += result. Two sparse ones go through the operator for it, whose sum then replaces `out`.
void add_result(const KernelCall& call, const NDArray& out, const NDArray& result) {
  if (!out.is_sparse()) {
    accumulate({out.data(), &out.shape(), out.dtype()},
               {result.data(), &result.shape(), result.dtype()});
    return;
  }
  const OpDef& add = Registry::get().at("elemwise_add");
  const ArrayType type{out.shape(), out.dtype()};
  const std::array<ArrayType, 2> types{type, type};
  const KernelEntry& dense =
      choose_kernel(add, nullptr, types, {&type, 1}, Device::cpu(), call.training);
  const std::array<const NDArray*, 2> in{&out, &result};
  const ParamsPtr params = add.parse({});
  run_sparse(*find_sparse(add),
             {add, dense, params.get(), in, InputRefs(in).first(1), {}, call.training});
}

void settle(const KernelCall& call, const NDArray& out, const NDArray& result, Request request) {
  if (request == Request::kAdd) return add_result(call, out, result);
  if (!out.is_sparse()) {
    if (out.bytes() > 0) std::memcpy(out.data(), result.data(), out.bytes());
  } else if (has_wide_indices(out)) {
    out.sparse().swap(result.sparse());
  } else {
    convert_storage(result, out);
  }
}

}  // namespace

void run_sparse(const SparseOp& sparse, const KernelCall& call) {
  check_indices(sparse, call);
  SharedResources resources;
  Arrays outs;
  for (std::size_t o = 0; o < call.out.size(); ++o) {
    const NDArray& out = *call.out[o];
    const Request request = call.requests.empty() ? Request::kWrite : call.requests[o];
    outs.push_back(direct(sparse, call, out, request) ? out.detach() : stand_in(out));
  }
  SparseContext context(call.op, call.kernel, call.params, call.in, outs.span(), call.training,
                        resources);
  sparse.run(call.params, context);
  for (std::size_t o = 0; o < call.out.size(); ++o) {
    const Request request = call.requests.empty() ? Request::kWrite : call.requests[o];
    if (request == Request::kNull || outs[o].chunk() == call.out[o]->chunk()) continue;
    settle(call, *call.out[o], outs[o], request);
  }
}

}  // namespace mxnet
