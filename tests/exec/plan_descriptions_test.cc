// SPDX-License-Identifier: Apache-2.0
// How often oneDNN is asked what a convolution would be: half a millisecond each time, all of it in
// a program's first call.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdint>

#include "exec/plan_fixture.h"
#include "networks.h"

namespace {
int asked = 0;
using Describe = int(void*, void*, int, int, const void*, const void*, const void*, const void*,
                     const int64_t*, const int64_t*, const int64_t*, const int64_t*, const void*);
}  // namespace

// In the place of oneDNN's own, which it calls: a program's functions come before those of the
// libraries that it is linked with. Handles and enumerations by what they are in C.
extern "C" [[gnu::visibility("default")]] Describe dnnl_convolution_forward_primitive_desc_create;
extern "C" int dnnl_convolution_forward_primitive_desc_create(
    void* desc, void* engine, int kind, int algorithm, const void* image, const void* weight,
    const void* bias, const void* map, const int64_t* stride, const int64_t* dilate,
    const int64_t* pad, const int64_t* pad_behind, const void* attributes) {
  static auto* const own = reinterpret_cast<Describe*>(
      dlsym(RTLD_NEXT, "dnnl_convolution_forward_primitive_desc_create"));
  ++asked;
  return own(desc, engine, kind, algorithm, image, weight, bias, map, stride, dilate, pad,
             pad_behind, attributes);
}

namespace mxnet {
namespace {

int asked_for(const Symbol& network, int batch) {
  const int before = asked;
  planned_bytes(network, images(batch), Pass::kInference);
  return asked - before;
}

// 53 convolutions, of 23 kinds and as many in other places of their blocks.
TEST(PlanDescriptions, LayersOfTheSameSizesAreDescribedOnce) {
  const int first = asked_for(resnet50_v1(), 1);
  EXPECT_GT(first, 0);
  EXPECT_LE(first, 160);
}

// What remains is one for each kernel that is made.
TEST(PlanDescriptions, ANetworkThatIsPlannedAgainIsKnown) {
  asked_for(resnet50_v1(), 2);
  EXPECT_LE(asked_for(resnet50_v1(), 2), 53);
}

}  // namespace
}  // namespace mxnet
