// SPDX-License-Identifier: Apache-2.0
// Array files against those that the reference wrote: the values that are in them, and the same
// bytes when they are written again.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "arrays.h"
#include "engine/interrupt.h"
#include "files.h"
#include "ndarray/sparse_convert.h"

namespace mxnet {
namespace {

using namespace testing_arrays;
using namespace testing_files;

class SameBytes : public ::testing::TestWithParam<const char*> {};

TEST_P(SameBytes, AsTheReferenceWrote) {
  const std::string text = sample(GetParam());
  EXPECT_EQ(save_text(load_text(text)), text);
  const Folder folder;
  FileSource source(sample_path(GetParam()));
  const LoadedArrays loaded = load_arrays(source, NumpyShape::kOff);
  EXPECT_EQ(source.remaining(), 0u);
  save_file(folder.file("again"), loaded.arrays, loaded.names, false);
  EXPECT_EQ(content_of(folder.file("again")), text);
}

INSTANTIATE_TEST_SUITE_P(Samples, SameBytes,
                         ::testing::Values("csr.params", "dict_bool.params", "dict_dtypes.params",
                                           "empty_list.ndarray", "gluon.params",
                                           "gluon_export-0003.params", "gluon_legacy.params",
                                           "list_unnamed.ndarray", "module-0001.params",
                                           "row_sparse.params", "sparse_empty.params",
                                           "mixed_list.params", "bfloat16.params"),
                         [](const auto& info) {
                           std::string name = info.param;
                           for (char& c : name) c = std::isalnum(c) ? c : '_';
                           return name;
                         });

TEST(Params, NumpyShapesHaveTheirOwnVersion) {
  const std::string text = sample("npshape_v3.params");
  const LoadedArrays loaded = load_text(text, NumpyShape::kThread);
  ASSERT_EQ(loaded.names, (std::vector<std::string>{"scalar", "zero", "m"}));
  EXPECT_EQ(loaded.arrays[0].shape(), Shape::scalar());
  EXPECT_EQ(floats(loaded.arrays[0]), std::vector<float>{3.5f});
  EXPECT_EQ(loaded.arrays[1].shape(), (Shape{0, 3}));
  EXPECT_EQ(floats(loaded.arrays[2]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(save_text(loaded, true), text);
}

TEST(Params, EachVersionNeedsItsMode) {
  const std::string v3 = sample("npshape_v3.params"), v2 = sample("dict_bool.params"),
                    v0 = sample("legacy_v0.params"), sparse = sample("csr.params");
  EXPECT_NE(error_of([&] { load_text(v3, NumpyShape::kOff); }).find("turn them on"),
            std::string::npos);
  for (const std::string& old : {v2, v0, sparse}) {
    EXPECT_NE(error_of([&] { load_text(old, NumpyShape::kThread); }).find("turn them off"),
              std::string::npos);
  }
  EXPECT_NO_THROW(load_text(v3, NumpyShape::kGlobal));
  EXPECT_NO_THROW(load_text(v2, NumpyShape::kGlobal));
  EXPECT_NO_THROW(load_text(v0, NumpyShape::kGlobal));
  EXPECT_NE(error_of([&] { load_text(sparse, NumpyShape::kGlobal); }).find("sparse"),
            std::string::npos);
}

TEST(Params, OldVersionsAreRead) {
  for (const char* name : {"legacy_v0.params", "legacy_v1.params"}) {
    SCOPED_TRACE(name);
    const LoadedArrays loaded = load_text(sample(name));
    ASSERT_EQ(loaded.names, std::vector<std::string>{"w"});
    EXPECT_EQ(loaded.arrays[0].shape(), (Shape{2, 3}));
    EXPECT_EQ(floats(loaded.arrays[0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  }
}

TEST(Params, ValuesAreThoseOfTheSamples) {
  const LoadedArrays types = load_text(sample("dict_dtypes.params"));
  ASSERT_EQ(types.arrays.size(), 7u);
  for (std::size_t i = 0; i < types.arrays.size(); ++i) {
    EXPECT_EQ(types.names[i], "a_" + std::string(dtype_name(types.arrays[i].dtype())));
    NDArray wide(Shape{2, 2}, DType::kFloat32, Device::cpu());
    sync_copy_into(wide, types.arrays[i], kValuesPart);
    EXPECT_EQ(floats(wide), (std::vector<float>{0, 1, 2, 3}));
  }
  const NDArray csr = load_text(sample("csr.params")).arrays.at(0);
  EXPECT_EQ(csr.shape(), (Shape{3, 4}));
  EXPECT_EQ(aux(csr, 0), (std::vector<int64_t>{0, 2, 2, 4}));
  EXPECT_EQ(aux(csr, 1), (std::vector<int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(floats(copy_part(csr, kValuesPart)), (std::vector<float>{1, 2, 3, 4}));
  const NDArray rows = load_text(sample("row_sparse.params")).arrays.at(0);
  EXPECT_EQ(rows.shape(), (Shape{5, 3}));
  EXPECT_EQ(aux(rows, 0), (std::vector<int64_t>{1, 3}));
  const NDArray brain = load_text(sample("bfloat16.params")).arrays.at(0);
  EXPECT_EQ(static_cast<float>(values<bfloat16>(brain)[2]), -5.0f);
}

// As the release writes an array whose rows are still being computed.
TEST(Params, RowsAreAsManyAsTheirIndices) {
  std::string text = sample("row_sparse.params");
  constexpr std::size_t kStoredRows = 36;  // after the envelope, the kind, the layout and a rank
  ASSERT_EQ(text[kStoredRows], 2);
  text[kStoredRows] = 0;
  const NDArray rows = load_text(text).arrays.at(0);
  const NDArray before = load_text(sample("row_sparse.params")).arrays.at(0);
  EXPECT_EQ(save_text({{rows}, {}}), save_text({{before}, {}}));
}

TEST(Params, ContextsAreWrittenAsTheyAre) {
  const std::string text = sample("contexts.params");
  LoadedArrays loaded = load_text(text);
  ASSERT_EQ(loaded.names, (std::vector<std::string>{"", "naïve/名", "pinned", "shared", "cpu3",
                                                    "csr16", "rsp3"}));
  for (const NDArray& array : loaded.arrays) EXPECT_EQ(array.device(), Device::cpu());
  loaded.arrays[2] = loaded.arrays[2].copy(Device::cpu_pinned(0));
  loaded.arrays[3] = loaded.arrays[3].copy(Device::cpu_shared(0));
  loaded.arrays[4] = loaded.arrays[4].copy(Device::cpu(3));
  EXPECT_EQ(save_text(loaded), text);
}

TEST(Params, ArraysOfAGPUReturnToIt) {
  const NDArray there = counting(Shape{2, 2}, Device::gpu(1));
  const std::string text = save_text({{there}, {"w"}});
  EXPECT_EQ(load_text(text).arrays[0].device(), Device::gpu(1));
  EXPECT_EQ(floats(load_text(text).arrays[0]), (std::vector<float>{0, 1, 2, 3}));
  const NDArray csr = make_csr(Shape{2, 3}, {1, 2}, {0, 1, 2}, {0, 2}).copy(Device::gpu(0));
  const NDArray again = load_text(save_text({{csr}, {}})).arrays[0];
  EXPECT_EQ(again.device(), Device::gpu(0));
  EXPECT_EQ(aux(again, 1), (std::vector<int64_t>{0, 2}));
}

TEST(Params, AGPUThatIsNotHereBecomesTheCPU) {
  std::string text = save_text({{counting(Shape{2}, Device::gpu(1))}, {}});
  // header 24, record: magic 4, storage type 4, ndim 4, dim 8, device type 4, then the id
  text[24 + 24] = 9;
  EXPECT_EQ(load_text(text).arrays[0].device(), Device::cpu());
}

TEST(Params, OneRecordStandsAlone) {
  const std::string raw = sample("rawbytes.bin");
  BufferSource source(raw.data(), raw.size());
  const NDArray array = load_record(source, NumpyShape::kOff);
  EXPECT_EQ(floats(array), (std::vector<float>{0, 1, 2, 3, 4, 5}));
  StringSink sink;
  save_record(array, false, sink);
  EXPECT_EQ(sink.take(), raw);
}

TEST(Params, SavesWhatPendingOperationsWrite) {
  const NDArray from = counting(Shape{1 << 18});
  const NDArray to(Shape{1 << 18}, DType::kFloat32, Device::cpu());
  from.copy_to(to);
  EXPECT_EQ(floats(load_text(save_text({{to}, {}})).arrays[0]), floats(from));
}

TEST(Params, LargeArraysPassTheBuffers) {
  const Folder folder;
  const std::vector<NDArray> arrays{counting(Shape{3}), counting(Shape{100'000}),
                                    counting(Shape{5}), counting(Shape{70'000})};
  const std::vector<std::string> names{"a", std::string(70'000, 'x'), "c", "d"};
  save_file(folder.file("big"), arrays, names, false);
  FileSource source(folder.file("big"));
  const LoadedArrays loaded = load_arrays(source, NumpyShape::kOff);
  EXPECT_EQ(loaded.names, names);
  for (std::size_t i = 0; i < arrays.size(); ++i)
    EXPECT_EQ(floats(loaded.arrays[i]), floats(arrays[i]));
}

TEST(Params, WhatTheFormatCannotSayIsAnError) {
  StringSink sink;
  EXPECT_THROW(save_record(NDArray(), false, sink), Error);
  const NDArray scalar = make<float>(Shape::scalar(), {1});
  EXPECT_NE(error_of([&] { save_record(scalar, false, sink); }).find("turn them on"),
            std::string::npos);
  const NDArray csr = make_csr(Shape{1, 1}, {}, {0, 0}, {});
  EXPECT_NE(error_of([&] { save_record(csr, true, sink); }).find("given a csr array"),
            std::string::npos);
  const std::vector<NDArray> two{counting(Shape{1}), counting(Shape{1})};
  const std::vector<std::string> one{"w"};
  EXPECT_THROW(save_arrays(two, one, false, sink), Error);
}

TEST(Params, EmptySparseArraysCarryAFullIndptr) {
  const NDArray csr(StorageType::kCSR, Shape{2, 2}, DType::kFloat32, Device::cpu());
  const NDArray rows(StorageType::kRowSparse, Shape{2, 2}, DType::kFloat32, Device::cpu());
  EXPECT_EQ(save_text({{csr, rows}, {"c", "r"}}), sample("sparse_empty.params"));
}

TEST(AtomicFile, AFailureLeavesTheOldFile) {
  const Folder folder;
  const std::string path = folder.file("model.params");
  save_file(path, std::vector{counting(Shape{2})}, {}, false);
  const std::string before = content_of(path);
  const std::vector<NDArray> bad{counting(Shape{100'000}), NDArray()};  // fails at the second
  EXPECT_THROW(save_file(path, bad, {}, false), Error);
  EXPECT_EQ(content_of(path), before);
  EXPECT_EQ(folder.entries(), 1u) << "no temporary file is left";
}

TEST(AtomicFile, NothingAppearsBeforeTheCommit) {
  const Folder folder;
  const std::string path = folder.file("new");
  {
    AtomicFileSink sink(path);
    sink.write("abc", 3);
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_EQ(folder.entries(), 0u);
  AtomicFileSink sink(path);
  sink.write("abc", 3);
  sink.commit();
  EXPECT_EQ(content_of(path), "abc");
}

TEST(AtomicFile, KeepsPermissionsAndLinks) {
  const Folder folder;
  write_file(folder.file("real"), "old");
  ASSERT_EQ(::chmod(folder.file("real").c_str(), 0640), 0);
  std::filesystem::create_symlink("real", folder.file("link"));
  save_file(folder.file("link"), std::vector{counting(Shape{2})}, {}, false);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  struct stat info {};
  ASSERT_EQ(::stat(folder.file("real").c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777u, 0640u);
  EXPECT_EQ(load_text(content_of(folder.file("real"))).arrays.size(), 1u);
}

TEST(AtomicFile, FollowsALinkToAFileThatIsNotThereYet) {
  const Folder folder;
  std::filesystem::create_symlink("later", folder.file("link"));
  save_file(folder.file("link"), std::vector{counting(Shape{2})}, {}, false);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(load_text(content_of(folder.file("later"))).arrays.size(), 1u);
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(AtomicFile, LinksThatGoRoundStay) {
  const Folder folder;
  std::filesystem::create_symlink("b", folder.file("a"));
  std::filesystem::create_symlink("a", folder.file("b"));
  EXPECT_THROW(save_file(folder.file("a"), std::vector{counting(Shape{2})}, {}, false), Error);
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("a")));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("b")));
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(AtomicFile, TakesANameAsLongAsTheFolderDoes) {
  const Folder folder;
  const std::string path = folder.file(std::string(255, 'n').c_str());
  save_file(path, std::vector{counting(Shape{2})}, {}, false);
  EXPECT_EQ(load_text(content_of(path)).arrays.size(), 1u);
}

// As of a shell's `> file`: who has it open goes on to read and write the same file.
TEST(AtomicFile, AFileThatIsHeldOpenIsWrittenItself) {
  const Folder folder;
  write_file(folder.file("real"), std::string(1000, 'x'));
  const int held = ::open(folder.file("real").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(held, 0);
  const std::string name = "/proc/self/fd/" + std::to_string(held);
  std::filesystem::create_symlink(name, folder.file("link"));
  save_file(folder.file("link"), std::vector{counting(Shape{2})}, {}, false);
  struct stat mine {
  }, there{};
  ASSERT_EQ(::fstat(held, &mine), 0);
  ASSERT_EQ(::stat(folder.file("real").c_str(), &there), 0);
  ::close(held);
  EXPECT_EQ(mine.st_ino, there.st_ino);
  EXPECT_EQ(load_text(content_of(folder.file("real"))).arrays.size(), 1u);
  EXPECT_EQ(folder.entries(), 2u);
}

int leave_now() { return 1; }

TEST(AtomicFile, AnInterruptEndsLoadsAndSavesAndLeavesTheFileOfBefore) {
  const Folder folder;
  const std::string path = folder.file("old");
  const std::vector<NDArray> saved{counting(Shape{2})};
  save_file(path, saved, {}, false);
  const std::string before = content_of(path);
  // No reader and no writer will come: only a signal ends what waits for one.
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  struct sigaction act {
  }, old{};
  act.sa_handler = [](int) {};  // without SA_RESTART, as Python sets them
  ASSERT_EQ(::sigaction(SIGUSR1, &act, &old), 0);
  engine::set_interrupt_check(leave_now);
  std::atomic<bool> done{false};
  std::thread signals([&, waiting = ::pthread_self()] {
    while (!done) {
      ::pthread_kill(waiting, SIGUSR1);
      std::this_thread::yield();
    }
  });
  EXPECT_NE(error_of([&] { FileSource source(pipe); }).find("interrupt"), std::string::npos);
  EXPECT_NE(error_of([&] { save_file(pipe, saved, {}, false); }).find("interrupt"),
            std::string::npos);
  done = true;
  signals.join();
  engine::set_interrupt_check(nullptr);
  ::sigaction(SIGUSR1, &old, nullptr);
  EXPECT_EQ(content_of(path), before);
  EXPECT_EQ(folder.entries(), 2u);
}

TEST(AtomicFile, DevicesAndPipesAreWrittenDirectly) {
  save_file("/dev/null", std::vector{counting(Shape{2})}, {}, false);
  const Folder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  LoadedArrays loaded;
  std::thread reader([&] {
    FileSource source(pipe);
    loaded = load_arrays(source, NumpyShape::kOff);
  });
  save_file(pipe, std::vector{counting(Shape{200'000})}, {}, false);
  reader.join();
  ASSERT_EQ(loaded.arrays.size(), 1u);
  EXPECT_EQ(floats(loaded.arrays[0].slice(199'999, 200'000)), std::vector<float>{199'999});
}

TEST(AtomicFile, ManyThreadsSaveToOnePath) {
  const Folder folder;
  const std::string path = folder.file("contended");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const NDArray array = make<float>(Shape{2}, {static_cast<float>(t), static_cast<float>(t)});
      for (int i = 0; i < 10; ++i) save_file(path, std::vector{array}, {}, false);
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<float> found = floats(load_text(content_of(path)).arrays.at(0));
  EXPECT_EQ(found[0], found[1]) << "one of the writers won, whole";
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, SaysWhichPathAndWhy) {
  EXPECT_NE(error_of([] {
              save_file("/nonexistent/x", {}, {}, false);
            }).find("'/nonexistent/x': No such file or directory"),
            std::string::npos);
  EXPECT_NE(error_of([] { FileSource("/nonexistent/x"); }).find("cannot open '/nonexistent/x'"),
            std::string::npos);
  EXPECT_NE(error_of([] { FileSource("/tmp"); }).find("Is a directory"), std::string::npos);
  EXPECT_NE(error_of([] { FileSource("s3://bucket/x"); }).find("s3://bucket/x"), std::string::npos);
  const Folder folder;
  save_file("file://" + folder.file("x"), {}, {}, false);
  EXPECT_EQ(content_of(folder.file("x")), sample("empty_list.ndarray"));
}

}  // namespace
}  // namespace mxnet
