// SPDX-License-Identifier: Apache-2.0
// Shows a newcomer that this build works on this machine: the configuration that the environment
// resolves to, then the engine, the memory pools and the devices at work. Each check states what it
// did and ends the program with 1 on failure.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/config_table.h"
#include "base/device.h"
#include "base/error.h"
#include "device/device_api.h"
#include "device/stream.h"
#include "engine/engine.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

// Rows that have an effect today or were given, and of the others how many.
void print_configuration() {
  int others = 0;
  std::string section;
  for (const auto& row : nlohmann::json::parse(config_to_json())) {
    if (row.at("effect") != "active" && row.at("source") == "default") {
      ++others;
      continue;
    }
    if (row.at("section") != section) {
      section = row.at("section");
      fmt::print("{}\n", section);
    }
    const auto text = [&](const char* key) {
      const auto& field = row.at(key);
      return field.is_string() ? field.get<std::string>() : field.dump();
    };
    fmt::print("  {:<42} {:<24} {}\n", text("name"), text("value"), text("source"));
  }
  fmt::print("and {} variables that have no effect yet, or none at all (docs/env_vars.md)\n",
             others);
}

// Random operations, two reads and a write each, must leave what the same program leaves when run
// in order.
std::string check_engine_order() {
  constexpr int kVariables = 64, kOperations = 100'000;
  constexpr uint32_t kSeed = 7;
  Engine& engine = Engine::get();
  std::vector<Var*> variables(kVariables);
  for (Var*& variable : variables) variable = engine.new_variable();
  std::vector<uint64_t> expected(kVariables), actual(kVariables);
  std::iota(expected.begin(), expected.end(), 1);
  actual = expected;

  std::mt19937 random(kSeed);
  std::vector<std::array<int, 3>> program;
  while (program.size() < kOperations) {
    const std::array<int, 3> op{static_cast<int>(random() % kVariables),
                                static_cast<int>(random() % kVariables),
                                static_cast<int>(random() % kVariables)};
    if (op[0] != op[1] && op[1] != op[2] && op[0] != op[2]) program.push_back(op);
  }
  const auto run = [](std::vector<uint64_t>& state, const std::array<int, 3>& op) {
    state[op[2]] = state[op[2]] * 3 + state[op[0]] + state[op[1]] * 5;
  };
  for (const auto& op : program) run(expected, op);

  const auto start = std::chrono::steady_clock::now();
  for (const auto& op : program) {
    const std::array reads{variables[op[0]], variables[op[1]]};
    const std::array writes{variables[op[2]]};
    engine.push([&actual, &op, run](const RunContext&) { run(actual, op); },
                {.device = Device::cpu(),
                 .reads = reads,
                 .writes = writes,
                 .name = "selfcheck",
                 .cheap = true});
  }
  engine.wait_for_all();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  for (Var* variable : variables) engine.delete_variable(variable, Device::cpu());
  engine.wait_for_all();
  if (actual != expected)
    throw Error(ErrorCode::kInternal, "engine", "the parallel run differs from the serial one");
  return fmt::format(
      "{} random operations on {} variables gave the serial answer, {:.2f} million a second",
      kOperations, kVariables, kOperations / took.count() / 1e6);
}

std::string check_engine_errors() {
  Engine& engine = Engine::get();
  Var* first = engine.new_variable();
  Var* second = engine.new_variable();
  const std::array writes_first{first}, writes_second{second};
  bool ran = false;
  engine.push([](const RunContext&) { throw Error(ErrorCode::kValue, "selfcheck", "on purpose"); },
              {.device = Device::cpu(), .reads = {}, .writes = writes_first});
  engine.push([&ran](const RunContext&) { ran = true; },
              {.device = Device::cpu(), .reads = writes_first, .writes = writes_second});
  bool raised = false;
  try {
    engine.wait_for_var(second);
  } catch (const Error& error) {
    raised = error.message() == "on purpose";
  }
  try {
    engine.wait_for_var(first);
  } catch (const Error&) {
    // The same failure, seen once more on the variable that it began with.
  }
  engine.delete_variable(first, Device::cpu());
  engine.delete_variable(second, Device::cpu());
  engine.wait_for_all();
  if (!raised || ran)
    throw Error(ErrorCode::kInternal, "engine", "a failure did not reach what depends on it");
  return "a failed operation stopped what depends on it and was raised at the wait";
}

std::string check_pool() {
  constexpr int kSteps = 20'000;
  constexpr std::size_t kLive = 64;
  Storage& storage = Storage::get();
  const StorageStats before = storage.stats(Device::cpu());
  std::mt19937 random(11);
  std::vector<Block> live;
  for (int step = 0; step < kSteps; ++step) {
    if (live.size() == kLive) {
      const std::size_t i = random() % live.size();
      const auto* bytes = static_cast<const unsigned char*>(live[i].data);
      if (bytes[0] != bytes[live[i].bytes - 1])
        throw Error(ErrorCode::kInternal, "pool", "two blocks overlap");
      storage.release(live[i]);
      live[i] = live.back();
      live.pop_back();
    }
    Block block = storage.allocate(1 + random() % 65536, Device::cpu(), "selfcheck");
    std::memset(block.data, step, block.bytes);
    live.push_back(block);
  }
  for (const Block& block : live) storage.release(block);
  const StorageStats after = storage.stats(Device::cpu());
  if (after.in_use != before.in_use)
    throw Error(ErrorCode::kInternal, "pool", "released blocks still count as used");
  storage.empty_cache(Device::cpu());
  return fmt::format(
      "{} blocks of up to 64 KiB allocated, filled and released, {:.0f} % from the cache", kSteps,
      100.0 * static_cast<double>(after.hits - before.hits) / kSteps);
}

// A round trip through the memory of every GPU, real or simulated.
std::string check_devices() {
  const int count = gpu_count();
  if (count == 0) return "no GPU (MXNET_SIM_GPUS=2 simulates two)";
  std::vector<uint32_t> sent(1 << 16), received(sent.size());
  std::iota(sent.begin(), sent.end(), 1);
  const std::size_t bytes = sent.size() * sizeof(sent[0]);
  DeviceApi& api = device_api(DeviceType::kGPU);
  for (int i = 0; i < count; ++i) {
    Stream stream(api, i);
    Block block = Storage::get().allocate(bytes, Device::gpu(i), "selfcheck", &stream);
    api.copy(block.data, Device::gpu(i), sent.data(), Device::cpu(), bytes, stream.native());
    api.copy(received.data(), Device::cpu(), block.data, Device::gpu(i), bytes, stream.native());
    stream.synchronize();
    Storage::get().release(block, &stream);
    if (sent != received)
      throw Error(ErrorCode::kInternal, to_string(Device::gpu(i)), "a copy came back changed");
    std::fill(received.begin(), received.end(), 0);
  }
  return fmt::format("{} GPU(s) of kind {}: memory written and read back", count, api.name());
}

bool check(const char* name, const std::function<std::string()>& run) {
  try {
    fmt::print("  ok      {}: {}\n", name, run());
    return true;
  } catch (const std::exception& error) {
    fmt::print("  FAILED  {}: {}\n", name, error.what());
    return false;
  }
}

int selfcheck() {
  print_configuration();
  fmt::print("checks\n");
  bool ok = check("engine", check_engine_order);
  ok = check("errors", check_engine_errors) && ok;
  ok = check("pool", check_pool) && ok;
  ok = check("devices", check_devices) && ok;
  return ok ? 0 : 1;
}

}  // namespace
}  // namespace mxnet

int main() {
  try {
    return mxnet::selfcheck();
  } catch (const std::exception& error) {
    fmt::print(stderr, "selfcheck: {}\n", error.what());
    return 1;
  }
}
