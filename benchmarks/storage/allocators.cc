// SPDX-License-Identifier: Apache-2.0
// The pool and its peers: who is compared, and under which names their calls are found.
#include "allocators.h"
#include "base/config.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

extern "C" void* bench_jemalloc_malloc(std::size_t bytes);
extern "C" void bench_jemalloc_free(void* data);

namespace mxnet::bench {
namespace {

class PoolAllocator final : public Allocator {
 public:
  PoolAllocator(std::string name, PoolType type) : name_(std::move(name)), storage_(config(type)) {}
  std::string name() const override { return name_; }
  Block allocate(std::size_t bytes) override {
    return storage_.allocate(bytes, Device::cpu(), "bench");
  }
  void release(const Block& block) override { storage_.release(block); }

 private:
  static StorageConfig config(PoolType type) {
    StorageConfig config;
    config.cpu.type = type;
    return config;
  }
  const std::string name_;
  Storage storage_;
};

class MallocAllocator final : public Allocator {
 public:
  using Malloc = void* (*)(std::size_t);
  using Free = void (*)(void*);
  MallocAllocator(std::string name, Malloc malloc, Free free)
      : name_(std::move(name)), malloc_(malloc), free_(free) {}
  std::string name() const override { return name_; }
  Block allocate(std::size_t bytes) override {
    Block block;
    block.data = malloc_(bytes);
    return block;
  }
  void release(const Block& block) override { free_(block.data); }

 private:
  const std::string name_;
  const Malloc malloc_;
  const Free free_;
};

}  // namespace

std::vector<std::unique_ptr<Allocator>> all_allocators() {
  std::vector<std::unique_ptr<Allocator>> all;
  all.push_back(std::make_unique<PoolAllocator>("Naive", PoolType::kNaive));
  all.push_back(std::make_unique<PoolAllocator>("Round", PoolType::kRound));
  all.push_back(std::make_unique<MallocAllocator>("glibc", std::malloc, std::free));
  if (void* library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL)) {
    const auto malloc = reinterpret_cast<MallocAllocator::Malloc>(dlsym(library, "mi_malloc"));
    const auto free = reinterpret_cast<MallocAllocator::Free>(dlsym(library, "mi_free"));
    all.push_back(std::make_unique<MallocAllocator>("mimalloc", malloc, free));
  } else {
    std::printf("no mimalloc to compare with (apt-get install libmimalloc-dev): %s\n", dlerror());
  }
#ifdef MX_HAVE_JEMALLOC
  all.push_back(
      std::make_unique<MallocAllocator>("jemalloc", bench_jemalloc_malloc, bench_jemalloc_free));
#else
  std::printf("no jemalloc to compare with (apt-get install libjemalloc-dev)\n");
#endif
  return all;
}

}  // namespace mxnet::bench
