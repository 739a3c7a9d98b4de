// SPDX-License-Identifier: Apache-2.0
// A page of a memfd each, which others open by /proc/PID/fd as src/kvstore/shared_place.h does; a
// futex in it.
#include "plugin/mpi/doorbell.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <new>
#include <string>

namespace mxnet::mpi {
namespace {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

// Not a private futex: those who wake are other processes.
void futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* most) {
  syscall(SYS_futex, reinterpret_cast<uint32_t*>(&word), operation, value, most, nullptr, 0);
}

// As it travels.
struct Shown {
  int32_t rank = 0, process = 0, thread = 0, descriptor = -1;
  uint64_t key = 0;
};

}  // namespace

Doorbell::Doorbell() {
  descriptor_ = memfd_create("doorbell", MFD_CLOEXEC);
  if (descriptor_ >= 0 && ftruncate(descriptor_, sizeof(Bell)) == 0) own_ = map(descriptor_);
  if (own_ == nullptr) {  // nobody sees this one
    own_ = new Bell;
    return;
  }
  new (own_) Bell;
  uint64_t key = 0;
  if (getrandom(&key, sizeof key, 0) == sizeof key) own_->key = key;
}

Doorbell::Bell* Doorbell::map(int descriptor) {
  void* const at = mmap(nullptr, sizeof(Bell), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return at == MAP_FAILED ? nullptr : static_cast<Bell*>(at);
}

Doorbell::Bell* Doorbell::see(int process, int descriptor, uint64_t key) {
  const std::string path = "/proc/" + std::to_string(process) + "/fd/" + std::to_string(descriptor);
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return nullptr;
  struct stat about {};
  const bool fits = fstat(file, &about) == 0 && S_ISREG(about.st_mode) &&
                    about.st_size == static_cast<off_t>(sizeof(Bell));
  Bell* bell = fits ? map(file) : nullptr;
  close(file);
  if (bell != nullptr && bell->key != key) {
    munmap(bell, sizeof(Bell));
    bell = nullptr;
  }
  return bell;
}

void Doorbell::meet(MPI_Comm comm) {
  Shown mine;
  int all = 0, near = 0;
  MPI_Comm_rank(comm, &mine.rank);
  MPI_Comm_size(comm, &all);
  others_.assign(static_cast<std::size_t>(all), nullptr);
  sleepers_.assign(static_cast<std::size_t>(all), {});
  MPI_Comm beside;  // on this machine
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, mine.rank, MPI_INFO_NULL, &beside);
  MPI_Comm_size(beside, &near);
  mine.process = getpid();
  mine.thread = static_cast<int32_t>(syscall(SYS_gettid));
  mine.key = own_->key;
  if (mine.key != 0) mine.descriptor = descriptor_;
  std::vector<Shown> shown(static_cast<std::size_t>(near));
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, shown.data(), sizeof mine, MPI_BYTE, beside);
  int seen = 0;
  for (const Shown& one : shown) {
    if (one.rank == mine.rank || one.descriptor < 0) continue;
    Bell*& other = others_[static_cast<std::size_t>(one.rank)];
    other = see(one.process, one.descriptor, one.key);
    if (other == nullptr) continue;
    ++seen;
    sleepers_[static_cast<std::size_t>(one.rank)] = {one.process, one.thread};
  }
  int all_seen = seen == all - 1 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &all_seen, 1, MPI_INT, MPI_MIN, comm);  // and all have looked
  all_near_ = all_seen != 0;
  MPI_Comm_free(&beside);
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

// Sequentially consistent, both: either the sleeper sees the ring, or this one that it sleeps.
void Doorbell::ring(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  if (bell.sleeps.load(std::memory_order_seq_cst) != 0) futex(bell.rings, FUTEX_WAKE, 1, nullptr);
}

void Doorbell::sleep(uint32_t heard, std::chrono::nanoseconds most) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(most);
  const timespec relative{static_cast<time_t>(seconds.count()),
                          static_cast<long>((most - seconds).count())};
  own_->sleeps.store(1, std::memory_order_seq_cst);
  futex(own_->rings, FUTEX_WAIT, heard, &relative);
  own_->sleeps.store(0, std::memory_order_seq_cst);
}

}  // namespace mxnet::mpi
