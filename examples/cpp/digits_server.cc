// SPDX-License-Identifier: Apache-2.0
// Serves a network over standard input and output: a line of numbers in (one example), a line of
// JSON out. What scripts put behind a socket or a pipe; bad lines are answered with an error.
//
//   digits_server MODEL EPOCH SHAPE      e.g. digits_server digits 3 1x1x8x8
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "mxnet/mxnet.hpp"

namespace {

mxnet::Shape shape_of(const std::string& text) {
  mxnet::Shape shape;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

std::vector<float> numbers_of(const std::string& line) {
  std::string text = line;
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream stream(text);
  std::vector<float> numbers;
  for (float number; stream >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: digits_server MODEL EPOCH SHAPE\n");
    return 2;
  }
  try {
    const mxnet::Model model = mxnet::Model::load(argv[1], std::stoi(argv[2]));
    const mxnet::Shape shape = shape_of(argv[3]);
    std::vector<float> example(1);
    for (int64_t dim : shape) example.resize(example.size() * static_cast<size_t>(dim));
    // The one buffer that every call reads.
    const mxnet::Inputs inputs{{model.inputs()[0], mxnet::Array::borrow(example.data(), shape)}};
    for (std::string line; std::getline(std::cin, line);) {
      const std::vector<float> numbers = numbers_of(line);
      if (numbers.size() != example.size()) {
        std::cout << "{\"error\": \"given " << numbers.size() << " numbers, expected "
                  << example.size() << "\"}" << std::endl;
        continue;
      }
      std::copy(numbers.begin(), numbers.end(), example.begin());
      const std::vector<float> scores = model(inputs)[0].to_vector<float>();
      const auto best = std::max_element(scores.begin(), scores.end());
      std::cout << "{\"digit\": " << best - scores.begin() << ", \"score\": " << *best << "}"
                << std::endl;
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
