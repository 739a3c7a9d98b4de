// SPDX-License-Identifier: Apache-2.0
// What workers ask of servers, as bytes: a head of fixed layout, then the key.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "kvstore/compression.h"
#include "kvstore/key_table.h"
#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

enum class Ask : int32_t {
  kInit = 1,  // body: values
  kPush,      // body: values
  kPull,      // answer: values
  kPullRows,  // body: row numbers (int64), ascending; answer: those rows
  kCommand,   // body: text; answer: text
};

// Commands from this number on are everybody's: a server obeys one when all workers have given it,
// with the body of rank 0, and all get what it answers, or what went wrong.
inline constexpr int kFirstCommandOfAll = 2000;

// What a server answers itself, to a worker that has waited for long. Where it waits in a command
// of all: for whom; the command fails where those cannot come, since they wait for this worker.
inline constexpr int kWhoIsMissing = -2;
// Where it waits for the others at another place: which command of theirs waits for it, or nothing.
inline constexpr int kWhoWaitsForMe = -3;

// Values of dense arrays are their elements, or the words that compression makes of them; those of
// row_sparse ones what pack_rows() writes.
struct Request {
  Ask ask = Ask::kCommand;
  int32_t store = 0;  // which of the workers' stores: each has keys and an updater of its own
  Key key = 0;
  int32_t command = 0;  // kCommand: its number
  bool sync = false;    // a push waits for those of all other workers
  DType dtype = DType::kFloat32;
  StorageType storage = StorageType::kDense;
  Compression compression;
  Shape shape;
};

std::string to_bytes(const Request& request);
// Throws Error(kValue) for what to_bytes() cannot have written.
Request request_of(std::string_view bytes);

}  // namespace mxnet::kvstore
