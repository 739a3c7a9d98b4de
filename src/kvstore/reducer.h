// SPDX-License-Identifier: Apache-2.0
// How the values of one key become one array, and that array becomes many again.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "base/config_sections.h"
#include "kvstore/store_type.h"
#include "ndarray/ndarray.h"

namespace mxnet::kvstore {

using Arrays = std::span<const NDArray>;

// Of a value that is compressed: what was not sent yet, and the bits on their way.
struct Residual {
  NDArray rest, packed;       // on the value's device
  NDArray arrived, unpacked;  // where values are summed
};

// What a key keeps between pushes, so that they allocate nothing; by the position of a value.
struct Buffers {
  NDArray merged;
  std::vector<NDArray> staged;  // copies where values are summed
  std::vector<Residual> residuals;
};

// One thread at a time; pushes engine operations. All arrays of a call have one shape and type;
// only layouts and devices differ.
class Reducer {
 public:
  virtual ~Reducer();

  // Where the sum of such values is to be kept. The answer for a key may change with the devices
  // that its values lie on, and with nothing else.
  virtual Device home(std::size_t key, Arrays values) = 0;
  // to = sum of values. REQUIRES: `to` lies at home(values).
  virtual void sum(Buffers& buffers, Arrays values, const NDArray& to, int priority) = 0;
  // Whether the sum of a lone value is that value.
  virtual bool keeps_lone_values() const { return true; }
  // to = every out = sum of values.
  virtual void sum_and_copy(Buffers& buffers, Arrays values, const NDArray& to, Arrays outs,
                            int priority) = 0;
  // every out = from. Types and layouts may differ.
  virtual void copy(const NDArray& from, Arrays outs, int priority) = 0;
};

// `config` must outlive it: live rows are read at each call.
std::unique_ptr<Reducer> make_reducer(const StoreType& type, const KvstoreConfig& config);

// --- What reducers share ---

// `array` itself, or a copy of another element type on the same device.
NDArray as_type(const NDArray& array, DType dtype);
// to = from, whatever their devices, types and layouts.
void transfer(const NDArray& from, const NDArray& to, int priority);
// The buffer at `position`, made anew unless it has this form already.
const NDArray& staged(Buffers& buffers, std::size_t position, const NDArray& like, Device device);
// An array of the shape, type and layout of `like`.
NDArray empty_like(const NDArray& like, Device device);
// The same, of a dense array, where it lies, filled with zeros.
NDArray zeros_like(const NDArray& like);

inline bool in_host_memory(const NDArray& array) { return !array.device().is_gpu(); }

}  // namespace mxnet::kvstore
