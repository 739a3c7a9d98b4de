# SPDX-License-Identifier: Apache-2.0
"""More convolutions."""

from . import conv_layers
from .conv_layers import *

__all__ = conv_layers.__all__
