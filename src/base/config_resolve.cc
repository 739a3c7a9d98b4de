// SPDX-License-Identifier: Apache-2.0
// Resolution of variables into a Config; see the header.
#include "base/config_resolve.h"

#include <fmt/format.h>

#include <bit>

#include "base/config_names.h"
#include "base/error.h"

namespace mxnet {
namespace {

struct Given {
  std::string spelling;
  const std::string* value;
};

// A row's value and, if they agree, one of its spellings: the row's own name before the old ones.
void take(const Row& row, const std::vector<Given>& given, Config& config, Origin& origin,
          std::vector<std::string>& problems) {
  std::string first_print;
  const Given* first = nullptr;
  for (const Given& one : given) {
    if (!row.accepts(*one.value)) {
      problems.push_back(bad_value_text(row, one.spelling, *one.value));
      continue;
    }
    row.store(*one.value, config);
    const std::string print = row.print(config);
    if (first == nullptr) {
      first = &one;
      first_print = print;
    } else if (print != first_print) {
      problems.push_back(fmt::format(
          "{}={} and {}={}: two names of one variable, expected the same value or only {}",
          first->spelling, quote_text(*first->value), one.spelling, quote_text(*one.value),
          row.name));
    }
  }
  if (first == nullptr) return;
  origin.source = Source::kEnvironment;
  if (first->spelling != row.name) origin.spelling = first->spelling;
}

// What no row can check alone.
void check_combinations(const Config& config, std::vector<std::string>& problems) {
  const auto check = [&](const PoolConfig& pool, const char* kind) {
    const int page_bits = std::bit_width(static_cast<uint64_t>(pool.page_size)) - 1;
    if (pool.type != PoolType::kRound || pool.round_linear_cutoff >= page_bits) return;
    problems.push_back(
        fmt::format("MXNET_{0}_MEM_POOL_ROUND_LINEAR_CUTOFF: given \"{1}\", expected at least {2}: "
                    "the pool's page "
                    "(MXNET_{0}_MEM_POOL_PAGE_SIZE) is 2^{2} bytes",
                    kind, pool.round_linear_cutoff, page_bits));
  };
  check(config.storage.cpu, "CPU");
  check(config.storage.pinned, "CPU_PINNED");
  check(config.storage.gpu, "GPU");
}

[[noreturn]] void fail(const std::vector<std::string>& problems) {
  if (problems.size() == 1) throw Error(ErrorCode::kValue, "config", problems.front());
  std::string text = fmt::format("{} problems in the environment:", problems.size());
  for (const std::string& problem : problems) text += "\n  " + problem;
  throw Error(ErrorCode::kValue, "config", text);
}

}  // namespace

std::string bad_value_text(const Row& row, std::string_view spelling, std::string_view value) {
  const std::string of = spelling == row.name ? "" : fmt::format(" (another name of {})", row.name);
  return fmt::format("{}{}: given {}, expected {}", spelling, of, quote_text(value), row.allowed());
}

void follow_defaults(Config& config) {
  const auto& rows = config_rows();
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string_view leader = rows[i]->default_source();
    if (leader.empty() || config.origins[i].source != Source::kDefault) continue;
    rows[i]->store(find_row(leader)->print(config), config);
  }
}

Config resolve(const EnvSnapshot& variables, std::vector<std::string>* warnings) {
  const auto& rows = config_rows();
  std::vector<std::vector<Given>> given(rows.size());
  std::vector<std::string> unknown, problems;
  for (const auto& [name, value] : variables) {
    if (const Row* row = find_row(name)) {
      if (value.empty()) continue;  // empty = unset, as scripts write it
      auto& list = given[row->index()];
      list.insert(name == row->name ? list.begin() : list.end(), {name, &value});
    } else if (is_ours(name)) {
      unknown.push_back(unknown_name_text(name));
    }
  }

  Config config;
  config.origins.resize(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    take(*rows[i], given[i], config, config.origins[i], problems);
  follow_defaults(config);
  check_combinations(config, problems);
  if (config.general.strict_env) {
    problems.insert(problems.end(), unknown.begin(), unknown.end());
  } else if (warnings != nullptr) {
    *warnings = std::move(unknown);
  }
  if (!problems.empty()) fail(problems);
  return config;
}

}  // namespace mxnet
