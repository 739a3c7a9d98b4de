// SPDX-License-Identifier: Apache-2.0
// A thread's stream and its two events are kept from one operation to the next.
#include "device/side_stream.h"

#include <exception>
#include <utility>

#include "device/device_registry.h"

namespace mxnet {

struct SideStream::Parts {
  explicit Parts(const Stream& main)
      : stream(main.api(), main.device()),
        begun(main.api(), main.device()),
        ended(main.api(), main.device()) {}
  bool belongs_to(const Stream& main) const {
    return &stream.api() == &main.api() && stream.device() == main.device();
  }
  Stream stream;
  Event begun, ended;
};

std::unique_ptr<SideStream::Parts>& SideStream::kept() {
  thread_local std::unique_ptr<Parts> parts;
  return parts;
}

SideStream::SideStream(Stream& main) : main_(main), parts_(std::move(kept())) {
  if (parts_ == nullptr || !parts_->belongs_to(main)) parts_ = std::make_unique<Parts>(main);
  follow();
}

SideStream::~SideStream() {
  try {
    join();
  } catch (const std::exception&) {  // the device is lost, and its work with it
    return;
  }
  if (is_permanent(main_.api())) kept() = std::move(parts_);
}

Stream& SideStream::stream() { return parts_->stream; }

void SideStream::follow() {
  parts_->begun.record(main_);
  parts_->begun.block(parts_->stream);
}

void SideStream::join() {
  if (std::exchange(joined_, true)) return;
  parts_->ended.record(parts_->stream);
  parts_->ended.block(main_);
}

}  // namespace mxnet
