# SPDX-License-Identifier: Apache-2.0
"""Images as arrays (height, width, channels), and what is done to them before they make a batch."""

from ._augmenters import (
    Augmenter, BrightnessJitterAug, CastAug, CenterCropAug, ColorJitterAug, ColorNormalizeAug, ContrastJitterAug,
    CreateAugmenter, ForceResizeAug, HorizontalFlipAug, HueJitterAug, LightingAug, RandomCropAug, RandomGrayAug,
    RandomOrderAug, RandomSizedCropAug, ResizeAug, SaturationJitterAug, SequentialAug,
)
from ._functions import (
    _get_interp_method,  # noqa: F401  (packages take it from here)
    center_crop, color_normalize, copyMakeBorder, fixed_crop, imdecode, imread, imresize, imrotate, numeric_types,
    random_crop, random_rotate, random_size_crop, resize_short, scale_down,
)
from .iterator import ImageIter

__all__ = [
    "Augmenter", "BrightnessJitterAug", "CastAug", "CenterCropAug", "ColorJitterAug", "ColorNormalizeAug", "ContrastJitterAug",
    "CreateAugmenter", "ForceResizeAug", "HorizontalFlipAug", "HueJitterAug", "ImageIter", "LightingAug", "RandomCropAug",
    "RandomGrayAug", "RandomOrderAug", "RandomSizedCropAug", "ResizeAug", "SaturationJitterAug", "SequentialAug", "center_crop",
    "color_normalize", "copyMakeBorder", "fixed_crop", "imdecode", "imread", "imresize", "imrotate", "numeric_types",
    "random_crop", "random_rotate", "random_size_crop", "resize_short", "scale_down",
]
