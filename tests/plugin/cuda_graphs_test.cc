// SPDX-License-Identifier: Apache-2.0
// CUDA graphs behind GraphCapture, on the faked runtime: which calls are made, and that no handle
// is left.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>
#include <vector>

#include "base/error.h"
#include "device/graph_capture.h"
#include "device/stream.h"
#include "fake_cudart.h"
#include "plugin/cuda/cuda_device_api.h"
#include "plugin/cuda/handles.h"

namespace mxnet::testing {
namespace {

class CudaGraphs : public ::testing::Test {
 protected:
  CudaGraphs() { fake_cuda::graph_counts() = {}; }

  DeviceGraph captured(std::size_t nodes) {
    fake_cuda::set_captured_nodes(nodes);
    capture_.begin_capture(0, stream_.native());
    return {capture_, 0, capture_.end_capture(0, stream_.native())};
  }

  DeviceApi& api_ = []() -> DeviceApi& {
    fake_cuda::reset();
    static DeviceApi* api = cuda::CudaDeviceApi::create().release();
    return *api;
  }();
  GraphCapture& capture_ = *graph_capture(api_);
  Stream stream_{api_, 0};
};

TEST_F(CudaGraphs, AreMadeReadyOnceAndLaunchedOften) {
  {
    DeviceGraph graph = captured(3);
    EXPECT_EQ(graph.nodes(), 3u);
    EXPECT_EQ(fake_cuda::graph_counts().instantiations, 0);
    for (int i = 0; i < 4; ++i) graph.launch(stream_.native());
    EXPECT_EQ(fake_cuda::graph_counts().instantiations, 1);
    EXPECT_EQ(fake_cuda::graph_counts().launches, 4);
  }
  EXPECT_EQ(fake_cuda::graph_counts().graphs, 0);
  EXPECT_EQ(fake_cuda::graph_counts().execs, 0);
}

TEST_F(CudaGraphs, UpdatesKeepWhatIsReadyUnlessTheShapeDiffers) {
  DeviceGraph graph = captured(3);
  graph.launch(stream_.native());
  EXPECT_TRUE(graph.update(captured(3)));
  graph.launch(stream_.native());
  EXPECT_EQ(fake_cuda::graph_counts().instantiations, 1);
  EXPECT_FALSE(graph.update(captured(4)));
  EXPECT_EQ(graph.nodes(), 3u);
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess) << "an answer is no error";
  EXPECT_EQ(fake_cuda::graph_counts().graphs, 1);
}

TEST_F(CudaGraphs, UpdatesGoBackAndForthBetweenTwoCaptures) {
  {
    DeviceGraph graph = captured(3), other = captured(3);
    graph.launch(stream_.native());
    for (const int expected : {2, 1, 2, 1}) {
      EXPECT_TRUE(graph.update(other));
      graph.launch(stream_.native());
      EXPECT_EQ(fake_cuda::graph_counts().launched, expected);
    }
    EXPECT_EQ(fake_cuda::graph_counts().captures, 2);
    EXPECT_EQ(fake_cuda::graph_counts().instantiations, 1);
    EXPECT_EQ(fake_cuda::graph_counts().updates, 4);
  }
  EXPECT_EQ(fake_cuda::graph_counts().graphs, 0);
  EXPECT_EQ(fake_cuda::graph_counts().execs, 0);
}

TEST_F(CudaGraphs, KeepWhatTheirCallsUse) {
  const auto other = std::make_shared<int>(0);
  const auto first = std::make_shared<int>(1), second = std::make_shared<int>(2);
  cuda::CudaStream::use(first);  // nothing is being recorded
  EXPECT_EQ(first.use_count(), 1);
  const auto capture = [&](const std::shared_ptr<int>& plan) {
    fake_cuda::set_captured_nodes(3);
    capture_.begin_capture(0, stream_.native());
    EXPECT_TRUE(cuda::CudaStream::records());
    cuda::CudaStream::use(plan);  // on whichever stream: a second one joins the recording
    cuda::CudaStream::use(plan);
    std::thread([&] { cuda::CudaStream::use(other); }).join();  // it records nothing
    return DeviceGraph(capture_, 0, capture_.end_capture(0, stream_.native()));
  };
  {
    DeviceGraph graph = capture(first);
    EXPECT_EQ(first.use_count(), 2) << "once, however often it is used";
    {
      DeviceGraph earlier = capture(second);
      for (int i = 0; i < 3; ++i) {
        EXPECT_TRUE(graph.update(earlier));
        EXPECT_EQ(first.use_count(), 2) << "an earlier launch may be under way";
        EXPECT_EQ(second.use_count(), 2);
      }
    }
    EXPECT_EQ(first.use_count(), 1) << "its work went with the recording that had it last";
    EXPECT_EQ(second.use_count(), 2);
  }
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(second.use_count(), 1);
  EXPECT_EQ(other.use_count(), 1);
  EXPECT_FALSE(cuda::CudaStream::records());
}

using fake_cuda::FakeNode;

std::vector<unsigned char> bytes_of(uint64_t value, std::size_t bytes = sizeof(uint64_t)) {
  std::vector<unsigned char> all(bytes);
  std::memcpy(all.data(), &value, std::min(bytes, sizeof(value)));
  return all;
}

// A kernel with two addresses, of which the second lies in a structure, and 4 bytes; one without
// any; a copy; a fill.
std::vector<FakeNode> calls(uint64_t from, uint64_t to) {
  std::vector<unsigned char> structure = bytes_of(77, 20);
  std::memcpy(structure.data() + 8, &to, sizeof(to));
  return {{cudaGraphNodeTypeKernel, 5, {bytes_of(from), structure, bytes_of(3, 4)}, 0},
          {cudaGraphNodeTypeKernel, 6, {bytes_of(9, 4)}, 0},
          {cudaGraphNodeTypeMemcpy, 0, {bytes_of(to), bytes_of(from)}, 100},
          {cudaGraphNodeTypeMemset, 0, {bytes_of(to)}, 50}};
}

TEST_F(CudaGraphs, ArgumentsOfKernelsCopiesAndFillsAreSeen) {
  fake_cuda::set_captured_nodes(calls(0x10000, 0x20000));
  capture_.begin_capture(0, stream_.native());
  const DeviceGraph graph(capture_, 0, capture_.end_capture(0, stream_.native()));
  GraphArguments arguments;
  ASSERT_TRUE(graph.arguments(&arguments));
  EXPECT_EQ(arguments.words,
            (std::vector<uint64_t>{0x10000, 77, 0x20000, 0, 3, 9, 0x20000, 0x10000, 0x20000}));
}

TEST_F(CudaGraphs, ArgumentsThatAreGivenAreThoseOfTheNextUpdate) {
  const auto capture = [&](uint64_t from, uint64_t to) {
    fake_cuda::set_captured_nodes(calls(from, to));
    capture_.begin_capture(0, stream_.native());
    return DeviceGraph(capture_, 0, capture_.end_capture(0, stream_.native()));
  };
  DeviceGraph graph = capture(0x10000, 0x20000), other = capture(0x30000, 0x40000);
  graph.launch(stream_.native());
  GraphArguments wanted;
  ASSERT_TRUE(capture(0x50000, 0x60000).arguments(&wanted));
  ASSERT_TRUE(other.give(wanted));
  EXPECT_EQ(fake_cuda::graph_counts().kernels_set, 1) << "the second kernel has no such word";
  ASSERT_TRUE(graph.update(other));
  graph.launch(stream_.native());
  const std::vector<FakeNode>& done = fake_cuda::launched_nodes();
  const std::vector<FakeNode> expected = calls(0x50000, 0x60000);
  ASSERT_EQ(done.size(), expected.size());
  for (std::size_t i = 0; i < done.size(); ++i)
    EXPECT_EQ(done[i].parameters, expected[i].parameters) << "node " << i;
  EXPECT_EQ(fake_cuda::graph_counts().instantiations, 1);
}

TEST_F(CudaGraphs, ArgumentsOfOtherCallsAreRefused) {
  const auto capture = [&](std::vector<FakeNode> nodes) {
    fake_cuda::set_captured_nodes(std::move(nodes));
    capture_.begin_capture(0, stream_.native());
    return DeviceGraph(capture_, 0, capture_.end_capture(0, stream_.native()));
  };
  DeviceGraph graph = capture(calls(0x10000, 0x20000));
  std::vector<FakeNode> kernel = calls(0x30000, 0x40000), length = kernel, order = kernel;
  kernel[0].kernel = 8;
  length[2].bytes = 101;
  std::swap(order[2], order[3]);
  for (const std::vector<FakeNode>& others : {kernel, length, order}) {
    GraphArguments arguments;
    ASSERT_TRUE(capture(others).arguments(&arguments));
    EXPECT_FALSE(graph.give(arguments));
  }
}

TEST_F(CudaGraphs, WhatReadsTheHostOrIsUnknownCannotBeSeen) {
  const auto seen = [&](std::vector<FakeNode> nodes) {
    fake_cuda::set_captured_nodes(std::move(nodes));
    capture_.begin_capture(0, stream_.native());
    GraphArguments arguments;
    return DeviceGraph(capture_, 0, capture_.end_capture(0, stream_.native()))
        .arguments(&arguments);
  };
  EXPECT_TRUE(seen(calls(0x10000, 0x20000)));
  EXPECT_FALSE(seen(calls(100, 0x20000))) << "a copy from the host";
  std::vector<FakeNode> nodes = calls(0x10000, 0x20000);
  nodes[1].type = cudaGraphNodeTypeHost;
  EXPECT_FALSE(seen(nodes));
  fake_cuda::fail("cuKernelGetParamInfo", cudaErrorNotSupported);
  EXPECT_FALSE(seen(calls(0x10000, 0x20000))) << "not the end of a kernel's parameters";
  fake_cuda::reset();
}

TEST_F(CudaGraphs, ANodeThatTheDriverDoesNotTakeIsAnAnswer) {
  fake_cuda::set_captured_nodes(calls(0x10000, 0x20000));
  capture_.begin_capture(0, stream_.native());
  DeviceGraph graph(capture_, 0, capture_.end_capture(0, stream_.native()));
  GraphArguments arguments;
  ASSERT_TRUE(graph.arguments(&arguments));
  arguments.words[0] += 256;
  fake_cuda::fail("cuGraphKernelNodeSetParams", cudaErrorInvalidValue);
  EXPECT_FALSE(graph.give(arguments));
  arguments.words[6] += 256;
  fake_cuda::fail("cudaGraphMemcpyNodeSetParams", cudaErrorInvalidValue);
  EXPECT_FALSE(graph.give(arguments));
  EXPECT_EQ(fake_cuda::last_error(), cudaSuccess);
  fake_cuda::reset();
}

TEST_F(CudaGraphs, CapturesDoNotNestAndErrorsNameTheCall) {
  capture_.begin_capture(0, stream_.native());
  try {
    capture_.begin_capture(0, stream_.native());
    ADD_FAILURE() << "captures twice";
  } catch (const Error& error) {
    EXPECT_NE(error.message().find("cudaStreamBeginCapture"), std::string::npos);
  }
  const DeviceGraph graph(capture_, 0, capture_.end_capture(0, stream_.native()));
  EXPECT_THROW(capture_.end_capture(0, stream_.native()), Error);
  EXPECT_THROW(capture_.begin_capture(1, stream_.native()), Error) << "another device's stream";
}

TEST_F(CudaGraphs, HaveNoHostFunctions) {
  capture_.begin_capture(0, stream_.native());
  EXPECT_THROW(api_.host_call(0, stream_.native(), [] {}), Error);
  DeviceGraph(capture_, 0, capture_.end_capture(0, stream_.native()));
  EXPECT_NO_THROW(api_.host_call(0, stream_.native(), [] {}));
  stream_.synchronize();
}

TEST_F(CudaGraphs, ErrorsNameTheirDeviceWhicheverIsCurrent) {
  Stream on_second(api_, 1);
  fake_cuda::set_captured_nodes(0);
  capture_.begin_capture(1, on_second.native());
  const DeviceGraph graph(capture_, 1, capture_.end_capture(1, on_second.native()));
  try {
    graph.nodes();
    ADD_FAILURE() << "counts what cannot be counted";
  } catch (const Error& error) {
    EXPECT_EQ(error.message().find("gpu(1): cudaGraphGetNodes"), 0u) << error.message();
  }
}

TEST_F(CudaGraphs, FlagsReachThePrinter) {
  const std::string path = ::testing::TempDir() + "/graph_" + std::to_string(::getpid()) + ".dot";
  captured(2).print(path, 5);
  std::ifstream file(path);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "2 nodes, flags 5");
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace mxnet::testing
