// SPDX-License-Identifier: Apache-2.0
// See shared_memory.h. A segment starts with a page of its own that says what it is, so that a
// wrong descriptor is an error and not somebody else's data.
#include "storage/shared_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "storage/segment_registry.h"

namespace mxnet {
namespace {

constexpr std::size_t kHeaderBytes = 4096;  // the data after it is aligned to a page
constexpr uint64_t kMagic = 0x31674D53584D7853;

// The first page of a segment. Written by the maker before anybody else knows of it, but for
// `exported`.
struct Header {
  uint64_t magic;
  uint64_t capacity;
  uint64_t key;    // unique among the maker's segments
  uint64_t epoch;  // SegmentRegistry::epoch() at birth
  int32_t maker;
  int32_t maker_fd;
  // Release on export, acquire on release: whoever sees it set may come from another process.
  std::atomic<uint32_t> exported;
};
static_assert(std::atomic<uint32_t>::is_always_lock_free, "shared between processes");

Header* header_of(void* data) {
  return reinterpret_cast<Header*>(static_cast<char*>(data) - kHeaderBytes);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// memfd first: it is bound by memory (and the cgroup) only, not by the size of /dev/shm, which
// containers keep at 64 MB. Kernels and sandboxes without it get a file in /dev/shm that never has
// a name.
int open_anonymous() {
  const int fd = ::memfd_create("mxnet", MFD_CLOEXEC);
  return fd >= 0 ? fd : ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

// Reserves the memory now: otherwise its lack would show as SIGBUS at the first touch.
bool reserve(int fd, std::size_t bytes) {
  if (::ftruncate(fd, static_cast<off_t>(bytes)) != 0) return false;
  int status;
  do {
    status = ::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (status == EINTR);
  return status == 0 || status == EOPNOTSUPP || status == ENOSYS;
}

void* map(int fd, std::size_t bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return base != MAP_FAILED ? base : nullptr;
}

// Reads the header through the descriptor: no mapping of something unknown.
bool read_header(int fd, Header* header, std::size_t* file_bytes) {
  struct stat status;
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  *file_bytes = static_cast<std::size_t>(status.st_size);
  alignas(Header) char bytes[sizeof(Header)];
  if (::pread(fd, bytes, sizeof(bytes), 0) != static_cast<ssize_t>(sizeof(bytes))) return false;
  std::memcpy(static_cast<void*>(header), bytes, sizeof(bytes));
  // No overflow: what is subtracted is in the file.
  return header->magic == kMagic && *file_bytes >= kHeaderBytes &&
         header->capacity <= *file_bytes - kHeaderBytes;
}

[[noreturn]] void attach_failed(SharedHandle handle, const std::string& why) {
  throw Error(ErrorCode::kValue, "shared memory",
              fmt::format("given process {} and descriptor {}, expected a live shared array: {}",
                          handle.pid, handle.fd, why));
}

// Opens the maker's own descriptor. Through /proc this yields a new open file, with any
// descriptor's rights.
int open_in_maker(SharedHandle handle) {
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.fd);
  const int fd = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (fd >= 0) return fd;
  const int reason = errno;
  const bool alive = ::access(fmt::format("/proc/{}", handle.pid).c_str(), F_OK) == 0;
  if (reason == ENOENT && !alive) attach_failed(handle, "that process is gone");
  if (reason == ENOENT) attach_failed(handle, "that process has released it");
  if (reason == EACCES || reason == EPERM) {
    attach_failed(
        handle,
        "no permission to look into that process (another user, or made undumpable); send "
        "a duplicate of the descriptor instead");
  }
  attach_failed(handle, std::strerror(reason));
}

}  // namespace

RawBlock create_segment(std::size_t bytes) {
  static std::atomic<uint64_t> last_key{0};
  Descriptor fd(open_anonymous());
  if (fd.get() < 0 || !reserve(fd.get(), kHeaderBytes + bytes)) return {};
  void* base = map(fd.get(), kHeaderBytes + bytes);
  if (base == nullptr) return {};
  // Relaxed: unique is all it has to be.
  const uint64_t key = last_key.fetch_add(1, std::memory_order_relaxed) + 1;
  new (base) Header{kMagic, bytes, key, SegmentRegistry::get().epoch(), ::getpid(), fd.get(), 0};
  SegmentRegistry::get().add(fd.get());
  return {static_cast<char*>(base) + kHeaderBytes, bytes, fd.release(), key};
}

void close_segment(const RawBlock& block) noexcept {
  if (block.shared_fd >= 0) {
    SegmentRegistry::get().remove(block.shared_fd);  // before the number can be given anew
    ::close(block.shared_fd);
  }
  ::munmap(header_of(block.data), kHeaderBytes + block.capacity);
}

SharedHandle export_segment(const RawBlock& block) {
  Header* header = header_of(block.data);
  header->exported.store(1, std::memory_order_release);
  // An attached segment is passed on under its maker's name, as long as this process has no
  // descriptor of its own.
  return {header->maker, block.shared_fd >= 0 ? block.shared_fd : header->maker_fd};
}

bool is_private(const RawBlock& block) noexcept {
  const Header* header = header_of(block.data);
  return header->exported.load(std::memory_order_acquire) == 0 &&
         header->epoch == SegmentRegistry::get().epoch();
}

RawBlock attach_segment(SharedHandle handle, std::size_t bytes) {
  if (handle.pid <= 0 || handle.fd < 0) attach_failed(handle, "both are positive numbers");
  Header header;
  std::size_t file_bytes = 0;
  // A duplicate that this process was given: a segment of that maker behind a descriptor that is
  // not ours. (Numbers alone do not tell: the maker may have another segment at the same number.)
  const bool given = !SegmentRegistry::get().contains(handle.fd) &&
                     read_header(handle.fd, &header, &file_bytes) && header.maker == handle.pid;
  Descriptor fd(given ? handle.fd : open_in_maker(handle));
  if (!given) {
    if (!read_header(fd.get(), &header, &file_bytes)) attach_failed(handle, "it is something else");
    if (header.maker != handle.pid || header.maker_fd != handle.fd) {
      attach_failed(handle, fmt::format("it is a segment of process {}, descriptor {}",
                                        header.maker, header.maker_fd));
    }
  }
  if (header.capacity < bytes) {
    attach_failed(handle, fmt::format("it has {} bytes, {} are needed", header.capacity, bytes));
  }
  void* base = map(fd.get(), kHeaderBytes + header.capacity);
  if (base == nullptr) attach_failed(handle, std::strerror(errno));
  // The mapping holds the segment; the descriptor is closed, so that thousands of arrays do not use
  // up the limit.
  static_cast<Header*>(base)->exported.store(1, std::memory_order_release);
  return {static_cast<char*>(base) + kHeaderBytes, header.capacity, -1, header.key};
}

}  // namespace mxnet
