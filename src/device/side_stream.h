// SPDX-License-Identifier: Apache-2.0
// A second stream for one part of an operation's work, beside the operation's own.
#pragma once
#include <memory>

#include "device/stream.h"

namespace mxnet {

// On one thread's stack, one at a time; each thread keeps its streams. What is put on it comes
// behind what `main` had before, and what comes on `main` later is behind both.
class SideStream {
 public:
  explicit SideStream(Stream& main);
  // Joins, if nobody has: memory of the part may be given back in the order of `main`.
  ~SideStream();
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  Stream& stream();
  // Once more behind all that `main` has: after memory was taken there, for which `main` may wait.
  void follow();
  void join();

 private:
  struct Parts;
  static std::unique_ptr<Parts>& kept();

  Stream& main_;
  std::unique_ptr<Parts> parts_;
  bool joined_ = false;
};

}  // namespace mxnet
