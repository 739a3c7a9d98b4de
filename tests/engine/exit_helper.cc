// SPDX-License-Identifier: Apache-2.0
// Ends with work in flight in the way that its argument names; process_test looks at how that went.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <thread>
#include <vector>

#include "engine/engine.h"
#include "hang.h"

namespace {

using mxnet::Engine;
using mxnet::OpSpec;
using mxnet::RunContext;
using mxnet::Var;

std::vector<Var*> g_vars;

// A few hundred operations, some slow, on several chains.
void push_work() {
  Engine& engine = Engine::get();
  for (int i = 0; i < 8; ++i) g_vars.push_back(engine.new_variable());
  for (int i = 0; i < 300; ++i) {
    const std::span<Var* const> writes(&g_vars[static_cast<std::size_t>(i % 8)], 1);
    engine.push(
        [i](const RunContext&) {
          if (i % 50 == 0) usleep(500);
        },
        {.device = {}, .reads = {}, .writes = writes, .cheap = i % 3 == 0});
  }
}

// Pushes while the static objects are destroyed, after the engine's own exit handler.
struct LatePusher {
  ~LatePusher() {
    if (g_vars.empty()) return;
    Engine::get().push([](const RunContext&) {},
                       {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
    try {
      Engine::get().wait_for_all();
    } catch (const std::exception&) {
      // What failed before, or that we left from inside an operation: both are said here rightly.
    }
  }
} g_late_pusher;

// The ways to end. Those that return let main() return.

void by_thread() {
  push_work();
  std::thread([] { std::exit(0); }).join();
}

void by_thread_while_main_waits() {
  push_work();
  std::thread leaver([] { std::exit(0); });
  for (;;) Engine::get().wait_for_all();
}

// Pushes after the engine's handler if that was registered later, before it else.
void with_atexit_handler() {
  std::atexit([] { push_work(); });
  push_work();
  std::exit(0);
}

// A library that was opened since goes down; what is in flight calls it.
void under_library() {
  push_work();
  static std::atomic<bool> is_down{false};
  std::atexit([] { is_down = true; });
  for (int i = 0; i < 50; ++i) {
    Engine::get().push(
        [](const RunContext&) {
          usleep(200);
          if (is_down) _exit(77);
        },
        {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
  }
}

void push_failure(const char* what) {
  Engine::get().push([what](const RunContext&) { throw std::runtime_error(what); },
                     {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
}

void with_failure() {
  push_work();
  push_failure("never seen");
}

void with_failure_caught() {
  try {
    push_work();
    push_failure("seen");
    Engine::get().wait_for_all();
    _exit(98);  // it was not thrown
  } catch (const std::exception&) {
    push_work();
    std::exit(0);
  }
}

void inside_operation() {
  push_work();
  Engine::get().push([](const RunContext&) { std::exit(0); }, {});
  for (;;) pause();
}

void while_others_push() {
  push_work();
  for (int t = 0; t < 2; ++t) {
    std::thread([] {
      for (;;) Engine::get().push([](const RunContext&) {}, {});
    }).detach();
  }
}

void with_bulk() {
  push_work();
  Engine::get().set_bulk_size(100);
  push_work();
}

// On the thread that merged it.
void inside_bulk() {
  push_work();
  Engine::get().wait_for_all();
  Engine::get().set_bulk_size(100);
  Engine::get().push([](const RunContext&) { std::exit(0); },
                     {.device = {}, .reads = {}, .writes = {}, .cheap = true});
  Engine::get().wait_for_all();
  for (;;) pause();
}

// An operation that nobody will ever complete.
void while_stuck() {
  push_work();
  Engine::get().push_async([](const RunContext&, mxnet::OnComplete) {},
                           {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
  g_vars.clear();
}

void by_terminate() {
  push_work();
  throw std::runtime_error("uncaught");
}

struct Way {
  std::string_view name;
  void (*end)();
};
constexpr Way kWays[] = {
    {"main", push_work},
    {"thread", by_thread},
    {"thread-while-main-waits", by_thread_while_main_waits},
    {"atexit", with_atexit_handler},
    {"library", under_library},
    {"failure", with_failure},
    {"caught", with_failure_caught},
    {"inside", inside_operation},
    {"pushing", while_others_push},
    {"bulk", with_bulk},
    {"inside-bulk", inside_bulk},
    {"stuck", while_stuck},
    {"uncaught", by_terminate},
};

}  // namespace

int main(int, char** argv) {
  mxnet::end_if_it_hangs();
  for (const Way& way : kWays) {
    if (way.name != argv[1]) continue;
    way.end();
    return 0;
  }
  return 99;
}
