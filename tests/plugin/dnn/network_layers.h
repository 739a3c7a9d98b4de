// SPDX-License-Identifier: Apache-2.0
// The convolutions of well-known networks, each shape once, as the plug-in describes them.
#pragma once
#include <string>
#include <vector>

#include "plugin/cuda/dnn/convolution.h"

namespace mxnet::cuda {

struct Layer {
  int64_t size, in, out;  // of the image's side; channels
  int64_t kernel, stride = 1, pad = 0, groups = 1;
  int64_t kernel_across = 0, pad_across = 0;  // of kernels that are no squares, else 0
};

inline Convolution describe(const Layer& layer, int64_t batch, ConvPass pass, DType dtype,
                            bool channels_last) {
  const bool square = layer.kernel_across == 0;
  const int64_t across = square ? layer.kernel : layer.kernel_across;
  const int64_t pad_across = square ? layer.pad : layer.pad_across;
  const auto map = [&](int64_t kernel, int64_t pad) {
    return (layer.size + 2 * pad - kernel) / layer.stride + 1;
  };
  Convolution convolution;
  convolution.pass = pass;
  convolution.dtype = dtype;
  convolution.channels_last = channels_last;
  convolution.data = {batch, layer.in, layer.size, layer.size};
  convolution.weight = {layer.out, layer.in / layer.groups, layer.kernel, across};
  convolution.output = {batch, layer.out, map(layer.kernel, layer.pad), map(across, pad_across)};
  convolution.pad = {layer.pad, pad_across};
  convolution.stride = {layer.stride, layer.stride};
  convolution.dilate = {1, 1};
  convolution.groups = layer.groups;
  return convolution;
}

struct Network {
  const char* name;
  std::vector<Layer> layers;
};

inline const std::vector<Network>& networks_with_layers() {
  static const std::vector<Network> networks{
      {"ResNet-50", {{224, 3, 64, 7, 2, 3},   {56, 64, 64, 1},        {56, 64, 64, 3, 1, 1},
                     {56, 64, 256, 1},        {56, 256, 64, 1},       {56, 256, 128, 1, 2},
                     {28, 128, 128, 3, 1, 1}, {28, 128, 512, 1},      {56, 256, 512, 1, 2},
                     {28, 512, 128, 1},       {28, 512, 256, 1, 2},   {14, 256, 256, 3, 1, 1},
                     {14, 256, 1024, 1},      {28, 512, 1024, 1, 2},  {14, 1024, 256, 1},
                     {14, 1024, 512, 1, 2},   {7, 512, 512, 3, 1, 1}, {7, 512, 2048, 1},
                     {14, 1024, 2048, 1, 2},  {7, 2048, 512, 1},      {56, 128, 128, 3, 2, 1},
                     {28, 256, 256, 3, 2, 1}, {14, 512, 512, 3, 2, 1}}},
      {"VGG-16",
       {{224, 3, 64, 3, 1, 1},
        {224, 64, 64, 3, 1, 1},
        {112, 64, 128, 3, 1, 1},
        {112, 128, 128, 3, 1, 1},
        {56, 128, 256, 3, 1, 1},
        {56, 256, 256, 3, 1, 1},
        {28, 256, 512, 3, 1, 1},
        {28, 512, 512, 3, 1, 1},
        {14, 512, 512, 3, 1, 1}}},
      {"Inception-v3",
       {{299, 3, 32, 3, 2},
        {149, 32, 32, 3},
        {147, 32, 64, 3, 1, 1},
        {73, 64, 80, 1},
        {73, 80, 192, 3},
        {35, 192, 48, 1},
        {35, 48, 64, 5, 1, 2},
        {35, 64, 96, 3, 1, 1},
        {35, 288, 384, 3, 2},
        {17, 768, 128, 1},
        {.size = 17, .in = 128, .out = 192, .kernel = 1, .kernel_across = 7, .pad_across = 3},
        {.size = 17, .in = 160, .out = 160, .kernel = 7, .pad = 3, .kernel_across = 1},
        {17, 192, 320, 3, 2},
        {8, 1280, 448, 1},
        {.size = 8, .in = 384, .out = 384, .kernel = 1, .kernel_across = 3, .pad_across = 1},
        {.size = 8, .in = 384, .out = 384, .kernel = 3, .pad = 1, .kernel_across = 1}}},
      {"MobileNet",
       {{224, 3, 32, 3, 2, 1},
        {112, 32, 32, 3, 1, 1, 32},
        {112, 32, 64, 1},
        {112, 64, 64, 3, 2, 1, 64},
        {28, 256, 256, 3, 1, 1, 256},
        {14, 512, 512, 3, 2, 1, 512},
        {7, 1024, 1024, 3, 1, 1, 1024}}},
      {"ResNeXt-50", {{56, 128, 128, 3, 1, 1, 32}, {14, 512, 512, 3, 2, 1, 32}}}};
  return networks;
}

}  // namespace mxnet::cuda
