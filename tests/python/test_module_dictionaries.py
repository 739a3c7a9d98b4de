# SPDX-License-Identifier: Apache-2.0
"""Dictionaries of modules whose operators are made when they are first asked for: whoever looks finds all of them."""

import os
import subprocess
import sys

import pytest

import mxnet as mx

MODULES = [mx.nd, mx.nd.op, mx.nd._internal, mx.nd.contrib, mx.nd.linalg, mx.nd.sparse, mx.sym, mx.sym.op, mx.sym._internal, mx.sym.contrib, mx.npx]


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_dictionary_has_every_operator_that_dir_lists(module):
    found = module.__dict__
    assert found is module.__dict__ and vars(module) is found
    submodules = {"np", "npx", "numpy", "numpy_extension", "gs_retain"}
    assert [name for name in dir(module) if name not in found and name not in submodules] == []
    functions = [name for name, value in found.items() if callable(value)]
    assert len(functions) > 15 and all(found[name] is getattr(module, name) for name in functions)


def test_importing_makes_none_of_them():
    code = """
import types, mxnet as mx
own = types.ModuleType.__dict__["__dict__"].__get__
before = len(own(mx.nd.op)), len(own(mx.sym.op))
assert max(before) < 40, before
mx.nd.op.wrong = 3
assert mx.nd.op.__dict__["wrong"] == 3 and mx.nd.op.__dict__["Convolution"] is mx.nd.Convolution
assert len(own(mx.sym.op)) == before[1]
"""
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
