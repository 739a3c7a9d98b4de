// SPDX-License-Identifier: Apache-2.0
// Memory that the other processes of this machine can see: what lies there is summed without being
// sent.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/export.h"
#include "ndarray/ndarray.h"
#include "storage/shared_memory.h"

namespace mxnet::kvstore {

// Where memory lies for them: at the beginning of a segment.
struct SharedPlace {
  SharedHandle segment;  // fd < 0: nowhere
  uint64_t key = 0;      // of the segment: descriptors are given anew
  bool known() const { return segment.fd >= 0; }
};

// An array in host memory, like others for the rest of the library; `place` says where others find
// it, or nowhere where the system has no such memory left.
NDArray make_shared_array(const Shape& shape, DType dtype, SharedPlace& place);

// What another process has there, at least so many bytes; null: this one may not look, or it is
// gone. Unmapped with the last owner.
MX_PLUGIN_API std::shared_ptr<char> see_shared_place(const SharedPlace& place, std::size_t bytes);

}  // namespace mxnet::kvstore
