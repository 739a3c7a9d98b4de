// SPDX-License-Identifier: Apache-2.0
// RecordIO files for programs: writers and readers, whole files or by position.
#include "io/record_reader.h"
#include "io/record_writer.h"

#include <pthread.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/of_thread.h"
#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

using WriterPool = HandlePool<std::unique_ptr<io::RecordWriter>, Handles::kInTurns>;

// A reader and the thread that read with it first. What it reads lies in its own memory, until the
// next record: for more threads than one that is nobody's `next`, and each gets a copy.
struct Reader {
  std::unique_ptr<io::RecordReader> records;
  pthread_t first = 0;
  bool is_shared = false;

  bool is_of_one_thread() {
    if (first == ::pthread_self()) return !is_shared;
    if (first == 0) {
      first = ::pthread_self();
      return true;
    }
    // The first one may be looking at its last record yet.
    if (!std::exchange(is_shared, true)) records->leave_window();
    return false;
  }
};
using ReaderPool = HandlePool<Reader, Handles::kInTurns>;

WriterPool& writers() {
  static constinit WriterPool pool("RecordIO writer");
  return pool;
}
ReaderPool& readers() {
  static constinit ReaderPool pool("RecordIO reader");
  return pool;
}

std::string_view copy_for_thread(std::string_view record) {
  std::string& copy = of_thread<std::string, struct SharedRecord>();
  copy = record;
  return copy;
}

// MXRecordIOReaderReadRecord for any arguments and files.
[[gnu::noinline]] int read_any_record(RecordIOHandle handle, const char** buf, size_t* size) {
  constexpr const char* kFunction = "MXRecordIOReaderReadRecord";
  return guarded(kFunction, [&] {
    const ReaderPool::Use reader = readers().use(handle, kFunction);
    require(buf, kFunction, "buf");
    require(size, kFunction, "size");
    const bool is_own = reader->is_of_one_thread();
    std::optional<std::string_view> record = reader->records->next();
    if (record && !is_own) record = copy_for_thread(*record);
    // An empty record is not the end: it has an address.
    *buf = record ? record->data() : nullptr;
    *size = record ? record->size() : 0;
  });
}

}  // namespace

int MXRecordIOWriterCreate(const char* uri, RecordIOHandle* out) {
  return guarded([&] {
    require(uri, "MXRecordIOWriterCreate", "uri");
    require(out, "MXRecordIOWriterCreate", "out");
    *out = writers().create(std::make_unique<io::RecordWriter>(uri));
  });
}

int MXRecordIOWriterFree(RecordIOHandle handle) {
  return guarded([&] {
    // What is still buffered is written here, where a full disk is an error and not a line of log.
    (*writers().use(handle, "MXRecordIOWriterFree"))->flush();
    writers().destroy(handle, "MXRecordIOWriterFree");
  });
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size) {
  return guarded([&] {
    const WriterPool::Use writer = writers().use(handle, "MXRecordIOWriterWriteRecord");
    if (size > 0) require(buf, "MXRecordIOWriterWriteRecord", "buf");
    (*writer)->write({buf, size});
  });
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos) {
  return guarded([&] {
    const WriterPool::Use writer = writers().use(handle, "MXRecordIOWriterTell");
    require(pos, "MXRecordIOWriterTell", "pos");
    *pos = (*writer)->tell();
  });
}

int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out) {
  return guarded([&] {
    require(uri, "MXRecordIOReaderCreate", "uri");
    require(out, "MXRecordIOReaderCreate", "out");
    *out = readers().create({std::make_unique<io::RecordReader>(uri)});
  });
}

int MXRecordIOReaderFree(RecordIOHandle handle) {
  return guarded([&] { readers().destroy(handle, "MXRecordIOReaderFree"); });
}

int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char** buf, size_t* size) {
  // A small record takes less time than guarded(). Most calls need nothing of it: a live handle
  // says that the library has started, and nobody watches.
  if (observer() == nullptr && buf != nullptr && size != nullptr) [[likely]] {
    const ReaderPool::Use reader = readers().use_if_free(handle);
    if (reader && reader->is_of_one_thread()) [[likely]] {
      const std::string_view record = reader->records->next_in_window();
      if (record.data() != nullptr) [[likely]] {
        *buf = record.data();
        *size = record.size();
        return 0;
      }
    }
  }
  return read_any_record(handle, buf, size);
}

int MXRecordIOReaderSeek(RecordIOHandle handle, size_t pos) {
  return guarded([&] { readers().use(handle, "MXRecordIOReaderSeek")->records->seek(pos); });
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos) {
  return guarded([&] {
    const ReaderPool::Use reader = readers().use(handle, "MXRecordIOReaderTell");
    require(pos, "MXRecordIOReaderTell", "pos");
    *pos = reader->records->tell();
  });
}

int MXRecordIOReaderSetSkipping(RecordIOHandle handle, int skip) {
  return guarded([&] {
    readers()
        .use(handle, "MXRecordIOReaderSetSkipping")
        ->records->set_on_damage(skip != 0 ? io::OnDamage::kSkip : io::OnDamage::kThrow);
  });
}

int MXRecordIOReaderGetSkipped(RecordIOHandle handle, uint64_t* places, uint64_t* bytes) {
  return guarded([&] {
    const ReaderPool::Use reader = readers().use(handle, "MXRecordIOReaderGetSkipped");
    require(places, "MXRecordIOReaderGetSkipped", "places");
    require(bytes, "MXRecordIOReaderGetSkipped", "bytes");
    *places = reader->records->skipped().places;
    *bytes = reader->records->skipped().bytes;
  });
}
