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
                  std::vector<LayoutRef> out)
      : PreparedKernel("onednn", std::move(in), std::move(out)),
        primitive_(std::move(compile)),
        arguments_(std::move(arguments)) {}

  std::unique_ptr<PreparedRun> make_run() const override {
    return std::make_unique<Run>(primitive_, arguments_);
  }

 private:
  class Run final : public PreparedRun {
   public:
    Run(const SharedPrimitive& primitive, std::span<const Argument> arguments)
        : run_(primitive, arguments) {}
    void run(const KernelContext& context, std::span<const InputOrigin>) override {
      run_.run(context);
    }

   private:
    PrimitiveRun run_;
  };
  const SharedPrimitive primitive_;
  const std::vector<Argument> arguments_;
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

PrimitiveRun::PrimitiveRun(const SharedPrimitive& primitive, std::span<const Argument> arguments)
    : primitive_(primitive) {
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
                                     std::vector<LayoutRef> in, std::vector<LayoutRef> out) {
  return std::make_shared<const PrimitiveKernel>(std::move(compile), std::move(arguments),
                                                 std::move(in), std::move(out));
}

}  // namespace mxnet::onednn
