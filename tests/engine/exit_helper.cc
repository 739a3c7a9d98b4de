// SPDX-License-Identifier: Apache-2.0
// Ends with work in flight in the way that its argument names; process_test looks at how that went.
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "engine/engine.h"

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

}  // namespace

int main(int, char** argv) {
  const std::string how = argv[1];
  alarm(60);  // a hang ends by signal
  if (how == "main") {
    push_work();
    return 0;
  }
  if (how == "thread") {
    push_work();
    std::thread([] { std::exit(0); }).join();
  }
  if (how == "thread-while-main-waits") {
    push_work();
    std::thread leaver([] { std::exit(0); });
    for (;;) Engine::get().wait_for_all();
  }
  if (how == "atexit") {
    std::atexit([] {
      push_work();
    });  // runs after the engine's handler if that was registered later, before it else
    push_work();
    std::exit(0);
  }
  if (how == "library") {  // one that was opened since goes down; what is in flight calls it
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
    return 0;
  }
  if (how == "failure") {
    push_work();
    Engine::get().push([](const RunContext&) { throw std::runtime_error("never seen"); },
                       {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
    return 0;
  }
  if (how == "caught") {
    try {
      push_work();
      Engine::get().push([](const RunContext&) { throw std::runtime_error("seen"); },
                         {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
      Engine::get().wait_for_all();
    } catch (const std::exception&) {
      push_work();
      std::exit(0);
    }
  }
  if (how == "inside") {
    push_work();
    Engine::get().push([](const RunContext&) { std::exit(0); }, {});
    for (;;) pause();
  }
  if (how == "pushing") {  // others push while we leave
    push_work();
    for (int t = 0; t < 2; ++t) {
      std::thread([] {
        for (;;) Engine::get().push([](const RunContext&) {}, {});
      }).detach();
    }
    return 0;
  }
  if (how == "bulk") {
    push_work();
    Engine::get().set_bulk_size(100);
    push_work();
    return 0;
  }
  if (how == "stuck") {  // an operation that nobody will ever complete
    push_work();
    Engine::get().push_async([](const RunContext&, mxnet::OnComplete) {},
                             {.device = {}, .reads = {}, .writes = {&g_vars[0], 1}});
    g_vars.clear();
    return 0;
  }
  if (how == "uncaught") {  // ends by std::terminate
    push_work();
    throw std::runtime_error("uncaught");
  }
  return 99;
}
