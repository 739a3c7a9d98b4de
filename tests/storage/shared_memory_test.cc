// SPDX-License-Identifier: Apache-2.0
// Segments that cross processes: what one writes the other reads, whatever goes wrong is an error
// that says what, and nothing stays behind when a process is killed.
#include "storage/shared_memory.h"
#include "base/config.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "fake_memory.h"

namespace mxnet::testing {
namespace {

constexpr std::size_t kMiB = 1 << 20;

// A child process that makes segments and tells their handle, then waits to be killed.
class Maker {
 public:
  template <class Make>
  explicit Maker(const Make& make) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const SharedHandle handle = make();
      if (write(ends[1], &handle, sizeof(handle)) != sizeof(handle)) _exit(1);
      while (true) pause();
    }
    EXPECT_EQ(read(ends[0], &handle_, sizeof(handle_)), static_cast<ssize_t>(sizeof(handle_)));
    close(ends[0]);
    close(ends[1]);
  }
  ~Maker() { end(); }
  SharedHandle handle() const { return handle_; }
  void end() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(std::exchange(pid_, 0), nullptr, 0);
  }

 private:
  pid_t pid_;
  SharedHandle handle_;
};

// The file that a process of ours has open.
struct stat file_of(const SharedHandle& handle) {
  struct stat file = {};
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.fd);
  EXPECT_EQ(stat(path.c_str(), &file), 0) << path;
  return file;
}

// How many descriptors of all processes are of this file, or mappings, which root alone sees: with
// the last one the memory of a file without a name goes.
int uses_of(const struct stat& file) {
  namespace fs = std::filesystem;
  int uses = 0;
  std::error_code unseen;  // others' processes, and those that end meanwhile
  for (const auto& process : fs::directory_iterator("/proc")) {
    for (const char* what : {"fd", "map_files"}) {
      for (fs::directory_iterator use(process.path() / what, unseen), end; use != end;
           use.increment(unseen)) {
        struct stat used = {};
        uses += stat(use->path().c_str(), &used) == 0 && used.st_dev == file.st_dev &&
                used.st_ino == file.st_ino;
      }
    }
  }
  return uses;
}

struct SharedMemory : ::testing::Test {
  FakeMemory memory;
  Storage storage{StorageConfig(), no_gpu(memory)};

  SharedHandle make(std::size_t bytes, const char* text) {
    const Block block = storage.allocate(bytes, Device::cpu_shared());
    std::strcpy(static_cast<char*>(block.data), text);
    return storage.export_shared(block);
  }
  std::string attach_error(SharedHandle handle, std::size_t bytes = 1) {
    return error_of(ErrorCode::kValue, [&] { storage.attach_shared(handle, bytes); });
  }
};

TEST_F(SharedMemory, IsWrittenByOneProcessAndReadByTheOther) {
  Maker maker([&] { return make(kMiB, "from the child"); });
  const Block block = storage.attach_shared(maker.handle(), kMiB);
  EXPECT_STREQ(static_cast<char*>(block.data), "from the child");
  EXPECT_GE(block.capacity, kMiB);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).in_use, block.capacity);
  maker.end();  // the mapping stays good
  EXPECT_STREQ(static_cast<char*>(block.data), "from the child");
  std::strcpy(static_cast<char*>(block.data), "and writable");
  storage.release(block);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).in_use, 0u);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).cached, 0u);
}

// Looks at the segment, and not at what the machine as a whole holds: other processes take and free
// memory meanwhile.
TEST_F(SharedMemory, VanishesWhenItsProcessIsKilled) {
  Maker maker([&] { return make(kMiB, "gone"); });
  const struct stat segment = file_of(maker.handle());
  EXPECT_EQ(segment.st_nlink, 0u) << "a segment has a name, which outlives its process";
  storage.release(storage.attach_shared(maker.handle(), kMiB));
  EXPECT_GE(uses_of(segment), 1) << "the maker's";
  maker.end();
  EXPECT_EQ(uses_of(segment), 0);
  EXPECT_NE(attach_error(maker.handle()).find("that process is gone"), std::string::npos);
}

TEST_F(SharedMemory, IsFoundBehindADuplicateOfTheDescriptor) {
  // What multiprocessing's DupFd gives the receiver: the maker's pid with a descriptor of the
  // receiver's own.
  const Block block = storage.allocate(100, Device::cpu_shared());
  std::strcpy(static_cast<char*>(block.data), "duplicate");
  const SharedHandle handle = storage.export_shared(block);
  const int duplicate = dup(handle.fd);
  storage.release(block);  // the maker may let go: the duplicate holds the memory
  const Block again = storage.attach_shared({handle.pid, duplicate}, 100);
  EXPECT_STREQ(static_cast<char*>(again.data), "duplicate");
  EXPECT_EQ(fcntl(duplicate, F_GETFD), -1) << "taken over, so closed";
  storage.release(again);
}

TEST_F(SharedMemory, OfTheSameProcessMayBeMappedTwice) {
  const Block block = storage.allocate(100, Device::cpu_shared());
  const Block twin = storage.attach_shared(storage.export_shared(block), 100);
  EXPECT_NE(twin.data, block.data);
  std::strcpy(static_cast<char*>(block.data), "twins");
  EXPECT_STREQ(static_cast<char*>(twin.data), "twins");
  storage.release(block);
  EXPECT_STREQ(static_cast<char*>(twin.data), "twins");
  storage.release(twin);
}

TEST_F(SharedMemory, IsReusedOnlyWhileNobodyElseMayHaveSeenIt) {
  const Block one = storage.allocate(10000, Device::cpu_shared());
  storage.release(one);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).cached, one.capacity);
  const Block two = storage.allocate(10000, Device::cpu_shared());
  EXPECT_EQ(two.data, one.data);
  EXPECT_EQ(two.shared_fd, one.shared_fd);
  EXPECT_EQ(two.shared_key, one.shared_key);
  storage.export_shared(two);
  storage.release(two);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).cached, 0u);
}

TEST_F(SharedMemory, IsNotReusedAfterAForkThatInheritedIt) {
  const Block seen = storage.allocate(10000, Device::cpu_shared());
  storage.release(storage.allocate(20000, Device::cpu_shared()));
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).cached, 0u) << "the child would share it";
  storage.release(seen);
  EXPECT_EQ(storage.stats(Device::cpu_shared()).cached, 0u);
}

TEST_F(SharedMemory, RefusesHandlesThatAreNone) {
  EXPECT_NE(attach_error({0, 1}).find("positive"), std::string::npos);
  EXPECT_NE(attach_error({getpid(), -1}).find("positive"), std::string::npos);
  EXPECT_NE(attach_error({getpid(), 999999}).find("has released it"), std::string::npos);
  EXPECT_NE(attach_error({1 << 30, 3}).find("that process is gone"), std::string::npos);
}

TEST_F(SharedMemory, RefusesDescriptorsOfOtherThings) {
  char name[] = "/tmp/mxnet_not_shared_XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  EXPECT_NE(attach_error({getpid(), file}).find("something else"), std::string::npos);
  const std::string junk(8192, 'x');
  ASSERT_EQ(write(file, junk.data(), junk.size()), static_cast<ssize_t>(junk.size()));
  EXPECT_NE(attach_error({getpid(), file}).find("something else"), std::string::npos);
  close(file);
}

TEST_F(SharedMemory, RefusesASegmentThatIsTooSmall) {
  const Block block = storage.allocate(100, Device::cpu_shared());
  const SharedHandle handle = storage.export_shared(block);
  EXPECT_NE(attach_error(handle, block.capacity + 1).find("bytes, "), std::string::npos);
  storage.release(block);
}

TEST_F(SharedMemory, SaysSoWhenItMayNotLookIntoTheProcess) {
  Maker maker([&] {
    prctl(PR_SET_DUMPABLE, 0);
    return make(100, "hidden");
  });
  // In a child, which can give root's rights away.
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    _exit(attach_error(maker.handle()).find("no permission") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(SharedMemory, IsZeroWhenNewAndAlignedToAPage) {
  const Block block = storage.allocate(100000, Device::cpu_shared());
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.data) % 4096, 0u);
  const char* bytes = static_cast<char*>(block.data);
  EXPECT_EQ(std::count(bytes, bytes + block.capacity, 0), static_cast<long>(block.capacity));
  storage.release_direct(block);
}

TEST_F(SharedMemory, ThatTheSystemCannotGiveIsOutOfMemory) {
  EXPECT_NE(error_of(ErrorCode::kOutOfMemory,
                     [&] { storage.allocate(std::size_t{1} << 60, Device::cpu_shared()); })
                .find("cpu_shared(0)"),
            std::string::npos);
}

}  // namespace
}  // namespace mxnet::testing
