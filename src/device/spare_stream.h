// SPDX-License-Identifier: Apache-2.0
// Streams for work that its caller waits for. Making one costs more than a small copy, so that each
// thread keeps those it has used.
#pragma once
#include <memory>

#include "device/stream.h"

namespace mxnet {

// On one thread's stack. Two at a time are two streams.
class SpareStream {
 public:
  SpareStream(DeviceApi& api, int device);
  // Without finish() before it, the stream may have work or an error left, and goes.
  ~SpareStream();
  SpareStream(const SpareStream&) = delete;
  SpareStream& operator=(const SpareStream&) = delete;

  Stream& stream() { return *stream_; }
  // Waits for the work, throws its error, and lets this thread's next one have the stream.
  void finish();

 private:
  std::unique_ptr<Stream> stream_;
};

}  // namespace mxnet
