// SPDX-License-Identifier: Apache-2.0
// Naming addresses, and surviving damaged files while doing so.
#include "base/symbolize.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "base/elf_symbols.h"

namespace mxnet {
namespace {

constexpr unsigned kSeed = 20241;
constexpr int kDamagedImages = 300;

[[gnu::noinline]] int a_function_to_find(int x) { return x * 3 + 1; }

std::vector<unsigned char> own_program() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Symbolize, NamesAHiddenFunction) {
  FrameInfo frame;
  symbolize(reinterpret_cast<uintptr_t>(&a_function_to_find) + 2, frame);
  EXPECT_NE(std::string(frame.function).find("a_function_to_find"), std::string::npos)
      << frame.function;
  EXPECT_NE(std::string(frame.module).find("base_test"), std::string::npos) << frame.module;
  EXPECT_EQ(frame.offset, 2U);
  EXPECT_EQ(a_function_to_find(1), 4);
}

TEST(Symbolize, NamesAFunctionOfASharedLibrary) {
  FrameInfo frame;
  // Looked up at run time: the address that the program itself takes may be that of its own jump.
  void* function = ::dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  ASSERT_NE(function, nullptr);
  symbolize(reinterpret_cast<uintptr_t>(function), frame);
  EXPECT_NE(std::string(frame.module).find("libc"), std::string::npos) << frame.module;
  EXPECT_STREQ(frame.function, "gnu_get_libc_version");
  EXPECT_EQ(frame.offset, 0U);
}

TEST(Symbolize, KeepsAnAddressThatIsInNoFile) {
  FrameInfo frame;
  symbolize(16, frame);
  EXPECT_STREQ(frame.module, "");
  EXPECT_STREQ(frame.function, "");
  EXPECT_EQ(frame.offset, 16U);
}

TEST(Demangle, ReadsNestedNames) {
  char out[128];
  EXPECT_STREQ(demangle_simple("_ZN5mxnet6Engine4pushEv", out, sizeof(out)), "mxnet::Engine::push");
  EXPECT_STREQ(demangle_simple("_ZNK5mxnet5Error4whatEv", out, sizeof(out)), "mxnet::Error::what");
  EXPECT_STREQ(demangle_simple("_ZN5mxnet12_GLOBAL__N_13runEi", out, sizeof(out)),
               "mxnet::(anonymous namespace)::run");
  EXPECT_STREQ(demangle_simple("_ZN5mxnet5ErrorD1Ev", out, sizeof(out)), "mxnet::Error::~Error");
  EXPECT_STREQ(demangle_simple("_ZL4helpv", out, sizeof(out)), "help");
  EXPECT_STREQ(demangle_simple("_ZSt9terminatev", out, sizeof(out)), "std::terminate");
  EXPECT_STREQ(demangle_simple("main", out, sizeof(out)), "main");
}

TEST(Demangle, LeavesWhatItCannotReadAsItIs) {
  char out[128];
  EXPECT_STREQ(demangle_simple("_ZN5mxnet4LiveIiE3getEv", out, sizeof(out)),
               "_ZN5mxnet4LiveIiE3getEv");
  EXPECT_STREQ(demangle_simple("_ZN99999999999x", out, sizeof(out)), "_ZN99999999999x");
  EXPECT_STREQ(demangle_simple("_Z", out, sizeof(out)), "_Z");
  EXPECT_STREQ(demangle_simple("", out, sizeof(out)), "");
}

TEST(Demangle, NeverWritesPastTheBuffer) {
  char out[8] = {};
  EXPECT_STREQ(demangle_simple("_ZN5mxnet6Engine4pushEv", out, 6), "_ZN5m");
  EXPECT_EQ(out[6], 0);
}

TEST(ElfSymbols, EmptyAndForeignBytesGiveNothing) {
  const std::vector<unsigned char> text = {'h', 'e', 'l', 'l', 'o'};
  EXPECT_TRUE(find_elf_symbol({}, 0).name.empty());
  EXPECT_TRUE(find_elf_symbol(text, 0).name.empty());
  EXPECT_EQ(elf_address_of(text, 0), ~uint64_t{0});
}

// Headers with any byte changed, files of any length: run under ASAN this proves that every access
// is checked.
TEST(ElfSymbols, DamagedFilesAreRead) {
  std::vector<unsigned char> original = own_program();
  ASSERT_GT(original.size(), 1000U);
  std::mt19937 random(kSeed);
  SCOPED_TRACE(testing::Message() << "seed " << kSeed);
  const std::size_t headers_at = original.size() - std::min<std::size_t>(original.size(), 4096);
  std::vector<unsigned char> whole = original;
  for (int i = 0; i < kDamagedImages; ++i) {
    // A shorter one ends where its memory ends; the whole, megabytes, is mended rather than copied
    // each time.
    std::vector<unsigned char> part;
    if (i % 3 == 0) part = {original.begin(), original.begin() + random() % original.size()};
    std::vector<unsigned char>& image = i % 3 == 0 ? part : whole;
    std::vector<std::size_t> changed;
    for (int change = 0; change < 8 && !image.empty(); ++change) {
      const std::size_t places[] = {random() % 64, random() % 1024, headers_at + random() % 4096};
      changed.push_back(places[random() % 3] % image.size());
      image[changed.back()] = static_cast<unsigned char>(random());
    }
    const uint64_t address = elf_address_of(image, random() % original.size());
    const ElfSymbol symbol = find_elf_symbol(image, address);
    EXPECT_LE(symbol.name.size(), image.size());
    for (const std::size_t place : changed) whole[place] = original[place];
  }
}

}  // namespace
}  // namespace mxnet
