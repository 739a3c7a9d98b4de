// SPDX-License-Identifier: Apache-2.0
// Memory exchanged with other frameworks: no copy, and deleters that run exactly once.
#include "ndarray/dlpack.h"

#include <cstring>
#include <memory>

#include "arrays.h"

namespace mxnet {
namespace {

using namespace testing_arrays;

// A tensor of somebody else, who counts how often the memory is given back.
struct Foreign {
  std::vector<float> memory;
  std::vector<int64_t> shape, strides;
  int deleted = 0;
  DLManagedTensor* deleted_tensor = nullptr;
  DLManagedTensor managed{};

  Foreign(std::vector<int64_t> dims, std::vector<int64_t> steps = {})
      : memory(64), shape(std::move(dims)), strides(std::move(steps)) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i);
    managed.tensor = {.data = memory.data(),
                      .device = {1, 0},
                      .ndim = static_cast<int32_t>(shape.size()),
                      .dtype = {2, 32, 1},
                      .shape = shape.data(),
                      .strides = strides.empty() ? nullptr : strides.data(),
                      .byte_offset = 0};
    managed.context = this;
    managed.deleter = [](DLManagedTensor* self) {
      auto* me = static_cast<Foreign*>(self->context);
      ++me->deleted;
      me->deleted_tensor = self;
    };
  }
};

TEST(ToDLPack, SharesMemoryAndKeepsItAlive) {
  DLManagedTensor* tensor;
  {
    const NDArray array = counting(Shape{4, 3});
    tensor = to_dlpack(array.slice(1, 3));
    EXPECT_EQ(tensor->tensor.data, array.slice(1, 3).data());
  }
  const DLTensor& t = tensor->tensor;
  EXPECT_EQ(t.ndim, 2);
  EXPECT_EQ(std::vector<int64_t>(t.shape, t.shape + 2), (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(std::vector<int64_t>(t.strides, t.strides + 2), (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(static_cast<float*>(t.data)[5], 8.0f);
  tensor->deleter(tensor);
}

TEST(ToDLPack, NamesTypesAndDevices) {
  const std::pair<DType, std::array<int, 2>> types[] = {
      {DType::kFloat32, {2, 32}}, {DType::kFloat64, {2, 64}},  {DType::kFloat16, {2, 16}},
      {DType::kUInt8, {1, 8}},    {DType::kInt8, {0, 8}},      {DType::kInt32, {0, 32}},
      {DType::kInt64, {0, 64}},   {DType::kBFloat16, {4, 16}}, {DType::kBool, {6, 8}}};
  for (const auto& [dtype, expected] : types) {
    DLManagedTensor* tensor = to_dlpack(NDArray(Shape{2}, dtype, Device::cpu()));
    EXPECT_EQ(tensor->tensor.dtype.code, expected[0]) << dtype_name(dtype);
    EXPECT_EQ(tensor->tensor.dtype.bits, expected[1]) << dtype_name(dtype);
    EXPECT_EQ(tensor->tensor.dtype.lanes, 1);
    const NDArray back = from_dlpack(tensor, false);
    EXPECT_EQ(back.dtype(), dtype);
  }
  const std::pair<Device, int> devices[] = {{Device::cpu(3), 1},
                                            {Device::cpu_shared(), 1},
                                            {Device::gpu(1), 2},
                                            {Device::cpu_pinned(), 3}};
  for (const auto& [device, expected] : devices) {
    DLManagedTensor* tensor = to_dlpack(NDArray(Shape{2}, DType::kFloat32, device));
    EXPECT_EQ(tensor->tensor.device.type, expected);
    tensor->deleter(tensor);
  }
}

TEST(ToDLPack, EveryTypeKeepsItsBytesThereAndBack) {
#define MX_EACH_TYPE(name, cpp_type, tag) DType::tag,
  for (const DType dtype : {MX_DTYPES(MX_EACH_TYPE)}) {
    const NDArray array(Shape{3, 5}, dtype, Device::cpu());
    const std::size_t bytes = 15 * dtype_size(dtype);
    std::vector<unsigned char> pattern(bytes);
    // Zeros and ones are values of every type.
    for (std::size_t i = 0; i < bytes; ++i) pattern[i] = (i * 7 % 3) == 0;
    std::memcpy(array.data(), pattern.data(), bytes);
    DLManagedTensor* const tensor = to_dlpack(array);
    EXPECT_EQ(std::memcmp(tensor->tensor.data, pattern.data(), bytes), 0) << dtype_name(dtype);
    const NDArray back = from_dlpack(tensor, false);
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.shape(), (Shape{3, 5}));
    EXPECT_EQ(std::memcmp(back.data(), pattern.data(), bytes), 0) << dtype_name(dtype);
  }
#undef MX_EACH_TYPE
}

TEST(FromDLPack, TypesThatArraysCannotHaveAreRefused) {
  // int16, uint16, uint32, uint64, float of 8 and 128 bits, bool of 32, complex, opaque.
  const std::pair<int, int> unknown[] = {{0, 16},  {1, 16}, {1, 32}, {1, 64},  {2, 8},
                                         {2, 128}, {6, 32}, {5, 64}, {5, 128}, {3, 64}};
  for (const auto& [code, bits] : unknown) {
    Foreign foreign({2});
    foreign.managed.tensor.dtype = {static_cast<uint8_t>(code), static_cast<uint8_t>(bits), 1};
    const std::string text = error_of([&] { from_dlpack(&foreign.managed, false); });
    EXPECT_NE(text.find("given elements of code " + std::to_string(code) + ", " +
                        std::to_string(bits) + " bits"),
              std::string::npos)
        << text;
    EXPECT_EQ(foreign.deleted, 0);
  }
}

TEST(ToDLPack, SparseIsAnErrorAndEmptyIsFine) {
  const NDArray csr(StorageType::kCSR, Shape{2, 2}, DType::kFloat32, Device::cpu());
  EXPECT_THROW(to_dlpack(csr), Error);
  EXPECT_THROW(to_dlpack(NDArray()), Error);
  DLManagedTensor* tensor = to_dlpack(NDArray(Shape{0, 3}, DType::kFloat32, Device::cpu()));
  EXPECT_EQ(tensor->tensor.shape[0], 0);
  EXPECT_EQ(from_dlpack(tensor, false).shape(), (Shape{0, 3}));
}

TEST(FromDLPack, SharesMemoryAndDeletesOnce) {
  Foreign foreign({2, 3});
  {
    NDArray array = from_dlpack(&foreign.managed, false);
    EXPECT_EQ(array.data(), foreign.memory.data());
    EXPECT_EQ(floats(array), (std::vector<float>{0, 1, 2, 3, 4, 5}));
    const std::vector<float> fresh(6, 7.0f);
    array.sync_copy_from(fresh.data(), 6);
    EXPECT_EQ(foreign.memory[5], 7.0f);
    const NDArray view = array.slice(1, 2);
    array = NDArray();
    EXPECT_EQ(foreign.deleted, 0) << "the view still uses it";
  }
  Engine::get().wait_for_all();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(foreign.deleted_tensor, &foreign.managed);
}

TEST(FromDLPack, TransientStructuresAreCopied) {
  Foreign foreign({4});
  {
    auto passing = std::make_unique<DLManagedTensor>(foreign.managed);
    const NDArray array = from_dlpack(passing.get(), true);
    std::memset(passing.get(), 0xee, sizeof *passing);
    passing.reset();
    EXPECT_EQ(floats(array), (std::vector<float>{0, 1, 2, 3}));
  }
  Engine::get().wait_for_all();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_NE(foreign.deleted_tensor, &foreign.managed);
}

TEST(FromDLPack, OperationsInFlightKeepTheMemory) {
  Foreign foreign({64});
  NDArray to(Shape{64}, DType::kFloat32, Device::cpu());
  std::atomic<bool> go{false};
  {
    const NDArray array = from_dlpack(&foreign.managed, false);
    const std::array<Var*, 1> reads{array.var()};
    Engine::get().push([&, array](const RunContext&) { go.wait(false); },
                       {.device = Device::cpu(), .reads = reads, .writes = {}, .name = "hold"});
    array.copy_to(to);
  }
  EXPECT_EQ(foreign.deleted, 0);
  go = true;
  go.notify_all();
  Engine::get().wait_for_all();
  EXPECT_EQ(foreign.deleted, 1);
  EXPECT_EQ(floats(to)[63], 63.0f);
}

TEST(FromDLPack, OffsetsAndHarmlessStridesAreTaken) {
  Foreign offset({2});
  offset.managed.tensor.byte_offset = 12;
  EXPECT_EQ(floats(from_dlpack(&offset.managed, false)), (std::vector<float>{3, 4}));
  Foreign ones({1, 3, 1}, {99, 1, 77});  // strides of dimensions of one element mean nothing
  EXPECT_EQ(floats(from_dlpack(&ones.managed, false)), (std::vector<float>{0, 1, 2}));
  Foreign empty({0, 3}, {7, 7});
  EXPECT_EQ(from_dlpack(&empty.managed, false).size(), 0);
  Foreign scalar({});
  EXPECT_EQ(floats(from_dlpack(&scalar.managed, false)), std::vector<float>{0});
}

TEST(FromDLPack, WithoutADeleterNobodyIsCalled) {
  Foreign foreign({2});
  foreign.managed.deleter = nullptr;
  { const NDArray array = from_dlpack(&foreign.managed, false); }
  Engine::get().wait_for_all();
  EXPECT_EQ(foreign.deleted, 0);
}

TEST(FromDLPack, WhatCannotBeSharedIsRefusedAndStaysTheCallers) {
  const auto refuse = [](Foreign& foreign, const char* message) {
    const std::string text = error_of([&] { from_dlpack(&foreign.managed, false); });
    EXPECT_NE(text.find(message), std::string::npos) << text;
    EXPECT_EQ(foreign.deleted, 0);
  };
  Foreign transposed({2, 3}, {1, 2});
  refuse(transposed, "given strides (1,2) for shape (2,3), expected row-major memory");
  Foreign broadcast({2, 3}, {0, 1});
  refuse(broadcast, "given strides (0,1)");
  Foreign complex({2});
  complex.managed.tensor.dtype = {5, 64, 1};
  refuse(complex, "given elements of code 5, 64 bits, 1 lanes");
  Foreign vectors({2});
  vectors.managed.tensor.dtype.lanes = 4;
  refuse(vectors, "4 lanes");
  Foreign elsewhere({2});
  elsewhere.managed.tensor.device = {8, 0};
  refuse(elsewhere, "given memory on device type 8");
  Foreign no_gpu({2});
  no_gpu.managed.tensor.device = {2, 5};
  refuse(no_gpu, "device type 2, id 5");
  Foreign no_data({2});
  no_data.managed.tensor.data = nullptr;
  refuse(no_data, "at address 0x0 and 0 bytes, expected memory of that size");
  Foreign negative({-2});
  refuse(negative, "given shape (-2), expected sizes of 0 or more");
  Foreign overflow({int64_t{1} << 62, 1});
  refuse(overflow, "given float32 of shape (4611686018427387904,1)");
  for (const uint64_t offset : {uint64_t{1} << 63, ~uint64_t{0}, ~uint64_t{0} - 7}) {
    Foreign far({2});
    far.managed.tensor.byte_offset = offset;
    refuse(far, ("and " + std::to_string(offset) + " bytes, expected memory of that size").c_str());
  }
  Foreign many({2});
  many.managed.tensor.ndim = 99;
  refuse(many, "given 99 dimensions");
}

}  // namespace
}  // namespace mxnet
