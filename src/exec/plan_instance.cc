// SPDX-License-Identifier: Apache-2.0
// Running segments: addresses of the caller's arrays into the tensors, then kernel after kernel.
#include "exec/plan_instance.h"

#include <algorithm>

#include "base/error.h"
#include "base/hooks.h"
#include "base/omp.h"
#include "exec/run_kernel.h"
#include "op/generators/random_streams.h"
#include "op/inline_vector.h"
#include "op/named_errors.h"
#include "op/run/accumulate.h"

namespace mxnet {
namespace {

std::shared_ptr<const void> keep_chunk(const void* array) {
  auto* chunk = const_cast<Chunk*>(static_cast<const Chunk*>(array));
  return std::make_shared<const Ref<Chunk>>(chunk);
}

// What a kernel of a step finds besides its tensors.
class StepResources final : public KernelResources {
 public:
  StepResources(PlanScratch& scratch, const Plan& plan, const Plan::Segment& segment,
                const Plan::Step& step, std::span<const NDArray> externals)
      : scratch_(scratch), plan_(plan), segment_(segment), step_(step), externals_(externals) {}
  void* workspace(std::size_t bytes) override { return scratch_.workspace(bytes); }
  Tensor make_out(int i, const Shape& shape) override { return scratch_.make_out(i, shape); }

  MadeOfValues* made_of(int i, uint64_t* version) override {
    const int external = plan_.tensors()[step_.first_tensor + static_cast<uint32_t>(i)].external;
    if (external < 0) return nullptr;
    const NDArray& array = externals_[static_cast<std::size_t>(external)];
    // What these very operators write has its next version only after them.
    for (const Plan::Use& use : plan_.uses(segment_)) {
      if (use.writes && externals_[static_cast<std::size_t>(use.external)].chunk() == array.chunk())
        return nullptr;
    }
    *version = Engine::get().version(array.var());
    return array.chunk()->made_of_values();
  }

  bool is_read(int i) const override { return plan_.is_read(step_, i); }

 private:
  PlanScratch& scratch_;
  const Plan& plan_;
  const Plan::Segment& segment_;
  const Plan::Step& step_;
  const std::span<const NDArray> externals_;
};

}  // namespace

PlanInstance::PlanInstance(std::shared_ptr<const Plan> plan, Ref<Arena> arena)
    : plan_(std::move(plan)),
      arena_(arena ? std::move(arena) : make_ref<Arena>(plan_->options().device)) {
  arena_->reserve(plan_->memory().arenas);
  generation_ = arena_->generation();
  const bool gpu = plan_->options().device.is_gpu();
  if (plan_->options().replay) replay_ = GraphReplay::make(*plan_);
  for (const Plan::TensorPlace& place : plan_->tensors()) {
    tensors_.push_back({nullptr, &place.type->shape, place.type->dtype});
    if (gpu) arrays_.emplace_back();
  }
  if (gpu) kept_ = KeptResults(*plan_);
  if (!plan_->has_prepared()) return;
  origins_.resize(tensors_.size());
  for (const Plan::Step& step : plan_->steps())
    runs_.push_back(step.prepared != nullptr ? step.prepared->make_run() : nullptr);
}

Ref<PlanInstance> PlanInstance::clone() const {
  auto copy = make_ref<PlanInstance>(plan_);
  for (std::size_t a = 0; a < plan_->memory().arenas.size(); ++a) {
    const Shape bytes{static_cast<int64_t>(plan_->memory().arenas[a])};
    const auto values = [&](const Arena& arena) {
      return NDArray(arena.pieces()[a].chunk, 0, bytes, DType::kUInt8);
    };
    if (bytes.size() > 0) values(*arena_).copy_to(values(*copy->arena_));
  }
  return copy;
}

bool PlanInstance::attach() {
  arena_->reserve(plan_->memory().arenas);
  if (!own_.empty()) [[unlikely]] {
    Arena::await(own_);
    own_.clear();
  }
  if (is_attached()) [[likely]]
    return false;
  generation_ = arena_->generation();
  placed_ = false;  // what was in flight on the old memory is done
  return true;
}

// Operations of two arenas may be the first at the same time.
void PlanInstance::ensure_placed() {
  // Acquire: the addresses are seen.
  if (placed_.load(std::memory_order_acquire)) [[likely]]
    return;
  const MutexLock lock(placing_);
  if (placed_.load(std::memory_order_relaxed)) return;
  place_tensors();
  placed_.store(true, std::memory_order_release);
}

void PlanInstance::place_tensors() {
  const std::span<const Plan::TensorPlace> places = plan_->tensors();
  for (std::size_t t = 0; t < places.size(); ++t) {
    const Plan::TensorPlace& place = places[t];
    if (place.constant != nullptr) place_constant(t, *place.constant);
    if (place.kept >= 0 && !arrays_.empty()) arrays_[t] = kept_.array(place.kept).detach();
    if (place.arena < 0) continue;
    const Ref<Chunk>& chunk = pieces()[static_cast<std::size_t>(place.arena)].chunk;
    if (arrays_.empty()) {
      tensors_[t].data = static_cast<char*>(chunk->data()) + place.offset;
    } else {
      arrays_[t] = NDArray(chunk, place.offset, place.type->shape, place.type->dtype);
    }
  }
}

void PlanInstance::place_constant(std::size_t t, const NDArray& value) {
  if (!arrays_.empty()) {
    arrays_[t] = value.detach();
    return;
  }
  tensors_[t].data = value.data();
  if (!origins_.empty()) origins_[t] = {value.chunk().get(), 0, keep_chunk};
}

void PlanInstance::bind(const Plan::Segment& segment, Externals externals) {
  for (const Plan::Use& use : plan_->uses(segment)) {
    const NDArray& array = externals[static_cast<std::size_t>(use.external)];
    void* const data = array.data();
    for (uint32_t slot : plan_->slots(use)) tensors_[slot].data = data;
    if (origins_.empty() || use.writes) continue;
    InputOrigin origin;
    if (array.chunk()->counts_all_writes())
      origin = {array.chunk().get(), Engine::get().version(array.var()), keep_chunk};
    for (uint32_t slot : plan_->slots(use)) origins_[slot] = origin;
  }
}

void PlanInstance::bind_arrays(const Plan::Segment& segment, Externals externals) {
  const std::span<const Plan::TensorPlace> places = plan_->tensors();
  for (const Plan::Use& use : plan_->uses(segment)) {
    const NDArray& array = externals[static_cast<std::size_t>(use.external)];
    for (uint32_t slot : plan_->slots(use)) {
      // A reshape that costs nothing leaves the shape before it to the step that writes the result.
      const ArrayType& type = *places[slot].type;
      const bool as_it_is = array.is_sparse() || array.shape() == type.shape;
      arrays_[slot] = (as_it_is ? array : array.view_as(type.shape, type.dtype)).detach();
    }
  }
  // Kernels of devices get arrays only; what is not needed in memory has a type all the same.
  for (int s = segment.first_step; s < segment.last_step; ++s) {
    const Plan::Step& step = plan_->steps()[static_cast<std::size_t>(s)];
    for (uint32_t t = step.first_tensor; t < step.first_tensor + step.num_in; ++t)
      if (arrays_[t].is_none())
        arrays_[t] = NDArray(places[t].type->shape, places[t].type->dtype, plan_->options().device);
  }
}

void PlanInstance::run(const Plan::Segment& segment, Externals externals, const RunContext& context,
                       bool pass_trains) {
  ensure_placed();
  if (!arrays_.empty()) {
    bind_arrays(segment, externals);
    // What was recorded is of training, which is all but every pass.
    if (replay_ != nullptr && pass_trains) {
      return replay_->run(segment, arrays_, context, [&](int s) {
        run_step_on_gpu(plan_->steps()[static_cast<std::size_t>(s)], context, true);
      });
    }
    for (int s = segment.first_step; s < segment.last_step; ++s)
      run_step_on_gpu(plan_->steps()[static_cast<std::size_t>(s)], context, pass_trains);
    return;
  }
  bind(segment, externals);
  if (!segment.narrow) {
    follow_omp_width();
    return run_steps(segment, externals, context, pass_trains);
  }
  const OneThread narrow;
  run_steps(segment, externals, context, pass_trains);
}

void PlanInstance::run_steps(const Plan::Segment& segment, Externals externals,
                             const RunContext& context, bool pass_trains) {
  const std::span<const Plan::Step> steps = plan_->steps();
  auto turned = plan_->turned().begin();
  const auto end = plan_->turned().end();
  for (int s = segment.first_step; s < segment.last_step; ++s) {
    if (turned == end || s != turned->first_step) [[likely]] {
      run_step(segment, steps[static_cast<std::size_t>(s)], externals, context, pass_trains);
      continue;
    }
    run_turns(segment, *turned, externals, context);
    s = turned++->last_step - 1;
  }
}

void PlanInstance::run_turns(const Plan::Segment& segment, const Plan::TurnedSteps& turned,
                             Externals externals, const RunContext& context) {
  int turn = 0;
  try {
    for (; turn < turned.times; ++turn) {
      for (int s = turned.first_step; s < turned.last_step; ++s)
        run_step(segment, plan_->steps()[static_cast<std::size_t>(s)], externals, context, true);
      move(turned, 1);
    }
  } catch (...) {
    move(turned, -turn);
    throw;
  }
  move(turned, -turn);
}

// Those tensors whose values are there for all turns.
void PlanInstance::move(const Plan::TurnedSteps& turned, std::ptrdiff_t turns) {
  for (const Plan::TurnedSteps::Moving& moving : turned.moving) {
    void*& data = tensors_[moving.tensor].data;
    data = static_cast<char*>(data) + turns * static_cast<std::ptrdiff_t>(moving.bytes);
  }
}

void PlanInstance::run_step(const Plan::Segment& segment, const Plan::Step& step,
                            Externals externals, const RunContext& context, bool pass_trains) {
  const Plan& plan = *plan_;
  PlanScratch& scratch = *pieces()[step.workspace].scratch;
  try {
    Tensor* const first = tensors_.data() + step.first_tensor;
    const std::span<const Tensor> in(first, step.num_in);
    const std::span<const Tensor> out(first + step.num_in, step.num_out);
    if (step.accumulate) [[unlikely]] {
      accumulate(out[0], in[0]);
      return;
    }
    const Span span(SpanKind::kSymbolic, step.title);
    StepResources resources(scratch, plan, segment, step, externals);
    KernelContext kernel_context(in, out, context.device, context.stream, trains(step, pass_trains),
                                 resources);
    if (step.prepared != nullptr) {
      runs_[static_cast<std::size_t>(&step - plan.steps().data())]->run(
          kernel_context, std::span(origins_).subspan(step.first_tensor, step.num_in));
    } else {
      step.kernel->run(step.params, kernel_context);
    }
    scratch.reset();
  } catch (...) {
    scratch.reset();
    rethrow_told_by(*step.op, plan.step_name(step));
  }
}

void PlanInstance::run_step_on_gpu(const Plan::Step& step, const RunContext& context,
                                   bool pass_trains) {
  const std::span<const NDArray> all(arrays_.data() + step.first_tensor,
                                     std::size_t{step.num_in} + step.num_out);
  const int kept = step.kept ? plan_->tensors()[step.first_tensor + step.num_in].kept : -1;
  if (step.kept) {
    if (kept_.is_current(kept, all.first(step.num_in))) return;
    kept_.forget(kept);  // it may fail half-way
  }
  const Request add = Request::kAdd;
  const ArrayRefs refs(all);
  const Span span(SpanKind::kSymbolic, step.title);
  try {
    run_kernel({.op = *step.op,
                .kernel = *step.kernel,
                .params = step.params,
                .in = refs.first(step.num_in),
                .out = refs.from(step.num_in),
                .requests = step.accumulate ? std::span(&add, 1) : std::span<const Request>(),
                .training = trains(step, pass_trains)},
               context);
  } catch (...) {
    rethrow_told_by(*step.op, plan_->step_name(step));
  }
  if (step.kept) kept_.computed(kept, all.first(step.num_in));
}

uint32_t PlanInstance::list_variables(const Plan::Segment& segment, Externals externals,
                                      std::vector<Var*>* reads, std::vector<Var*>* writes) const {
  reads->clear();
  writes->clear();
  const auto add_arenas = [&](uint32_t which, std::vector<Var*>* list) {
    for (std::size_t a = 0; a < pieces().size(); ++a)
      if ((which >> a & 1) != 0) list->push_back(pieces()[a].chunk->var());
  };
  add_arenas(segment.arenas_begun, writes);
  const auto begun = static_cast<uint32_t>(writes->size());
  add_arenas(segment.arenas_written & ~segment.arenas_begun, writes);
  add_arenas(segment.arenas_read, reads);
  for (const Plan::Use& use : plan_->uses(segment))
    (use.writes ? writes : reads)
        ->push_back(externals[static_cast<std::size_t>(use.external)].var());
  if (segment.random) writes->push_back(RandomStreams::of(plan_->options().device).var());
  if (segment.random_on_host) writes->push_back(RandomStreams::of(Device::cpu()).var());
  dedup_variables(reads, writes);
  return begun;
}

}  // namespace mxnet
