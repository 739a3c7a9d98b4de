# SPDX-License-Identifier: Apache-2.0
"""The binding without native code: the C ABI through ctypes.

MXNET_ENABLE_CYTHON=0 selects it, and it stands in where the native module does not load.
"""
