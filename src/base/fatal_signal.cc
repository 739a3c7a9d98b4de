// SPDX-License-Identifier: Apache-2.0
// The handler uses only system calls, the stack and what was prepared at installation: the heap may
// be what broke.
#include "base/fatal_signal.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
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

uintptr_t program_counter(const void* context) noexcept {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
  return 0;
#endif
}

void print_frame(int number, uintptr_t address, uintptr_t look_up) noexcept {
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
  if (info->si_code > 0 && signal != SIGABRT) {
    line.text(" at address ").number(reinterpret_cast<uintptr_t>(info->si_addr), 16);
  }
  line.text(" in thread ").number(static_cast<uint64_t>(thread_id()), 10);
  line.text(" of process ").number(static_cast<uint64_t>(::getpid()), 10).write();
  line.text("Stack trace:").write();

  void* addresses[kMaxFrames];
  const int count = ::backtrace(addresses, kMaxFrames);
  // The first frames are this handler's; the interesting ones begin where the fault was.
  const uintptr_t fault = program_counter(context);
  int first = 0;
  while (first < count && reinterpret_cast<uintptr_t>(addresses[first]) != fault) ++first;
  if (first == count) {  // a jump into nowhere: the unwinder could not pass it
    print_frame(0, fault, fault);
    first = 0;
  }
  for (int i = first; i < count; ++i) {
    const auto address = reinterpret_cast<uintptr_t>(addresses[i]);
    // All but the first are return addresses, one past their call.
    print_frame(i - first, address, address == fault ? address : address - 1);
  }
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
  if (g_reporter.compare_exchange_strong(reporter, self, std::memory_order_acq_rel)) {
    print_report(signal, info, context);
    ::sigaction(signal, &g_previous[index_of(signal)], nullptr);
    g_reporter.store(0, std::memory_order_release);
  } else if (reporter == self) {
    ::signal(signal, SIG_DFL);  // the report itself failed: end now
  } else {
    wait_for_reporter();
    ::sigaction(signal, &g_previous[index_of(signal)], nullptr);
  }
  // A fault of the machine happens again on return. One that was sent (raise, kill, abort) must be
  // sent again; it stays pending until return, because the signal is blocked meanwhile.
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
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
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
