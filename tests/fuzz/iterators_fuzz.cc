// SPDX-License-Identifier: Apache-2.0
// libFuzzer on the files of data iterators: fuzz_iterators -max_total_time=60 -max_len=512. The
// first byte chooses CSVIter, LibSVMIter or MNISTIter, the next three how it reads; then come the
// file of data and, behind a byte 255, that of labels. What is refused is refused with an Error;
// what is not comes in batches of the shape that was asked for, the same ones in a second epoch.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "io/iters.h"
#include "ndarray/sparse_check.h"
#include "temporary_file.h"

namespace {

using namespace mxnet;      // NOLINT(google-build-using-namespace)
using namespace mxnet::io;  // NOLINT(google-build-using-namespace)

constexpr std::size_t kHead = 4;
constexpr std::size_t kMostBatches = 200;

void require(bool good) {
  if (!good) std::abort();
}

IterDef declared(void (*declare)(IterDef&)) {
  IterDef def;
  declare(def);
  return def;
}

// And the parameters that name its two files.
struct Kind {
  IterDef def;
  const char *data, *label;
};
const std::array<Kind, 3>& kinds() {
  static const std::array<Kind, 3> all{
      Kind{declared(declare_csv_iter), "data_csv", "label_csv"},
      Kind{declared(declare_libsvm_iter), "data_libsvm", "label_libsvm"},
      Kind{declared(declare_mnist_iter), "image", "label"}};
  return all;
}

using Texts = std::vector<std::pair<std::string, std::string>>;

// Not create_iter(), whose list has the iterators of images too.
std::unique_ptr<DataIter> make(const IterDef& def, const Texts& texts) {
  const std::vector<std::pair<std::string_view, std::string_view>> views(texts.begin(),
                                                                         texts.end());
  return def.create(def.schema.parse(def.name, views).get());
}

// `how` to read, in three bytes.
Texts parameters(std::size_t kind, const uint8_t* how) {
  constexpr std::array kTypes{"None", "float32", "float64", "int32", "int64", "uint8"};
  Texts texts{{"batch_size", std::to_string(1 + how[0] % 5)},
              {"prefetch_buffer", "1"},
              {"dtype", kTypes[how[1] % kTypes.size()]}};
  if (kind == 2) {
    texts.emplace_back("flat", (how[0] & 0x80) != 0 ? "True" : "False");
    texts.emplace_back("silent", "True");
  } else {
    const std::string width = std::to_string(1 + how[2] % 7),
                      label = std::to_string(1 + how[2] / 64);
    texts.emplace_back("data_shape", "(" + width + ",)");
    texts.emplace_back("label_shape", "(" + label + ",)");
    texts.emplace_back("round_batch", (how[0] & 0x80) != 0 ? "False" : "True");
  }
  if (kind != 0) {
    const int parts = 1 + how[1] / 64;
    texts.emplace_back("num_parts", std::to_string(parts));
    texts.emplace_back("part_index", std::to_string(how[0] / 8 % parts));
  }
  return texts;
}

// The bytes of an array, whose layout is whole.
std::string content(const NDArray& array) {
  if (!array.is_sparse())
    return {static_cast<const char*>(array.data()),
            static_cast<std::size_t>(array.size()) * dtype_size(array.dtype())};
  require_safe_format(array);
  return {};
}

std::vector<std::string> epoch(DataIter& iter, std::size_t batch_size) {
  std::vector<std::string> all;
  iter.before_first();
  for (Batch batch; all.size() < kMostBatches && iter.next(&batch);) {
    require(batch.data.shape()[0] == static_cast<int64_t>(batch_size));
    require(batch.label.shape()[0] == static_cast<int64_t>(batch_size));
    require(batch.index.size() == batch_size && batch.pad >= 0 &&
            static_cast<std::size_t>(batch.pad) < batch_size);
    all.push_back(content(batch.data) + content(batch.label));
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < kHead) return 0;
  const std::size_t number = data[0] % kinds().size();
  const Kind& kind = kinds()[number];
  const std::string_view rest(reinterpret_cast<const char*>(data) + kHead, size - kHead);
  const std::size_t end = std::min(rest.find('\xff'), rest.size());
  const testing_io::TemporaryFile file(rest.substr(0, end));
  const testing_io::TemporaryFile labels(end < rest.size() ? rest.substr(end + 1) : "");
  Texts texts = parameters(number, data + 1);
  texts.emplace_back(kind.data, file.path());
  if (number == 2 || end < rest.size()) texts.emplace_back(kind.label, labels.path());
  try {
    const std::unique_ptr<DataIter> iter = make(kind.def, texts);
    const auto batch_size = static_cast<std::size_t>(1 + data[1] % 5);
    const bool wraps = (data[1] & 0x80) == 0;
    const std::vector<std::string> first = epoch(*iter, batch_size);
    if (!wraps || number == 2) require(epoch(*iter, batch_size) == first);
  } catch (const Error& error) {
    require(error.code() == ErrorCode::kValue || error.code() == ErrorCode::kNotImplemented);
  }
  return 0;
}
