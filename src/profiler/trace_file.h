// SPDX-License-Identifier: Apache-2.0
// A trace on disk that is valid JSON at every moment, also when the process is killed in the middle
// of a write.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mxnet::profiler {

// Two files take turns: one has the name that users read, the other lies beside it under the name
// "<path>.<pid>.part". What is new goes into the hidden one, after what it missed while the other
// was hidden; then the kernel exchanges their names in one step. So a trace of n bytes costs 2 n
// bytes of writing, however often it is dumped. Where the file system cannot exchange, the hidden
// one replaces the other, and the next one is copied whole. A link at that name stays and leads to
// the first.
//
// Used under the profiler's mutex. Failures of the system are Error(kGeneric) with the path.
class TraceFile {
 public:
  // `head` and `tail` surround what is appended: head + tail is a valid file.
  TraceFile(std::string path, std::string head);
  ~TraceFile();  // removes the hidden file
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::string& path() const { return path_; }

  // Makes head + all texts so far + `text` + `tail` what is found under path(). What is no regular
  // file there, such as /dev/null or a pipe, stays, and is given head + `text` + `tail`.
  void append(std::string_view text, std::string_view tail);

  // Closes without touching the names: for a forked child, whose files are the parent's.
  void abandon() noexcept;

 private:
  struct File {
    int descriptor = -1;
    uint64_t body = 0;  // bytes without tail
  };
  [[noreturn]] void fail(const char* what, const std::string& path) const;
  bool pass_on(std::string_view text, std::string_view tail);
  void open_hidden();
  void catch_up();
  void write(File& file, std::string_view text, uint64_t at);
  void swap_names();
  static void close(File& file) noexcept;

  void settle_paths();

  const std::string path_, head_;
  // As of the first append, and absolute: a program may change its working directory later.
  std::string whole_path_, shown_path_, hidden_path_;  // shown: behind links
  File shown_, hidden_;
};

}  // namespace mxnet::profiler
