// SPDX-License-Identifier: Apache-2.0
// What MXNET_GRAPH_DUMP shows, as somebody who looks into the folder finds it.
#pragma once
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "setting.h"

namespace mxnet::graph_test {

// A folder of dumps for a while.
class Dumps {
 public:
  Dumps() : folder_(std::filesystem::path(testing::TempDir()) / fmt::format("dump{}", ::getpid())) {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
  }
  ~Dumps() { std::filesystem::remove_all(folder_); }
  Dumps(const Dumps&) = delete;
  Dumps& operator=(const Dumps&) = delete;

  // Texts by pass and moment ("gradient_after"): of the last graph, where there are several.
  std::map<std::string, std::string> shown() const {
    std::map<std::filesystem::path, std::string> by_file;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      std::ifstream file(entry.path());
      by_file[entry.path()].assign(std::istreambuf_iterator<char>(file), {});
    }
    std::map<std::string, std::string> texts;
    for (const auto& [path, text] : by_file) {
      const std::string name = path.stem();  // graph3_0_gradient_after
      texts[name.substr(name.find('_', name.find('_') + 1) + 1)] = text;
    }
    return texts;
  }

 private:
  const std::filesystem::path folder_;
  const Setting setting_{"MXNET_GRAPH_DUMP", folder_.c_str()};
};

}  // namespace mxnet::graph_test
