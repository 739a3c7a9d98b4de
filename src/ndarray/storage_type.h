// SPDX-License-Identifier: Apache-2.0
// Layouts of an array. The numbers are those of the C ABI and of saved files.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

namespace mxnet {

enum class StorageType : int8_t { kUndefined = -1, kDense = 0, kRowSparse = 1, kCSR = 2 };

// Index arrays beside the values: row_sparse has the rows' numbers, csr `indptr`, then `indices`.
constexpr int num_aux(StorageType type) {
  switch (type) {
    case StorageType::kRowSparse:
      return 1;
    case StorageType::kCSR:
      return 2;
    default:
      return 0;
  }
}

constexpr std::optional<StorageType> storage_type_from_number(int number) {
  if (number < 0 || number > 2) return std::nullopt;
  return static_cast<StorageType>(number);
}

constexpr std::string_view storage_type_name(StorageType type) {
  switch (type) {
    case StorageType::kDense:
      return "default";
    case StorageType::kRowSparse:
      return "row_sparse";
    case StorageType::kCSR:
      return "csr";
    case StorageType::kUndefined:
      break;
  }
  return "undefined";
}

}  // namespace mxnet
