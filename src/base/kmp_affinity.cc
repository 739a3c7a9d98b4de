// SPDX-License-Identifier: Apache-2.0
// A word at a time: modifiers, the type, permute, offset. Then the machine's CPUs are sorted as the
// type asks.
#include "base/kmp_affinity.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"

namespace mxnet {
namespace {

constexpr int kLevels = 3;  // package, core, thread

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  constexpr std::size_t kShown = 100;  // a value can be a megabyte
  throw Error(ErrorCode::kValue, "KMP_AFFINITY",
              fmt::format("given '{}'{}: {}; supported is "
                          "[granularity=fine|thread|core,][verbose|noverbose,][respect|norespect,]"
                          "none|disabled|compact|scatter[,permute 0..2][,offset >= 0]",
                          text.substr(0, kShown), text.size() > kShown ? "..." : "", why));
}

std::vector<std::string> split_lower(std::string_view text) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (c == ',') {
      words.emplace_back();
    } else if (std::isspace(static_cast<unsigned char>(c)) == 0) {
      words.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return words;
}

// False when `word` is no modifier.
bool apply_modifier(const std::string& word, std::string_view text, KmpAffinity& out) {
  if (word == "verbose" || word == "noverbose") {
    out.verbose = word == "verbose";
  } else if (word == "respect" || word == "norespect") {
    out.respect = word == "respect";
  } else if (word == "warnings" || word == "nowarnings" || word == "reset" || word == "noreset") {
    // Known to Intel's runtime and without meaning here: nothing to warn of, nothing to reset.
  } else if (word == "granularity=fine" || word == "granularity=thread") {
    out.granularity = AffinityGranularity::kThread;
  } else if (word == "granularity=core") {
    out.granularity = AffinityGranularity::kCore;
  } else if (word.starts_with("granularity=")) {
    refuse(text, fmt::format("'{}' is not supported", word));
  } else {
    return false;
  }
  return true;
}

bool apply_type(const std::string& word, KmpAffinity& out) {
  if (word == "none" || word == "disabled") {
    out.type = AffinityType::kNone;
  } else if (word == "compact") {
    out.type = AffinityType::kCompact;
  } else if (word == "scatter") {
    out.type = AffinityType::kScatter;
  } else {
    return false;
  }
  return true;
}

int parse_count(const std::string& word, std::string_view text, int limit) {
  int value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0 || value > limit) {
    refuse(text, fmt::format("'{}' is not a number from 0 to {}", word, limit));
  }
  return value;
}

// Sort key of a CPU: `permute` innermost levels first, from the inside out, then the others from
// the outside in.
std::array<int, kLevels> sort_key(const LogicalCpu& cpu, int permute) {
  const std::array<int, kLevels> levels = {cpu.package, cpu.core, cpu.thread};
  std::array<int, kLevels> key{};
  for (int i = 0; i < kLevels; ++i) {
    key[i] = i < permute ? levels[kLevels - 1 - i] : levels[i - permute];
  }
  return key;
}

}  // namespace

KmpAffinity parse_kmp_affinity(std::string_view text) {
  KmpAffinity affinity;
  const std::vector<std::string> words = split_lower(text);
  std::size_t at = 0;
  while (at < words.size() && apply_modifier(words[at], text, affinity)) ++at;
  if (at == words.size()) refuse(text, "the type is missing");
  if (!apply_type(words[at], affinity)) {
    refuse(text, fmt::format("'{}' is not supported", words[at].substr(0, 40)));
  }
  ++at;
  if (at < words.size()) affinity.permute = parse_count(words[at++], text, kLevels - 1);
  if (at < words.size()) affinity.offset = parse_count(words[at++], text, 1 << 20);
  if (at < words.size()) refuse(text, "nothing may follow the offset");
  return affinity;
}

std::vector<std::vector<int>> affinity_places(const KmpAffinity& affinity,
                                              const std::vector<LogicalCpu>& cpus) {
  if (affinity.type == AffinityType::kNone) return {};
  // Scatter is compact seen from the other end: neighbours differ in the outermost level.
  const int permute =
      affinity.type == AffinityType::kScatter ? kLevels - 1 - affinity.permute : affinity.permute;
  std::vector<LogicalCpu> sorted = cpus;
  std::stable_sort(sorted.begin(), sorted.end(), [&](const LogicalCpu& a, const LogicalCpu& b) {
    return sort_key(a, permute) < sort_key(b, permute);
  });
  std::vector<std::vector<int>> places;
  for (const LogicalCpu& cpu : sorted) {
    if (affinity.granularity == AffinityGranularity::kThread) {
      places.push_back({cpu.id});
    } else if (cpu.thread == 0) {  // a place a core, in the order of its first thread
      places.emplace_back();
      for (const LogicalCpu& other : cpus) {
        if (other.package == cpu.package && other.core == cpu.core)
          places.back().push_back(other.id);
      }
    }
  }
  return places;
}

}  // namespace mxnet
