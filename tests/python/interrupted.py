# SPDX-License-Identifier: Apache-2.0
"""Ctrl-C at a chosen place of a Python function: a trace raises KeyboardInterrupt there."""
import gc
import sys


def is_interrupted(body, trace):
    """Whether the KeyboardInterrupt that the trace raises somewhere in body() comes out of it."""
    gc.disable()  # what packages of tests have called by it is Python too, and its errors go to nobody
    sys.settrace(trace)
    try:
        body()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
        gc.enable()
    return False
