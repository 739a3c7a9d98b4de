# SPDX-License-Identifier: Apache-2.0
"""Every public name of the reference's NumPy modules is there, with the reference's arguments."""

import functools
import importlib
import inspect
import json
import pathlib
import pickle

import pytest

NAMES = json.loads((pathlib.Path(__file__).parents[2] / "data" / "numpy_names.json").read_text())

# Names whose arguments are more than the reference's, or shown otherwise.
MORE = {
    "mxnet.ndarray.numpy": {"atleast_1d", "atleast_2d", "atleast_3d", "matmul", "pad", "remainder"},
    "mxnet.ndarray.numpy.random": {"multinomial"},
    "mxnet.ndarray.numpy_extension.random": {"bernoulli"},
    "mxnet.numpy_extension": {"constraint_check"},
    "mxnet.symbol.numpy": {"atleast_1d", "atleast_2d", "atleast_3d", "pad", "where", "zeros"},
    "mxnet.symbol.numpy.random": {"rayleigh"},  # the reference's default of 0 draws nothing but zeros
    "mxnet.util": {"getenv", "setenv", "use_np", "use_np_array", "use_np_shape"},
}
PYTHON_2 = {"__div__", "__idiv__", "__nonzero__", "__rdiv__"}


def shown(function):
    parts = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty:
            parts.append(str(parameter).split(":")[0])
        else:
            default = parameter.default
            text = f"numpy.{default.__name__}" if isinstance(default, type) else repr(default)
            parts.append(f"{parameter.name}={text}")
    return f"({', '.join(parts)})"


@pytest.mark.parametrize("module", NAMES)
def test_names_and_arguments_are_there(module):
    there = importlib.import_module(module)
    for name, facts in NAMES[module].items():
        assert hasattr(there, name), f"{module}.{name}"
        if "sig" in facts and name not in MORE.get(module, ()):
            assert shown(getattr(there, name)) == facts["sig"], f"{module}.{name}"
        for method in set(facts.get("methods", ())) - PYTHON_2:
            assert hasattr(getattr(there, name), method), f"{module}.{name}.{method}"


def test_functions_say_what_they_do():
    from mxnet import np

    for name in np.multiarray.__all__:
        function = getattr(np, name)
        if callable(function):
            assert function.__doc__, name


def test_modules_show_their_names():
    from mxnet import np, npx, sym

    assert {"add", "zeros", "linalg", "random", "ndarray"} <= set(dir(np))
    assert {"softmax", "image", "set_np"} <= set(dir(npx)) and "relu" in dir(sym.npx) and "resize" in dir(npx.image)
    assert "add" in dir(sym.np._internal)
    for module, name in ((np, "no_such"), (npx, "no_such"), (sym.npx, "no_such"), (sym.np._internal, "no_such")):
        with pytest.raises(AttributeError, match="no_such"):
            getattr(module, name)


def test_images_for_numpy_have_what_images_have():
    import mxnet as mx

    assert mx.npx.image.imresize is mx.image.imresize and mx.npx.image.CreateAugmenter is mx.image.CreateAugmenter
    assert mx.npx.image.resize is not mx.image.image and "ImageIter" in dir(mx.npx.image)
    with pytest.raises(AttributeError, match="no_such"):
        mx.npx.image.no_such
    assert not hasattr(mx.npx.image, "__path__")  # it is no package
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mxnet.numpy_extension.image.detection")
    everything = {}
    exec("from mxnet.numpy_extension.image import *", everything)  # the operators, as in 1.9.1
    assert {"to_tensor", "resize", "random_hue"} <= set(everything) and "imresize" not in everything


def test_a_constraint_needs_no_text_of_its_own():
    from mxnet import MXNetError, np, npx

    assert npx.constraint_check(np.array([True, True]))
    with pytest.raises(MXNetError, match="Constraint violated"):
        bool(npx.constraint_check(np.array([True, False])))


PICKLED = [
    "nd", "nd.contrib", "nd.image", "nd.linalg", "nd.random", "nd.sparse", "sym", "sym.contrib", "sym.image", "sym.linalg",
    "sym.random", "sym.sparse", "np", "np.linalg", "np.random", "npx", "npx.image", "npx.random", "sym.np", "sym.np.linalg",
    "sym.np.random", "sym.npx", "sym.npx.image", "sym.npx.random",
]  # fmt: skip


@pytest.mark.parametrize("place", PICKLED)
def test_functions_come_back_from_pickles(place):
    """As worker processes of data loaders get them."""
    module = functools.reduce(getattr, place.split("."), importlib.import_module("mxnet"))
    functions = {name: getattr(module, name) for name in dir(module) if name[0] != "_" and callable(getattr(module, name))}
    assert functions, place
    for name, function in functions.items():
        assert pickle.loads(pickle.dumps(function)) == function, f"{place}.{name}"


def test_a_pickle_of_a_section_is_not_of_a_plain_name():
    from mxnet import np

    assert pickle.loads(pickle.dumps(np.random.power)) == np.random.power != np.power
    assert pickle.loads(pickle.dumps(np.linalg.norm))(np.array([3.0, 4.0])) == 5
