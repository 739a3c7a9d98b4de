// SPDX-License-Identifier: Apache-2.0
// row_sparse arrays: sums of several, the rows that somebody asks for, and rows as bytes.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

// REQUIRES, of all: inside an operation, arrays in host memory.

// `to` holds every row that one of `from` holds, in ascending order, also those that cancel to
// zero. Rows are added in the order of `from`, from the left.
void sum_rows(std::span<const NDArray> from, const NDArray& to);

// `to` holds exactly the rows that `row_ids` names (numbers of any type, in any order, repeated or
// not), ascending; those that `from` does not hold are zero. Throws Error(kIndex) for a row outside
// of the shape.
void take_rows(const NDArray& from, const NDArray& row_ids, const NDArray& to);

// The two halves of that. What `row_ids` names, ascending, checked against `rows`, of the shape.
std::vector<int64_t> wanted_rows(const NDArray& row_ids, int64_t rows);
// The values of these rows, one after the other.
void copy_rows(const NDArray& from, std::span<const int64_t> wanted, char* values);
// Makes room for these rows and writes their numbers.
void set_rows(const NDArray& to, std::span<const int64_t> rows);

int64_t row_bytes(const NDArray& array);
// As they travel: how many rows, their numbers (all int64), their values.
std::vector<char> pack_rows(const NDArray& array);
// Whether it can make so many bytes of an array of that form.
bool packs_into(const NDArray& array, int64_t bytes);
// The numbers of the rows in such bytes. Throws Error(kValue) for what pack_rows() cannot have
// written for an array of this form.
std::vector<int64_t> packed_rows(std::string_view bytes, const NDArray& array);
void unpack_rows(std::string_view bytes, const NDArray& array);

}  // namespace mxnet::kvstore
