// SPDX-License-Identifier: Apache-2.0
// Two pieces take turns. They go back to their pool in the order of the stream, so that the end of
// a copy is waited for only by who needs the same pinned memory.
#include "storage/staged_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "device/device_copy.h"
#include "device/spare_stream.h"
#include "storage/storage.h"

namespace mxnet {
namespace {

// Long enough for the full speed of a link. All blocks have this size, so that they are found
// again.
constexpr std::size_t kPiece = 4 << 20;
constexpr std::size_t kDirect = 64 << 10;  // bytes up to which the drivers take a copy of their own

bool is_pageable(Device device) {
  return device.type == DeviceType::kCPU || device.type == DeviceType::kCPUShared;
}

// A block of pinned memory with what was last put on the stream for it.
class Piece {
 public:
  explicit Piece(Stream& stream)
      : stream_(stream),
        last_(stream.api(), stream.device()),
        block_(Storage::get().allocate(kPiece, kPinned, "staging")) {}
  ~Piece() { Storage::get().release(block_, &stream_); }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;

  void send(void* to_data, Device to, const char* from, std::size_t bytes) {
    last_.synchronize();
    std::memcpy(block_.data, from, bytes);
    copy(to_data, to, block_.data, kPinned, bytes, &stream_);
    last_.record(stream_);
  }
  void fetch(char* to, const void* from_data, Device from, std::size_t bytes) {
    deliver();
    copy(block_.data, kPinned, from_data, from, bytes, &stream_);
    last_.record(stream_);
    to_ = to;
    bytes_ = bytes;
  }
  // What was fetched last arrives.
  void deliver() {
    if (bytes_ == 0) return;
    last_.synchronize();
    std::memcpy(to_, block_.data, bytes_);
    bytes_ = 0;
  }

 private:
  static constexpr Device kPinned = Device::cpu_pinned();

  Stream& stream_;
  Event last_;
  const Block block_;
  char* to_ = nullptr;
  std::size_t bytes_ = 0;  // 0 = nothing is on its way
};

void copy_in_pieces(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
                    Stream& stream) {
  const std::size_t size = std::min((bytes + 1) / 2, kPiece);  // both have work
  std::array<Piece, 2> pieces{Piece(stream), Piece(stream)};
  const auto* source = static_cast<const char*>(from_data);
  auto* target = static_cast<char*>(to_data);
  std::size_t turn = 0;
  for (std::size_t done = 0; done < bytes; done += size, turn ^= 1) {
    const std::size_t count = std::min(size, bytes - done);
    if (to.is_gpu())
      pieces[turn].send(target + done, to, source + done, count);
    else
      pieces[turn].fetch(target + done, source + done, from, count);
  }
  pieces[turn].deliver();
  pieces[turn ^ 1].deliver();
}

}  // namespace

void staged_copy(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes,
                 Stream* stream) {
  const bool staged =
      bytes > kDirect && ((to.is_gpu() && is_pageable(from)) || (from.is_gpu() && is_pageable(to)));
  if (!staged) {
    copy(to_data, to, from_data, from, bytes, stream);
  } else if (stream != nullptr) {
    copy_in_pieces(to_data, to, from_data, from, bytes, *stream);
  } else {
    SpareStream mine(device_api(DeviceType::kGPU), to.is_gpu() ? to.id : from.id);
    copy_in_pieces(to_data, to, from_data, from, bytes, mine.stream());
    mine.finish();
  }
}

}  // namespace mxnet
