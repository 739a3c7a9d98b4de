// SPDX-License-Identifier: Apache-2.0
// Classifies image files with a saved network, or measures it: what a C++ service does with
// mxnet.hpp.
//
//   classify MODEL [--epoch N] [--labels FILE] [--size HxW] [--top K] [--json] IMAGE...
//   classify MODEL [--epoch N] --shape 1x3x224x224 --benchmark CALLS [--threads T]
//
// MODEL is the prefix of MODEL-symbol.json and MODEL-0000.params. Images are JPEG or PNG.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "mxnet/mxnet.hpp"

namespace {

struct Options {
  std::string model, labels;
  int epoch = 0, top = 5, calls = 0, threads = 1;
  mxnet::Shape size, shape;
  bool json = false;
  std::vector<std::string> images;
};

mxnet::Shape shape_of(const std::string& text) {
  mxnet::Shape shape;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('x', at), text.size());
    shape.push_back(std::stoll(text.substr(at, end - at)));
    at = end + 1;
  }
  return shape;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const auto next = [&] {
      if (i + 1 >= argc) throw mxnet::Error(word + " wants a value");
      return std::string(argv[++i]);
    };
    if (word == "--epoch") {
      options.epoch = std::stoi(next());
    } else if (word == "--labels") {
      options.labels = next();
    } else if (word == "--size") {
      options.size = shape_of(next());
    } else if (word == "--shape") {
      options.shape = shape_of(next());
    } else if (word == "--top") {
      options.top = std::stoi(next());
    } else if (word == "--benchmark") {
      options.calls = std::stoi(next());
    } else if (word == "--threads") {
      options.threads = std::max(1, std::stoi(next()));
    } else if (word == "--json") {
      options.json = true;
    } else if (options.model.empty()) {
      options.model = word;
    } else {
      options.images.push_back(word);
    }
  }
  if (options.model.empty()) throw mxnet::Error("usage: classify MODEL IMAGE...");
  return options;
}

std::vector<std::string> lines_of(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// A file as one example for the network: decoded, resized, scaled to 0..1, channels first.
mxnet::Array image_of(const std::string& path, const mxnet::Shape& size) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw mxnet::Error("cannot read '" + path + "'");
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const auto* data = reinterpret_cast<const uint8_t*>(bytes.data());
  mxnet::Array image = mxnet::call(
      "_cvimdecode", {mxnet::Array::copy_of(data, {static_cast<int64_t>(bytes.size())})})[0];
  if (size.size() == 2) {
    const std::string text = "(" + std::to_string(size[1]) + ", " + std::to_string(size[0]) + ")";
    image = mxnet::call("_image_resize", {image}, {{"size", text}})[0];
  }
  image = mxnet::call("_image_to_tensor", {image})[0];
  return mxnet::call("expand_dims", {image}, {{"axis", "0"}})[0];
}

std::vector<float> probabilities(std::vector<float> scores) {
  const float sum = std::accumulate(scores.begin(), scores.end(), 0.0f);
  const bool already =
      std::abs(sum - 1) < 1e-3f && *std::min_element(scores.begin(), scores.end()) >= 0;
  if (already) return scores;
  const float largest = *std::max_element(scores.begin(), scores.end());
  float total = 0;
  for (float& score : scores) total += score = std::exp(score - largest);
  for (float& score : scores) score /= total;
  return scores;
}

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) result += c;
  }
  return result + "\"";
}

void classify(const mxnet::Model& model, const Options& options) {
  const std::vector<std::string> labels = lines_of(options.labels);
  for (const std::string& path : options.images) {
    const auto out = model({{model.inputs()[0], image_of(path, options.size)}});
    const std::vector<float> scores = probabilities(out[0].to_vector<float>());
    std::vector<size_t> order(scores.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t top = std::min(order.size(), static_cast<size_t>(std::max(1, options.top)));
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(top), order.end(),
                      [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    if (options.json) std::printf("{\"image\": %s, \"classes\": [", quoted(path).c_str());
    if (!options.json) std::printf("%s\n", path.c_str());
    for (size_t i = 0; i < top; ++i) {
      const size_t c = order[i];
      const std::string name = c < labels.size() ? labels[c] : "class " + std::to_string(c);
      if (options.json) {
        std::printf("%s{\"name\": %s, \"probability\": %.6f}", i == 0 ? "" : ", ",
                    quoted(name).c_str(), static_cast<double>(scores[c]));
      } else {
        std::printf("  %6.2f %%  %s\n", 100 * static_cast<double>(scores[c]), name.c_str());
      }
    }
    if (options.json) std::printf("]}\n");
  }
}

// Threads share the model, and write into arrays of their own memory.
void benchmark(const mxnet::Model& model, const Options& options) {
  using Clock = std::chrono::steady_clock;
  if (options.shape.empty()) throw mxnet::Error("--benchmark wants --shape, as 1x3x224x224");
  std::vector<std::vector<double>> latencies(static_cast<size_t>(options.threads));
  std::vector<std::string> errors(latencies.size());
  const auto work = [&](size_t thread) {
    try {
      mxnet::Array input = mxnet::Array::empty(options.shape);
      const std::vector<float> pixels(static_cast<size_t>(input.size()), 0.5f);
      input = mxnet::Array::borrow(pixels.data(), options.shape);
      const mxnet::Inputs inputs{{model.inputs()[0], input}};
      const std::vector<mxnet::Array> outputs = model(inputs);  // compiles, and is not counted
      for (int i = 0; i < options.calls; ++i) {
        const auto start = Clock::now();
        model.run(inputs, outputs);
        latencies[thread].push_back(std::chrono::duration<double>(Clock::now() - start).count());
      }
    } catch (const mxnet::Error& error) {
      errors[thread] = error.what();
    }
  };
  const auto start = Clock::now();
  std::vector<std::thread> threads;
  for (size_t t = 0; t < latencies.size(); ++t) threads.emplace_back(work, t);
  for (std::thread& thread : threads) thread.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  std::vector<double> all;
  for (const std::string& error : errors)
    if (!error.empty()) throw mxnet::Error(error);
  for (const auto& some : latencies) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  const auto percentile = [&](double p) {
    return 1e3 * all[static_cast<size_t>(p * static_cast<double>(all.size() - 1))];
  };
  const double examples = static_cast<double>(all.size()) * static_cast<double>(options.shape[0]);
  std::printf("%zu calls on %d threads: %.1f examples/s; latency p50 %.3f p90 %.3f p99 %.3f ms\n",
              all.size(), options.threads, examples / seconds, percentile(0.5), percentile(0.9),
              percentile(0.99));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const Options options = options_of(argc, argv);
    const mxnet::Model model = mxnet::Model::load(options.model, options.epoch);
    if (options.calls > 0) {
      benchmark(model, options);
    } else {
      classify(model, options);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
