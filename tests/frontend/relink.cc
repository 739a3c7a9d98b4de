// SPDX-License-Identifier: Apache-2.0
// A C++ program over the C ABI as users have it, with classes of its own around the handles: linked
// once against the release's library, it runs with ours in that place. It trains a convolutional
// network by a store with an updater, saves it, and predicts with what was saved.
//   relink FOLDER       the folder takes the files that it writes
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "mxnet/c_api.h"
#include "mxnet/c_predict_api.h"

namespace {

using Texts = std::map<std::string, std::string>;
using Shape = std::vector<uint32_t>;
constexpr int kCpu = 1;
constexpr uint32_t kBatch = 4, kSide = 8, kClasses = 3, kBatches = 3;

void check(int result) {
  if (result != 0) throw std::runtime_error(MXGetLastError());
}

std::pair<std::vector<const char*>, std::vector<const char*>> pointers(const Texts& texts) {
  std::pair<std::vector<const char*>, std::vector<const char*>> result;
  for (const auto& [key, value] : texts) {
    result.first.push_back(key.c_str());
    result.second.push_back(value.c_str());
  }
  return result;
}

// Arrays are freed by the last who holds them.
class Array {
 public:
  explicit Array(NDArrayHandle handle) : handle_(handle, [](void* h) { MXNDArrayFree(h); }) {}
  NDArrayHandle get() const { return handle_.get(); }

  std::vector<int> shape() const {
    int dims = 0;
    const int* sizes = nullptr;
    check(MXNDArrayGetShapeEx(get(), &dims, &sizes));
    return {sizes, sizes + dims};
  }
  std::vector<float> values() const {
    std::size_t count = 1;
    for (const int size : shape()) count *= static_cast<std::size_t>(size);
    std::vector<float> result(count);
    check(MXNDArraySyncCopyToCPU(get(), result.data(), count));
    return result;
  }
  void fill(const std::function<float(std::size_t)>& value) const {
    std::vector<float> numbers = values();
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = value(i);
    check(MXNDArraySyncCopyFromCPU(get(), numbers.data(), numbers.size()));
  }

 private:
  std::shared_ptr<void> handle_;
};

void invoke(const char* name, std::vector<NDArrayHandle> inputs, NDArrayHandle output,
            const Texts& params) {
  OpHandle op = nullptr;
  check(NNGetOpHandle(name, &op));
  const auto [keys, values] = pointers(params);
  int count = 1;
  NDArrayHandle* outputs = &output;
  check(MXImperativeInvoke(op, static_cast<int>(inputs.size()), inputs.data(), &count, &outputs,
                           static_cast<int>(keys.size()), const_cast<const char**>(keys.data()),
                           const_cast<const char**>(values.data())));
}

class Symbol {
 public:
  explicit Symbol(SymbolHandle handle) : handle_(handle, [](void* h) { MXSymbolFree(h); }) {}
  static Symbol variable(const char* name) {
    SymbolHandle handle = nullptr;
    check(MXSymbolCreateVariable(name, &handle));
    return Symbol(handle);
  }
  // An operator on this one, by the name that its first input has.
  Symbol then(const char* op_name, const char* name, const Texts& params = {}) const {
    OpHandle op = nullptr;
    check(NNGetOpHandle(op_name, &op));
    const auto [keys, values] = pointers(params);
    SymbolHandle made = nullptr;
    check(MXSymbolCreateAtomicSymbol(op, static_cast<uint32_t>(keys.size()),
                                     const_cast<const char**>(keys.data()),
                                     const_cast<const char**>(values.data()), &made));
    Symbol result(made);
    const char* input = "data";
    SymbolHandle from = get();
    check(MXSymbolCompose(made, name, 1, &input, &from));
    return result;
  }
  SymbolHandle get() const { return handle_.get(); }
  std::string json() const {
    const char* text = nullptr;
    check(MXSymbolSaveToJSON(get(), &text));
    return text;
  }

 private:
  std::shared_ptr<void> handle_;
};

Symbol network() {
  return Symbol::variable("data")
      .then("Convolution", "conv", {{"kernel", "(3, 3)"}, {"num_filter", "4"}, {"no_bias", "True"}})
      .then("BatchNorm", "norm", {{"fix_gamma", "False"}})
      .then("Activation", "relu", {{"act_type", "relu"}})
      .then("Pooling", "pool", {{"kernel", "(2, 2)"}, {"stride", "(2, 2)"}, {"pool_type", "max"}})
      .then("Flatten", "flat")
      .then("FullyConnected", "dense", {{"num_hidden", std::to_string(kClasses)}})
      .then("SoftmaxOutput", "softmax");
}

void print(const std::string& title, const std::vector<float>& numbers) {
  std::printf("%s:", title.c_str());
  for (const float number : numbers) std::printf(" %.4f", static_cast<double>(number));
  std::printf("\n");
}

// A batch of images that are brighter where their class says.
struct Batch {
  std::vector<float> images, labels;

  explicit Batch(uint32_t number) : images(kBatch * kSide * kSide), labels(kBatch) {
    for (uint32_t i = 0; i < kBatch; ++i) {
      const uint32_t example = number * kBatch + i, kind = example % kClasses;
      labels[i] = static_cast<float>(kind);
      for (uint32_t p = 0; p < kSide * kSide; ++p) {
        const auto noise = static_cast<float>((example * 7 + p * 3) % 11) / 10;
        images[i * kSide * kSide + p] = noise + (p / kSide % kClasses == kind ? 1.0F : 0.0F);
      }
    }
  }
};

// What the store calls for each key: momentum by an operator of the library.
class Updater {
 public:
  static void update(int key, NDArrayHandle gradient, NDArrayHandle weight, void* self) {
    const Array received(gradient), stored(weight);
    static_cast<Updater*>(self)->apply(key, received, stored);
  }
  int calls() const { return calls_; }

 private:
  void apply(int key, const Array& gradient, const Array& weight) {
    ++calls_;
    auto found = momentum_.find(key);
    if (found == momentum_.end()) {
      const std::vector<int> dims = weight.shape();
      const Shape shape(dims.begin(), dims.end());
      NDArrayHandle made = nullptr;
      check(MXNDArrayCreateEx(shape.data(), static_cast<uint32_t>(shape.size()), kCpu, 0, 0, 0,
                              &made));
      found = momentum_.emplace(key, Array(made)).first;
      found->second.fill([](std::size_t) { return 0.0F; });
    }
    invoke("sgd_mom_update", {weight.get(), gradient.get(), found->second.get()}, weight.get(),
           {{"lr", "0.05"}, {"momentum", "0.9"}, {"rescale_grad", "0.25"}});
  }

  std::map<int, Array> momentum_;
  int calls_ = 0;
};

struct Executor {
  ExecutorHandle handle = nullptr;
  std::vector<std::string> names, states;
  std::map<std::string, Array> arrays, gradients;

  explicit Executor(const Symbol& net) {
    const char* inputs[] = {"data", "softmax_label"};
    const int dims[] = {kBatch, 1, kSide, kSide, kBatch};
    const uint32_t ends[] = {0, 4, 5};
    uint32_t count = 0, aux_count = 0, listed = 0;
    int shared = -1;
    NDArrayHandle *args = nullptr, *grads = nullptr, *aux = nullptr;
    const char* request = "write";
    check(MXExecutorSimpleBindEx(net.get(), kCpu, 0, 0, nullptr, nullptr, nullptr, 0, nullptr,
                                 &request, 2, inputs, dims, ends, 0, nullptr, nullptr, 0, nullptr,
                                 nullptr, 0, nullptr, &shared, nullptr, nullptr, nullptr, nullptr,
                                 &count, &args, &grads, &aux_count, &aux, nullptr, &handle));
    const char** texts = nullptr;
    check(MXSymbolListArguments(net.get(), &listed, &texts));
    names.assign(texts, texts + listed);
    for (uint32_t i = 0; i < count; ++i) {
      arrays.emplace(names[i], Array(args[i]));
      if (grads[i] != nullptr) gradients.emplace(names[i], Array(grads[i]));
    }
    check(MXSymbolListAuxiliaryStates(net.get(), &listed, &texts));
    states.assign(texts, texts + listed);
    for (uint32_t i = 0; i < aux_count; ++i) arrays.emplace(states[i], Array(aux[i]));
  }
  ~Executor() { MXExecutorFree(handle); }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  std::vector<float> forward(bool training) const {
    check(MXExecutorForward(handle, training ? 1 : 0));
    uint32_t count = 0;
    NDArrayHandle* outputs = nullptr;
    check(MXExecutorOutputs(handle, &count, &outputs));
    std::vector<Array> held(outputs, outputs + count);
    return held[0].values();
  }
};

bool is_weight(const std::string& name) { return name != "data" && name != "softmax_label"; }

void train(const Symbol& net, const Executor& executor, const std::string& folder) {
  for (const auto& [name, array] : executor.arrays) {
    const bool one = name == "norm_gamma" || name == "norm_moving_var";
    const bool zero =
        name.find("bias") != std::string::npos || name == "norm_beta" || name == "norm_moving_mean";
    array.fill([&](std::size_t i) {
      return one ? 1.0F : zero ? 0.0F : 0.1F * static_cast<float>(i * 5 % 9) - 0.4F;
    });
  }
  KVStoreHandle store = nullptr;
  check(MXKVStoreCreate("local", &store));
  Updater updater;
  check(MXKVStoreSetUpdater(store, Updater::update, &updater));
  std::map<int, std::string> keys;
  for (const auto& [name, gradient] : executor.gradients)
    if (is_weight(name)) keys.emplace(static_cast<int>(keys.size()), name);
  for (const auto& [key, name] : keys) {
    NDArrayHandle weight = executor.arrays.at(name).get();
    check(MXKVStoreInit(store, 1, &key, &weight));
  }
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::vector<float> chances;  // that the network gives to what is right
    for (uint32_t number = 0; number < kBatches; ++number) {
      const Batch batch(number);
      executor.arrays.at("data").fill([&](std::size_t i) { return batch.images[i]; });
      executor.arrays.at("softmax_label").fill([&](std::size_t i) { return batch.labels[i]; });
      const std::vector<float> outputs = executor.forward(true);
      for (std::size_t i = 0; i < kBatch; ++i)
        chances.push_back(outputs[i * kClasses + static_cast<std::size_t>(batch.labels[i])]);
      check(MXExecutorBackward(executor.handle, 0, nullptr));
      for (const auto& [key, name] : keys) {
        NDArrayHandle gradient = executor.gradients.at(name).get(),
                      weight = executor.arrays.at(name).get();
        check(MXKVStorePush(store, 1, &key, &gradient, -key));
        check(MXKVStorePull(store, 1, &key, &weight, -key));
      }
    }
    print("epoch " + std::to_string(epoch), chances);
  }
  std::printf("%d updates\n", updater.calls());
  check(MXKVStoreFree(store));

  std::vector<NDArrayHandle> saved;
  std::vector<std::string> titles;
  for (const auto& [name, array] : executor.arrays) {
    if (!is_weight(name)) continue;
    saved.push_back(array.get());
    titles.push_back((executor.gradients.count(name) > 0 ? "arg:" : "aux:") + name);
    print(name, array.values());
  }
  std::vector<const char*> texts;
  for (const std::string& title : titles) texts.push_back(title.c_str());
  check(MXNDArraySave((folder + "/trained.params").c_str(), static_cast<uint32_t>(saved.size()),
                      saved.data(), texts.data()));
  check(MXSymbolSaveToFile(net.get(), (folder + "/trained-symbol.json").c_str()));
}

void predict(const Symbol& net, const std::string& weights) {
  const char* inputs[] = {"data"};
  const uint32_t ends[] = {0, 4}, dims[] = {2, 1, kSide, kSide};
  PredictorHandle predictor = nullptr;
  check(MXPredCreate(net.json().c_str(), weights.data(), static_cast<int>(weights.size()), kCpu, 0,
                     1, inputs, ends, dims, &predictor));
  std::vector<float> images(2 * kSide * kSide), chances(2 * kClasses);
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = static_cast<float>(i % 13) / 6;
  check(MXPredSetInput(predictor, "data", images.data(), static_cast<uint32_t>(images.size())));
  check(MXPredForward(predictor));
  check(MXPredGetOutput(predictor, 0, chances.data(), static_cast<uint32_t>(chances.size())));
  print("predicted", chances);
  const int wrong = MXPredSetInput(predictor, "other", images.data(), 1);
  std::printf("an input that there is not: %d\n", wrong);
  check(MXPredFree(predictor));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "given %d arguments, expected a folder\n", argc - 1);
    return 2;
  }
  try {
    const std::string folder = argv[1];
    const Symbol net = network();
    {
      const Executor executor(net);
      train(net, executor, folder);
    }
    const std::string weights = folder + "/trained.params";
    {
      std::ifstream file(weights, std::ios::binary);
      predict(net, {std::istreambuf_iterator<char>(file), {}});
    }
    std::remove(weights.c_str());  // the last digits are each library's own
    try {
      net.then("Convolution", "wrong", {{"kernel", "words"}});
      std::printf("a kernel of words is taken\n");
    } catch (const std::runtime_error& error) {
      std::printf("a kernel of words is refused\n");
    }
    check(MXNotifyShutdown());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
