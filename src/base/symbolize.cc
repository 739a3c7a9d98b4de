// SPDX-License-Identifier: Apache-2.0
// Address -> mapping (from /proc/self/maps) -> file -> symbol. Only system calls, fixed buffers and
// the stack.
#include "base/symbolize.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "base/elf_symbols.h"

namespace mxnet {
namespace {

struct Mapping {
  uint64_t begin = 0, end = 0, file_offset = 0;
  char path[256] = "";
};

class Descriptor {
 public:
  explicit Descriptor(const char* path) : fd_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

// Lines of a file that may be longer than the buffer: the tail of an overlong line is dropped.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}
  // Copies the next line without its newline, cut to `size` - 1 characters; false at the end.
  bool next(char* line, std::size_t size) noexcept {
    std::size_t length = 0;
    for (;;) {
      if (at_ == filled_ && !fill()) {
        line[length] = 0;
        return length > 0;
      }
      const char c = buffer_[at_++];
      if (c == '\n') break;
      if (length + 1 < size) line[length++] = c;
    }
    line[length] = 0;
    return true;
  }

 private:
  bool fill() noexcept {
    ssize_t got;
    do {
      got = ::read(fd_, buffer_, sizeof(buffer_));
    } while (got < 0 && errno == EINTR);
    at_ = 0;
    filled_ = got > 0 ? static_cast<std::size_t>(got) : 0;
    return filled_ > 0;
  }

  int fd_;
  char buffer_[1024];
  std::size_t at_ = 0, filled_ = 0;
};

uint64_t parse_hex(const char*& text) noexcept {
  uint64_t value = 0;
  for (;; ++text) {
    const char c = *text;
    if (c >= '0' && c <= '9') {
      value = value * 16 + static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value * 16 + static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

// "7f00-7f10 r-xp 00001000 fe:01 1234   /usr/lib/libc.so.6"
bool find_mapping(uint64_t address, Mapping& out) noexcept {
  const Descriptor maps("/proc/self/maps");
  if (maps.get() < 0) return false;
  LineReader reader(maps.get());
  char line[512];
  while (reader.next(line, sizeof(line))) {
    const char* text = line;
    out.begin = parse_hex(text);
    if (*text == '-') ++text;
    out.end = parse_hex(text);
    if (address < out.begin || address >= out.end) continue;
    text = std::strchr(*text == ' ' ? text + 1 : text, ' ');  // past the permissions
    if (text == nullptr) return false;
    out.file_offset = parse_hex(++text);
    const char* path = std::strchr(text, '/');
    if (path == nullptr) return false;  // anonymous memory, [vdso], [stack]
    std::strncpy(out.path, path, sizeof(out.path) - 1);
    return true;
  }
  return false;
}

// `out.offset` is the offset in the file on entry, in the function on return if one was found.
void look_up_in_file(const Mapping& mapping, FrameInfo& out) noexcept {
  const Descriptor file(mapping.path);
  struct stat status;
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0 || status.st_size <= 0) return;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (data == MAP_FAILED) return;
  const std::span image(static_cast<const unsigned char*>(data), size);
  const uint64_t virtual_address = elf_address_of(image, out.offset);
  const ElfSymbol symbol = find_elf_symbol(image, virtual_address);
  if (!symbol.name.empty()) {
    const std::size_t length = std::min(symbol.name.size(), sizeof(out.function) - 1);
    std::memcpy(out.function, symbol.name.data(), length);
    out.function[length] = 0;
    out.offset = symbol.offset;
  }
  ::munmap(data, size);
}

// One <source-name> of the Itanium ABI, "6engine"; false, and nothing changed, if there is none.
bool parse_source_name(const char*& text, const char*& name, std::size_t& length) noexcept {
  std::size_t count = 0;
  const char* at = text;
  while (*at >= '0' && *at <= '9' && count < 4096) {
    count = count * 10 + static_cast<std::size_t>(*at++ - '0');
  }
  if (count == 0 || strnlen(at, count) < count) return false;
  name = at;
  length = count;
  text = at + count;
  return true;
}

// A buffer that refuses what does not fit, and remembers that.
struct Output {
  char* data;
  std::size_t size, used = 0;
  bool fits = true;
  void add(const char* text, std::size_t length) noexcept {
    if (used + length + 1 > size) {
      fits = false;
      return;
    }
    std::memcpy(data + used, text, length);
    used += length;
    data[used] = 0;
  }
};

bool demangle_into(const char* text, Output& out) noexcept {
  constexpr char kAnonymous[] = "_GLOBAL__N_1";
  if (std::strncmp(text, "_Z", 2) != 0) return false;
  text += 2;
  const bool nested = *text == 'N';
  if (nested) {
    ++text;
    while (*text == 'K' || *text == 'V' || *text == 'r' || *text == 'R' || *text == 'O') ++text;
  } else if (*text == 'L') {
    ++text;  // a function local to its file
  }
  const char* name = nullptr;
  std::size_t length = 0;
  bool first = true;
  const auto separate = [&] {
    if (!first) out.add("::", 2);
    first = false;
  };
  for (;;) {
    if (parse_source_name(text, name, length)) {
      separate();
      if (length == sizeof(kAnonymous) - 1 && std::strncmp(name, kAnonymous, length) == 0) {
        out.add("(anonymous namespace)", 21);
      } else {
        out.add(name, length);
      }
    } else if (first && std::strncmp(text, "St", 2) == 0) {
      text += 2;
      separate();
      out.add("std", 3);
      if (!nested && !(*text >= '0' && *text <= '9')) return false;
      continue;
    } else if (name != nullptr && (*text == 'C' || *text == 'D') && text[1] >= '0' &&
               text[1] <= '4') {
      separate();
      if (*text == 'D') out.add("~", 1);
      out.add(name, length);
      text += 2;
    } else {
      break;
    }
    if (!nested) return out.fits;  // the parameters follow
  }
  return nested && !first && *text == 'E' && out.fits;
}

}  // namespace

void symbolize(uintptr_t address, FrameInfo& out) noexcept {
  out = FrameInfo{};
  Mapping mapping;
  if (!find_mapping(address, mapping)) {
    out.offset = address;
    return;
  }
  std::memcpy(out.module, mapping.path, sizeof(out.module));
  out.offset = address - mapping.begin + mapping.file_offset;
  look_up_in_file(mapping, out);
}

const char* demangle_simple(const char* mangled, char* out, std::size_t size) noexcept {
  Output buffer{out, size};
  if (!demangle_into(mangled, buffer)) {
    std::strncpy(out, mangled, size - 1);
    out[size - 1] = 0;
  }
  return out;
}

}  // namespace mxnet
