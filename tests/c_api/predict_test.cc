// SPDX-License-Identifier: Apache-2.0
// The predict API: a network and its parameters in memory, numbers in and out.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/c_predict_api.h"
#include "paths.h"
#include "symbols.h"

namespace mxnet::c_test {
namespace {

constexpr int kCpu = 1;

// A predictor that frees itself.
class Pred {
 public:
  Pred() = default;
  explicit Pred(PredictorHandle handle) : handle_(handle) {}
  Pred(Pred&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Pred() {
    if (handle_ != nullptr) {
      EXPECT_EQ(MXPredFree(handle_), 0);
    }
  }
  PredictorHandle get() const { return handle_; }
  PredictorHandle* out() { return &handle_; }

  Values run(const Values& x) const {
    EXPECT_EQ(MXPredSetInput(handle_, "x", x.data(), static_cast<uint32_t>(x.size())), 0)
        << MXGetLastError();
    EXPECT_EQ(MXPredForward(handle_), 0) << MXGetLastError();
    return output();
  }
  Values output() const {
    uint32_t *dims = nullptr, ndim = 0;
    EXPECT_EQ(MXPredGetOutputShape(handle_, 0, &dims, &ndim), 0) << MXGetLastError();
    uint32_t size = 1;
    for (uint32_t d = 0; d < ndim; ++d) size *= dims[d];
    Values values(size);
    EXPECT_EQ(MXPredGetOutput(handle_, 0, values.data(), size), 0) << MXGetLastError();
    return values;
  }

 private:
  PredictorHandle handle_ = nullptr;
};

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// relu(x * (1, 2, 3) + (0, -1, 0)) for one column of x.
class Predict : public testing::Test {
 protected:
  void SetUp() override {
    const Sym fc = dense();
    const Sym net = call_symbol("relu", "r", {fc.get()});
    const char* text = nullptr;
    MX_OK(MXSymbolSaveToJSON(net.get(), &text));
    json_ = text;
    const Array flat(Values{1, 2, 3}), bias(Values{0, -1, 0});
    const Array weight = call("Reshape", {flat.get()}, {{"shape", "(3, 1)"}});
    const std::string path =
        testing::TempDir() + "/predict" + std::to_string(::getpid()) + ".params";
    const char* keys[] = {"arg:fc_weight", "arg:fc_bias"};
    NDArrayHandle arrays[] = {weight.get(), bias.get()};
    MX_OK(MXNDArraySave(path.c_str(), 2, arrays, keys));
    params_ = bytes_of(path);
    std::remove(path.c_str());
  }
  int size() const { return static_cast<int>(params_.size()); }

  std::string json_, params_;
  const char* x_[1] = {"x"};
  const uint32_t ends_[2] = {0, 2}, shape_[2] = {2, 1}, one_row_[2] = {1, 1};
  const Values input_{1, -1}, expected_{1, 1, 3, 0, 0, 0};
};

TEST_F(Predict, NumbersGoInAndOut) {
  Pred pred;
  MX_OK(MXPredCreate(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                     pred.out()));
  EXPECT_EQ(pred.run(input_), expected_);
  int dtype = -1;
  MX_OK(MXPredGetOutputType(pred.get(), 0, &dtype));
  EXPECT_EQ(dtype, 0);
  float room[2];
  EXPECT_EQ(MXPredGetOutput(pred.get(), 0, room, 2), -1);
  EXPECT_TRUE(error_has("given room for 2 numbers, expected 6")) << MXGetLastError();
  EXPECT_EQ(MXPredGetOutputType(pred.get(), 1, &dtype), -1);
  EXPECT_EQ(MXPredSetInput(pred.get(), "z", input_.data(), 2), -1);
  EXPECT_TRUE(error_has("expected one of the inputs x")) << MXGetLastError();
  EXPECT_EQ(MXPredSetInput(pred.get(), "x", input_.data(), 1), -1);
  EXPECT_EQ(pred.run(input_), expected_);
}

TEST_F(Predict, StepByStepAndInPart) {
  Pred pred, part;
  MX_OK(MXPredCreate(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                     pred.out()));
  MX_OK(MXPredSetInput(pred.get(), "x", input_.data(), 2));
  int left = 1, steps = 0;
  while (left > 0 && steps < 10) MX_OK(MXPredPartialForward(pred.get(), steps++, &left));
  EXPECT_EQ(steps, 2);
  EXPECT_EQ(pred.output(), expected_);
  const char* before_relu[] = {"fc_output"};
  MX_OK(MXPredCreatePartialOut(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                               1, before_relu, part.out()));
  EXPECT_EQ(part.run(input_), (Values{1, 1, 3, -1, -3, -3}));
  Pred none;
  const char* unknown[] = {"nosuch"};
  EXPECT_EQ(MXPredCreatePartialOut(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_,
                                   shape_, 1, unknown, none.out()),
            -1);
  EXPECT_TRUE(error_has("nosuch")) << MXGetLastError();
}

TEST_F(Predict, OtherShapesShareTheParameters) {
  Pred pred, smaller;
  MX_OK(MXPredCreate(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                     pred.out()));
  MX_OK(MXPredReshape(1, x_, ends_, one_row_, pred.get(), smaller.out()));
  EXPECT_EQ(smaller.run({2}), (Values{2, 3, 6}));
  EXPECT_EQ(pred.run(input_), expected_);
}

TEST_F(Predict, TypesOfInputsMayBeGiven) {
  const Sym x = var("x");
  const Sym net = call_symbol("negative", "n", {x.get()});
  const char* text = nullptr;
  MX_OK(MXSymbolSaveToJSON(net.get(), &text));
  const std::string json = text;
  const int int32 = 4;
  Pred pred;
  MX_OK(MXPredCreateEx(json.c_str(), nullptr, 0, kCpu, 0, 1, x_, ends_, shape_, 1, x_, &int32,
                       pred.out()));
  int dtype = -1;
  MX_OK(MXPredGetOutputType(pred.get(), 0, &dtype));
  EXPECT_EQ(dtype, int32);
  // Exact where floats are not; the interface names every type's numbers float.
  const int32_t numbers[] = {16777217, -3};
  int32_t results[2] = {};
  MX_OK(MXPredSetInput(pred.get(), "x", reinterpret_cast<const float*>(numbers), 2));
  MX_OK(MXPredForward(pred.get()));
  MX_OK(MXPredGetOutput(pred.get(), 0, reinterpret_cast<float*>(results), 2));
  EXPECT_EQ(results[0], -16777217);
  EXPECT_EQ(results[1], 3);
}

TEST_F(Predict, AsManyAsThreadsAreMadeAtOnce) {
  constexpr int kThreads = 4;
  PredictorHandle handles[kThreads] = {};
  MX_OK(MXPredCreateMultiThread(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_,
                                shape_, kThreads, handles));
  std::vector<int> wrong(kThreads);
  {
    std::vector<Pred> preds;
    for (PredictorHandle handle : handles) preds.emplace_back(handle);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const auto x = static_cast<float>(t + 1);
        for (int run = 0; run < 100; ++run)
          if (preds[t].run({x, 0}) != Values{x, 2 * x - 1, 3 * x, 0, 0, 0}) ++wrong[t];
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(wrong, std::vector<int>(kThreads));
  EXPECT_EQ(MXPredCreateMultiThread(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_,
                                    shape_, 0, handles),
            -1);
  EXPECT_TRUE(error_has("given 0 threads")) << MXGetLastError();
}

using Seen = std::map<std::string, Values>;
void note(const char* name, NDArrayHandle value, void* seen) {
  static_cast<Seen*>(seen)->emplace(name, Array(value).values());
}

TEST_F(Predict, MonitorsSeeEveryNode) {
  Pred pred;
  MX_OK(MXPredCreate(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                     pred.out()));
  Seen seen, none;
  MX_OK(MXPredSetMonitorCallback(pred.get(), note, &seen, false));
  EXPECT_EQ(pred.run(input_), expected_);
  EXPECT_EQ(seen["r_output"], expected_);
  EXPECT_EQ(seen["fc_output"], (Values{1, 1, 3, -1, -3, -3}));
  MX_OK(MXPredSetMonitorCallback(pred.get(), nullptr, nullptr, false));
  seen.clear();
  EXPECT_EQ(pred.run(input_), expected_);
  EXPECT_TRUE(seen.empty());
}

TEST_F(Predict, ParametersAreAListOfArrays) {
  NDListHandle list = nullptr;
  uint32_t length = 0, ndim = 0;
  MX_OK(MXNDListCreate(params_.data(), size(), &list, &length));
  ASSERT_EQ(length, 2u);
  const char* key = nullptr;
  const float* data = nullptr;
  const uint32_t* shape = nullptr;
  MX_OK(MXNDListGet(list, 0, &key, &data, &shape, &ndim));
  EXPECT_STREQ(key, "arg:fc_weight");
  ASSERT_EQ(ndim, 2u);
  EXPECT_EQ(shape[0], 3u);
  EXPECT_EQ(shape[1], 1u);
  EXPECT_EQ(Values(data, data + 3), (Values{1, 2, 3}));
  EXPECT_EQ(MXNDListGet(list, 2, &key, &data, &shape, &ndim), -1);
  EXPECT_TRUE(error_has("given index 2, expected less than 2")) << MXGetLastError();
  MX_OK(MXNDListFree(list));
  EXPECT_EQ(MXNDListFree(list), -1);
  EXPECT_EQ(MXNDListCreate(params_.data(), size() / 2, &list, &length), -1);
}

TEST(PredictModel, OfTheReferenceGivesItsNumbers) {
  const std::string prefix = test_data("models/tiny");
  const std::string json = bytes_of(prefix + "-symbol.json"),
                    params = bytes_of(prefix + "-0000.params");
  const char* input[] = {"data"};
  const uint32_t ends[] = {0, 4}, shape[] = {1, 3, 8, 8};
  Pred pred;
  MX_OK(MXPredCreate(json.c_str(), params.data(), static_cast<int>(params.size()), kCpu, 0, 1,
                     input, ends, shape, pred.out()));
  Values x(3 * 8 * 8);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) / 192;
  MX_OK(MXPredSetInput(pred.get(), "data", x.data(), static_cast<uint32_t>(x.size())));
  MX_OK(MXPredForward(pred.get()));
  const Values y = pred.output(), right{-0.17348826f, -0.3650468f, 0.01037003f};  // of 1.9.1
  ASSERT_EQ(y.size(), right.size());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], right[i], 1e-5);
}

TEST_F(Predict, ImpossibleShapesAndStepsAreErrors) {
  Pred pred, none;
  MX_OK(MXPredCreate(json_.c_str(), params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_,
                     pred.out()));
  const uint32_t huge[] = {4294967295u, 4294967295u}, wide[] = {2, 7};
  EXPECT_EQ(MXPredReshape(1, x_, ends_, huge, pred.get(), none.out()), -1);
  EXPECT_EQ(MXPredReshape(1, x_, ends_, wide, pred.get(), none.out()), -1);
  EXPECT_TRUE(error_has("fc")) << MXGetLastError();
  const char* unknown[] = {"z"};
  EXPECT_EQ(MXPredReshape(1, unknown, ends_, shape_, pred.get(), none.out()), -1);
  EXPECT_TRUE(error_has("x")) << MXGetLastError();
  int left = 0;
  EXPECT_EQ(MXPredPartialForward(pred.get(), -1, &left), -1);
  EXPECT_TRUE(error_has("given step -1, expected 0 or more")) << MXGetLastError();
  MX_OK(MXPredPartialForward(pred.get(), 2, &left));  // there is none left
  EXPECT_EQ(left, 0);
  EXPECT_EQ(pred.run(input_), expected_);
}

TEST_F(Predict, WhatIsMissingIsNamed) {
  Pred none;
  EXPECT_EQ(MXPredCreate(json_.c_str(), params_.data(), size() - 3, kCpu, 0, 1, x_, ends_, shape_,
                         none.out()),
            -1);
  EXPECT_EQ(MXPredCreate("{", params_.data(), size(), kCpu, 0, 1, x_, ends_, shape_, none.out()),
            -1);
  EXPECT_EQ(
      MXPredCreate(json_.c_str(), params_.data(), -1, kCpu, 0, 1, x_, ends_, shape_, none.out()),
      -1);
  EXPECT_TRUE(error_has("-1 bytes")) << MXGetLastError();
}

TEST_F(Predict, ShapesOfWhatTheNetworkLacksArePassedOver) {
  const Sym fc = dense(), label = var("label");
  const Sym net = call_symbol("SoftmaxOutput", "s", {fc.get(), label.get()});
  const char* json = nullptr;
  MX_OK(MXSymbolSaveToJSON(net.get(), &json));
  const char *inputs[] = {"x", "label", "nosuch"}, *outputs[] = {"fc"};
  const uint32_t begins[] = {0, 2, 3, 5}, sizes[] = {2, 1, 2, 4, 4};
  Pred part;
  MX_OK(MXPredCreatePartialOut(json, params_.data(), size(), kCpu, 0, 3, inputs, begins, sizes, 1,
                               outputs, part.out()));
  EXPECT_EQ(part.run({1, 2}), (Values{1, 1, 3, 2, 3, 6}));
  Pred same;
  MX_OK(MXPredReshape(3, inputs, begins, sizes, part.get(), same.out()));
  EXPECT_EQ(same.run({1, 2}), (Values{1, 1, 3, 2, 3, 6}));
}

// A state that goes from call to call beside the input, as of a recurrent network: the rows of
// both.
class PredictWithState : public testing::Test {
 protected:
  void SetUp() override {
    const Sym x = var("x"), state = var("state");
    const Sym net = call_symbol("Concat", "c", {x.get(), state.get()}, {{"dim", "0"}});
    Sym both;
    SymbolHandle members[] = {net.get(), state.get()};
    MX_OK(MXSymbolCreateGroup(2, members, both.out()));
    const char* text = nullptr;
    MX_OK(MXSymbolSaveToJSON(both.get(), &text));
    json_ = text;
    MX_OK(create({}, pred_.out()));
    const Values x_values{1, 2}, state_values{5};
    MX_OK(MXPredSetInput(pred_.get(), "x", x_values.data(), 2));
    MX_OK(MXPredSetInput(pred_.get(), "state", state_values.data(), 1));
  }
  int create(const std::string& params, PredictorHandle* out) {
    return MXPredCreate(json_.c_str(), params.data(), static_cast<int>(params.size()), kCpu, 0, 2,
                        names_, ends_, shapes_, out);
  }
  static Values forward(const Pred& pred) {
    EXPECT_EQ(MXPredForward(pred.get()), 0) << MXGetLastError();
    return pred.output();
  }

  std::string json_;
  const char* names_[2] = {"x", "state"};
  const uint32_t ends_[3] = {0, 2, 4}, shapes_[4] = {2, 1, 1, 1}, longer_[4] = {3, 1, 1, 1};
  Pred pred_;
};

TEST_F(PredictWithState, AnInputOfTheSameShapeKeepsItsNumbersWhereOthersAreReshaped) {
  Pred longer, same;
  MX_OK(MXPredReshape(2, names_, ends_, longer_, pred_.get(), longer.out()));
  MX_OK(MXPredReshape(2, names_, ends_, shapes_, pred_.get(), same.out()));
  EXPECT_EQ(forward(longer), (Values{0, 0, 0, 5}));
  EXPECT_EQ(forward(same), (Values{1, 2, 5}));
  const Values other{7};
  MX_OK(MXPredSetInput(pred_.get(), "state", other.data(), 1));
  EXPECT_EQ(forward(pred_), (Values{1, 2, 7}));
  EXPECT_EQ(forward(same), (Values{1, 2, 5}));  // they may run at the same time
}

TEST_F(PredictWithState, AnInputBeginsWithTheNumbersThatTheFileHasForIt) {
  const Array state(Values{9});
  const Array of_one_row = call("Reshape", {state.get()}, {{"shape", "(1, 1)"}});
  const std::string path =
      testing::TempDir() + "/predict_state" + std::to_string(::getpid()) + ".params";
  const char* key = "arg:state";
  NDArrayHandle array = of_one_row.get();
  MX_OK(MXNDArraySave(path.c_str(), 1, &array, &key));
  const std::string params = bytes_of(path);
  std::remove(path.c_str());
  Pred pred, other;
  MX_OK(create(params, pred.out()));
  MX_OK(create(params, other.out()));
  EXPECT_EQ(forward(pred), (Values{0, 0, 9}));
  const Values changed{4};
  MX_OK(MXPredSetInput(pred.get(), "state", changed.data(), 1));
  EXPECT_EQ(forward(pred), (Values{0, 0, 4}));
  EXPECT_EQ(forward(other), (Values{0, 0, 9}));
}

TEST_F(PredictWithState, ShapesStayWhileOthersAreAskedFor) {
  Pred longer;
  MX_OK(MXPredReshape(2, names_, ends_, longer_, pred_.get(), longer.out()));
  uint32_t *first = nullptr, *second = nullptr, *third = nullptr, ndim = 0;
  MX_OK(MXPredGetOutputShape(pred_.get(), 0, &first, &ndim));
  MX_OK(MXPredGetOutputShape(pred_.get(), 1, &second, &ndim));
  MX_OK(MXPredGetOutputShape(longer.get(), 0, &third, &ndim));
  EXPECT_EQ(first[0], 3u);
  EXPECT_EQ(second[0], 1u);
  EXPECT_EQ(third[0], 4u);
}

}  // namespace
}  // namespace mxnet::c_test
