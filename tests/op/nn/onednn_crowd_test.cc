// SPDX-License-Identifier: Apache-2.0
// A thread whose regions oneDNN begins looks whether other programs need the cores.
#include <gtest/gtest.h>
#include <omp.h>

#include <chrono>
#include <thread>

#include "base/cpu_info.h"
#include "base/crowd_watch.h"
#include "base/of_thread.h"
#include "kernel_call.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

TEST(OnednnCrowd, AThreadThatRunsPrimitivesTakesStockFromTimeToTime) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (allowed_cpus().size() == 1) GTEST_SKIP() << "nobody is waited for";
  constexpr std::pair<std::string_view, std::string_view> kConvolution[] = {
      {"kernel", "(1, 1)"}, {"num_filter", "64"}, {"no_bias", "True"}};
  FloatArray x(Shape{4, 64, 28, 28}, 1), w(Shape{64, 64, 1, 1}, 1), y(Shape{4, 64, 28, 28});
  int stocks = 0;
  std::thread([&] {
    omp_set_num_threads(2);
    const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    do {
      ASSERT_EQ(run_first("Convolution", kConvolution, {x.tensor(), w.tensor()}, {y.tensor()}),
                "onednn");
      stocks = of_thread<CrowdWatch>().stocks();
    } while (stocks < 2 && std::chrono::steady_clock::now() < last);
  }).join();
  EXPECT_GE(stocks, 2);
}

}  // namespace
}  // namespace mxnet
