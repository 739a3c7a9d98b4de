// SPDX-License-Identifier: Apache-2.0
// Opens libcudnn; descriptors whose every call is checked.
#include "plugin/cuda/dnn/cudnn.h"

#include <fmt/format.h>

#include <string_view>

#include "base/config.h"
#include "base/error.h"
#include "plugin/cuda/toolkit/library.h"
#include "plugin/cuda/toolkit/library_versions.h"

namespace mxnet::cuda {

std::vector<std::string> cudnn_names() {
  return {fmt::format("libcudnn.so.{}", CUDNN_MAJOR), "libcudnn.so"};
}

const Cudnn& Cudnn::get() {
  static const Cudnn* const loaded = new Cudnn();  // never closed, see Library
  return *loaded;
}

Cudnn::Cudnn() {
  const Library library("convolution on GPUs", cudnn_names());
  library.find("cudnnGetVersion", &version);
  library.find("cudnnGetErrorString", &error_string);
  library.find("cudnnGetLastErrorString", &last_error);
  library.find("cudnnCreate", &create);
  library.find("cudnnDestroy", &destroy);
  library.find("cudnnSetStream", &set_stream);
  library.find("cudnnBackendCreateDescriptor", &create_descriptor);
  library.find("cudnnBackendDestroyDescriptor", &destroy_descriptor);
  library.find("cudnnBackendSetAttribute", &set_attribute);
  library.find("cudnnBackendGetAttribute", &get_attribute);
  library.find("cudnnBackendFinalize", &finalize);
  library.find("cudnnBackendExecute", &execute);
  const auto number = static_cast<int>(version());  // 91201 = 9.12.1
  check_cudnn_version(config().cuda, {CUDNN_MAJOR, CUDNN_MINOR},
                      {number / 10000, number / 100 % 100});
}

void Cudnn::check(cudnnStatus_t status, const char* call) const {
  if (status == CUDNN_STATUS_SUCCESS) return;
  char details[512] = "";  // of a status that half a hundred things may mean
  last_error(details, sizeof(details));
  details[sizeof(details) - 1] = '\0';
  std::string_view said = details;
  while (!said.empty() && said.back() == '\n') said.remove_suffix(1);
  throw Error(ErrorCode::kGeneric, "cudnn",
              fmt::format("{}: {}{}{}{}", call, error_string(status), said.empty() ? "" : " (",
                          said, said.empty() ? "" : ")"));
}

Descriptor::Descriptor(cudnnBackendDescriptorType_t type) {
  const Cudnn& cudnn = Cudnn::get();
  cudnn.check(cudnn.create_descriptor(type, &raw_), "cudnnBackendCreateDescriptor");
}

Descriptor::~Descriptor() {
  if (raw_ != nullptr) Cudnn::get().destroy_descriptor(raw_);
}

Descriptor& Descriptor::finalize() {
  const Cudnn& cudnn = Cudnn::get();
  cudnn.check(cudnn.finalize(raw_), "cudnnBackendFinalize");
  return *this;
}

void Descriptor::set_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                         int64_t count, const void* values) {
  const Cudnn& cudnn = Cudnn::get();
  cudnn.check(cudnn.set_attribute(raw_, name, type, count, values), "cudnnBackendSetAttribute");
}

int64_t Descriptor::get_raw(cudnnBackendAttributeName_t name, cudnnBackendAttributeType_t type,
                            int64_t most, void* values) const {
  const Cudnn& cudnn = Cudnn::get();
  int64_t count = 0;
  cudnn.check(cudnn.get_attribute(raw_, name, type, most, &count, values),
              "cudnnBackendGetAttribute");
  return count < most ? count : most;
}

std::vector<Descriptor> Descriptor::get(cudnnBackendAttributeName_t name,
                                        cudnnBackendDescriptorType_t type, int64_t most) const {
  std::vector<Descriptor> descriptors;
  std::vector<cudnnBackendDescriptor_t> raw;
  for (int64_t i = 0; i < most; ++i) raw.push_back(descriptors.emplace_back(type).raw());
  const int64_t count = get_raw(name, CUDNN_TYPE_BACKEND_DESCRIPTOR, most, raw.data());
  descriptors.erase(descriptors.begin() + count, descriptors.end());
  return descriptors;
}

}  // namespace mxnet::cuda
