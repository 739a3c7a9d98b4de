// SPDX-License-Identifier: Apache-2.0
// Networks across the border of extension libraries (mxnet/ext/abi.h), both ways.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/thread_end.h"
#include "graph/symbol.h"
#include "ir/saved_graph.h"
#include "mxnet/ext/abi.h"
#include "ndarray/ndarray.h"
#include "op/infer.h"

namespace mxnet::c_api {

// What a caller knows of a network besides its nodes. `types`: one per entry, or empty.
struct GraphFacts {
  std::map<std::string, NDArray> parameters;  // dense, on the CPU, ready to be read
  std::vector<ArrayType> types;
};

// A network as extensions read it. Node n is node n of ir::topological_order.
class ExtGraphView {
 public:
  explicit ExtGraphView(const ir::Graph& graph, const GraphFacts& facts = {});
  const MXExtGraph& get() const { return graph_; }

 private:
  explicit ExtGraphView(const ir::SavedGraph& graph);
  void add_types(const ir::Graph& graph, const std::vector<ArrayType>& types);

  struct Node {
    std::vector<MXExtEntry> inputs;
    std::vector<const char*> keys, values;
    std::vector<std::unique_ptr<ExtGraphView>> parts;
    std::vector<const MXExtGraph*> subgraphs;
    std::vector<MXExtShape> shapes;
    std::vector<int32_t> dtypes;
    NDArray parameter;
    MXExtTensor tensor{};
  };
  const ir::SavedGraph saved_;  // owns the texts
  std::vector<Node> data_;
  std::vector<MXExtNode> nodes_;
  std::vector<MXExtEntry> outputs_;
  MXExtGraph graph_{};
};

// Throws Error(kValue) for what is no network; `who` complains.
Symbol symbol_of_ext(const MXExtGraph& graph, const std::string& who);

MXExtShape ext_shape(const Shape& shape);
Shape shape_of_ext(const MXExtShape& shape);  // throws Error(kValue) for too many dimensions
MXExtTensor ext_tensor(void* data, const Shape& shape, DType dtype, Device device);

// Runs a function of an extension that gives 0 or a message. Throws Error(kGeneric) with that, and
// where it ends its thread, which goes on: below may be the engine, or a thread of its own.
template <class Call>
void call_extension(const std::string& who, Call&& call) {
  MXExtMessage message{};
  int failed = 0;
  if (!outlived([&] { failed = call(&message); }))
    throw Error(ErrorCode::kGeneric, who, "a function of the extension has ended its thread");
  if (failed == 0) return;
  message.text[sizeof(message.text) - 1] = '\0';
  throw Error(ErrorCode::kGeneric, who, message.text);
}
// The reverse: what an extension has called. Turns what is thrown into -1 and a message.
int answer_extension(MXExtMessage* message, const std::function<void()>& body) noexcept;

}  // namespace mxnet::c_api
