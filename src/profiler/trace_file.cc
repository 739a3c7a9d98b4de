// SPDX-License-Identifier: Apache-2.0
// Writing beside and exchanging names.
#include "profiler/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/destination.h"
#include "base/error.h"

namespace mxnet::profiler {

TraceFile::TraceFile(std::string path, std::string head)
    : path_(std::move(path)), head_(std::move(head)) {}

void TraceFile::settle_paths() {
  std::error_code failed;  // a working directory that is gone: the path as it was given
  const auto whole = std::filesystem::absolute(path_, failed);
  whole_path_ = failed ? path_ : whole.string();
  shown_path_ = destination_of(whole_path_).path;
  hidden_path_ = name_beside(shown_path_, fmt::format(".{}.part", ::getpid()));
}

TraceFile::~TraceFile() {
  if (hidden_.descriptor >= 0) ::unlink(hidden_path_.c_str());
  close(shown_);
  close(hidden_);
}

void TraceFile::abandon() noexcept {
  close(shown_);
  close(hidden_);
}

void TraceFile::close(File& file) noexcept {
  if (file.descriptor >= 0) ::close(std::exchange(file.descriptor, -1));
}

void TraceFile::fail(const char* what, const std::string& path) const {
  throw Error(ErrorCode::kGeneric, "profiler",
              fmt::format("cannot {} {}: {}", what, path,
                          std::error_code(errno, std::generic_category()).message()));
}

bool TraceFile::pass_on(std::string_view text, std::string_view tail) {
  if (destination_of(whole_path_).replaceable) return false;
  const int out = ::open(whole_path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (out < 0) fail("open", path_);
  int error = 0;
  for (std::string_view part : {std::string_view(head_), text, tail}) {
    while (error == 0 && !part.empty()) {
      const ssize_t written = ::write(out, part.data(), part.size());
      if (written >= 0) {
        part.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        error = errno;
      }
    }
  }
  ::close(out);
  errno = error;
  if (error != 0) fail("write", path_);
  return true;
}

void TraceFile::append(std::string_view text, std::string_view tail) {
  if (whole_path_.empty()) settle_paths();
  if (pass_on(text, tail)) return;
  if (hidden_.descriptor < 0) open_hidden();
  catch_up();
  write(hidden_, text, hidden_.body);
  const uint64_t body = hidden_.body + text.size();
  write(hidden_, tail, body);
  if (::ftruncate(hidden_.descriptor, static_cast<off_t>(body + tail.size())) != 0)
    fail("write", hidden_path_);
  hidden_.body = body;
  swap_names();
}

void TraceFile::open_hidden() {
  hidden_.descriptor = ::open(hidden_path_.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (hidden_.descriptor < 0) fail("create", hidden_path_);
  take_over_rights(shown_path_, hidden_.descriptor);
  hidden_.body = 0;
  write(hidden_, head_, 0);
  hidden_.body = head_.size();
}

void TraceFile::catch_up() {
  if (shown_.descriptor < 0) return;
  std::vector<char> buffer;
  while (hidden_.body < shown_.body) {
    buffer.resize(std::min<uint64_t>(shown_.body - hidden_.body, 1 << 20));
    const ssize_t got =
        ::pread(shown_.descriptor, buffer.data(), buffer.size(), static_cast<off_t>(hidden_.body));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) fail("read", path_);
    write(hidden_, {buffer.data(), static_cast<std::size_t>(got)}, hidden_.body);
    hidden_.body += static_cast<uint64_t>(got);
  }
}

void TraceFile::write(File& file, std::string_view text, uint64_t at) {
  while (!text.empty()) {
    const ssize_t written =
        ::pwrite(file.descriptor, text.data(), text.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) fail("write", hidden_path_);
    text.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<uint64_t>(written);
  }
}

void TraceFile::swap_names() {
  // Only what we wrote ourselves is exchanged; something else of that name is replaced.
  struct stat mine, there;
  const bool ours = shown_.descriptor >= 0 && ::fstat(shown_.descriptor, &mine) == 0 &&
                    ::stat(shown_path_.c_str(), &there) == 0 && mine.st_ino == there.st_ino &&
                    mine.st_dev == there.st_dev;
  if (ours && ::renameat2(AT_FDCWD, hidden_path_.c_str(), AT_FDCWD, shown_path_.c_str(),
                          RENAME_EXCHANGE) == 0)
    return std::swap(shown_, hidden_);
  if (::rename(hidden_path_.c_str(), shown_path_.c_str()) != 0) fail("write", path_);
  close(shown_);
  shown_ = std::exchange(hidden_, File{});
}

}  // namespace mxnet::profiler
