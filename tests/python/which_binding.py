# SPDX-License-Identifier: Apache-2.0
"""Which binding the tests run on: what only one of them does is skipped on the other."""

from mxnet import _core

ON_CTYPES = _core.NDArrayBase.__module__.startswith("mxnet._ctypes")
