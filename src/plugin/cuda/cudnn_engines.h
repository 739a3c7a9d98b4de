// SPDX-License-Identifier: Apache-2.0
// Which of cuDNN's engines computes a convolution: the documented variables as a policy, and the
// choice as a pure function over descriptions, so that all of it is tested without a GPU. Reading
// descriptions out of cuDNN, and timing, is the caller's part.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/config_sections.h"

namespace mxnet::cuda {

enum class ConvPass : uint8_t { kForward, kDataGradient, kWeightGradient };

// What an engine says about its arithmetic. Numbers and order are those of
// cudnnBackendNumericalNote_t.
// clang-format off
#define MX_NUMERICAL_NOTES(NOTE) \
  NOTE(TENSOR_CORE) NOTE(DOWN_CONVERT_INPUTS) NOTE(REDUCED_PRECISION_REDUCTION) NOTE(FFT) \
  NOTE(NONDETERMINISTIC) NOTE(WINOGRAD) NOTE(WINOGRAD_TILE_4x4) NOTE(WINOGRAD_TILE_6x6) \
  NOTE(WINOGRAD_TILE_13x13) NOTE(STRICT_NAN_PROP)
// clang-format on
enum class NumericalNote : int {
#define MX_NOTE_ID(name) name,
  MX_NUMERICAL_NOTES(MX_NOTE_ID)
#undef MX_NOTE_ID
};
const char* note_name(NumericalNote note);

struct EngineKnob {
  int64_t type, value;  // both cuDNN's
  bool operator==(const EngineKnob&) const = default;
};

// One way to compute, as cuDNN's heuristics list it.
struct EngineConfig {
  int64_t engine = 0;  // global index
  std::vector<EngineKnob> knobs;
  std::vector<NumericalNote> notes;
  std::size_t workspace = 0;  // bytes

  bool has(NumericalNote note) const;
};

enum class Autotune : uint8_t {
  kHeuristics = 0,      // the first that is permitted and fits the workspace limit
  kFastestWithinLimit,  // the fastest of those
  kFastest,             // the fastest, whatever it needs
};

struct EnginePolicy {
  bool tensor_core = true;
  bool down_conversion = false;  // float32 rounded on its way into tensor cores
  bool reduced_precision_reduction = true;
  bool fft = true, winograd = true;
  bool deterministic = false;
  std::vector<int64_t> disabled;  // engines by number
  Autotune autotune = Autotune::kFastestWithinLimit;
  std::size_t workspace_limit = 0;  // bytes
  int verbose = 0;                  // 1: report the choice; 2: everything
};

// From the variables; `tune` and `workspace_mib` are the convolution's own parameters, which come
// before MXNET_CUDNN_AUTOTUNE_DEFAULT.
EnginePolicy engine_policy(const CudaConfig& config, ConvPass pass, std::optional<Autotune> tune,
                           int64_t workspace_mib);

// What is tried for a convolution in a half type of which the policy leaves nothing: cuDNN may have
// it on tensor cores alone, which sum up in float as well. Nothing where they are permitted anyway.
std::optional<EnginePolicy> with_tensor_cores(const EnginePolicy& policy);

// Why the policy forbids a configuration, in words; nothing if it does not.
std::optional<std::string> exclusion(const EngineConfig& config, const EnginePolicy& policy);

// Plans that are made so that their times can be taken. Heuristics list the likeliest engines
// first, and of a graph of operations each plan is compiled, which takes a good part of a second:
// a network of dozens of convolutions would begin to run after minutes. So behind the first few no
// more are begun once they have taken so many seconds.
constexpr int kMostTimed = 10, kLeastTimed = 2;
constexpr double kMostMaking = 0.5;

// make(i) for offers from the first on, until as many plans as the policy has use for are there;
// true of those that are permitted and run. `seconds`: what has passed since the call.
void make_plans(std::size_t offers, const EnginePolicy& policy,
                const std::function<bool(std::size_t)>& make,
                const std::function<double()>& seconds);

// Milliseconds of one run; nothing if it does not run. Error(kOutOfMemory): not now.
using EngineTimer = std::function<std::optional<double>(const EngineConfig& config)>;

struct EngineChoice {
  std::optional<std::size_t> chosen;  // position in the list; none = nothing is left
  std::string report;                 // what the verbose level asks for, a line each; else empty
  std::exception_ptr no_room;         // why a candidate was missed that may run another time
};

// `candidates` in the order of the heuristics. `title` names the convolution in the report. Times
// are taken only where the policy needs them, ties go to the earlier one.
EngineChoice choose_engine(const std::string& title, const std::vector<EngineConfig>& candidates,
                           const EnginePolicy& policy, const EngineTimer& timer);

// What a choice is kept under: everything that it depends on.
std::string choice_key(const std::string& gpu, int64_t cudnn_version,
                       const std::string& convolution, const EnginePolicy& policy);

}  // namespace mxnet::cuda
