// SPDX-License-Identifier: Apache-2.0
// Finds the plug-in beside this library.
#include "kvstore/process_group.h"

#include <dlfcn.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/config.h"
#include "base/error.h"
#include "device/plugin_loader.h"
#include "engine/interrupt.h"
#include "kvstore/cluster.h"

namespace mxnet::kvstore {
namespace {

ProcessGroup& join() {
  const std::string path = path_beside_this_library("libmxnet_mpi.so");
  const auto missing = [&](const std::string& why) {
    throw Error(ErrorCode::kNotImplemented, "kvstore",
                fmt::format("distributed stores need the plug-in {}, which {}: install OpenMPI 4.1 "
                            "(Debian: libopenmpi-dev, openmpi-bin) and build mxnet with it present",
                            path, why));
  };
  if (access(path.c_str(), F_OK) != 0) missing("does not exist");
  // Global: OpenMPI opens modules of its own, which look for its names.
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) missing(fmt::format("cannot be loaded ({})", dlerror()));
  const auto entry = reinterpret_cast<ProcessGroupEntry>(dlsym(library, kProcessGroupEntry));
  if (entry == nullptr) missing(fmt::format("does not export {}", kProcessGroupEntry));
  return *entry(group_options(cluster_config(), config().cuda.enforce_determinism));
}

}  // namespace

ProcessGroup& process_group() {
  static ProcessGroup& group = join();
  return group;
}

int count_dead(const ProcessGroup& group, int groups) {
  return ((groups & 2) != 0 ? group.lost_servers() : 0) +
         ((groups & 4) != 0 ? group.lost_workers() : 0);
}

std::future<void> ending_of(std::function<void(std::exception_ptr)>& done) {
  const auto promise = std::make_shared<std::promise<void>>();
  done = [promise](std::exception_ptr error) {
    if (error) {
      promise->set_exception(std::move(error));
    } else {
      promise->set_value();
    }
  };
  return promise->get_future();
}

void await(const std::future<void>& end) { await(end, 0, nullptr); }

void await(const std::future<void>& end, double seconds, const std::function<void()>& look) {
  using Clock = std::chrono::steady_clock;
  const engine::InterruptCheck leave = engine::interrupt_check();
  auto last = Clock::now();
  while (end.wait_for(engine::kInterruptSlice) != std::future_status::ready) {
    if (leave != nullptr && leave() != 0) engine::throw_interrupted();
    if (!look || std::chrono::duration<double>(Clock::now() - last).count() < seconds) continue;
    look();
    last = Clock::now();
  }
}

// Who complains belongs to it, unless that goes without saying. A text without letters would be no
// error.
Answer answer_of(const std::exception_ptr& error) {
  Answer answer;
  try {
    std::rethrow_exception(error);
  } catch (const Error& given) {
    const bool plain = given.tag().empty() || given.tag() == "kvstore";
    answer.code = given.code();
    answer.error = plain ? given.message() : fmt::format("[{}] {}", given.tag(), given.message());
  } catch (const std::exception& given) {
    answer.error = given.what();
  } catch (...) {
    answer.error = "something that is no exception was thrown";
  }
  if (answer.error.empty()) answer.error = "an error without a message";
  return answer;
}

Answer answer_of(std::string text) {
  const auto kept = std::make_shared<const std::string>(std::move(text));
  Answer answer;
  answer.data = kept->data();
  answer.bytes = static_cast<int64_t>(kept->size());
  answer.keep = kept;
  return answer;
}

}  // namespace mxnet::kvstore
