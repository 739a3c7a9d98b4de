// SPDX-License-Identifier: Apache-2.0
// libFuzzer on calls to a server of a distributed job: fuzz_calls -max_total_time=60 -max_len=512.
// An input is a row of calls by two workers, whose heads are bytes as they come, or written from a
// few of them; each is answered once at most.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "engine/engine.h"
#include "kvstore/array_op.h"
#include "kvstore/server.h"
#include "ndarray/sparse_convert.h"

// The little that the server has from the operators' folders, for arrays that are alike.
namespace mxnet::kvstore {

Reducer::~Reducer() = default;

NDArray empty_like(const NDArray& like, Device device) {
  if (!like.is_sparse()) return NDArray(like.shape(), like.dtype(), device);
  return NDArray(like.storage_type(), like.shape(), like.dtype(), device);
}

void transfer(const NDArray& from, const NDArray& to, int priority) {
  const bool alike = from.storage_type() == to.storage_type();
  (alike ? from : cast_storage(from, to.storage_type())).copy_to(to, priority);
}

const NDArray& staged(Buffers&, std::size_t, const NDArray& like, Device) { return like; }

void push_on_host(ArrayOp op, std::function<void(Arrays, Arrays)> body) {
  const auto shared = std::make_shared<const ArrayOp>(std::move(op));
  std::vector<Var*> reads, writes;
  for (const NDArray& array : shared->reads) reads.push_back(array.var());
  for (const NDArray& array : shared->writes) writes.push_back(array.var());
  dedup_variables(&reads, &writes);
  Engine::get().push(
      [shared, body = std::move(body)](const RunContext&) { body(shared->reads, shared->writes); },
      {.device = Device::cpu(), .reads = reads, .writes = writes, .name = shared->name});
}

void push_dense(ArrayOp op, std::function<void(const Addresses&)> body) {
  push_on_host(std::move(op), [body = std::move(body)](Arrays reads, Arrays writes) {
    Addresses at;
    for (const NDArray& array : reads) at.reads.push_back(array.data());
    for (const NDArray& array : writes) at.writes.push_back(array.data());
    body(at);
  });
}

}  // namespace mxnet::kvstore

namespace {

using namespace mxnet;           // NOLINT(google-build-using-namespace)
using namespace mxnet::kvstore;  // NOLINT(google-build-using-namespace)

class Alone final : public ProcessGroup {
 public:
  bool is_server() const override { return true; }
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int servers() const override { return 1; }
  void submit(CollectiveRequest) override { std::abort(); }
  void call(ServerCall) override { std::abort(); }
  bool next_call(ServedCall&) override { return false; }
  int lost_workers() const override { return 0; }
  int lost_servers() const override { return 0; }
};

class Input {
 public:
  Input(const uint8_t* data, size_t size) : at_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  std::string bytes(std::size_t count) {
    count = std::min(count, left_);
    std::string result(reinterpret_cast<const char*>(at_), count);
    at_ += count;
    left_ -= count;
    return result;
  }

 private:
  const uint8_t* at_;
  size_t left_;
};

Request request_from(Input& input) {
  constexpr std::array<DType, 9> kTypes{DType::kFloat32, DType::kFloat64, DType::kFloat16,
                                        DType::kUInt8,   DType::kInt32,   DType::kInt8,
                                        DType::kInt64,   DType::kBool,    DType::kBFloat16};
  const uint8_t what = input.byte(), how = input.byte();
  Request request;
  request.ask = static_cast<Ask>(1 + what % 5);
  request.key = how % 4 == 3 ? Key(std::string("w")) : Key(how % 4);
  request.sync = (what & 0x80) != 0;
  request.storage = (how & 4) != 0 ? StorageType::kRowSparse : StorageType::kDense;
  request.compression.type = static_cast<CompressionType>((how >> 3) % 3);
  request.dtype = (how & 0x80) != 0 ? kTypes[input.byte() % 9] : DType::kFloat32;
  std::vector<int64_t> dims(1 + what / 8 % 2);
  for (int64_t& dim : dims) dim = input.byte() % 12;
  request.shape = Shape(dims);
  return request;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Input input(data, size);
  Alone group;
  Server server(group);
  if ((input.byte() & 1) != 0) {
    server.set_updater([](const Key&, const NDArray& pushed, const NDArray& stored) {
      if (pushed.is_sparse() && !stored.is_sparse()) throw Error(ErrorCode::kType, "no rows");
      transfer(pushed, stored, 0);
    });
  }
  std::vector<std::shared_ptr<int>> answers;
  while (!input.empty()) {
    const uint8_t kind = input.byte();
    ServedCall call;
    call.worker = kind & 3;
    std::size_t body = input.byte();
    if ((kind & 4) != 0) {
      call.head = input.bytes(input.byte());
    } else {
      const Request request = request_from(input);
      call.head = to_bytes(request);
      const auto fits = static_cast<std::size_t>(request.shape.size()) * dtype_size(request.dtype);
      if ((kind & 8) != 0) body = fits;
    }
    std::string bytes = input.bytes(body);
    if ((kind & 8) != 0) bytes.resize(body);
    call.body = ArrivedBytes(bytes);
    answers.push_back(std::make_shared<int>(0));
    call.answer = [count = answers.back()](const Answer& answer) {
      if (++*count > 1) std::abort();
      static_cast<void>(std::string(static_cast<const char*>(answer.data),
                                    static_cast<std::size_t>(answer.bytes)));
    };
    server.handle(std::move(call), [](int, const std::string& text) { return text; });
  }
  try {
    Engine::get().wait_for_all();
  } catch (const Error&) {  // an answer has told it
  }
  return 0;
}
