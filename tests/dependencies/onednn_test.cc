// SPDX-License-Identifier: Apache-2.0
// mx::onednn links, is new enough, and computes on the GNU OpenMP runtime.
#include <gtest/gtest.h>
#include <dnnl.hpp>

#include <array>

namespace {

TEST(OneDNN, IsAtLeast3_2WithOpenMP) {
  const dnnl_version_t* version = dnnl_version();
  EXPECT_GE(version->major * 100 + version->minor, 302);
  EXPECT_EQ(version->cpu_runtime, static_cast<unsigned>(DNNL_RUNTIME_OMP));
}

TEST(OneDNN, MultipliesMatrices) {
  std::array<float, 4> a{1, 2, 3, 4}, b{5, 6, 7, 8}, c{};
  const auto status =
      dnnl::sgemm('N', 'N', 2, 2, 2, 1.0F, a.data(), 2, b.data(), 2, 0.0F, c.data(), 2);
  ASSERT_EQ(status, dnnl::status::success);
  EXPECT_EQ(c, (std::array<float, 4>{19, 22, 43, 50}));
}

}  // namespace
