// SPDX-License-Identifier: Apache-2.0
// Symbols in 8-bit integers, and their calibrated ranges.
#include <fmt/format.h>

#include "c_api/symbol_calls.h"
#include "graph/quantize.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

constexpr const char* kQuantize = "MXQuantizeSymbol";

std::set<std::string, std::less<>> name_set(uint32_t count, const char** names) {
  const std::vector<std::string_view> checked = checked_names(kQuantize, count, names);
  return {checked.begin(), checked.end()};
}

std::string_view one_of(const char* argument, const char* given,
                        std::initializer_list<std::string_view> words) {
  require(given, kQuantize, argument);
  for (const std::string_view word : words)
    if (word == given) return word;
  throw Error(
      ErrorCode::kValue, kQuantize,
      fmt::format("given {} {}, expected one of: {}", argument, given, fmt::join(words, ", ")));
}

}  // namespace

int MXQuantizeSymbol(SymbolHandle sym_handle, SymbolHandle* ret_sym_handle, const int* dev_type,
                     const uint32_t num_excluded_sym_names, const char** excluded_sym_names,
                     const uint32_t num_excluded_op_names, const char** excluded_op_names,
                     const uint32_t num_offline, const char** offline_params,
                     const char* quantized_dtype, const bool calib_quantize,
                     const char* quantize_mode, const char* quantize_granularity,
                     uint32_t* out_num_calib_names, const char*** out_calib_names) {
  return guarded([&] {
    require(ret_sym_handle, kQuantize, "ret_sym_handle");
    require(dev_type, kQuantize, "dev_type");
    checked_device(kQuantize, *dev_type, 0);
    const Symbol& symbol = symbol_of(sym_handle, kQuantize);
    QuantizeOptions options;
    options.excluded_nodes = name_set(num_excluded_sym_names, excluded_sym_names);
    options.excluded_operators = name_set(num_excluded_op_names, excluded_op_names);
    options.offline = name_set(num_offline, offline_params);
    options.dtype = one_of("quantized_dtype", quantized_dtype, {"int8", "uint8", "auto"});
    options.smart = one_of("quantize_mode", quantize_mode, {"full", "smart"}) == "smart";
    options.channel_wise = one_of("quantize_granularity", quantize_granularity,
                                  {"tensor-wise", "channel-wise"}) == "channel-wise";
    const bool names_wanted =
        calib_quantize || (out_num_calib_names != nullptr && out_calib_names != nullptr);
    if (names_wanted) {
      require(out_num_calib_names, kQuantize, "out_num_calib_names");
      require(out_calib_names, kQuantize, "out_calib_names");
    }
    QuantizedGraph quantized = quantize_graph(symbol.graph(), options);
    if (names_wanted)
      symbol_returns().names.keep(std::move(quantized.to_calibrate), out_num_calib_names,
                                  out_calib_names);
    *ret_sym_handle = new_handle(Symbol(std::move(quantized.graph)));
  });
}

int MXSetCalibTableToQuantizedSymbol(SymbolHandle qsym_handle, const uint32_t num_layers,
                                     const char** layer_names, const float* low_quantiles,
                                     const float* high_quantiles, SymbolHandle* ret_sym_handle) {
  return guarded([&] {
    const char* const function = "MXSetCalibTableToQuantizedSymbol";
    require(ret_sym_handle, function, "ret_sym_handle");
    const Symbol& symbol = symbol_of(qsym_handle, function);
    const auto names = checked_names(function, num_layers, layer_names);
    if (num_layers > 0) {
      require(low_quantiles, function, "low_quantiles");
      require(high_quantiles, function, "high_quantiles");
    }
    std::vector<CalibratedRange> ranges;
    for (std::size_t i = 0; i < names.size(); ++i)
      ranges.push_back({std::string(names[i]), low_quantiles[i], high_quantiles[i]});
    *ret_sym_handle = new_handle(Symbol(with_ranges(symbol.graph(), ranges)));
  });
}
