// SPDX-License-Identifier: Apache-2.0
// Batches out of the records of a RecordIO file with images: which record comes when, threads that
// decode, and what happens with records that cannot be decoded.
#pragma once
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "io/batch_source.h"
#include "io/image.h"
#include "io/image_params.h"
#include "io/record_reader.h"
#include "io/sample_random.h"
#include "io/worker_pool.h"

namespace mxnet::io {

// A record's head (struct IfQQ of mx.recordio.IRHeader), its labels and the bytes of the image.
struct ImageRecord {
  uint64_t id = 0;
  std::vector<float> labels;
  std::string_view image;
};
// Throws Error(kValue) for a record that is too short for what it announces.
ImageRecord parse_image_record(std::string_view record);

// The labels by record id of a list file (docs/recordio.md). Throws Error(kValue).
std::unordered_map<uint64_t, std::vector<float>> read_image_list(const std::string& path);

// One thread at a time, as every source; its own threads do the decoding.
class ImageRecordSource : public BatchSource {
 public:
  // `sequence`: the only value of aug_seq that there is.
  ImageRecordSource(const char* tag, const char* sequence, const ImageFileParams& file,
                    const BatchParams& batch);

  void start_epoch(bool after_end) final;
  bool next(Batch* batch) final;

 protected:
  const char* tag() const { return tag_; }
  const ImageFileParams& file() const { return file_; }
  uint32_t batch_size() const { return batch_.batch_size; }
  // The largest number of labels that a record has; reads the whole part.
  std::size_t most_labels();

  // What the kinds of iterators differ in. fill() is called from several threads at once.
  virtual void make_arrays(Batch* batch) = 0;
  virtual void fill(const ImageRecord& record, Image image, SampleRandom& random, Batch* batch,
                    int64_t place) = 0;

 private:
  void order_records();
  [[noreturn]] void fail_without_images() const;
  // Fills places of the batch with the next records, as long as both last.
  void fill_gaps(std::vector<int64_t>* gaps, uint64_t epoch, Batch* batch);
  // False for a record that cannot be decoded; that is logged.
  bool decode_into(uint64_t offset, int worker, SampleRandom* random, Batch* batch, int64_t place);
  void move_gaps_to_the_end(std::vector<int64_t>* gaps, Batch* batch) const;
  void clear_places(const std::vector<int64_t>& places, Batch* batch) const;

  const char* const tag_;
  const ImageFileParams file_;
  const BatchParams batch_;
  std::vector<uint64_t> offsets_;  // of this part
  std::vector<uint32_t> order_;    // numbers of records, for this epoch
  std::size_t at_ = 0;             // in the order
  uint64_t epoch_ = 0;
  uint64_t good_ = 0;     // samples of this epoch
  bool wrapped_ = false;  // the last batch has taken records of the next epoch
  std::mt19937 shuffle_random_, chunk_random_;
  std::mt19937 shuffle_before_, chunk_before_;  // before it did
  std::unordered_map<uint64_t, std::vector<float>> listed_labels_;
  std::vector<std::unique_ptr<RecordReader>> readers_;  // one a thread
  WorkerPool workers_;
};

}  // namespace mxnet::io
