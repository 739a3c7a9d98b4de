// SPDX-License-Identifier: Apache-2.0
// The functions on RecordIO files and data iterators with a null, a number or a handle without
// meaning.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "mxnet/c_api.h"
#include "mxnet/c_api_ext.h"
#include "null_calls.h"

namespace {

RecordIOHandle g_record = nullptr;
DataIterHandle g_iter = nullptr;
NDArrayHandle g_array = nullptr;
size_t g_size = 0;
uint64_t g_count = 0;
uint32_t g_number = 0;
int g_int = 0;
const char* g_text = nullptr;
const char* g_key = "batch_size";
const char** g_texts = nullptr;
uint64_t* g_index = nullptr;
DataIterCreator* g_creators = nullptr;

// A file, open for writing and for reading, that goes with the process.
class Files {
 public:
  Files() {
    char path[] = "/tmp/mxnet_null_XXXXXX";
    const int fd = ::mkstemp(path);
    path_ = path;
    if (fd >= 0) ::fclose(::fdopen(fd, "w"));
    MXRecordIOWriterCreate(path, &writer_);
    MXRecordIOReaderCreate(path, &reader_);
  }
  ~Files() {
    MXRecordIOReaderFree(reader_);
    MXRecordIOWriterFree(writer_);
    ::remove(path_.c_str());
  }
  RecordIOHandle writer() const { return writer_; }
  RecordIOHandle reader() const { return reader_; }

 private:
  std::string path_;
  RecordIOHandle writer_ = nullptr, reader_ = nullptr;
};

const Files& files() {
  static const Files made;
  return made;
}

DataIterCreator creator() {
  uint32_t count = 0;
  DataIterCreator* creators = nullptr;
  MXListDataIters(&count, &creators);
  return creators[0];
}

}  // namespace

std::multimap<std::string, NullCall> data_null_calls() {
  return {
      {"MXRecordIOWriterCreate", [] { return MXRecordIOWriterCreate(nullptr, &g_record); }},
      {"MXRecordIOWriterCreate", [] { return MXRecordIOWriterCreate("/tmp", nullptr); }},
      {"MXRecordIOWriterFree", [] { return MXRecordIOWriterFree(nullptr); }},
      {"MXRecordIOWriterFree", [] { return MXRecordIOWriterFree(files().reader()); }},
      {"MXRecordIOWriterWriteRecord", [] { return MXRecordIOWriterWriteRecord(nullptr, "x", 1); }},
      {"MXRecordIOWriterWriteRecord",
       [] { return MXRecordIOWriterWriteRecord(files().writer(), nullptr, 1); }},
      {"MXRecordIOWriterTell", [] { return MXRecordIOWriterTell(nullptr, &g_size); }},
      {"MXRecordIOWriterTell", [] { return MXRecordIOWriterTell(files().writer(), nullptr); }},
      {"MXRecordIOReaderCreate", [] { return MXRecordIOReaderCreate(nullptr, &g_record); }},
      {"MXRecordIOReaderCreate", [] { return MXRecordIOReaderCreate("/tmp", nullptr); }},
      {"MXRecordIOReaderFree", [] { return MXRecordIOReaderFree(nullptr); }},
      {"MXRecordIOReaderFree", [] { return MXRecordIOReaderFree(files().writer()); }},
      {"MXRecordIOReaderReadRecord",
       [] { return MXRecordIOReaderReadRecord(nullptr, &g_text, &g_size); }},
      {"MXRecordIOReaderReadRecord",
       [] { return MXRecordIOReaderReadRecord(files().reader(), nullptr, &g_size); }},
      {"MXRecordIOReaderReadRecord",
       [] { return MXRecordIOReaderReadRecord(files().reader(), &g_text, nullptr); }},
      {"MXRecordIOReaderSeek", [] { return MXRecordIOReaderSeek(nullptr, 0); }},
      {"MXRecordIOReaderTell", [] { return MXRecordIOReaderTell(nullptr, &g_size); }},
      {"MXRecordIOReaderTell", [] { return MXRecordIOReaderTell(files().reader(), nullptr); }},
      {"MXRecordIOReaderSetSkipping", [] { return MXRecordIOReaderSetSkipping(nullptr, 1); }},
      {"MXRecordIOReaderGetSkipped",
       [] { return MXRecordIOReaderGetSkipped(files().reader(), nullptr, &g_count); }},
      {"MXRecordIOReaderGetSkipped",
       [] { return MXRecordIOReaderGetSkipped(files().reader(), &g_count, nullptr); }},
      {"MXListDataIters", [] { return MXListDataIters(nullptr, &g_creators); }},
      {"MXListDataIters", [] { return MXListDataIters(&g_number, nullptr); }},
      {"MXDataIterGetIterInfo",
       [] {
         return MXDataIterGetIterInfo(nullptr, &g_text, &g_text, &g_number, &g_texts, &g_texts,
                                      &g_texts);
       }},
      {"MXDataIterGetIterInfo",
       [] {
         return MXDataIterGetIterInfo(creator(), nullptr, &g_text, &g_number, &g_texts, &g_texts,
                                      &g_texts);
       }},
      {"MXDataIterCreateIter",
       [] { return MXDataIterCreateIter(nullptr, 0, nullptr, nullptr, &g_iter); }},
      {"MXDataIterCreateIter",
       [] { return MXDataIterCreateIter(&g_number, 0, nullptr, nullptr, &g_iter); }},
      {"MXDataIterCreateIter",
       [] { return MXDataIterCreateIter(creator(), 0, nullptr, nullptr, nullptr); }},
      {"MXDataIterCreateIter",
       [] { return MXDataIterCreateIter(creator(), 1, nullptr, &g_key, &g_iter); }},
      {"MXDataIterCreateIter",
       [] { return MXDataIterCreateIter(creator(), 1, &g_key, nullptr, &g_iter); }},
      {"MXDataIterFree", [] { return MXDataIterFree(nullptr); }},
      {"MXDataIterBeforeFirst", [] { return MXDataIterBeforeFirst(nullptr); }},
      {"MXDataIterNext", [] { return MXDataIterNext(nullptr, &g_int); }},
      {"MXDataIterGetData", [] { return MXDataIterGetData(nullptr, &g_array); }},
      {"MXDataIterGetLabel", [] { return MXDataIterGetLabel(nullptr, &g_array); }},
      {"MXDataIterGetPadNum", [] { return MXDataIterGetPadNum(nullptr, &g_int); }},
      {"MXDataIterGetIndex", [] { return MXDataIterGetIndex(nullptr, &g_index, &g_count); }},
      {"MXImageEncode", [] { return MXImageEncode(nullptr, ".png", 1, &g_text, &g_size); }},
  };
}
