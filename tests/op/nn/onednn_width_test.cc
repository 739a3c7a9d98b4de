// SPDX-License-Identifier: Apache-2.0
// Steps that only move a few bytes begin no regions: other threads would have to wake for them.
#include <gtest/gtest.h>
#include <omp.h>

#include <filesystem>
#include <numeric>
#include <thread>

#include "kernel_call.h"
#include "op/onednn/prepared.h"
#include "openmp_under_tsan.h"

namespace mxnet::onednn {
namespace {

using dnnl::memory;

std::ptrdiff_t threads_of_process() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/task"), {});
}

// How many threads a thread's first steps of this kind have started: images of so many channels
// are put behind one another, on up to three threads.
std::ptrdiff_t started_by_moves_of(int64_t channels) {
  std::ptrdiff_t started = 0;
  std::thread([&] {
    omp_set_num_threads(3);
    const memory::dims dims{1, channels, 8, 8};
    const memory::desc plain = plain_desc(dims, memory::data_type::f32),
                       behind = channels_behind(dims, memory::data_type::f32);
    const auto compile = [&] {
      return compiled<dnnl::reorder>(
          dnnl::reorder::primitive_desc(engine(), plain, engine(), behind, attributes()));
    };
    FloatArray from(Shape{1, channels, 8, 8}), to(Shape{1, 8, 8, channels});
    std::iota(from.values.begin(), from.values.end(), 0.0F);
    const PreparedKernelRef kernel = prepared_move(
        compile, {{DNNL_ARG_FROM, plain, 0}, {DNNL_ARG_TO, behind, 1}}, {nullptr}, {nullptr});
    const auto run = kernel->make_run();
    CountingResources resources;
    const Tensor in = from.tensor(), out = to.tensor();
    const KernelContext context({&in, 1}, {&out, 1}, Device::cpu(), nullptr, false, resources);
    const std::ptrdiff_t before = threads_of_process();
    run->run(context, {});
    started = threads_of_process() - before;
    EXPECT_EQ(omp_get_max_threads(), 3);
    std::size_t wrong = 0;
    for (int64_t i = 0; i < from.shape.size(); ++i)
      wrong +=
          to.values[static_cast<std::size_t>(i % 64 * channels + i / 64)] != static_cast<float>(i);
    EXPECT_EQ(wrong, 0u);
  }).join();
  return started;
}

TEST(OnednnWidth, FewBytesAreMovedByOneThread) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  EXPECT_EQ(started_by_moves_of(16), 0);
  EXPECT_EQ(started_by_moves_of(512), 0);  // 256 KiB with what is written
  EXPECT_EQ(started_by_moves_of(4096), 2);
}

}  // namespace
}  // namespace mxnet::onednn
