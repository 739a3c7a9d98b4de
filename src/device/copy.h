// SPDX-License-Identifier: Apache-2.0
// TEMPORARY on branch arrays.
#pragma once
#include <cstddef>
#include "device/stream.h"
namespace mxnet { void copy_memory(void* to_data, Device to, const void* from_data, Device from, std::size_t bytes, Stream* stream = nullptr); }
