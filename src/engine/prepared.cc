// SPDX-License-Identifier: Apache-2.0
// Duplicate checks and ordering of variable lists.
#include "engine/prepared.h"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {
namespace engine {
namespace {

[[noreturn]] void fail_duplicate(const OpSpec& spec) {
  throw Error(
      ErrorCode::kValue, spec.name != nullptr ? spec.name : kEngineTag,
      fmt::format("given {} variables to read and {} to write with one named twice, expected "
                  "no duplicates within or across the lists",
                  spec.reads.size(), spec.writes.size()));
}

}  // namespace

void order_accesses(const OpSpec& spec, Access* order) {
  Access* end = order;
  for (Var* var : spec.reads) *end++ = make_access(var, false);
  for (Var* var : spec.writes) *end++ = make_access(var, true);
  if (end - order <= static_cast<std::ptrdiff_t>(kInlineVars)) {
    for (Access* i = order + (end != order); i < end; ++i) {  // insertion sort
      const Access moving = *i;
      Access* to = i;
      for (; to != order && to[-1] > moving; --to) *to = to[-1];
      *to = moving;
    }
  } else {
    std::sort(order, end);
  }
  const auto same = [](Access a, Access b) { return access_var(a) == access_var(b); };
  if (std::adjacent_find(order, end, same) != end) fail_duplicate(spec);
}

void check_few(const OpSpec& spec) {
  const auto clashes = [](std::span<Var* const> list, const Var* var) {
    return std::find(list.begin(), list.end(), var) != list.end();
  };
  for (std::size_t i = 1; i < spec.reads.size(); ++i) {
    if (clashes(spec.reads.first(i), spec.reads[i])) fail_duplicate(spec);
  }
  for (std::size_t i = 0; i < spec.writes.size(); ++i) {
    if (clashes(spec.writes.first(i), spec.writes[i]) || clashes(spec.reads, spec.writes[i])) {
      fail_duplicate(spec);
    }
  }
}

}  // namespace engine

PreparedOperation::PreparedOperation(engine::Body body, const OpSpec& given)
    : spec(given), order(given.reads.size() + given.writes.size()), body(std::move(body)) {
  vars.assign(given.reads.begin(), given.reads.end());
  vars.insert(vars.end(), given.writes.begin(), given.writes.end());
  spec.reads = {vars.data(), given.reads.size()};
  spec.writes = {vars.data() + given.reads.size(), given.writes.size()};
  engine::order_accesses(spec, order.data());
}

namespace {

// Keeps the first of equal ones, and none of `others`.
void dedup_few(std::vector<Var*>* list, std::span<Var* const> others) {
  auto end = list->begin();
  for (Var* const var : *list) {
    if (std::find(list->begin(), end, var) == end &&
        std::find(others.begin(), others.end(), var) == others.end())
      *end++ = var;
  }
  list->erase(end, list->end());
}

}  // namespace

void dedup_variables(std::vector<Var*>* reads, std::vector<Var*>* writes) {
  constexpr std::size_t kFew = 48;  // comparing all pairs allocates nothing
  if (reads->size() + writes->size() <= kFew) {
    dedup_few(writes, {});
    return dedup_few(reads, *writes);
  }
  std::unordered_set<Var*> seen;
  const auto repeated = [&seen](Var* var) { return !seen.insert(var).second; };
  std::erase_if(*writes, repeated);
  std::erase_if(*reads, repeated);
}

}  // namespace mxnet
