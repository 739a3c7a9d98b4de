# SPDX-License-Identifier: Apache-2.0
"""All cases, in the order in which they are printed."""
import axis_cases
import creation_cases
import elemwise_cases
import index_cases
import matrix_cases
import narrow_cases
import numpy_cases
import order_cases
import piece_cases
import reduce_cases
import shape_cases


def all_cases(torch):
    """`torch` is None where it is not installed; its functions are then never called."""
    for module in (elemwise_cases, reduce_cases, order_cases, index_cases, shape_cases, creation_cases, matrix_cases, numpy_cases, piece_cases,
                   narrow_cases, axis_cases):
        yield from module.cases(torch)
