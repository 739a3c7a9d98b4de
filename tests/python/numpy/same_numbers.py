# SPDX-License-Identifier: Apache-2.0
"""What arrays of mx.np hold, beside NumPy's."""

import numpy as onp

from mxnet import np


def as_numpy(value):
    if isinstance(value, (tuple, list)):
        return [as_numpy(item) for item in value]
    return value.asnumpy() if isinstance(value, np.ndarray) else value


def assert_same(actual, expected):
    if isinstance(expected, (tuple, list)):
        assert len(actual) == len(expected)
        for one, other in zip(actual, expected):
            assert_same(one, other)
        return
    assert onp.shape(actual) == onp.shape(expected)
    onp.testing.assert_allclose(actual, expected, rtol=2e-4, atol=2e-5)
