// SPDX-License-Identifier: Apache-2.0
// See the header for the states of a process's configuration.
#include "base/config_process.h"

#include <fmt/format.h>

#include "base/config_names.h"
#include "base/config_row.h"

namespace mxnet {
namespace {

// What the user may write for `row`: its name before other spellings.
std::vector<std::string> names_of(const Row& row) {
  std::vector<std::string> names = spellings_of(row);
  names.insert(names.begin(), row.name);
  return names;
}

}  // namespace

EnvSnapshot& ConfigProcess::variables() {
  if (!variables_) variables_ = snapshot_();
  return *variables_;
}

const Config& ConfigProcess::config() {
  // Acquire pairs with the store below: whoever sees the pointer sees the values.
  if (const Config* ready = published_.load(std::memory_order_acquire)) return *ready;
  std::vector<std::string> warnings;
  {
    MutexLock lock(mutex_);
    if (failure_) throw *failure_;
    if (config_ == nullptr) {
      try {
        config_ = std::make_unique<Config>(resolve(variables(), &warnings));
      } catch (const Error& error) {
        failure_ = error;
        throw;
      }
      published_.store(config_.get(), std::memory_order_release);
    }
  }
  for (const std::string& line : warnings) warn_(line);
  return *published_.load(std::memory_order_acquire);
}

std::string ConfigProcess::get(std::string_view name) {
  const Row* row = find_row(name);
  if (row == nullptr) throw Error(ErrorCode::kValue, "config", unknown_name_text(name));
  std::string text;
  inspect([&](const Config& config) { text = row->print(config); });
  return text;
}

std::optional<std::string> ConfigProcess::variable(std::string_view name) {
  MutexLock lock(mutex_);
  const EnvSnapshot& known = variables();
  if (const auto it = known.find(name); it != known.end()) return it->second;
  if (const Row* row = find_row(name)) {
    for (const std::string& other : names_of(*row)) {
      if (const auto it = known.find(other); it != known.end()) return it->second;
    }
  }
  return std::nullopt;
}

void ConfigProcess::set(std::string_view name, std::optional<std::string_view> value) {
  const Row* row = find_row(name);
  bool warn = false;
  {
    MutexLock lock(mutex_);
    if (failure_) throw *failure_;
    if (row != nullptr) return set_row(*row, name, value);
    // Before resolution the name is kept as if it stood in the
    // environment, and reported with the others.
    const bool unknown = value && config_ != nullptr && is_ours(name);
    if (unknown && config_->general.strict_env)
      throw Error(ErrorCode::kValue, "config", unknown_name_text(name));
    warn = unknown && !variables().contains(name);
    if (value) {
      variables().insert_or_assign(std::string(name), std::string(*value));
    } else {
      variables().erase(std::string(name));
    }
  }
  if (warn) warn_(unknown_name_text(name));
}

void ConfigProcess::set_row(const Row& row, std::string_view spelling,
                            std::optional<std::string_view> value) {
  if (value && value->empty()) value.reset();  // empty = unset, as in the environment
  if (config_ != nullptr && row.when == When::kStartup) {
    throw Error(ErrorCode::kValue, "config",
                fmt::format("{}: given {}, expected no change: it is read once, when the library "
                            "is first used; set it "
                            "in the environment before that",
                            spelling, value ? quote_text(*value) : "a reset to the default"));
  }
  if (value && !row.accepts(*value)) {
    throw Error(ErrorCode::kValue, "config", bad_value_text(row, spelling, *value));
  }
  for (const std::string& other : names_of(row))
    variables().erase(other);  // the newest word counts, however spelled
  if (value) variables().emplace(row.name, *value);
  if (config_ == nullptr) return;
  row.store(value ? *value : default_text(row.name), *config_);
  config_->origins[row.index()].source = value ? Source::kSet : Source::kDefault;
  follow_defaults(*config_);
}

void ConfigProcess::inspect(const std::function<void(const Config&)>& read) {
  const Config& ready = config();
  MutexLock lock(mutex_);
  read(ready);
}

}  // namespace mxnet
