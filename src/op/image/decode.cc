// SPDX-License-Identifier: Apache-2.0
// Operators that decode images, from an array of bytes or from a file.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/error.h"
#include "op/image/codec.h"
#include "op/op_builder.h"

namespace mxnet::image {
namespace {

struct DecodeParams {
  int32_t flag;
  bool to_rgb;
  std::string filename;
};

void decode(const DecodeParams& params, Bytes bytes, KernelContext& context) {
  const int channels = params.flag == 0 ? 1 : 3;
  uint8_t* pixels = nullptr;
  int64_t count = 0;
  const MakePixels make = [&](Size size) {
    count = size.height * size.width;
    pixels = context.make_out(0, {size.height, size.width, channels}).as<uint8_t>();
    return pixels;
  };
  decode_image(bytes, channels, make);
  if (channels == 3 && !params.to_rgb) {
    for (int64_t i = 0; i < count; ++i) std::swap(pixels[3 * i], pixels[3 * i + 2]);
  }
}

void read_cpu(const DecodeParams& params, KernelContext& context) {
  std::ifstream file(params.filename, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    throw Error(ErrorCode::kValue, "_cvimread",
                "given " + params.filename + ": " + std::strerror(errno) +
                    ", expected a file that can be read");
  }
  decode(params, {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, context);
}

void infer_pixels(const DecodeParams& params, Infer& infer) {
  infer.out(0).set_dtype(DType::kUInt8).set_shape({-1, -1, params.flag == 0 ? 1 : 3});
}

OpBuilder<DecodeParams>& with_colors(OpBuilder<DecodeParams>& op) {
  return op.param("flag", &DecodeParams::flag, 1, "0 for grey, others for colours.")
      .at_least<int32_t>(0)
      .param("to_rgb", &DecodeParams::to_rgb, true,
             "Whether colours are red, green, blue; otherwise blue, green, red.")
      .shape_from_values()
      .never_inline()
      .infer(infer_pixels);
}

[[maybe_unused]] const bool defined = [] {
  OpBuilder<DecodeParams> from_bytes("_cvimdecode");
  from_bytes.doc("The pixels of a JPEG, PNG or BMP image, (height, width, channels).")
      .alias("_npi_cvimdecode")
      .array_input("buf", "The bytes of its file, uint8.")
      // What networks have always called it.
      .input_names([](const DecodeParams&) { return std::vector<std::string>{"data"}; });
  with_colors(from_bytes)
      .infer([](const DecodeParams& params, Infer& infer) {
        infer.in(0).set_dtype(DType::kUInt8);
        infer_pixels(params, infer);
      })
      .cpu([](const DecodeParams& params, KernelContext& context) {
        const Tensor& in = context.in(0);
        decode(params, {in.as<uint8_t>(), static_cast<std::size_t>(in.size())}, context);
      });

  OpBuilder<DecodeParams> from_file("_cvimread");
  from_file.doc("The pixels of a file with a JPEG, PNG or BMP image.")
      .alias("_npi_cvimread")
      .param("filename", &DecodeParams::filename, "The file.");
  with_colors(from_file).cpu(read_cpu);
  return true;
}();

}  // namespace
}  // namespace mxnet::image
