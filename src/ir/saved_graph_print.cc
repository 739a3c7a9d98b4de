// SPDX-License-Identifier: Apache-2.0
// SavedGraph to JSON in the layout of existing files, so that a model that is loaded and saved
// again does not differ by a byte.
#include <algorithm>

#include "ir/saved_graph.h"

namespace mxnet::ir {
namespace {

// Longer lists of plain numbers go on several lines.
constexpr std::size_t kMostOnALine = 10;

class Printer {
 public:
  std::string take() && { return std::move(text_); }

  // Brackets around items that are on lines of their own, or all on one.
  template <class Items, class Print>
  void list(char open, char close, const Items& items, bool lines, const Print& print) {
    text_.push_back(open);
    const bool was = std::exchange(lines_, lines);
    if (lines) ++depth_;
    first_ = true;
    for (const auto& item : items) {
      separate();
      print(item);
    }
    lines_ = was;
    if (lines) {
      --depth_;
      if (!items.empty()) new_line();
    }
    text_.push_back(close);
    first_ = false;
  }
  void begin_object() {
    text_.push_back('{');
    ++depth_;
    lines_ = first_ = true;
  }
  void end_object() {
    --depth_;
    new_line();
    text_.push_back('}');
    first_ = false;
  }
  void key(std::string_view key) {
    separate();
    string(key);
    text_ += ": ";
  }
  void string(std::string_view value) {
    text_.push_back('"');
    for (const char c : value) {
      // Others are written as they are, even control characters: existing readers know no \u.
      switch (c) {
        case '\r':
          text_ += "\\r";
          break;
        case '\n':
          text_ += "\\n";
          break;
        case '\t':
          text_ += "\\t";
          break;
        case '\\':
          text_ += "\\\\";
          break;
        case '"':
          text_ += "\\\"";
          break;
        default:
          text_.push_back(c);
      }
    }
    text_.push_back('"');
  }
  void number(int32_t value) { text_ += std::to_string(value); }
  void member(std::string_view name, std::string_view value) {
    key(name);
    string(value);
  }
  void member(std::string_view name, const std::vector<int32_t>& numbers) {
    key(name);
    list('[', ']', numbers, numbers.size() > kMostOnALine, [&](int32_t n) { number(n); });
  }
  void member(std::string_view name, const std::vector<SavedEntry>& entries) {
    key(name);
    list('[', ']', entries, entries.size() > kMostOnALine, [&](const SavedEntry& entry) {
      const int32_t fields[] = {entry.node, entry.index, entry.version};
      list('[', ']', std::vector<int32_t>(fields, fields + 3), false,
           [&](int32_t n) { number(n); });
    });
  }

  void attrs(std::vector<std::pair<std::string, std::string>> attrs) {
    if (attrs.empty()) return;
    std::sort(attrs.begin(), attrs.end());
    key("attrs");
    list('{', '}', attrs, attrs.size() > 1, [&](const auto& attr) {
      string(attr.first);
      text_ += ": ";
      string(attr.second);
    });
  }

  void node(const SavedNode& node) {
    begin_object();
    member("op", node.op);
    member("name", node.name);
    attrs(node.attrs);
    member("inputs", node.inputs);
    if (!node.control_deps.empty()) member("control_deps", node.control_deps);
    if (!node.subgraphs.empty()) {
      key("subgraphs");
      list('[', ']', node.subgraphs, true, [&](const SavedGraph& inner) { graph(inner); });
    }
    end_object();
  }

  void graph(const SavedGraph& graph) {
    begin_object();
    key("nodes");
    list('[', ']', graph.nodes, true, [&](const SavedNode& n) { node(n); });
    member("arg_nodes", graph.arg_nodes);
    member("node_row_ptr", graph.node_row_ptr);
    member("heads", graph.heads);
    if (graph.version) {
      key("attrs");
      std::vector<std::pair<std::string_view, int32_t>> facts;
      if (graph.numpy_shape != 0) facts.emplace_back("is_np_shape", graph.numpy_shape);
      facts.emplace_back("mxnet_version", *graph.version);
      list('{', '}', facts, facts.size() > 1, [&](const auto& fact) {
        string(fact.first);
        text_ += ": [\"int\", " + std::to_string(fact.second) + "]";
      });
    }
    end_object();
  }

 private:
  void separate() {
    if (!first_) text_ += ", ";
    first_ = false;
    if (lines_) new_line();
  }
  void new_line() { text_.append(1, '\n').append(static_cast<std::size_t>(depth_) * 2, ' '); }

  std::string text_;
  int depth_ = 0;
  bool lines_ = false;  // the innermost bracket's items are on lines of their own
  bool first_ = true;   // it has no items yet
};

}  // namespace

std::string print_saved_graph(const SavedGraph& graph) {
  Printer printer;
  printer.graph(graph);
  return std::move(printer).take();
}

}  // namespace mxnet::ir
