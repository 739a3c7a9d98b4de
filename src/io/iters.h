// SPDX-License-Identifier: Apache-2.0
// The iterators that the registry lists; each is declared in the file of its name.
#pragma once
#include "io/iter_registry.h"

namespace mxnet::io {

void declare_csv_iter(IterDef& def);
void declare_image_det_record_iter(IterDef& def);
void declare_image_record_int8_iter(IterDef& def);
void declare_image_record_iter(IterDef& def);
void declare_image_record_iter_v1(IterDef& def);
void declare_image_record_uint8_iter(IterDef& def);
void declare_image_record_uint8_iter_v1(IterDef& def);
void declare_libsvm_iter(IterDef& def);
void declare_mnist_iter(IterDef& def);

}  // namespace mxnet::io
