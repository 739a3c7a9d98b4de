# SPDX-License-Identifier: Apache-2.0
"""Names that modules show while other threads have more of them made, or a library adds to the registry."""

import pytest

import mxnet as mx
from mxnet import _lazy
from mxnet.ndarray import _generate
from several_threads import together


def test_a_module_is_listed_while_a_name_is_added_to_it():
    class Interrupted(str):
        """Has a name added by another thread whenever it is looked up."""

        __slots__ = ()

        def __hash__(self):
            together(lambda i: names.setdefault(f"name_{len(names)}", i), 1)
            return super().__hash__()

    names = {}
    names[Interrupted("mine")] = 1
    assert "mine" in _lazy.listed(names)
    assert len(names) > 2


@pytest.mark.parametrize("look", [lambda: _generate.names_in("_random_"), lambda: mx.nd.FullyConnected])
def test_the_registry_is_looked_up_while_a_library_adds_to_it(look):
    mx.nd.__dict__.pop("FullyConnected", None)
    expected = look()

    def run(i):
        for _ in range(100):
            mx.nd.__dict__.pop("FullyConnected", None)
            if i == 0:
                _generate.forget_names()
            elif look() != expected:
                return False
        return True

    assert all(together(run))
