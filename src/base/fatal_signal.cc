// SPDX-License-Identifier: Apache-2.0
// The handler uses only system calls, the stack and what was prepared at installation: the heap may
// be what broke.
#include "base/fatal_signal.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <mutex>

#include "base/symbolize.h"

namespace mxnet {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
constexpr const char* kNames[] = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL", "SIGABRT"};
constexpr int kSignalCount = static_cast<int>(std::size(kSignals));
constexpr int kMaxFrames = 64;
// The handler needs some 8 KiB, the kernel's frame with AVX-512 and AMX state up to 12 KiB.
constexpr std::size_t kAlternateStackBytes = 64 * 1024;

struct sigaction g_previous[kSignalCount];
// The thread that reports, 0 before. A second fault of the same thread means that the report itself
// failed.
std::atomic<pid_t> g_reporter{0};

pid_t thread_id() noexcept { return static_cast<pid_t>(::syscall(SYS_gettid)); }

int index_of(int signal) noexcept {
  int i = 0;
  while (i < kSignalCount - 1 && kSignals[i] != signal) ++i;
  return i;
}

// Text put together without printf, written line by line: what was written survives a fault in the
// report.
class Line {
 public:
  Line& text(const char* s) noexcept {
    while (*s != 0 && used_ < sizeof(data_) - 1) data_[used_++] = *s++;
    return *this;
  }
  Line& number(uint64_t value, unsigned base) noexcept {
    char digits[24];
    int at = sizeof(digits);
    digits[--at] = 0;
    do {
      digits[--at] = "0123456789abcdef"[value % base];
      value /= base;
    } while (value != 0);
    return text(base == 16 ? "0x" : "").text(digits + at);
  }
  void write() noexcept {
    data_[used_++] = '\n';
    [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, data_, used_);
    used_ = 0;
  }

 private:
  char data_[1400];
  std::size_t used_ = 0;
};

// Registers of the interrupted thread.
struct Machine {
  uintptr_t program_counter = 0, stack = 0, frame = 0;
};

Machine machine_of(const void* context) noexcept {
  const auto& m = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return {static_cast<uintptr_t>(m.gregs[REG_RIP]), static_cast<uintptr_t>(m.gregs[REG_RSP]),
          static_cast<uintptr_t>(m.gregs[REG_RBP])};
#elif defined(__aarch64__)
  return {m.pc, m.sp, m.regs[29]};
#else
  return {};
#endif
}

// Reads memory that may not be there.
bool peek(uintptr_t address, void* out, std::size_t bytes) noexcept {
  iovec local{out, bytes};
  iovec remote{reinterpret_cast<void*>(address), bytes};
  return ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// For a jump into nowhere, which the unwinder cannot pass (it reads the code that is not there):
// the return address on top of the stack, then frame pointers, which all our code keeps.
int walk_frame_pointers(const Machine& machine, void** addresses, int limit) noexcept {
  int count = 0;
  addresses[count++] = reinterpret_cast<void*>(machine.program_counter);
  if (peek(machine.stack, &addresses[count], sizeof(void*))) ++count;
  uintptr_t frame[2] = {machine.frame, 0};  // the caller's frame pointer, the return address
  while (count < limit) {
    const uintptr_t here = frame[0];
    if (!peek(here, frame, sizeof(frame)) || frame[1] == 0 || frame[0] <= here) break;
    addresses[count++] = reinterpret_cast<void*>(frame[1]);
  }
  return count;
}

// From the place of the fault outwards.
int collect_frames(const Machine& machine, void** addresses) noexcept {
  FrameInfo place;
  symbolize(machine.program_counter, place);
  if (place.module[0] == 0) return walk_frame_pointers(machine, addresses, kMaxFrames);
  const int count = ::backtrace(addresses, kMaxFrames);
  int first = 0;  // leaves out the frames of the handler
  while (first < count && reinterpret_cast<uintptr_t>(addresses[first]) != machine.program_counter)
    ++first;
  if (first == count) return walk_frame_pointers(machine, addresses, kMaxFrames);
  std::memmove(addresses, addresses + first,
               static_cast<std::size_t>(count - first) * sizeof(void*));
  return count - first;
}

void print_frame(int number, uintptr_t address) noexcept {
  // All but the first are return addresses, one past their call.
  const uintptr_t look_up = number == 0 ? address : address - 1;
  FrameInfo frame;
  symbolize(look_up, frame);
  char function[512];
  Line line;
  line.text("  [bt] (").number(static_cast<uint64_t>(number), 10).text(") ");
  line.text(frame.module[0] != 0 ? frame.module : "?").text("(");
  line.text(demangle_simple(frame.function, function, sizeof(function)));
  line.text("+").number(frame.offset + (address - look_up), 16);
  line.text(") [").number(address, 16).text("]").write();
}

void print_report(int signal, const siginfo_t* info, const void* context) noexcept {
  Line line;
  line.text("\nFatal error: ").text(kNames[index_of(signal)]);
  if (info->si_code > 0)
    line.text(" at address ").number(reinterpret_cast<uintptr_t>(info->si_addr), 16);
  line.text(" in thread ").number(static_cast<uint64_t>(thread_id()), 10);
  line.text(" of process ").number(static_cast<uint64_t>(::getpid()), 10).write();
  line.text("Stack trace:").write();
  void* addresses[kMaxFrames];
  const int count = collect_frames(machine_of(context), addresses);
  for (int i = 0; i < count; ++i) print_frame(i, reinterpret_cast<uintptr_t>(addresses[i]));
}

// While one thread reports, others that fault too wait for the process to end; not for ever, should
// it survive.
void wait_for_reporter() noexcept {
  for (int i = 0; i < 100 && g_reporter.load(std::memory_order_acquire) != 0; ++i) {
    const timespec pause{0, 100'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

void handle(int signal, siginfo_t* info, void* context) {
  const pid_t self = thread_id();
  pid_t reporter = 0;
  // Acquire/release: the next reporter, if the process survives, sees the actions that this one put
  // back.
  const bool report = g_reporter.compare_exchange_strong(reporter, self, std::memory_order_acq_rel);
  if (report) {
    print_report(signal, info, context);
  } else if (reporter != self) {
    wait_for_reporter();
  }  // else the report itself failed: give it up
  ::sigaction(signal, &g_previous[index_of(signal)], nullptr);
  if (report) g_reporter.store(0, std::memory_order_release);
  // A fault of the machine happens again on return. One that was sent (raise, kill, abort) must be
  // sent again.
  if (info->si_code <= 0) ::syscall(SYS_tgkill, ::getpid(), self, signal);
}

// A mapping with an unreadable page below, owned by one thread.
class AlternateStack {
 public:
  AlternateStack() noexcept {
    stack_t current;
    if (::sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return;
    const auto guard = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = ::mmap(nullptr, guard + kAlternateStackBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED) return;
    ::mprotect(memory, guard, PROT_NONE);
    memory_ = memory;
    bytes_ = guard + kAlternateStackBytes;
    stack_t mine{};
    mine.ss_sp = static_cast<char*>(memory) + guard;
    mine.ss_size = kAlternateStackBytes;
    ::sigaltstack(&mine, nullptr);
  }
  ~AlternateStack() {
    if (memory_ == nullptr) return;
    stack_t off{};
    off.ss_flags = SS_DISABLE;
    ::sigaltstack(&off, nullptr);
    ::munmap(memory_, bytes_);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

void install() {
  void* warm_up[2];
  ::backtrace(warm_up, 2);  // loads the unwinder now: later it could need the heap that broke
  struct sigaction action {};
  action.sa_sigaction = &handle;
  // Not deferred: a fault of the report comes here too, instead of ending the process past the
  // earlier handler.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (int i = 0; i < kSignalCount; ++i) ::sigaction(kSignals[i], &action, &g_previous[i]);
}

}  // namespace

void install_fatal_signal_handler() {
  static std::once_flag once;
  std::call_once(once, install);
  use_alternate_signal_stack();
}

void use_alternate_signal_stack() noexcept { thread_local const AlternateStack stack; }

}  // namespace mxnet
