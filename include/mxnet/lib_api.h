// SPDX-License-Identifier: Apache-2.0
// Extension libraries: operators, graph passes and partitioners in a shared library of your own,
// loaded with mx.library.load(path) or MXLoadLib. Header-only and C++11; nothing to link with:
//   g++ -shared -fPIC -O2 -I<include> my_ops.cc -o libmy_ops.so
//
//   #include <mxnet/lib_api.h>
//   using namespace mxnet::ext;
//
//   MXReturnValue forward(const Attributes& attrs, std::vector<MXTensor>* inputs,
//                         std::vector<MXTensor>* outputs, const OpResource& res) { ... }
//   REGISTER_OP(my_op).setForward(forward, "cpu").setParseAttrs(...).setInferShape(...);
//   REGISTER_PASS(my_pass).setBody(rewrite);
//   REGISTER_PARTITIONER(my_backend).addStrategy("all", "_CachedOp").setSupportedOps("all",
//   choose);
//
//   MXReturnValue initialize(int version) { return version >= 10901 ? MX_SUCCESS : MX_FAIL; }
//
// A function that fails writes why to MX_ERROR_MSG and returns MX_FAIL, or throws: the caller of
// MXNet sees the text. Functions are called from any thread, several at a time.
// See docs/extensions.md.
#pragma once
#include "mxnet/ext/operator.h"
#include "mxnet/ext/pass.h"

#define MX_EXT_EXPORT extern "C" __attribute__((visibility("default"), used))
#define MX_EXT_JOIN_(a, b) a##b
#define MX_EXT_JOIN(a, b) MX_EXT_JOIN_(a, b)
#define MX_EXT_REGISTER(Kind, name)                                       \
  static ::mxnet::ext::Kind& MX_EXT_JOIN(mx_ext_registered_, __COUNTER__) \
      __attribute__((unused)) = ::mxnet::ext::detail::registered<::mxnet::ext::Kind>().add(#name)

#define REGISTER_OP(name) MX_EXT_REGISTER(CustomOp, name)
#define REGISTER_PASS(name) MX_EXT_REGISTER(CustomPass, name)
#define REGISTER_PARTITIONER(name) MX_EXT_REGISTER(CustomPartitioner, name)

// Yours to write, once: looks at the version of the library that loads yours (10901 for the ABI of
// 1.9.1), and sets up what your functions need.
MX_EXT_EXPORT mxnet::ext::MXReturnValue initialize(int version);

namespace mxnet {
namespace ext {
namespace detail {

// What the macros have registered, and its tables.
template <class Kind, class Table = decltype(std::declval<Kind&>().table())>
class Registered {
 public:
  Kind& add(const char* name) {
    items_.emplace_back(name);
    return items_.back();
  }
  const std::vector<Table>& tables() {
    tables_.clear();
    for (Kind& item : items_) tables_.push_back(item.table());
    return tables_;
  }

 private:
  std::deque<Kind> items_;
  std::vector<Table> tables_;
};

template <class Kind>
MX_EXT_HIDDEN inline Registered<Kind>& registered() {
  static Registered<Kind> registered;
  return registered;
}
MX_EXT_HIDDEN inline MXExtLibrary& opened_library() {
  static MXExtLibrary library;
  return library;
}

}  // namespace detail
}  // namespace ext
}  // namespace mxnet

// The entry points that the host calls; weak, so that several files of one library may include
// this.
MX_EXT_EXPORT inline int MXExtensionVersion(void) { return MX_EXT_VERSION; }

MX_EXT_EXPORT inline int MXExtensionOpen(const MXExtHost* host, const MXExtLibrary** library,
                                         MXExtMessage* message) {
  using namespace mxnet::ext;
  return detail::guarded(message, [&] {
    detail::host() = host;
    const std::vector<MXExtOp>& ops = detail::registered<CustomOp>().tables();
    const std::vector<MXExtPass>& passes = detail::registered<CustomPass>().tables();
    const std::vector<MXExtPartitioner>& partitioners =
        detail::registered<CustomPartitioner>().tables();
    detail::opened_library() = {ops.data(),
                                passes.data(),
                                partitioners.data(),
                                static_cast<int32_t>(ops.size()),
                                static_cast<int32_t>(passes.size()),
                                static_cast<int32_t>(partitioners.size())};
    *library = &detail::opened_library();
    return initialize(host->mxnet_version);
  });
}
