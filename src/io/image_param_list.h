// SPDX-License-Identifier: Apache-2.0
// Names, defaults and descriptions of the parameters of iterators over images, in the order of the
// C ABI.
#pragma once
#include "io/image_params.h"

namespace mxnet::io {

template <class P>
void with_image_file_params(IterBuilder<P>& iter) {
  using F = ImageFileParams;
  iter.param("path_imglist", &F::path_imglist, "",
             "A list file whose labels replace those of the records with its numbers.")
      .param("path_imgrec", &F::path_imgrec, "", "The RecordIO file.")
      .param("path_imgidx", &F::path_imgidx, "", "Its index file, if there is one.")
      .param("aug_seq", &F::aug_seq, "aug_default", "The sequence of augmentations.")
      .param("label_width", &F::label_width, 1, "Labels of an image.")
      .param("data_shape", &F::data_shape, "(channels, height, width) of an image in a batch.")
      .param("preprocess_threads", &F::preprocess_threads, 4, "Threads that decode.")
      .param("verbose", &F::verbose, true, "Whether what is read is logged.")
      .param("num_parts", &F::num_parts, 1, "Parts that the file is divided into.")
      .param("part_index", &F::part_index, 0, "Which part is read.")
      .param("device_id", &F::device_id, 0, "The GPU whose pinned memory batches lie in.")
      .param("shuffle_chunk_size", &F::shuffle_chunk_size, 0,
             "MiB of the runs of records that change places; 0 for none.")
      .param("shuffle_chunk_seed", &F::shuffle_chunk_seed, 0, "Of the order of these runs.")
      .param("seed_aug", &F::seed_aug, std::optional<int32_t>(),
             "Of the augmentations; None takes seed.")
      .param("shuffle", &F::shuffle, false, "Whether records come in a random order.")
      .param("seed", &F::seed, 0, "Of the random order.")
      .again("verbose");
}

template <class P>
void with_image_augment_params(IterBuilder<P>& iter) {
  using A = ImageAugmentParams;
  iter.param("resize", &A::resize, -1, "Length of the shorter side, before anything else.")
      .param("rand_crop", &A::rand_crop, false, "Whether cuts are at random, else in the middle.")
      .param("random_resized_crop", &A::random_resized_crop, false,
             "Whether a part of random area and aspect ratio is cut out and resized.")
      .param("max_rotate_angle", &A::max_rotate_angle, 0, "Degrees, to both sides.")
      .param("max_aspect_ratio", &A::max_aspect_ratio, 0,
             "Largest change of the ratio, or with min_aspect_ratio the largest ratio.")
      .param("min_aspect_ratio", &A::min_aspect_ratio, std::optional<float>(),
             "Smallest ratio of a part that is cut out.")
      .param("max_shear_ratio", &A::max_shear_ratio, 0, "Largest shear, to both sides.")
      .param("max_crop_size", &A::max_crop_size, -1, "Largest side of a square part.")
      .param("min_crop_size", &A::min_crop_size, -1, "Smallest side of a square part.")
      .param("max_random_scale", &A::max_random_scale, 1, "Largest factor of the size.")
      .param("min_random_scale", &A::min_random_scale, 1, "Smallest factor of the size.")
      .param("max_random_area", &A::max_random_area, 1, "Largest share that is cut out.")
      .param("min_random_area", &A::min_random_area, 1, "Smallest share that is cut out.")
      .param("max_img_size", &A::max_img_size, kAnySize, "Longest side after a change of scale.")
      .param("min_img_size", &A::min_img_size, 0, "Shortest side after a change of scale.")
      .param("brightness", &A::brightness, 0, "Largest relative change of brightness.")
      .param("contrast", &A::contrast, 0, "Largest relative change of contrast.")
      .param("saturation", &A::saturation, 0, "Largest relative change of saturation.")
      .param("pca_noise", &A::pca_noise, 0, "Deviation of noise along the axes of colour.")
      .param("random_h", &A::random_h, 0, "Largest change of hue, of 180.")
      .param("random_s", &A::random_s, 0, "Largest change of saturation, of 255.")
      .param("random_l", &A::random_l, 0, "Largest change of lightness, of 255.")
      .param("rotate", &A::rotate, -1, "Degrees that every image is turned by.")
      .param("fill_value", &A::fill_value, 255, "Of pixels from outside of the image.")
      .again("data_shape")
      .param("inter_method", &A::inter_method, 1,
             "0 nearest, 1 linear, 2 cubic, 3 area, 4 Lanczos, 9 what suits, 10 at random.")
      .param("pad", &A::pad, 0, "Pixels added on each side.");
}

constexpr const char* kMirrorDoc = "Whether every image is mirrored.";
constexpr const char* kRandMirrorDoc = "Whether one image in two is mirrored.";
constexpr const char* kMeanRedDoc = "Subtracted from red, or grey.";
constexpr const char* kMeanGreenDoc = "Subtracted from green.";
constexpr const char* kMeanBlueDoc = "Subtracted from blue.";

template <class P>
IterBuilder<P>& with_mean_params(IterBuilder<P>& iter) {
  using N = ImageNormalizeParams;
  return iter
      .param("mean_img", &N::mean_img, "",
             "A file with a mean image, which is subtracted; it is made where it is not there.")
      .param("mean_r", &N::mean_r, 0, kMeanRedDoc)
      .param("mean_g", &N::mean_g, 0, kMeanGreenDoc)
      .param("mean_b", &N::mean_b, 0, kMeanBlueDoc)
      .param("mean_a", &N::mean_a, 0, "Subtracted from a fourth channel.");
}

template <class P>
void with_image_normalize_params(IterBuilder<P>& iter) {
  using N = ImageNormalizeParams;
  iter.again("seed")
      .param("mirror", &N::mirror, false, kMirrorDoc)
      .param("rand_mirror", &N::rand_mirror, false, kRandMirrorDoc);
  with_mean_params(iter)
      .param("std_r", &N::std_r, 1, "Divides red, or grey.")
      .param("std_g", &N::std_g, 1, "Divides green.")
      .param("std_b", &N::std_b, 1, "Divides blue.")
      .param("std_a", &N::std_a, 1, "Divides a fourth channel.")
      .param("scale", &N::scale, 1, "Multiplies all.")
      .param("max_random_contrast", &N::max_random_contrast, 0, "Largest change of contrast.")
      .param("max_random_illumination", &N::max_random_illumination, 0,
             "Largest change of illumination.")
      .again("verbose");
}

}  // namespace mxnet::io
