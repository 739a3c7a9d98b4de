// SPDX-License-Identifier: Apache-2.0
// libFuzzer on files of images: fuzz_image -max_total_time=60 -max_len=4096 tests/data/models. What
// is refused is refused with an Error; what is not fills as many pixels as it has announced.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "base/error.h"
#include "op/image/codec.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using mxnet::image::Size;
  // Decoders give memory back at their ends only, and libFuzzer is to look at more than one image a
  // second.
  constexpr int64_t kPixels = int64_t{1} << 20;
  struct TooLarge {};
  for (const int channels : {1, 3}) {
    std::vector<uint8_t> pixels;
    try {
      mxnet::image::decode_image({data, size}, channels, [&](Size image) {
        if (image.height < 1 || image.width < 1) std::abort();
        if (image.height > kPixels / image.width) throw TooLarge();
        pixels.resize(static_cast<std::size_t>(image.height * image.width * channels));
        return pixels.data();
      });
    } catch (const mxnet::Error& error) {
      if (error.code() != mxnet::ErrorCode::kValue) std::abort();
    } catch (const TooLarge&) {
    }
  }
  return 0;
}
