// SPDX-License-Identifier: Apache-2.0
// The table of choices and its file: a line "layer tile" for each, appended.
#include "op/fused/conv_trials.h"

#include <fmt/format.h>
#include <omp.h>
#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>

#include "base/config.h"
#include "base/leaked.h"
#include "base/lock.h"
#include "base/log.h"
#include "base/simd.h"
#include "op/fused/packed_weight.h"
#include "op/fused/winograd.h"

namespace mxnet {
namespace {

// A trial is the shortest of so many runs; the first one only warms the caches.
constexpr int kRuns = 4;
// What Winograd must win by: its results are rounded in more places.
constexpr double kMargin = 1.03;
// Against bfloat16 it must also pay for the steps that convert on both sides.
constexpr double kMarginToBFloat16 = 1.1;

struct Choices {
  Mutex mutex;
  std::map<std::string, int> tiles MX_GUARDED_BY(mutex);
  std::string read_from MX_GUARDED_BY(mutex);  // the file that `tiles` holds all of
};
Choices& choices() {
  static Leaked<Choices> choices;
  return *choices;
}

// The file, `~` replaced by the home of the user.
std::filesystem::path file_of(const std::string& name) {
  if (!name.starts_with("~/")) return name;
  const passwd* user = getpwuid(getuid());
  return std::filesystem::path(user != nullptr ? user->pw_dir : ".") / name.substr(2);
}

void read(const std::filesystem::path& path, std::map<std::string, int>* tiles) {
  std::ifstream file(path);
  std::string key;
  int tile = 0;
  // A line that is cut off, or of another kind, ends what is believed.
  while (file >> key >> tile && (tile == 0 || tile == 2 || tile == 4)) (*tiles)[key] = tile;
}

void append(const std::filesystem::path& path, const std::string& key, int tile) {
  std::error_code ignored;
  std::filesystem::create_directories(path.parent_path(), ignored);
  std::ofstream file(path, std::ios::app);
  file << fmt::format("{} {}\n", key, tile);
  file.close();
  if (!file)
    log(LogLevel::kWarning, fmt::format("MXNET_ONEDNN_TRIALS: cannot write {}; layers will be "
                                        "timed again by the next process",
                                        path.string()));
}

}  // namespace

std::string trial_key(const WinogradDesc& d, DType direct, int threads) {
  const bool usual = d.kernel_y == 3 && d.kernel_x == 3;
  // Choices from before there were products of pairs are not believed where there are.
  const bool pairs = winograd_with_tile(d, 2, direct).pairs;
  return fmt::format("{}x{}x{}x{}:{}:{}pad{},{}:{}:simd{}:threads{}{}{}", d.batch, d.channels,
                     d.height, d.width, d.filters,
                     usual ? "" : fmt::format("kernel{}x{}:", d.kernel_y, d.kernel_x), d.pad_y,
                     d.pad_x, d.src_blocked ? "blocked" : "plain", simd_level(), threads,
                     direct == DType::kBFloat16 ? ":bfloat16" : "", pairs ? ":pairs" : "");
}

double seconds_of_winograd(const WinogradDesc& desc, int threads) {
  const WinogradConv conv(desc, WinogradConv::best_isa());
  const int64_t block = conv.block(), blocks = (desc.channels + block - 1) / block;
  const int64_t map_blocks = (desc.filters + block - 1) / block;
  const auto bytes = [&](int64_t groups, int64_t rows, int64_t columns) {
    return static_cast<std::size_t>(desc.batch * groups * block * rows * columns) * sizeof(float);
  };
  const PackedFloats src(bytes(blocks, desc.height, desc.width));
  const PackedFloats dst(bytes(map_blocks, desc.height + 2 * desc.pad_y - desc.kernel_y + 1,
                               desc.width + 2 * desc.pad_x - desc.kernel_x + 1));
  const PackedFloats packed(conv.packed_bytes()), workspace(conv.workspace_bytes(threads));
  std::fill_n(src.floats(), src.bytes() / sizeof(float), 1.0F);
  std::fill_n(packed.floats(), packed.bytes() / sizeof(float), 1.0F);
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < kRuns; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    conv.run(src.floats(), packed.floats(), {}, dst.floats(), workspace.data(), threads);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    if (i > 0) best = std::min(best, time.count());
  }
  return best;
}

int fastest_tile(const ConvGeometry& g, const WinogradDesc& desc, DType direct) {
  const int threads = omp_get_max_threads();
  const std::string key = trial_key(desc, direct, threads), file = config().onednn.trials;
  Choices& all = choices();
  const MutexLock lock(all.mutex);
  if (!file.empty() && all.read_from != file) {
    read(file_of(file), &all.tiles);
    all.read_from = file;
  }
  if (const auto at = all.tiles.find(key); at != all.tiles.end()) return at->second;
  const double margin = direct == DType::kBFloat16 ? kMarginToBFloat16 : kMargin;
  double best = seconds_of_direct(g, direct, threads) / margin;
  int tile = 0;
  for (const int candidate : {4, 2}) {
    const WinogradDesc tried = winograd_with_tile(desc, candidate, direct);
    if (!WinogradConv::supported(tried)) continue;
    const double time = seconds_of_winograd(tried, threads);
    if (time >= best) continue;
    best = time;
    tile = candidate;
  }
  all.tiles[key] = tile;
  if (!file.empty()) append(file_of(file), key, tile);
  return tile;
}

}  // namespace mxnet
