// SPDX-License-Identifier: Apache-2.0
// The number of threads is the process's and may change: what a plan has chosen for one number is
// right for every other. A program's own threads may have any number for their own regions.
#include <gtest/gtest.h>
#include <omp.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/omp.h"
#include "exec/network_fixture.h"
#include "openmp_under_tsan.h"

namespace mxnet {
namespace {

class PlanWidths : public testing::Test {
 protected:
  void SetUp() override { MX_SKIP_WHERE_OPENMP_IS_UNSEEN(); }
  void TearDown() override {
    set_omp_threads(threads_);
    omp_set_num_threads(threads_);
  }

  static Values result(Executor& executor, bool training) {
    executor.forward(training);
    return values_of(executor.outputs()[0]);
  }
  static void expect_near(const Values& got, const Values& expected) {
    double largest = 0, off = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      largest = std::max(largest, std::fabs(double{expected[i]}));
      const double difference = std::fabs(double{got[i]} - double{expected[i]});
      if (!(difference <= off)) off = difference;  // NaN is not near either
    }
    EXPECT_LE(off, 1e-4 * largest);
  }

  // Made for so many threads, it runs in as many others, and in the first number again.
  static void expect_same_in_any_number(Network& net, const Value& output) {
    for (const bool training : {false, true}) {
      set_omp_threads(1);
      Executor alone = net.bind(graph_of({output}));
      const Values expected = result(alone, training);
      for (const int made : {2, 7}) {
        set_omp_threads(made);
        Executor executor = net.bind(graph_of({output}));
        for (const int runs : {made, 5, 1, 16, made}) {
          SCOPED_TRACE(testing::Message() << "made for " << made << ", runs in " << runs
                                          << (training ? ", training" : ""));
          set_omp_threads(runs);
          expect_near(result(executor, training), expected);
        }
      }
    }
  }

 private:
  const int threads_ = omp_threads();
};

Value dense(Network& net, const std::string& name, const Value& x, int64_t depth, int64_t units) {
  return named(name, apply("FullyConnected",
                           {x, net.input(name + "_weight", {units, depth}),
                            net.input(name + "_bias", {units})},
                           {{"num_hidden", std::to_string(units)}}));
}

TEST_F(PlanWidths, DenseLayers) {
  const Setting plain("MXNET_FC_STRASSEN", "0");
  constexpr int64_t kRows[] = {1, 33, 96, 128, 300};
  for (const int64_t rows : kRows) {
    Network net({rows, 512});
    const Value a = relu(dense(net, "a", net.data(), 512, 512));
    SCOPED_TRACE(rows);
    expect_same_in_any_number(net, dense(net, "b", a, 512, 200));
  }
}

TEST_F(PlanWidths, LayersInFewerMultiplications) {
  const Setting everywhere("MXNET_FC_STRASSEN", "2");
  Network net({512, 512});
  expect_same_in_any_number(net, relu(dense(net, "a", net.data(), 512, 512)));
}

TEST_F(PlanWidths, Convolutions) {
  for (const int64_t images : {1, 5}) {
    Network net({images, 3, 20, 20});
    Value x = relu(net.batch_norm("n", net.conv("a", net.data(), 3, 32), 32));
    x = sum(net.conv("b", x, 32, 32), x);
    x = relu(net.conv("c", x, 32, 64, 1, true));
    SCOPED_TRACE(images);
    expect_same_in_any_number(net, net.conv("d", x, 64, 64, 3, false, 64));
  }
}

Shape over(int spatial, int64_t first, int64_t second, int64_t size) {
  Shape shape{first, second};
  for (int i = 0; i < spatial; ++i) shape.push_back(size);
  return shape;
}

// Windows of three places in each of so many dimensions.
Value conv_over(int spatial, Network& net, const std::string& name, const Value& x, int64_t from,
                int64_t to) {
  const auto each = [spatial](const char* number) {
    std::string text = "(";
    for (int i = 0; i < spatial; ++i) text += number;
    return text + ")";
  };
  return named(name,
               apply("Convolution", {x, net.input(name + "_weight", over(spatial, to, from, 3))},
                     {{"kernel", each("3,")},
                      {"pad", each("1,")},
                      {"num_filter", std::to_string(to)},
                      {"no_bias", "True"}}));
}

double seconds_of(clockid_t clock) {
  timespec now = {};
  EXPECT_EQ(::clock_gettime(clock, &now), 0);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// What is small runs on one thread in any process. What has been laid out for more is read fast
// there: oneDNN's reference kernel takes hundreds of times as long.
TEST_F(PlanWidths, SmallConvolutionsOnOneThreadTakeNoLongerThanInAProcessOfOne) {
  // By the clock other processes count, and by the processor's time threads that spin while they
  // wait: what is slow takes long by both, each time.
  const auto seconds = [](Executor& executor, int runs, double enough) {
    double least = 1e9;
    for (int i = 0; i < runs && least >= enough; ++i) {
      const double wall = seconds_of(CLOCK_MONOTONIC), own = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
      result(executor, false);
      least = std::min(
          {least, seconds_of(CLOCK_MONOTONIC) - wall, seconds_of(CLOCK_PROCESS_CPUTIME_ID) - own});
    }
    return least;
  };
  constexpr struct {
    int spatial;
    int64_t from, to, size;
  } kLayers[] = {{2, 17, 48, 7},  {2, 24, 48, 4}, {2, 64, 32, 5}, {1, 17, 48, 49},
                 {1, 24, 48, 96}, {3, 17, 48, 4}, {3, 24, 48, 3}, {3, 20, 24, 5}};
  for (const auto& [spatial, from, to, size] : kLayers) {
    Network net(over(spatial, 1, from, size));
    const Value a = relu(conv_over(spatial, net, "a", net.data(), from, to));
    const Value output = conv_over(spatial, net, "b", a, to, to);
    set_omp_threads(1);
    Executor alone = net.bind(graph_of({output}));
    const double enough = 30 * seconds(alone, 10, 0);
    for (const int threads : {2, 3, 7, 16}) {
      set_omp_threads(threads);
      Executor executor = net.bind(graph_of({output}));
      EXPECT_LT(seconds(executor, 300, enough), enough)
          << spatial << ": " << from << " to " << to << ", " << threads << " threads";
    }
  }
}

TEST_F(PlanWidths, ConvolutionsInOneAndThreeDimensions) {
  for (const int spatial : {1, 3}) {
    Network net(over(spatial, 1, 17, 7));
    SCOPED_TRACE(spatial);
    expect_same_in_any_number(net, relu(conv_over(spatial, net, "a", net.data(), 17, 48)));
  }
}

TEST_F(PlanWidths, AProgramsOwnNumberRemainsItsOwn) {
  Network net({96, 512});
  const Value output = dense(net, "a", net.data(), 512, 512);
  set_omp_threads(2);
  Executor alone = net.bind(graph_of({output}));
  const Values expected = result(alone, false);
  for (const int own : {1, 3, 7}) {
    omp_set_num_threads(own);
    Executor executor = net.bind(graph_of({output}));
    EXPECT_EQ(result(executor, false), expected) << own;
    EXPECT_EQ(omp_get_max_threads(), own);
  }
}

}  // namespace
}  // namespace mxnet
