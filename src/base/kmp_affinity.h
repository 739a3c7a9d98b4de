// SPDX-License-Identifier: Apache-2.0
// KMP_AFFINITY, the variable by which users of MXNet pin OpenMP threads. Intel's runtime reads it,
// GNU's does not, so it is parsed here, and omp.h pins. Pure functions: text and machine in, places
// out.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cpu_info.h"

namespace mxnet {

enum class AffinityType : uint8_t { kNone, kCompact, kScatter };
enum class AffinityGranularity : uint8_t { kThread, kCore };

struct KmpAffinity {
  AffinityType type = AffinityType::kNone;
  AffinityGranularity granularity = AffinityGranularity::kCore;  // Intel's default
  int permute = 0;  // how many innermost levels of the machine become the most significant ones
  int offset = 0;   // place of the first thread
  bool verbose = false;
  bool respect = true;  // only CPUs that the process was started on
};

// "[modifier,...]type[,permute][,offset]", for example "granularity=fine,compact,1,0". Throws
// Error(kValue) that lists what is supported; explicit lists, "balanced" and coarser granularities
// are not.
KmpAffinity parse_kmp_affinity(std::string_view text);

// The CPUs of each place in order; thread t runs on place (t + offset) mod their number. Empty for
// kNone.
std::vector<std::vector<int>> affinity_places(const KmpAffinity& affinity,
                                              const std::vector<LogicalCpu>& cpus);

}  // namespace mxnet
