// SPDX-License-Identifier: Apache-2.0
// The order of records, and batches filled by several threads.
#include "io/image_record_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "base/error.h"
#include "base/log.h"
#include "io/record_index.h"
#include "io/shuffle.h"
#include "io/text_lines.h"
#include "io/text_numbers.h"
#include "op/image/codec.h"

namespace mxnet::io {
namespace {

// So that the order is not that of other users of the same seed; the reference's number.
constexpr uint32_t kShuffleSeed = 111;

// Head of a record: u32 flag (number of labels that follow, or 0), f32 label, u64 id, u64 id2.
struct RecordHead {
  uint32_t flag;
  float label;
  uint64_t id, id2;
};
static_assert(sizeof(RecordHead) == 24);

Image decoded(std::string_view bytes, int channels) {
  Image image;
  image::decode_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, channels,
                      [&image, channels](image::Size size) {
                        image.resize(size.height, size.width, channels);
                        return image.pixels.data();
                      });
  return image;
}

void check_params(const char* tag, const ImageFileParams& file, const char* sequence) {
  if (file.path_imgrec.empty())
    throw Error(ErrorCode::kValue, tag, "given no path_imgrec, expected the file of records");
  if (file.aug_seq != sequence) {
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given aug_seq '{}', expected '{}'", file.aug_seq, sequence));
  }
  const Shape& shape = file.data_shape;
  if (shape.ndim() != 3 || (shape[0] != 1 && shape[0] != 3) || shape[1] < 1 || shape[2] < 1) {
    throw Error(
        ErrorCode::kValue, tag,
        fmt::format("given data_shape {}, expected (1 or 3, height, width)", to_string(shape)));
  }
  expect_part(tag, file.part_index, file.num_parts);
}

}  // namespace

ImageRecord parse_image_record(std::string_view record) {
  RecordHead head{};
  if (record.size() < sizeof head)
    throw Error(ErrorCode::kValue, "image record",
                fmt::format("given {} bytes, expected a head of {}", record.size(), sizeof head));
  std::memcpy(&head, record.data(), sizeof head);
  std::string_view rest = record.substr(sizeof head);
  ImageRecord result{head.id, {head.label}, rest};
  if (head.flag > 0) {
    if (rest.size() / sizeof(float) < head.flag)
      throw Error(ErrorCode::kValue, "image record",
                  fmt::format("given {} bytes for {} labels", rest.size(), head.flag));
    result.labels.resize(head.flag);
    std::memcpy(result.labels.data(), rest.data(), head.flag * sizeof(float));
    result.image = rest.substr(head.flag * sizeof(float));
  }
  return result;
}

std::unordered_map<uint64_t, std::vector<float>> read_image_list(const std::string& path) {
  std::unordered_map<uint64_t, std::vector<float>> all;
  TextLines lines(path, "image list");
  while (std::optional<std::string_view> line = lines.next()) {
    // Number, labels and path between tabs; the path may hold anything but a tab.
    std::vector<std::string_view> fields;
    for (std::string_view rest = *line;;) {
      const std::size_t tab = rest.find('\t');
      fields.push_back(rest.substr(0, tab));
      if (tab == std::string_view::npos) break;
      rest.remove_prefix(tab + 1);
    }
    uint64_t id = 0;
    if (fields.size() < 3 || !take_number(&fields[0], &id))
      lines.fail("expected a number, labels and a path between tabs");
    std::vector<float>& labels = all[id];
    for (std::size_t i = 1; i + 1 < fields.size(); ++i)
      if (!take_number(&fields[i], &labels.emplace_back())) lines.fail("a label cannot be read");
  }
  return all;
}

ImageRecordSource::ImageRecordSource(const char* tag, const char* sequence,
                                     const ImageFileParams& file, const BatchParams& batch)
    : tag_(tag),
      file_((check_params(tag, file, sequence), file)),
      batch_(batch),
      offsets_(record_offsets(file.path_imgrec, file.path_imgidx,
                              static_cast<uint32_t>(file.part_index),
                              static_cast<uint32_t>(file.num_parts))),
      shuffle_random_(kShuffleSeed + static_cast<uint32_t>(file.seed)),
      chunk_random_(static_cast<uint32_t>(file.shuffle_chunk_seed)),
      workers_(std::max(file.preprocess_threads, 1)) {
  if (offsets_.empty()) {
    throw Error(ErrorCode::kValue, tag,
                fmt::format("given '{}', which holds no record for part {} of {}", file.path_imgrec,
                            file.part_index, file.num_parts));
  }
  if (!file.path_imglist.empty()) listed_labels_ = read_image_list(file.path_imglist);
  for (int i = 0; i < workers_.threads(); ++i)
    readers_.push_back(std::make_unique<RecordReader>(file.path_imgrec));
  if (file.verbose) {
    log(LogLevel::kInfo, fmt::format("{}: {}, {} records in part {} of {}, {} threads for decoding",
                                     tag, file.path_imgrec, offsets_.size(), file.part_index,
                                     file.num_parts, workers_.threads()));
  }
  order_records();
}

void ImageRecordSource::order_records() {
  order_.resize(offsets_.size());
  std::iota(order_.begin(), order_.end(), uint32_t{0});
  if (file_.shuffle) {
    shuffle(order_, shuffle_random_);
  } else if (file_.shuffle_chunk_size > 0) {
    // Runs of records of about so many MiB change places, and keep their own order.
    const uint64_t bytes = file_.shuffle_chunk_size << 20;
    std::vector<std::vector<uint32_t>> chunks;
    uint64_t begin = 0;
    for (uint32_t i = 0; i < offsets_.size(); ++i) {
      if (chunks.empty() || offsets_[i] >= begin + bytes) {
        chunks.emplace_back();
        begin = offsets_[i];
      }
      chunks.back().push_back(i);
    }
    shuffle(chunks, chunk_random_);
    order_.clear();
    for (const auto& chunk : chunks) order_.insert(order_.end(), chunk.begin(), chunk.end());
  }
  at_ = 0;
}

void ImageRecordSource::start_epoch(bool after_end) {
  ++epoch_;
  good_ = 0;
  if (wrapped_ && batch_.round_batch) {
    if (!after_end) {  // the order that was begun is not used after all
      shuffle_random_ = shuffle_before_;
      chunk_random_ = chunk_before_;
      order_records();
    }
  } else {
    order_records();
  }
  wrapped_ = false;
}

bool ImageRecordSource::next(Batch* batch) {
  if (wrapped_) return false;
  const std::size_t size = batch_.batch_size;
  *batch = Batch();
  make_arrays(batch);
  batch->index.resize(size);
  std::vector<int64_t> gaps(size);
  std::iota(gaps.begin(), gaps.end(), int64_t{0});
  const bool has_records = at_ < order_.size();  // or the epoch before has read all ahead
  fill_gaps(&gaps, epoch_, batch);
  good_ += size - gaps.size();
  if (good_ == 0 && has_records) fail_without_images();
  if (gaps.size() == size) return false;
  if (gaps.empty()) return true;
  batch->pad = static_cast<int>(gaps.size());
  wrapped_ = true;
  shuffle_before_ = shuffle_random_;
  chunk_before_ = chunk_random_;
  if (!batch_.round_batch) clear_places(gaps, batch);
  while (batch_.round_batch && !gaps.empty()) {  // more than once when there are few records
    order_records();
    const std::size_t before = gaps.size();
    fill_gaps(&gaps, epoch_ + 1, batch);
    if (gaps.size() == before) fail_without_images();  // what could be decoded has gone meanwhile
  }
  return true;
}

void ImageRecordSource::fail_without_images() const {
  throw Error(ErrorCode::kValue, tag_,
              fmt::format("given '{}', of whose {} records none can be decoded", file_.path_imgrec,
                          offsets_.size()));
}

void ImageRecordSource::fill_gaps(std::vector<int64_t>* gaps, uint64_t epoch, Batch* batch) {
  std::vector<char> done;
  while (!gaps->empty() && at_ < order_.size()) {
    const std::size_t count = std::min(gaps->size(), order_.size() - at_);
    done.assign(count, 0);
    workers_.run(static_cast<int64_t>(count), [&](int64_t i, int worker) {
      const auto item = static_cast<std::size_t>(i);
      const uint32_t number = order_[at_ + item];
      const int64_t place = (*gaps)[item];
      SampleRandom random(static_cast<uint32_t>(file_.seed_aug.value_or(file_.seed)), epoch,
                          at_ + item);
      batch->index[static_cast<std::size_t>(place)] = number;
      done[item] = decode_into(offsets_[number], worker, &random, batch, place) ? 1 : 0;
    });
    at_ += count;
    // Records that cannot be decoded leave gaps, which the next ones fill, in order.
    std::size_t left = 0;
    for (std::size_t i = 0; i < gaps->size(); ++i)
      if (i >= count || done[i] == 0) (*gaps)[left++] = (*gaps)[i];
    gaps->resize(left);
    if (std::find(done.begin(), done.end(), 0) != done.end()) move_gaps_to_the_end(gaps, batch);
  }
}

bool ImageRecordSource::decode_into(uint64_t offset, int worker, SampleRandom* random, Batch* batch,
                                    int64_t place) {
  ImageRecord record;
  Image image;
  try {
    RecordReader& reader = *readers_[static_cast<std::size_t>(worker)];
    reader.seek(offset);
    const std::optional<std::string_view> bytes = reader.next();
    if (!bytes) return false;  // the file has shrunk
    record = parse_image_record(*bytes);
    image = decoded(record.image, static_cast<int>(file_.data_shape[0]));
  } catch (const Error& error) {
    log(LogLevel::kWarning, fmt::format("{}: the record at byte {} of '{}' is passed over: {}",
                                        tag_, offset, file_.path_imgrec, error.message()));
    return false;
  }
  const auto listed = listed_labels_.find(record.id);
  if (listed != listed_labels_.end()) {
    // A list may hold more labels than are asked for: the first of them count.
    const auto& labels = listed->second;
    const bool longer = file_.label_width > 0 && std::cmp_less(file_.label_width, labels.size());
    record.labels.assign(labels.begin(),
                         longer ? labels.begin() + file_.label_width : labels.end());
  }
  fill(record, std::move(image), *random, batch, place);
  return true;
}

void ImageRecordSource::move_gaps_to_the_end(std::vector<int64_t>* gaps, Batch* batch) const {
  const std::size_t size = batch_.batch_size;
  std::size_t to = 0;
  std::vector<char> is_gap(size, 0);
  for (const int64_t gap : *gaps) is_gap[static_cast<std::size_t>(gap)] = 1;
  for (std::size_t from = 0; from < size; ++from) {
    if (is_gap[from] != 0) continue;
    if (to != from) {
      for (const NDArray* array : {&batch->data, &batch->label}) {
        const std::size_t row = array->bytes() / size;
        auto* const bytes = static_cast<char*>(array->data());
        std::memcpy(bytes + to * row, bytes + from * row, row);
      }
      batch->index[to] = batch->index[from];
    }
    ++to;
  }
  std::iota(gaps->begin(), gaps->end(), static_cast<int64_t>(to));
}

void ImageRecordSource::clear_places(const std::vector<int64_t>& places, Batch* batch) const {
  for (const int64_t place : places) {
    for (const NDArray* array : {&batch->data, &batch->label}) {
      const std::size_t row = array->bytes() / batch_.batch_size;
      std::memset(static_cast<char*>(array->data()) + static_cast<std::size_t>(place) * row, 0,
                  row);
    }
    batch->index[static_cast<std::size_t>(place)] = 0;
  }
}

std::size_t ImageRecordSource::most_labels() {
  std::size_t most = 0;
  RecordReader reader(file_.path_imgrec, OnDamage::kSkip);
  for (const uint64_t offset : offsets_) {
    reader.seek(offset);
    const std::optional<std::string_view> bytes = reader.next();
    if (!bytes) break;
    try {
      const ImageRecord record = parse_image_record(*bytes);
      const auto listed = listed_labels_.find(record.id);
      most = std::max(
          most, listed != listed_labels_.end() ? listed->second.size() : record.labels.size());
    } catch (const Error&) {
      continue;  // reported when its turn comes
    }
  }
  return most;
}

}  // namespace mxnet::io
