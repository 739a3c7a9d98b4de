// SPDX-License-Identifier: Apache-2.0
// What non-maximum suppression is told, and what it asks of a box, for the CPU and for kernels.
#pragma once
#include "op/detect/boxes.h"

namespace mxnet::detect {

struct BoxNmsParams {
  float overlap_thresh, valid_thresh;
  int32_t topk, coord_start, score_index, id_index, background_id;
  bool force_suppress;
  BoxFormat in_format, out_format;
};

// Whether all rows stay where and what they are, as in existing programs: no box takes part.
MX_HOST_DEVICE inline bool leaves_all(const BoxNmsParams& params) { return params.topk == 0; }

// Whether a row is a box good enough, and not background.
template <class T>
MX_HOST_DEVICE bool takes_part(const BoxNmsParams& params, const T* row) {
  const bool background =
      params.id_index >= 0 && row[params.id_index] == static_cast<T>(params.background_id);
  return row[params.score_index] > static_cast<T>(params.valid_thresh) && !background;
}

// The gradient of a box in the format of the input, out of that in the format of the output.
template <class T>
MX_HOST_DEVICE void turn_gradient(const BoxNmsParams& params, const T* d, T* box) {
  if (params.in_format == params.out_format || leaves_all(params)) return;  // it has been copied
  for (int j = 0; j < 2; ++j) {
    if (params.in_format == BoxFormat::kCorner) {  // centre and size of corners
      box[j] = d[j] / 2 - d[j + 2];
      box[j + 2] = d[j] / 2 + d[j + 2];
    } else {
      box[j] = d[j] + d[j + 2];
      box[j + 2] = (d[j + 2] - d[j]) / 2;
    }
  }
}

}  // namespace mxnet::detect
