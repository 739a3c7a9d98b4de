// SPDX-License-Identifier: Apache-2.0
// Numbers of the array file (.params): an envelope of records and names. All fields are
// little-endian and unaligned.
//
//   file     u64 kListMagic, u64 0, u64 n, n records, u64 n_names (0 or n), n_names x name
//   name     u64 length, bytes
//   record   V0: u32 ndim, ndim x u32, context, i32 dtype, values
//            V1: u32 kMagicV1, shape, context, i32 dtype, values
//            V2, V3: u32 magic, i32 storage type, [shape of stored values], shape, context,
//                    i32 dtype, per index array [i32 dtype, shape], values, [index arrays]
//   shape    i32 ndim, ndim x i64; context: i32 device type, i32 device id
//
// A record ends after its shape where that is unknown: ndim 0, in V3 -1.
#pragma once
#include <bit>
#include <cstdint>

namespace mxnet::params_format {

static_assert(std::endian::native == std::endian::little, "fields are copied as they lie");

inline constexpr uint64_t kListMagic = 0x112;
inline constexpr uint32_t kMagicV1 = 0xF993FAC8;
inline constexpr uint32_t kMagicV2 = 0xF993FAC9;  // storage types
inline constexpr uint32_t kMagicV3 = 0xF993FACA;  // NumPy shapes, dense only

}  // namespace mxnet::params_format
