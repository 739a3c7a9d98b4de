// SPDX-License-Identifier: Apache-2.0
// What /proc says. A file of it that is open stays that of the one thread, as a number would not.
#include "plugin/mpi/near_thread.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string>
#include <utility>

namespace mxnet::mpi {

NearThread::NearThread(int process, int thread)
    : file_(open(("/proc/" + std::to_string(process) + "/task/" + std::to_string(thread) + "/stat")
                     .c_str(),
                 O_RDONLY | O_CLOEXEC)) {}

NearThread::NearThread(NearThread&& other) noexcept : file_(std::exchange(other.file_, -1)) {}

NearThread& NearThread::operator=(NearThread&& other) noexcept {
  std::swap(file_, other.file_);
  return *this;
}

NearThread::~NearThread() {
  if (file_ >= 0) close(file_);
}

std::optional<NearThread::Look> NearThread::look() const {
  constexpr int kFieldsBeforeTimes = 10;  // from the state to those in user and in system mode
  if (file_ < 0) return std::nullopt;
  std::array<char, 1024> bytes{};
  const ssize_t size = pread(file_, bytes.data(), bytes.size(), 0);
  if (size <= 0) return std::nullopt;
  // The name, in brackets, may hold anything.
  const std::string text(bytes.data(), static_cast<std::size_t>(size));
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  char state = 0;
  fields >> state;
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeTimes; ++i) fields >> skipped;
  long user = 0, system = 0;
  if (!(fields >> user >> system)) return std::nullopt;
  static const long second = sysconf(_SC_CLK_TCK);
  return Look{state == 'R' || state == 'D',
              std::chrono::milliseconds((user + system) * 1000 / second)};
}

bool Starving::excuses(const std::optional<NearThread::Look>& look,
                       std::chrono::steady_clock::duration silence) {
  if (!look || !look->ready) return false;
  if (!begun_) {
    begun_ = look->ran;
    excused_ = {};
  }
  if (look->ran - *begun_ >= kEnough || excused_ >= most_) return false;
  excused_ += silence;
  return true;
}

}  // namespace mxnet::mpi
