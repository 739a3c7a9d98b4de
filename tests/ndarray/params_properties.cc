// SPDX-License-Identifier: Apache-2.0
// See params_properties.h.
#include "params_properties.h"

#include <stdexcept>

#include "base/error.h"
#include "ndarray/load.h"
#include "ndarray/save.h"

namespace mxnet::testing_params {
namespace {

LoadedArrays load(const std::string& text, NumpyShape mode) {
  BufferSource source(text.data(), text.size());
  return load_arrays(source, mode);
}

// Arrays without data cannot be saved; everything else that was loaded can.
std::string save(const NDArray& array, NumpyShape mode) {
  StringSink sink;
  if (!array.is_none()) save_record(array, mode != NumpyShape::kOff, sink);
  return sink.take();
}

void require(bool condition, const char* what) {
  if (!condition) throw std::logic_error(what);
}

}  // namespace

Outcome check_params(const std::string& text, NumpyShape mode) {
  LoadedArrays loaded;
  try {
    loaded = load(text, mode);
  } catch (const Error& error) {
    require(std::string(error.what()).find("<buffer>") != std::string::npos,
            "an error that does not name the file");
    return Outcome::kRefused;
  }
  require(loaded.names.empty() || loaded.names.size() == loaded.arrays.size(), "names are missing");
  std::size_t bytes = 0;
  for (const NDArray& array : loaded.arrays) {
    const std::string record = save(array, mode);
    bytes += record.size();
    if (record.empty()) continue;
    BufferSource source(record.data(), record.size());
    require(save(load_record(source, mode), mode) == record, "a record changes on its second way");
  }
  // V0 is denser than what is written: four bytes a dimension, no magic, no storage type.
  require(bytes <= 3 * text.size(), "records grow out of nothing");
  return Outcome::kLoaded;
}

}  // namespace mxnet::testing_params
