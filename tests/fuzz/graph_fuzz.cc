// SPDX-License-Identifier: Apache-2.0
// libFuzzer on symbols on their way to values: fuzz_graph -max_total_time=600 -max_len=16384
// CORPUS, which seeds.py makes. An input is the text of a symbol; its length says what arguments
// are filled with.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "base/error.h"
#include "symbol_mutation.h"
#include "symbol_runs.h"

extern "C" std::size_t LLVMFuzzerMutate(uint8_t* data, std::size_t size, std::size_t max_size);

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  mxnet::c_test::run_symbol({reinterpret_cast<const char*>(data), size},
                            static_cast<unsigned>(size));
  return 0;
}

// Most texts that libFuzzer makes are no graphs.
extern "C" std::size_t LLVMFuzzerCustomMutator(uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  std::minstd_rand random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, max_size);
  try {
    auto graph = mxnet::ir::parse_saved_graph({reinterpret_cast<const char*>(data), size});
    mxnet::c_test::mutate(&graph, random);
    std::string text = mxnet::ir::print_saved_graph(graph);
    text.append(random() % 6, ' ');
    if (text.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
    std::memcpy(data, text.data(), text.size());
    return text.size();
  } catch (const mxnet::Error&) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
}
