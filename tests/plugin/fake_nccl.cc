// SPDX-License-Identifier: Apache-2.0
// NCCL as the plug-in's host code sees it: writes down what it is told.
#include "fake_nccl.h"

#include <utility>

namespace {

std::vector<std::string> g_calls;
std::string g_failing;
cudaError_t (*g_set_device)(int) = nullptr;
cudaError_t (*g_get_device)(int*) = nullptr;
int g_last_device = 0;  // of the team that was made last

ncclResult_t answer(const std::string& call, const char* function) {
  g_calls.push_back(call);
  return g_failing == function ? ncclInvalidUsage : ncclSuccess;
}

void visit_device(int device) {
  if (g_set_device == nullptr) return;
  int before = -1;
  g_get_device(&before);
  g_set_device(device);
  g_set_device(before);
}

std::string about(std::size_t count, ncclDataType_t dtype, ncclComm_t communicator) {
  return " " + std::to_string(count) + " of type " + std::to_string(static_cast<int>(dtype)) +
         " on " + std::to_string(reinterpret_cast<std::size_t>(communicator) - 1);
}

}  // namespace

namespace fake_nccl {

std::vector<std::string> take_calls() { return std::exchange(g_calls, {}); }
void fail_in(std::string function) { g_failing = std::move(function); }
void change_device_with(cudaError_t (*set_device)(int), cudaError_t (*get_device)(int*)) {
  g_set_device = set_device;
  g_get_device = get_device;
}

}  // namespace fake_nccl

extern "C" {

const char* ncclGetErrorString(ncclResult_t) { return "invalid usage"; }
const char* ncclGetLastError(ncclComm_t) { return "as the test asked"; }
ncclResult_t ncclCommInitAll(ncclComm_t* communicators, int count, const int* devices) {
  for (int i = 0; i < count; ++i)
    communicators[i] = reinterpret_cast<ncclComm_t>(static_cast<std::size_t>(devices[i]) + 1);
  visit_device(g_last_device = devices[count - 1]);
  return answer("init " + std::to_string(count), "ncclCommInitAll");
}
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  if (g_set_device != nullptr)
    g_set_device(static_cast<int>(reinterpret_cast<std::size_t>(communicator)) - 1);
  return answer("destroy", "ncclCommDestroy");
}
ncclResult_t ncclGroupStart() { return answer("start", "ncclGroupStart"); }
ncclResult_t ncclGroupEnd() {
  visit_device(g_last_device);
  return answer("end", "ncclGroupEnd");
}
ncclResult_t ncclAllReduce(const void*, void*, std::size_t count, ncclDataType_t dtype, ncclRedOp_t,
                           ncclComm_t communicator, cudaStream_t) {
  return answer("all reduce" + about(count, dtype, communicator), "ncclAllReduce");
}
ncclResult_t ncclReduce(const void*, void*, std::size_t count, ncclDataType_t dtype, ncclRedOp_t,
                        int root, ncclComm_t communicator, cudaStream_t) {
  return answer("reduce to " + std::to_string(root) + about(count, dtype, communicator),
                "ncclReduce");
}
ncclResult_t ncclBroadcast(const void*, void*, std::size_t count, ncclDataType_t dtype, int root,
                           ncclComm_t communicator, cudaStream_t) {
  return answer("broadcast from " + std::to_string(root) + about(count, dtype, communicator),
                "ncclBroadcast");
}

}  // extern "C"
