// SPDX-License-Identifier: Apache-2.0
// RecordIO files for programs: writers and readers, whole files or by position.
#include "io/record_reader.h"
#include "io/record_writer.h"

#include <memory>

#include <fmt/format.h>

#include "c_api/guard.h"
#include "c_api/handle_pool.h"
#include "mxnet/c_api_ext.h"

using namespace mxnet;
using namespace mxnet::c_api;

namespace {

using Writer = std::unique_ptr<io::RecordWriter>;
using Reader = std::unique_ptr<io::RecordReader>;

HandlePool<Writer>& writers() {
  static constinit HandlePool<Writer> pool("RecordIO writer");
  return pool;
}
HandlePool<Reader>& readers() {
  static constinit HandlePool<Reader> pool("RecordIO reader");
  return pool;
}

// MXRecordIOReaderReadRecord for any arguments and files.
[[gnu::noinline]] int read_any_record(RecordIOHandle handle, const char** buf, size_t* size) {
  constexpr const char* kFunction = "MXRecordIOReaderReadRecord";
  return guarded(
      [&] {
        io::RecordReader& reader = *readers().get(handle, kFunction);
        require(buf, kFunction, "buf");
        require(size, kFunction, "size");
        const std::optional<std::string_view> record = reader.next();
        // An empty record is not the end: it has an address.
        *buf = record ? record->data() : nullptr;
        *size = record ? record->size() : 0;
      },
      kFunction);
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
    writers().get(handle, "MXRecordIOWriterFree")->flush();
    writers().destroy(handle, "MXRecordIOWriterFree");
  });
}

int MXRecordIOWriterWriteRecord(RecordIOHandle handle, const char* buf, size_t size) {
  return guarded([&] {
    io::RecordWriter& writer = *writers().get(handle, "MXRecordIOWriterWriteRecord");
    if (size > 0) require(buf, "MXRecordIOWriterWriteRecord", "buf");
    writer.write({buf, size});
  });
}

int MXRecordIOWriterTell(RecordIOHandle handle, size_t* pos) {
  return guarded([&] {
    const io::RecordWriter& writer = *writers().get(handle, "MXRecordIOWriterTell");
    require(pos, "MXRecordIOWriterTell", "pos");
    *pos = writer.tell();
  });
}

int MXRecordIOReaderCreate(const char* uri, RecordIOHandle* out) {
  return guarded([&] {
    require(uri, "MXRecordIOReaderCreate", "uri");
    require(out, "MXRecordIOReaderCreate", "out");
    *out = readers().create(std::make_unique<io::RecordReader>(uri));
  });
}

int MXRecordIOReaderFree(RecordIOHandle handle) {
  return guarded([&] { readers().destroy(handle, "MXRecordIOReaderFree"); });
}

int MXRecordIOReaderReadRecord(RecordIOHandle handle, const char** buf, size_t* size) {
  // A small record takes less time than guarded(). Most calls need nothing of it: a live handle
  // says that the library has started, and nobody watches.
  if (observer() == nullptr && buf != nullptr && size != nullptr) [[likely]] {
    if (const Reader* const reader = readers().get_if(handle)) [[likely]] {
      const std::string_view record = (*reader)->next_in_window();
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
  return guarded([&] { readers().get(handle, "MXRecordIOReaderSeek")->seek(pos); });
}

int MXRecordIOReaderTell(RecordIOHandle handle, size_t* pos) {
  return guarded([&] {
    const io::RecordReader& reader = *readers().get(handle, "MXRecordIOReaderTell");
    require(pos, "MXRecordIOReaderTell", "pos");
    *pos = reader.tell();
  });
}

int MXRecordIOReaderSetSkipping(RecordIOHandle handle, int skip) {
  return guarded([&] {
    readers()
        .get(handle, "MXRecordIOReaderSetSkipping")
        ->set_on_damage(skip != 0 ? io::OnDamage::kSkip : io::OnDamage::kThrow);
  });
}

int MXRecordIOReaderGetSkipped(RecordIOHandle handle, uint64_t* places, uint64_t* bytes) {
  return guarded([&] {
    const io::RecordReader& reader = *readers().get(handle, "MXRecordIOReaderGetSkipped");
    require(places, "MXRecordIOReaderGetSkipped", "places");
    require(bytes, "MXRecordIOReaderGetSkipped", "bytes");
    *places = reader.skipped().places;
    *bytes = reader.skipped().bytes;
  });
}
