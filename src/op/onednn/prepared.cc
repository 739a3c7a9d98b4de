// SPDX-License-Identifier: Apache-2.0
// Running prepared primitives.
#include "op/onednn/prepared.h"

#include <omp.h>

#include <memory>

#include "base/error.h"
#include "op/inline_vector.h"

namespace mxnet::onednn {
namespace {

dnnl::memory without_data(const dnnl::memory::desc& desc) {
  return dnnl::memory(desc, engine(), DNNL_MEMORY_NONE);
}

class PrimitiveKernel final : public PreparedKernel {
 public:
  PrimitiveKernel(Compile compile, std::vector<Argument> arguments, std::vector<LayoutRef> in,
                  std::vector<LayoutRef> out, Width width)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        primitive_(std::move(compile)),
        arguments_(std::move(arguments)),
        width_(width) {}

  std::unique_ptr<PreparedRun> make_run() const override {
    return std::make_unique<Run>(primitive_, arguments_, width_);
  }

 private:
  class Run final : public PreparedRun {
   public:
    Run(const SharedPrimitive& primitive, std::span<const Argument> arguments, Width width)
        : run_(primitive, arguments, width) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      run_.run(context);
    }

   private:
    PrimitiveRun run_;
  };
  const SharedPrimitive primitive_;
  const std::vector<Argument> arguments_;
  const Width width_;
};

}  // namespace

Compile compile_found(dnnl::primitive_desc_base found, Describe again) {
  auto once = std::make_shared<dnnl::primitive_desc_base>(std::move(found));
  return [once, again = std::move(again), threads = omp_get_max_threads()] {
    dnnl::primitive_desc_base desc = std::exchange(*once, {});
    if (!desc || omp_get_max_threads() != threads) desc = again();
    return Compiled{dnnl::primitive(desc.get()), desc.scratchpad_desc()};
  };
}

Compiled SharedPrimitive::get() const {
  const int threads = omp_get_max_threads();
  const MutexLock lock(mutex_);
  for (const auto& [count, compiled] : compiled_)
    if (count == threads) return compiled;
  return compiled_.emplace_back(threads, compile_()).second;
}

PrimitiveRun::PrimitiveRun(const SharedPrimitive& primitive, std::span<const Argument> arguments,
                           Width width)
    : primitive_(primitive), width_(width) {
  for (const Argument& argument : arguments)
    bound_.push_back({argument.id, argument.tensor, without_data(argument.desc)});
}

void PrimitiveRun::compile() {
  threads_ = omp_get_max_threads();
  compiled_ = primitive_.get();
  scratchpad_bytes_ = compiled_.scratchpad.get_size();
  if (scratchpad_bytes_ > 0) scratchpad_ = without_data(compiled_.scratchpad);
}

void PrimitiveRun::run(const KernelContext& context, std::span<void* const> given) {
  const OneThreadIf narrow(width_ == Width::kOne);
  if (threads_ != omp_get_max_threads()) compile();
  InlineVector<dnnl_exec_arg_t, 12> list;
  auto next_given = given.begin();
  for (Bound& bound : bound_) {
    void* data = nullptr;
    if (bound.tensor < 0) {
      data = *next_given++;
    } else {
      data = bound.tensor < context.num_in() ? context.in(bound.tensor).data
                                             : context.out(bound.tensor - context.num_in()).data;
    }
    bound.memory.set_data_handle(data);
    list.push_back({bound.id, bound.memory.get()});
  }
  if (scratchpad_bytes_ > 0) {
    scratchpad_.set_data_handle(context.workspace(scratchpad_bytes_));
    list.push_back({DNNL_ARG_SCRATCHPAD, scratchpad_.get()});
  }
  execute(compiled_.primitive, list.span());
}

PreparedKernelRef prepared_primitive(Compile compile, std::vector<Argument> arguments,
                                     std::vector<LayoutRef> in, std::vector<LayoutRef> out,
                                     Width width) {
  return std::make_shared<const PrimitiveKernel>(std::move(compile), std::move(arguments),
                                                 std::move(in), std::move(out), width);
}

Width width_of_bytes(std::span<const Argument> arguments) {
  // Up to here two threads were slower behind a layer that both have computed, above they take as
  // long ("Small steps" in docs/onednn.md).
  constexpr std::size_t kFew = std::size_t{1} << 18;
  std::size_t bytes = 0;
  for (const Argument& argument : arguments) bytes += argument.desc.get_size();
  return bytes <= kFew ? Width::kOne : Width::kAll;
}

PreparedKernelRef prepared_move(Compile compile, std::vector<Argument> arguments,
                                std::vector<LayoutRef> in, std::vector<LayoutRef> out) {
  const Width width = width_of_bytes(arguments);
  return prepared_primitive(std::move(compile), std::move(arguments), std::move(in), std::move(out),
                            width);
}

}  // namespace mxnet::onednn
