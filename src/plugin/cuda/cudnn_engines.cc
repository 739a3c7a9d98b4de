// SPDX-License-Identifier: Apache-2.0
// Filters, ranking and report of engine configurations.
#include "plugin/cuda/cudnn_engines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/config.h"
#include "base/error.h"

namespace mxnet::cuda {
namespace {

// "1,5, 12": the variable's own rule has checked that it is nothing but numbers.
std::vector<int64_t> numbers_in(const std::string& text) {
  std::vector<int64_t> numbers;
  const char *at = text.data(), *end = at + text.size();
  while (at != end) {
    int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error == std::errc()) numbers.push_back(number);
    at = error == std::errc() ? next : at + 1;
  }
  return numbers;
}

const std::string& disabled_text(const CudaConfig& config, ConvPass pass) {
  switch (pass) {
    case ConvPass::kDataGradient:
      return config.cudnn_disabled_conv_dgrad_engines;
    case ConvPass::kWeightGradient:
      return config.cudnn_disabled_conv_wgrad_engines;
    case ConvPass::kForward:
      break;
  }
  return config.cudnn_disabled_conv_fwd_engines;
}

std::string describe(const EngineConfig& config) {
  std::vector<std::string> knobs, notes;
  for (const EngineKnob& knob : config.knobs)
    knobs.push_back(fmt::format("k{}={}", knob.type, knob.value));
  for (const NumericalNote note : config.notes) notes.emplace_back(note_name(note));
  return fmt::format("eng:{} {} [{}] workspace:{}", config.engine, fmt::join(knobs, " "),
                     fmt::join(notes, ","), config.workspace);
}

// One configuration in the report.
struct Line {
  std::string text;
  bool excluded;
};

}  // namespace

const char* note_name(NumericalNote note) {
  static constexpr const char* kNames[] = {
#define MX_NOTE_NAME(name) #name,
      MX_NUMERICAL_NOTES(MX_NOTE_NAME)
#undef MX_NOTE_NAME
  };
  return kNames[static_cast<int>(note)];
}

bool EngineConfig::has(NumericalNote note) const {
  return std::find(notes.begin(), notes.end(), note) != notes.end();
}

EnginePolicy engine_policy(const CudaConfig& config, ConvPass pass, std::optional<Autotune> tune,
                           int64_t workspace_mib) {
  EnginePolicy policy;
  policy.tensor_core = config.allow_tensor_core;
  policy.down_conversion = config.tensor_op_math_allow_conversion;
  policy.reduced_precision_reduction = config.cudnn_allow_reduced_precision_reduction;
  policy.fft = config.cudnn_allow_fft;
  policy.winograd = config.cudnn_allow_winograd;
  policy.deterministic = config.enforce_determinism;
  policy.disabled = numbers_in(disabled_text(config, pass));
  policy.autotune = tune.value_or(static_cast<Autotune>(int{config.cudnn_autotune_default}));
  policy.workspace_limit = static_cast<std::size_t>(workspace_mib) << 20;
  policy.verbose = config.cudnn_algo_verbose_level;
  return policy;
}

std::optional<EnginePolicy> with_tensor_cores(const EnginePolicy& policy) {
  if (policy.tensor_core) return std::nullopt;
  EnginePolicy wider = policy;
  wider.tensor_core = true;
  return wider;
}

std::optional<std::string> exclusion(const EngineConfig& config, const EnginePolicy& policy) {
  using enum NumericalNote;
  const struct {
    NumericalNote note;
    bool allowed;
    const char* variable;
  } rules[] = {
      {TENSOR_CORE, policy.tensor_core, "MXNET_CUDA_ALLOW_TENSOR_CORE=0"},
      {DOWN_CONVERT_INPUTS, policy.down_conversion, "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION=0"},
      {REDUCED_PRECISION_REDUCTION, policy.reduced_precision_reduction,
       "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION=0"},
      {FFT, policy.fft, "MXNET_CUDNN_ALLOW_FFT=0"},
      {WINOGRAD, policy.winograd, "MXNET_CUDNN_ALLOW_WINOGRAD=0"},
      {WINOGRAD_TILE_4x4, policy.winograd, "MXNET_CUDNN_ALLOW_WINOGRAD=0"},
      {WINOGRAD_TILE_6x6, policy.winograd, "MXNET_CUDNN_ALLOW_WINOGRAD=0"},
      {WINOGRAD_TILE_13x13, policy.winograd, "MXNET_CUDNN_ALLOW_WINOGRAD=0"},
      {NONDETERMINISTIC, !policy.deterministic, "MXNET_ENFORCE_DETERMINISM=1"},
  };
  for (const auto& rule : rules)
    if (!rule.allowed && config.has(rule.note)) return rule.variable;
  if (std::find(policy.disabled.begin(), policy.disabled.end(), config.engine) !=
      policy.disabled.end())
    return "MXNET_CUDNN_DISABLED_CONV_*_ENGINES";
  if (policy.autotune != Autotune::kFastest && config.workspace > policy.workspace_limit)
    return fmt::format("more workspace than {} bytes", policy.workspace_limit);
  return std::nullopt;
}

void make_plans(std::size_t offers, const EnginePolicy& policy,
                const std::function<bool(std::size_t)>& make,
                const std::function<double()>& seconds) {
  const int most = policy.autotune == Autotune::kHeuristics ? 1 : kMostTimed;
  int made = 0;
  for (std::size_t i = 0; i < offers && made < most; ++i) {
    if (made >= kLeastTimed && seconds() >= kMostMaking) break;
    if (make(i)) ++made;
  }
}

EngineChoice choose_engine(const std::string& title, const std::vector<EngineConfig>& candidates,
                           const EnginePolicy& policy, const EngineTimer& timer) {
  EngineChoice choice;
  std::optional<double> best;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const EngineConfig& config = candidates[i];
    std::optional<std::string> reason = exclusion(config, policy);
    std::string time;
    if (!reason && policy.autotune != Autotune::kHeuristics) {
      std::optional<double> ms;
      try {
        ms = timer(config);
      } catch (const Error& error) {
        if (error.code() != ErrorCode::kOutOfMemory) throw;
        choice.no_room = std::current_exception();
        reason = "finds no room for its workspace";
      }
      if (!ms) {
        if (!reason) reason = "does not run";
      } else {
        time = fmt::format(" time:{:.4f}ms", *ms);
        if (!best || *ms < *best) {
          best = ms;
          choice.chosen = i;
        }
      }
    } else if (!reason && !choice.chosen) {
      choice.chosen = i;
    }
    lines.push_back(
        {fmt::format("{} {}{}{}", i, describe(config), time, reason ? " excluded: " + *reason : ""),
         reason.has_value()});
  }
  if (policy.verbose == 0) return choice;
  choice.report = title + "\n";
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool mine = choice.chosen == i;
    if (mine || policy.verbose > 1)
      choice.report += fmt::format("{} {}\n", mine ? '*' : ' ', lines[i].text);
  }
  if (!choice.chosen) choice.report += "  nothing is left\n";
  return choice;
}

std::string choice_key(const std::string& gpu, int64_t cudnn_version,
                       const std::string& convolution, const EnginePolicy& policy) {
  return fmt::format("{}|cudnn {}|{}|{:d}{:d}{:d}{:d}{:d}{:d}|{}|{}|{}", gpu, cudnn_version,
                     convolution, policy.tensor_core, policy.down_conversion,
                     policy.reduced_precision_reduction, policy.fft, policy.winograd,
                     policy.deterministic, fmt::join(policy.disabled, ","),
                     static_cast<int>(policy.autotune), policy.workspace_limit);
}

}  // namespace mxnet::cuda
