// SPDX-License-Identifier: Apache-2.0
// Broken and hostile array files: an error that names file and byte, bounded memory, no crash.
#include <cstring>
#include <limits>
#include <random>

#include "arrays.h"
#include "files.h"
#include "params_properties.h"

namespace mxnet {
namespace {

using namespace testing_arrays;
using namespace testing_files;

constexpr uint32_t kSeed = 190104;
constexpr int kMutationsPerSample = 4000;
constexpr std::size_t kMemoryLimit = 1 << 20;  // far above what the samples need

const char* const kSamples[] = {"csr.params",        "dict_bool.params",    "dict_dtypes.params",
                                "legacy_v0.params",  "legacy_v1.params",    "list_unnamed.ndarray",
                                "row_sparse.params", "sparse_empty.params", "contexts.params",
                                "npshape_v3.params", "empty_list.ndarray",  "mixed_list.params"};

// Fields one after the other, as they lie in a file.
class Bytes {
 public:
  template <class T>
  Bytes& operator<<(T value) {
    text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

Bytes header(uint64_t count = 1) {
  Bytes bytes;
  bytes << uint64_t{0x112} << uint64_t{0} << count;
  return bytes;
}
Bytes dense_record(std::initializer_list<int64_t> dims, int32_t dtype = 0) {
  Bytes bytes = header();
  bytes << 0xF993FAC9u << int32_t{0} << static_cast<int32_t>(dims.size());
  for (int64_t dim : dims) bytes << dim;
  return bytes << int32_t{1} << int32_t{0} << dtype;
}
// A csr of (rows, 3) with `stored` values, claimed but not there.
Bytes csr_record(int64_t stored, int64_t rows, int64_t pointers) {
  Bytes bytes = header();
  bytes << 0xF993FAC9u << int32_t{2} << int32_t{1} << stored << int32_t{2} << rows << int64_t{3}
        << int32_t{1} << int32_t{0} << int32_t{0};
  return bytes << int32_t{6} << int32_t{1} << pointers << int32_t{6} << int32_t{1} << stored;
}

TEST(HostileParams, EveryTruncationIsAnError) {
  for (const char* name : kSamples) {
    SCOPED_TRACE(name);
    const std::string text = sample(name);
    const NumpyShape mode =
        std::string(name).starts_with("npshape") ? NumpyShape::kThread : NumpyShape::kOff;
    EXPECT_NO_THROW(load_text(text, mode));
    for (std::size_t length = 0; length < text.size(); ++length) {
      const std::string error = error_of([&] { load_text(text.substr(0, length), mode); });
      ASSERT_NE(error.find("given '<buffer>', invalid NDArray file format at byte "),
                std::string::npos)
          << error;
    }
  }
}

// One more than the greatest number of rows would be the least number that there is.
TEST(HostileParams, RowsWithoutASuccessorAreAnError) {
  for (const int64_t pointers : {int64_t{0}, int64_t{1}, std::numeric_limits<int64_t>::max()}) {
    const std::string text = csr_record(0, std::numeric_limits<int64_t>::max(), pointers).text();
    const std::string error = error_of([&] { load_text(text, NumpyShape::kOff); });
    EXPECT_NE(error.find("given '<buffer>', invalid NDArray file format at byte "),
              std::string::npos)
        << error;
  }
}

TEST(HostileParams, TheErrorNamesFileAndByte) {
  const Folder folder;
  const std::string path = folder.file("cut.params");
  const std::string text = sample("dict_bool.params");
  write_file(path, text.substr(0, 50));
  const std::string error = error_of([&] {
    FileSource source(path);
    load_arrays(source, NumpyShape::kOff);
  });
  // header 24, then magic, storage type, ndim 4 each, a dimension 8, device type 4: the device's id
  EXPECT_NE(error.find("'" + path + "', invalid NDArray file format at byte 48: a device id"),
            std::string::npos)
      << error;
}

struct Hostile {
  const char* name;
  std::string text;
  const char* message;
};

class HostileField : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileField, IsAnErrorAtItsByte) {
  Storage::get().reset_peak(Device::cpu());
  const std::size_t before = Storage::get().stats(Device::cpu()).peak_in_use;
  const std::string error = error_of([] { load_text(GetParam().text); });
  EXPECT_NE(error.find(GetParam().message), std::string::npos) << error;
  EXPECT_LT(Storage::get().stats(Device::cpu()).peak_in_use - before, kMemoryLimit);
}

constexpr int64_t kHuge = int64_t{1} << 60;

INSTANTIATE_TEST_SUITE_P(
    Fields, HostileField,
    ::testing::Values(
        Hostile{"Empty", "", "byte 0: the header needs 8 bytes, 0 are left"},
        Hostile{"Header", std::string(32, '\0'), "byte 0: the header is 0x0, expected 0x112"},
        Hostile{"ArrayCount", header(kHuge).text(),
                "byte 16: the number of arrays is 1152921504606846976"},
        Hostile{"ArrayCountLying", header(2).text() + std::string(4, '\0'),
                "number of arrays is 2"},
        Hostile{"Dimension", dense_record({kHuge}).text(),
                "an array of shape (1152921504606846976,)"},
        Hostile{"ProductWraps", dense_record({int64_t{1} << 32, int64_t{1} << 32}).text(),
                "needs more than the 0 bytes"},
        Hostile{"ProductWraps3", dense_record({int64_t{1} << 62, int64_t{1} << 62, 16}).text(),
                "needs more than the 0 bytes"},
        Hostile{"NegativeDimension", dense_record({-5}).text(), "byte 36: a dimension is -5"},
        Hostile{"Reserved8", dense_record({1}, 8).text(), "byte 52: the type of an array is 8"},
        Hostile{"TypeNegative", dense_record({1}, -1).text(), "the type of an array is -1"},
        Hostile{"TypeHuge", dense_record({1}, 1 << 30).text(),
                "the type of an array is 1073741824"},
        Hostile{"NdimNegative", (header() << 0xF993FAC9u << int32_t{0} << int32_t{-1}).text(),
                "byte 32: a shape has -1"},
        Hostile{"NdimHuge", (header() << 0xF993FAC9u << int32_t{0} << int32_t{1 << 30}).text(),
                "a shape has 1073741824 dimensions"},
        Hostile{"NdimV0", (header() << 0x7fffffffu).text(), "byte 24: a shape has 2147483647"},
        Hostile{"NdimV1", (header() << 0xF993FAC8u << int32_t{33}).text(), "a shape has 33"},
        Hostile{"StorageType", (header() << 0xF993FAC9u << int32_t{3}).text(),
                "byte 28: the storage type is 3"},
        Hostile{"StorageNegative", (header() << 0xF993FAC9u << int32_t{-1}).text(),
                "the storage type is -1"},
        Hostile{"NamesMissing",
                (dense_record({1}) << 1.0f << uint64_t{2} << uint64_t{0} << uint64_t{0}).text(),
                "byte 60: 2 names for 1 arrays"},
        Hostile{"NamesHuge", (dense_record({1}) << 1.0f << uint64_t{1} << 60).text(),
                "the number of names"},
        Hostile{"NameLength", (dense_record({1}) << 1.0f << uint64_t{1} << ~uint64_t{0}).text(),
                "byte 68: the length of a name is 18446744073709551615"},
        Hostile{"CSRValues", csr_record(kHuge, 2, 3).text(),
                "the values of shape (1152921504606846976,)"},
        Hostile{"CSRRows", csr_record(0, kHuge, 0).text(),
                "indptr has shape (0,) for 1152921504606846976"},
        Hostile{"CSRPointers", csr_record(0, kHuge - 1, kHuge).text(), "an index array of shape"},
        Hostile{"CSRIndexOutside",
                (csr_record(1, 1, 2) << 1.0f << int64_t{0} << int64_t{1} << int64_t{3}).text(),
                "indices[0] is 3, expected 0 <= index < 3"},
        Hostile{
            "CSRPointerOutside",
            (csr_record(1, 2, 3) << 1.0f << int64_t{0} << kHuge << int64_t{1} << int64_t{0}).text(),
            "indptr[1] is 1152921504606846976"},
        Hostile{"CSRThreeDimensions",
                (header() << 0xF993FAC9u << int32_t{2} << int32_t{1} << int64_t{0} << int32_t{3}
                          << int64_t{1} << int64_t{1} << int64_t{1} << int32_t{1} << int32_t{0}
                          << int32_t{0} << int32_t{6} << int32_t{1} << int64_t{2} << int32_t{6}
                          << int32_t{1} << int64_t{0} << int64_t{0} << int64_t{0})
                    .text(),
                "expected two dimensions"},
        Hostile{"CSRFloatIndices",
                (header() << 0xF993FAC9u << int32_t{2} << int32_t{1} << int64_t{0} << int32_t{2}
                          << int64_t{1} << int64_t{1} << int32_t{1} << int32_t{0} << int32_t{0}
                          << int32_t{0} << int32_t{1} << int64_t{2} << int32_t{6} << int32_t{1}
                          << int64_t{0} << int64_t{0})
                    .text(),
                "given indices of float32"}),
    [](const auto& info) { return info.param.name; });

TEST(HostileParams, ZerosMakeHugeDimensionsHarmless) {
  const LoadedArrays loaded =
      load_text((dense_record({kHuge, kHuge, 0, kHuge}) << uint64_t{0}).text());
  EXPECT_EQ(loaded.arrays.at(0).size(), 0);
}

TEST(HostileParams, BytesBehindTheNamesAreIgnored) {
  EXPECT_EQ(load_text(sample("dict_bool.params") + "trailing").arrays.size(), 1u);
}

TEST(HostileParams, AnUnknownShapeIsAnArrayWithoutData) {
  const LoadedArrays v2 =
      load_text((header() << 0xF993FAC9u << int32_t{0} << int32_t{0} << uint64_t{0}).text());
  EXPECT_TRUE(v2.arrays.at(0).is_none());
  const LoadedArrays v3 =
      load_text((header() << 0xF993FACAu << int32_t{0} << int32_t{-1} << uint64_t{0}).text(),
                NumpyShape::kThread);
  EXPECT_TRUE(v3.arrays.at(0).is_none());
}

TEST(HostileParams, BytesOfBoolsBecomeBools) {
  const LoadedArrays loaded =
      load_text((dense_record({4}, 7)
                 << uint8_t{0} << uint8_t{1} << uint8_t{2} << uint8_t{255} << uint64_t{0})
                    .text());
  uint8_t bytes[4];
  std::memcpy(bytes, loaded.arrays.at(0).data(), 4);
  EXPECT_EQ(std::vector<int>(bytes, bytes + 4), (std::vector<int>{0, 1, 1, 1}));
}

// Whatever is changed in a sample either loads, and then is written again alike, or is an Error.
TEST(HostileParams, RandomMutationsAreFoundOrHarmless) {
  std::mt19937 random(kSeed);
  const uint64_t interesting[] = {0,          1,          0x7f,       0xff,       0x7fffffff,
                                  0x80000000, 0xffffffff, 0xF993FAC8, 0xF993FACA, 1ull << 60,
                                  ~0ull,      1ull << 63, 33,         12,         8};
  int loaded_fine = 0, refused = 0;
  for (const char* name : kSamples) {
    const std::string original = sample(name);
    for (int round = 0; round < kMutationsPerSample; ++round) {
      std::string text = original;
      for (unsigned change = 0, changes = 1 + random() % 3; change < changes; ++change) {
        if (text.empty()) break;
        const std::size_t at = random() % text.size();
        switch (random() % 5) {
          case 0:
            text[at] = static_cast<char>(random());
            break;
          case 1:
            text[at] = static_cast<char>(text[at] ^ (1 << (random() % 8)));
            break;
          case 2: {
            const uint64_t value = interesting[random() % std::size(interesting)];
            std::memcpy(text.data() + at, &value,
                        std::min<std::size_t>(text.size() - at, random() % 2 ? 4 : 8));
            break;
          }
          case 3:
            text.erase(at, 1 + random() % 8);
            break;
          case 4:
            text.insert(at, text.substr(random() % text.size(), random() % 16));
            break;
        }
      }
      const auto mode = static_cast<NumpyShape>(random() % 3);
      SCOPED_TRACE(std::string(name) + " round " + std::to_string(round) + " seed " +
                   std::to_string(kSeed));
      testing_params::Outcome outcome{};
      ASSERT_NO_THROW(outcome = testing_params::check_params(text, mode));
      ++(outcome == testing_params::Outcome::kLoaded ? loaded_fine : refused);
    }
  }
  EXPECT_GT(loaded_fine, 1000);
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace mxnet
