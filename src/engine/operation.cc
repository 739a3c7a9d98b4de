// SPDX-License-Identifier: Apache-2.0
// Life cycle of operation records: where their lists lie, and how both return to their pools.
#include "engine/operation.h"

#include <algorithm>

#include "base/prefetch.h"
#include "engine/prepared.h"

namespace mxnet::engine {
namespace {

using SmallLists = SlabPool<ListBlock<32>, 32>;
using MediumLists = SlabPool<ListBlock<128>, 16>;
using LargeLists = SlabPool<ListBlock<512>, 4>;
constexpr uint16_t kHeap = UINT16_MAX;  // block size of lists too long for the pools

struct HeapLists {
  explicit HeapLists(uint32_t n) : vars(n), order(n), links(n) {}
  std::vector<Var*> vars;
  std::vector<Access> order;
  std::vector<Link> links;
};

}  // namespace

Access* Operation::reserve(uint32_t n, Var**& list) {
  const auto use = [&](auto* block, uint16_t size) {
    block_ = block;
    block_size_ = size;
    links = std::data(block->links);
    list = std::data(block->vars);
    return std::data(block->order);
  };
  if (n <= kInlineVars) {
    links = inline_links_;
    list = inline_vars_;
    return nullptr;
  }
  if (n <= 32) return use(SmallLists::take(), 32);
  if (n <= 128) return use(MediumLists::take(), 128);
  if (n <= 512) return use(LargeLists::take(), 512);
  return use(new HeapLists(n),
             kHeap);  // rare, and the operation does far more than these allocations
}

const Access* Operation::copy_lists(const OpSpec& spec, FewAccesses& few) {
  reads = static_cast<uint32_t>(spec.reads.size());
  count = reads + static_cast<uint32_t>(spec.writes.size());
  Var** list;
  Access* order = reserve(count, list);
  if (order == nullptr) order = few.data();
  std::copy(spec.reads.begin(), spec.reads.end(), list);
  std::copy(spec.writes.begin(), spec.writes.end(), list + reads);
  order_accesses(spec, order);
  vars = list;
  return order;
}

void Operation::share_lists(const PreparedRef& from) {
  prepared = from;
  reads = static_cast<uint32_t>(from->spec.reads.size());
  count = static_cast<uint32_t>(from->vars.size());
  Var** unused;
  reserve(count, unused);  // for the links
  vars = from->vars.data();
}

void Operation::prefetch() const {
  prefetch_for_write(&missing);
  prefetch_for_write(&pool);
  prefetch_for_write(&waiter);
  prefetch_for_write(&body);
  prefetch_for_write(&inline_vars_);
}

Body& Operation::function() { return prepared != nullptr ? prepared->body : body; }

void Operation::recycle() noexcept {
  switch (block_size_) {
    case 0:
      break;
    case 32:
      SmallLists::give(static_cast<ListBlock<32>*>(block_));
      break;
    case 128:
      MediumLists::give(static_cast<ListBlock<128>*>(block_));
      break;
    case 512:
      LargeLists::give(static_cast<ListBlock<512>*>(block_));
      break;
    default:
      delete static_cast<HeapLists*>(block_);
  }
  block_size_ = 0;
  if (body.index() != 0) body.emplace<std::monostate>();
  if (prepared != nullptr) prepared.reset();
  bulk = nullptr;
  waiter = nullptr;
  OperationPool::give(this);
}

void Operation::lock_pools() {
  OperationPool::lock_depot();
  SmallLists::lock_depot();
  MediumLists::lock_depot();
  LargeLists::lock_depot();
}

void Operation::unlock_pools() {
  LargeLists::unlock_depot();
  MediumLists::unlock_depot();
  SmallLists::unlock_depot();
  OperationPool::unlock_depot();
}

}  // namespace mxnet::engine
