// SPDX-License-Identifier: Apache-2.0
// A list for each thread: no lock that a fork could find taken.
#include "device/spare_stream.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/device_registry.h"

namespace mxnet {
namespace {

using Streams = std::vector<std::unique_ptr<Stream>>;

Streams& spare_streams() {
  thread_local Streams streams;
  return streams;
}

std::unique_ptr<Stream> take(DeviceApi& api, int device) {
  Streams& spare = spare_streams();
  const auto at = std::find_if(spare.begin(), spare.end(), [&](const auto& stream) {
    return &stream->api() == &api && stream->device() == device;
  });
  if (at == spare.end()) return std::make_unique<Stream>(api, device);
  std::unique_ptr<Stream> stream = std::move(*at);
  spare.erase(at);
  return stream;
}

}  // namespace

SpareStream::SpareStream(DeviceApi& api, int device) : stream_(take(api, device)) {}

SpareStream::~SpareStream() = default;

void SpareStream::finish() {
  stream_->synchronize();
  if (is_permanent(stream_->api())) spare_streams().push_back(std::move(stream_));
}

}  // namespace mxnet
