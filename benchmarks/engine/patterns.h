// SPDX-License-Identifier: Apache-2.0
// The dependency patterns that the engine is measured with; all of them empty operations.
#pragma once
#include <array>
#include <random>
#include <span>
#include <vector>

#include "engine/engine.h"

namespace mxnet::bench {

inline constexpr std::size_t kVariables = 1024;

struct Accesses {
  std::array<Var*, 2> reads{};
  Var* write = nullptr;
  std::size_t read_count = 0;
};

struct Pattern {
  const char* name;
  std::vector<Accesses> operations;
};

// Independent: every operation writes another variable, in turn. Chain: all write one. Random: two
// reads and one write of different variables, the same ones in each run (fixed seed).
inline std::vector<Pattern> make_patterns(std::span<Var* const> vars, std::size_t count) {
  std::vector<Pattern> patterns{{"independent", {}}, {"chain", {}}, {"random 2r+1w", {}}};
  std::mt19937 random(7);
  std::uniform_int_distribution<std::size_t> any(0, vars.size() - 1);
  for (std::size_t i = 0; i < count; ++i) {
    patterns[0].operations.push_back({{}, vars[i % vars.size()], 0});
    patterns[1].operations.push_back({{}, vars[0], 0});
    const std::size_t a = any(random);
    std::size_t b = any(random), c = any(random);
    while (b == a) b = any(random);
    while (c == a || c == b) c = any(random);
    patterns[2].operations.push_back({{vars[a], vars[b]}, vars[c], 2});
  }
  return patterns;
}

}  // namespace mxnet::bench
