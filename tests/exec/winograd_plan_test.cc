// SPDX-License-Identifier: Apache-2.0
// Plans whose convolutions may run by Winograd's method: who decides about it, and the file that
// keeps what was timed.
#include <gtest/gtest.h>

#include <omp.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "exec/network_fixture.h"
#include "op/fused/conv_trials.h"
#include "op/fused/winograd.h"
#include "op/nn/winograd_pairs.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

// A file of its own for trials.
class TrialsFile {
 public:
  // Those of a process are read again where the name is another one.
  explicit TrialsFile(const std::string& suffix = "") : path_(path_of(suffix)) {
    std::filesystem::remove(path_);
  }
  ~TrialsFile() { std::filesystem::remove(path_); }
  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  static std::string path_of(const std::string& suffix) {
    return testing::TempDir() + "/convolution_trials" + std::to_string(::getpid()) + suffix +
           ".txt";
  }
  const std::string path_;
};

TEST(WinogradConfig, TheRowChoosesWhoDecides) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  static int64_t channels = 0;
  channels += 32;  // a process times each shape once: another one when the test is repeated
  Network net({1, channels, 24, 24});
  const Value output = net.conv("c", net.data(), channels, channels);
  const TrialsFile trials;
  const Setting file("MXNET_ONEDNN_TRIALS", trials.path());
  EXPECT_EQ(net.check(output).steps("[winograd]"), 1);
  EXPECT_EQ(trials.text(), "");
  {
    const Setting off("MXNET_ONEDNN_WINOGRAD", "off");
    EXPECT_EQ(net.check(output).steps("[winograd]"), 0);
  }
  const Setting measure("MXNET_ONEDNN_WINOGRAD", "measure");
  {
    const Setting deterministic("MXNET_ENFORCE_DETERMINISM", "1");
    EXPECT_EQ(net.check(output).steps("[winograd]"), 1);
    EXPECT_EQ(trials.text(), "") << "what is timed may turn out otherwise next time";
  }
  net.check(output);
  const std::string width = std::to_string(channels);
  EXPECT_EQ(count(trials.text(), "1x" + width + "x24x24:" + width + ":pad1,1"), 1);
}

TEST(WinogradConfig, SmallMapsHaveSmallTilesAndTheSmallestNone) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  for (const auto& [size, layers] : {std::pair{14, 1}, {7, 1}, {4, 1}, {3, 0}}) {
    Network net({1, 32, size, size});
    EXPECT_EQ(net.check(net.conv("c", net.data(), 32, 32)).steps("[winograd]"), layers) << size;
  }
}

TEST(WinogradConfig, LongKernelsToo) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  struct Case {
    const char *kernel, *pad;
    int rows, columns;
    bool chosen;
  };
  for (const Case& c : {Case{"(5,5)", "(2,2)", 5, 5, true}, Case{"(1,3)", "(0,1)", 1, 3, true},
                        Case{"(3,1)", "(1,0)", 3, 1, true}, Case{"(1,7)", "(0,3)", 1, 7, true},
                        Case{"(7,1)", "(3,0)", 7, 1, true}, Case{"(3,5)", "(1,2)", 3, 5, false}}) {
    Network net({1, 32, 17, 17});
    const Value weight = net.input("c_weight", {48, 32, c.rows, c.columns});
    const Value output = named(
        "c",
        apply("Convolution", {net.data(), weight},
              {{"kernel", c.kernel}, {"pad", c.pad}, {"num_filter", "48"}, {"no_bias", "True"}}));
    EXPECT_EQ(net.check(output).steps("[winograd]"), c.chosen ? 1 : 0) << c.kernel;
  }
}

// How a layer of so many channels that suits the method runs by it.
std::optional<WinogradDesc> choice_of(int64_t channels, int64_t kernel, DirectUnits direct) {
  ConvParams params{};
  params.kernel = {kernel, kernel};
  params.stride = params.dilate = {1, 1};
  params.pad = {kernel / 2, kernel / 2};
  params.num_filter = 64;
  params.num_group = 1;
  const ConvGeometry g = conv_geometry(params, {8, channels, 56, 56}, {8, 64, 56, 56}, false);
  return winograd_choice(g, true, WinogradWeights::kKept, direct);
}
bool is_chosen(int64_t kernel, DirectUnits direct) {
  return choice_of(64, kernel, direct).has_value();
}

TEST(WinogradConfig, LayersInBFloat16MultiplyPairsOfChannels) {
  if (!has_winograd_pairs()) GTEST_SKIP() << "needs AVX512_BF16";
  const auto narrow = choice_of(64, 3, DirectUnits::kBFloat16);
  ASSERT_TRUE(narrow.has_value());
  EXPECT_TRUE(narrow->pairs);
  EXPECT_EQ(narrow->tile, 2);
  const auto odd = choice_of(65, 3, DirectUnits::kBFloat16);
  ASSERT_TRUE(odd.has_value());
  EXPECT_FALSE(odd->pairs);
  EXPECT_EQ(odd->tile, 4);
  const auto wide = choice_of(64, 3, DirectUnits::kFloat32);
  ASSERT_TRUE(wide.has_value());
  EXPECT_FALSE(wide->pairs);
  EXPECT_EQ(wide->tile, 4);
  const Setting off("MXNET_ONEDNN_WINOGRAD", "off");
  EXPECT_FALSE(choice_of(64, 3, DirectUnits::kBFloat16).has_value());
}

TEST(WinogradConfig, SmallTilesThatWonATrialInBFloat16MultiplyPairs) {
  if (!has_winograd_pairs()) GTEST_SKIP() << "needs AVX512_BF16";
  const TrialsFile trials("_of_pairs");
  std::ofstream file(trials.path());
  for (const auto& [channels, tile] : {std::pair{66, 2}, {70, 4}, {74, 0}})
    file << "8x" << channels << "x56x56:64:pad1,1:blocked:simd2:threads" << omp_get_max_threads()
         << ":bfloat16:pairs " << tile << "\n";
  file.close();
  const Setting measure("MXNET_ONEDNN_WINOGRAD", "measure"),
      name("MXNET_ONEDNN_TRIALS", trials.path());
  const auto small = choice_of(66, 3, DirectUnits::kBFloat16),
             large = choice_of(70, 3, DirectUnits::kBFloat16);
  ASSERT_TRUE(small.has_value() && large.has_value());
  EXPECT_EQ(small->tile, 2);
  EXPECT_TRUE(small->pairs);
  EXPECT_EQ(large->tile, 4);
  EXPECT_FALSE(large->pairs);
  EXPECT_FALSE(choice_of(74, 3, DirectUnits::kBFloat16).has_value());
}

TEST(WinogradConfig, NothingCompetesWithMatrixUnits) {
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  const auto chosen = [](DirectUnits direct) { return is_chosen(3, direct); };
  EXPECT_TRUE(chosen(DirectUnits::kFloat32));
  EXPECT_TRUE(chosen(DirectUnits::kBFloat16));
  EXPECT_FALSE(chosen(DirectUnits::kBFloat16Tiles));
  const Setting measure("MXNET_ONEDNN_WINOGRAD", "measure");
  EXPECT_FALSE(chosen(DirectUnits::kBFloat16Tiles));
}

TEST(WinogradConfig, LongKernelsMeetNoBFloat16) {
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  const auto chosen = [](DirectUnits direct) { return is_chosen(5, direct); };
  EXPECT_TRUE(chosen(DirectUnits::kFloat32));
  EXPECT_FALSE(chosen(DirectUnits::kBFloat16));
  const Setting measure("MXNET_ONEDNN_WINOGRAD", "measure");
  EXPECT_FALSE(chosen(DirectUnits::kBFloat16)) << "nothing is timed that could not run";
}

TEST(ConvTrials, AFileKeepsThem) {
  MX_SKIP_WHERE_OPENMP_IS_UNSEEN();
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  const Setting measure("MXNET_ONEDNN_WINOGRAD", "measure");
  for (const auto& [channels, tile] : {std::pair{64, 0}, {80, 2}}) {
    // A process reads a file once: each choice stands in one of its own.
    const TrialsFile trials("_with_tile" + std::to_string(tile));
    const std::string line = "1x" + std::to_string(channels) + "x24x24:32:pad1,1:plain:simd" +
                             std::to_string(static_cast<int>(WinogradConv::best_isa())) +
                             ":threads" + std::to_string(omp_get_max_threads()) + " " +
                             std::to_string(tile) + "\n";
    std::ofstream(trials.path()) << line;
    const Setting file("MXNET_ONEDNN_TRIALS", trials.path());
    Network net({1, channels, 24, 24});
    const Value output = net.conv("c", net.data(), channels, 32);
    EXPECT_EQ(net.check(output).steps("[winograd]"), tile == 0 ? 0 : 1) << line;
    EXPECT_EQ(trials.text(), line) << "a layer that was timed is added to the file";
  }
}

TEST(ConvTrials, TimesArePositiveAndKeysTellLayersApart) {
  if (!WinogradConv::has(WinogradConv::Isa::kAvx2)) GTEST_SKIP() << "needs AVX2";
  const WinogradDesc desc{.batch = 1,
                          .channels = 32,
                          .filters = 32,
                          .height = 8,
                          .width = 8,
                          .pad_y = 1,
                          .pad_x = 1,
                          .src_blocked = true,
                          .dst_blocked = true};
  EXPECT_GT(seconds_of_winograd(desc, 1), 0);
  WinogradDesc other = desc;
  other.filters = 48;
  const auto key = [](const WinogradDesc& d, int threads) {
    return trial_key(d, DType::kFloat32, threads);
  };
  EXPECT_NE(key(desc, 1), key(other, 1));
  EXPECT_NE(key(desc, 1), key(desc, 2));
  other = desc;
  other.kernel_y = 1;
  EXPECT_NE(key(desc, 1), key(other, 1));
  EXPECT_NE(key(desc, 1), trial_key(desc, DType::kBFloat16, 1));
}

}  // namespace
}  // namespace mxnet
