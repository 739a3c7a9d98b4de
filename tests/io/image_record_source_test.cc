// SPDX-License-Identifier: Apache-2.0
// Records of images whose file changes while it is read.
#include "io/image_record_source.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "io/batch_params.h"
#include "io/record_writer.h"
#include "temporary_file.h"

namespace mxnet::io {
namespace {

using testing_io::TemporaryFile;

// A BMP of one pixel behind the head of a record.
std::string one_pixel_record() {
  std::string bmp("BM", 2);
  const auto put = [&bmp](uint32_t value, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) bmp += static_cast<char>(value >> 8 * i & 0xff);
  };
  put(58, 4);                        // the file
  put(0, 4), put(54, 4);             // where pixels begin
  put(40, 4), put(1, 4), put(1, 4);  // header, width, height
  put(1, 2), put(24, 2);             // planes, bits
  for (int i = 0; i < 6; ++i) put(0, 4);
  put(0x102030, 4);
  return std::string(24, '\0') + bmp;
}

// Empties the file when the first image of it has been seen.
class Vanishing final : public ImageRecordSource {
 public:
  Vanishing(const TemporaryFile& file, const ImageFileParams& params, const BatchParams& batch)
      : ImageRecordSource("Vanishing", "none", params, batch), file_(file) {}

 private:
  void make_arrays(Batch* batch) override {
    batch->data = NDArray(Shape{batch_size()}, DType::kUInt8, Device::cpu());
    batch->label = NDArray(Shape{batch_size()}, DType::kUInt8, Device::cpu());
  }
  void fill(const ImageRecord&, Image image, SampleRandom&, Batch*, int64_t) override {
    EXPECT_EQ(image.pixels, (std::vector<uint8_t>{0x10, 0x20, 0x30}));
    file_.write("");
  }

  const TemporaryFile& file_;
};

// To fill the batch up takes records of the next epoch, and there are none any more.
TEST(ImageRecordSource, ImagesThatHaveGoneAreAnError) {
  const TemporaryFile file;
  {
    RecordWriter writer(file.path());
    writer.write(one_pixel_record());
    writer.write(std::string(100'000, 'x'));  // no image; the reader forgets the first one for it
  }
  ImageFileParams params{};
  params.path_imgrec = file.path();
  params.aug_seq = "none";
  params.data_shape = {3, 1, 1};
  params.num_parts = 1;
  params.preprocess_threads = 1;
  Vanishing source(file, params, {3, true});
  Batch batch;
  EXPECT_THROW(source.next(&batch), Error);
}

}  // namespace
}  // namespace mxnet::io
