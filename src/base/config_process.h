// SPDX-License-Identifier: Apache-2.0
// The configuration of a process over time: unresolved, then resolved or failed for good; live rows
// change later. The process has one of these; tests make their own from variables of their choice.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/config.h"
#include "base/config_resolve.h"
#include "base/error.h"
#include "base/lock.h"

namespace mxnet {

// Thread-safe.
//  1. `snapshot` is called once, by the first call of any member.
//  2. Until resolution, set() of any row stands in for the environment; later only live rows
//  change.
//  3. After a failed resolution all but variable() throw the same Error, for good.
//  4. `warn` is called without the lock, after the result is published: the log asks for its level.
class ConfigProcess {
 public:
  using Warn = std::function<void(const std::string& line)>;
  // `published` receives the Config when it is resolved, and outlives this.
  ConfigProcess(std::function<EnvSnapshot()> snapshot, Warn warn,
                std::atomic<const Config*>& published)
      : snapshot_(std::move(snapshot)), warn_(std::move(warn)), published_(published) {}
  ConfigProcess(const ConfigProcess&) = delete;
  ConfigProcess& operator=(const ConfigProcess&) = delete;

  const Config& config();

  // See config_table.h.
  std::string get(std::string_view name);
  std::optional<std::string> variable(std::string_view name);
  void set(std::string_view name, std::optional<std::string_view> value);

  // Calls `read` with the Config while no row can change.
  void inspect(const std::function<void(const Config&)>& read);

  // Around fork, so that the child never inherits a lock that nobody will release.
  void lock_for_fork() MX_ACQUIRE(mutex_) { mutex_.lock(); }
  void unlock_after_fork() MX_RELEASE(mutex_) { mutex_.unlock(); }

 private:
  EnvSnapshot& variables() MX_REQUIRES(mutex_);
  void set_row(const Row& row, std::string_view spelling, std::optional<std::string_view> value)
      MX_REQUIRES(mutex_);

  const std::function<EnvSnapshot()> snapshot_;
  const Warn warn_;
  std::atomic<const Config*>& published_;
  Mutex mutex_;
  std::optional<EnvSnapshot> variables_
      MX_GUARDED_BY(mutex_);  // the environment as changed by set()
  std::unique_ptr<Config> config_ MX_GUARDED_BY(mutex_);
  std::optional<Error> failure_ MX_GUARDED_BY(mutex_);
};

// The process's own; never destroyed.
ConfigProcess& config_process();

}  // namespace mxnet
