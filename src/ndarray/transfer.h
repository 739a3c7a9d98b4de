// SPDX-License-Identifier: Apache-2.0
// Lets an interrupt (Ctrl-C) end the reading or writing of a file.
#pragma once
#include <sys/types.h>

#include <cstddef>

#include "engine/interrupt.h"

namespace mxnet {

// One thread, one file. Throws as a wait does that an interrupt has ended.
class Transfer {
 public:
  // Bytes a call of the system, so that a large file is a wait that asks now and then.
  static constexpr std::size_t kPieceBytes = 16 << 20;

  // A call of the system that has moved `done` of `asked` bytes, below 0 if none. With fewer than
  // asked for a signal may have come, whose next call would wait again.
  void moved(std::size_t asked, ssize_t done) {
    if (done < static_cast<ssize_t>(asked)) return cut_short();
    if (watch_.leaves()) engine::throw_interrupted();
  }
  void cut_short() {
    if (check_ != nullptr && check_() != 0) engine::throw_interrupted();
  }

 private:
  const engine::InterruptCheck check_ = engine::interrupt_check();
  engine::LeaveWatch watch_{check_};
};

}  // namespace mxnet
