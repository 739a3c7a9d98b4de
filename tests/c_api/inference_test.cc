// SPDX-License-Identifier: Apache-2.0
// mxnet.hpp as programs use it: linked with the library itself, not with its objects.
#include "mxnet/mxnet.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/c_predict_api.h"
#include "paths.h"

namespace {

using mxnet::Array;
using mxnet::Model;

// out = data * weight^T + bias, then relu; as Gluon saves it.
const char* const kSymbol = R"json({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "attrs": {"__shape__": "(2, 3)"}, "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "Activation", "name": "relu", "attrs": {"act_type": "relu"}, "inputs": [[3, 0, 0]]}],
 "arg_nodes": [0, 1, 2], "heads": [[4, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}})json";

// The same with a loss, whose label inference leaves out.
const char* const kWithLabel = R"json({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "fc_weight", "inputs": []},
  {"op": "null", "name": "fc_bias", "inputs": []},
  {"op": "FullyConnected", "name": "fc", "attrs": {"num_hidden": "2"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "null", "name": "softmax_label", "inputs": []},
  {"op": "SoftmaxOutput", "name": "softmax", "inputs": [[3, 0, 0], [4, 0, 0]]}],
 "arg_nodes": [0, 1, 2, 4], "heads": [[5, 0, 0]],
 "attrs": {"mxnet_version": ["int", 10901]}})json";

class Inference : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "inference" + std::to_string(::getpid());
    prefix_ = folder_;
    std::ofstream(prefix_ + "-symbol.json") << kSymbol;
    const std::vector<float> weight{1, 2, 3, -1, -2, -3}, bias{0.5, 0.25};
    const Array w = Array::copy_of(weight.data(), {2, 3}), b = Array::copy_of(bias.data(), {2});
    NDArrayHandle handles[] = {w.handle(), b.handle()};
    const char* names[] = {"arg:fc_weight", "arg:fc_bias"};
    ASSERT_EQ(MXNDArraySave((prefix_ + "-0003.params").c_str(), 2, handles, names), 0);
  }
  void TearDown() override {
    ::unlink((prefix_ + "-symbol.json").c_str());
    ::unlink((prefix_ + "-0003.params").c_str());
  }
  std::string params() const {
    std::ifstream file(prefix_ + "-0003.params", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  std::string folder_, prefix_;
};

std::vector<float> expected(const std::vector<float>& x) {
  std::vector<float> y;
  for (std::size_t i = 0; i < x.size(); i += 3) {
    const float dot = x[i] + 2 * x[i + 1] + 3 * x[i + 2];
    y.push_back(std::max(0.0f, dot + 0.5f));
    y.push_back(std::max(0.0f, -dot + 0.25f));
  }
  return y;
}

TEST_F(Inference, AModelOfTheReferenceGivesItsNumbers) {
  const Model model = Model::load(mxnet::test_data("models/tiny"));
  std::vector<float> x(3 * 8 * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 192;
  const std::vector<float> y =
      model({{model.inputs()[0], Array::borrow(x.data(), {1, 3, 8, 8})}})[0].to_vector<float>();
  const std::vector<float> right{-0.17348826f, -0.3650468f, 0.01037003f};  // obtained from 1.9.1
  ASSERT_EQ(y.size(), right.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], right[i], 1e-5);
}

// An array of a file.
Array item(NDListHandle list, uint32_t index, const std::string& name) {
  const char* key = nullptr;
  const float* values = nullptr;
  const uint32_t* shape = nullptr;
  uint32_t dims = 0;
  EXPECT_EQ(MXNDListGet(list, index, &key, &values, &shape, &dims), 0) << MXGetLastError();
  EXPECT_EQ(key, name);
  return Array::copy_of(values, mxnet::Shape(shape, shape + dims));
}

// LeNet and a small ResNet, as Gluon of 1.9.1 exported them, with what they gave for a batch.
TEST_F(Inference, NetworksOfTheReferenceGiveItsNumbers) {
  for (const std::string name : {"lenet", "resnet"}) {
    const std::string prefix = mxnet::test_data("models/" + name);
    std::ifstream file(prefix + "-example.params", std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    NDListHandle list = nullptr;
    uint32_t count = 0;
    ASSERT_EQ(MXNDListCreate(bytes.data(), static_cast<int>(bytes.size()), &list, &count), 0)
        << MXGetLastError();
    ASSERT_EQ(count, 2U);
    const Array data = item(list, 0, "data"), right = item(list, 1, "output");
    ASSERT_EQ(MXNDListFree(list), 0);
    const std::vector<float> y = Model::load(prefix)({{"data", data}})[0].to_vector<float>();
    const std::vector<float> expected = right.to_vector<float>();
    ASSERT_EQ(y.size(), expected.size()) << name;
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << name;
  }
}

TEST_F(Inference, NamesOfInputsAndOutputs) {
  const Model model = Model::load(prefix_, 3);
  EXPECT_EQ(model.inputs(), std::vector<std::string>{"data"});
  EXPECT_EQ(model.outputs(), std::vector<std::string>{"relu_output"});
  EXPECT_EQ(model.output("relu_output"), 0U);
  EXPECT_THROW(model.output("other"), mxnet::Error);
}

TEST_F(Inference, FilesAndMemoryGiveTheSame) {
  const std::vector<float> x{1, 2, 3};
  const Array data = Array::copy_of(x.data(), {1, 3});
  for (const Model& model : {Model::load(prefix_, 3),
                             Model::from_files(prefix_ + "-symbol.json", prefix_ + "-0003.params"),
                             Model::from_memory(kSymbol, params())})
    EXPECT_EQ(model({{"data", data}})[0].to_vector<float>(), expected(x));
}

TEST_F(Inference, BatchesChangeFromCallToCall) {
  const Model model = Model::load(prefix_, 3);
  for (int64_t batch : {1, 4, 2, 1, 7}) {
    std::vector<float> x(static_cast<std::size_t>(3 * batch));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.1f * static_cast<float>(i) - 0.4f;
    const Array out = model({{"data", Array::copy_of(x.data(), {batch, 3})}})[0];
    EXPECT_EQ(out.shape(), (mxnet::Shape{batch, 2}));
    const std::vector<float> values = out.to_vector<float>(), right = expected(x);
    for (std::size_t i = 0; i < right.size(); ++i) EXPECT_NEAR(values[i], right[i], 1e-5);
  }
}

TEST_F(Inference, BuffersOfTheProgramAreUsedInPlace) {
  const Model model = Model::load(prefix_, 3);
  alignas(64) float x[6] = {1, 0, 0, 0, 0, 1};
  alignas(64) float y[4] = {-1, -1, -1, -1};
  const Array in = Array::borrow(static_cast<const float*>(x), {2, 3}),
              out = Array::borrow(y, {2, 2});
  EXPECT_EQ(out.data<float>(), y);
  model.run({{"data", in}}, {out});
  EXPECT_EQ(std::vector<float>(y, y + 4), expected({1, 0, 0, 0, 0, 1}));
  x[0] = 2;  // the next call reads what is there then
  model.run({{"data", in}}, {out});
  EXPECT_EQ(std::vector<float>(y, y + 4), expected({2, 0, 0, 0, 0, 1}));
}

template <class T>
void expect_borrowed(mxnet::DType dtype) {
  alignas(64) T values[2] = {T(1), T(0)};
  const Array array = Array::borrow(values, {2});
  EXPECT_EQ(array.dtype(), dtype);
  EXPECT_EQ(array.data<T>(), values);
}

TEST_F(Inference, BuffersOfEveryTypeKeepIt) {
  expect_borrowed<float>(mxnet::DType::kFloat32);
  expect_borrowed<double>(mxnet::DType::kFloat64);
  expect_borrowed<uint8_t>(mxnet::DType::kUint8);
  expect_borrowed<int32_t>(mxnet::DType::kInt32);
  expect_borrowed<int8_t>(mxnet::DType::kInt8);
  expect_borrowed<int64_t>(mxnet::DType::kInt64);
  expect_borrowed<bool>(mxnet::DType::kBool);
}

TEST_F(Inference, LabelsMayBeLeftOut) {
  const Model model = Model::from_memory(kWithLabel, params());
  EXPECT_EQ(model.inputs(), (std::vector<std::string>{"data", "softmax_label"}));
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const std::vector<float> y =
      model({{"data", Array::copy_of(x.data(), {2, 3})}})[0].to_vector<float>();
  ASSERT_EQ(y.size(), 4U);
  EXPECT_NEAR(y[0] + y[1], 1, 1e-6);
}

TEST_F(Inference, FailuresAreExceptionsOfTheProgram) {
  const Model model = Model::load(prefix_, 3);
  const std::vector<float> x{1, 2};
  EXPECT_THROW(Model::load(prefix_, 99), mxnet::Error);
  EXPECT_THROW(Model::from_memory("no json", params()), mxnet::Error);
  EXPECT_THROW(model({{"other", Array::copy_of(x.data(), {1, 2})}}), mxnet::Error);
  EXPECT_THROW(model({}), mxnet::Error);
  EXPECT_THROW(model({{"data", Array::copy_of(x.data(), {1, 2})}}), mxnet::Error);
  EXPECT_THROW(Array::copy_of(x.data(), {2}).to_vector<double>(), mxnet::Error);
  EXPECT_THROW(mxnet::call("no such operator", {}), mxnet::Error);
}

TEST_F(Inference, ThreadsShareAModel) {
  const Model model = Model::load(prefix_, 3);
  std::vector<std::thread> threads;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      const auto value = static_cast<float>(t);
      const std::vector<float> x{value, 1, -value}, right = expected(x);
      for (int i = 0; i < 200; ++i)
        wrong[t] +=
            model({{"data", Array::copy_of(x.data(), {1, 3})}})[0].to_vector<float>() != right;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, std::vector<int>(4));
}

int64_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * ::getpagesize();
}

TEST_F(Inference, LoadingAThousandTimesDoesNotGrow) {
  const std::string weights = params();
  const std::vector<float> x{1, 2, 3};
  const auto use = [&] {
    const Model model = Model::from_memory(kSymbol, weights);
    return model({{"data", Array::copy_of(x.data(), {1, 3})}})[0].to_vector<float>();
  };
  // A model that stayed would keep more than 4 KiB each: its graph, its plan, its activations. What
  // an allocator or a thread takes for once, it takes in one of the rounds.
  constexpr int kRounds = 5, kModels = 300;
  int64_t grown = 0;
  for (int round = 0; round < kRounds; ++round) {
    const int64_t before = resident_bytes();
    for (int i = 0; i < kModels; ++i) ASSERT_EQ(use(), expected(x));
    grown = resident_bytes() - before;
    if (round > 0 && grown < kModels * 1024) return;
  }
  FAIL() << grown << " bytes more in the last round too";
}

}  // namespace
