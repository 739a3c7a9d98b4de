# SPDX-License-Identifier: Apache-2.0
"""What a test may change for its thread or process, and the next one would meet: put back as it was.

Registries (operators, optimizers) keep what a test has added to them, and AMP stays initialised: programs cannot take
that back either.
"""

import contextlib
import copy
import ctypes as C
import functools
import json
import os
import random
import sys

SEED = 20  # of each test's random numbers, where it draws without a seed of its own: whatever ran before


@functools.lru_cache(maxsize=None)
def live_variables(path):
    """Names of the settings that a running program can change."""
    text = C.c_char_p()
    C.CDLL(path).MXConfigToJSON(C.byref(text))
    return [row["name"].encode() for row in json.loads(text.value) if row["when"] == "live"]


def of_library(lib):
    """Functions that put the flags and settings of a libmxnet.so back."""

    def call(name, *arguments):
        if getattr(lib, name)(*arguments) != 0:
            raise AssertionError(f"{name}: {lib.MXGetLastError().decode()}")

    def got(name, kind):
        value = kind()
        call(name, C.byref(value))
        return value.value

    def changed(name, to):
        before = C.c_int()
        call(name, C.c_int(to), C.byref(before))
        return before.value

    def variable(name):
        value = C.c_char_p()
        call("MXGetEnv", name, C.byref(value))
        return value.value

    def restore_variables():
        for name, value in variables.items():
            if variable(name) != value:
                call("MXSetEnv", name, value)

    lib.MXGetLastError.restype = C.c_char_p
    lib.MXSetEnv.argtypes = C.c_char_p, C.c_char_p
    recording, training = got("MXAutogradIsRecording", C.c_bool), got("MXAutogradIsTraining", C.c_bool)
    shapes = got("MXIsNumpyShape", C.c_int)
    bulk = changed("MXEngineSetBulkSize", 0)
    changed("MXEngineSetBulkSize", bulk)
    variables = {name: variable(name) for name in live_variables(lib._name)}
    call("MXRandomSeed", SEED)

    def restore_shapes():
        changed("MXSetIsNumpyShape", 0)  # of all threads too
        changed("MXSetIsNumpyShape", shapes)

    def forget_profile():
        call("MXSetProfilerState", 0)
        call("MXAggregateProfileStatsPrintEx", C.byref(C.c_char_p()), 1, 0, 0, 0)

    return [
        restore_variables,
        restore_shapes,
        forget_profile,
        lambda: changed("MXEngineSetBulkSize", bulk),
        lambda: changed("MXAutogradSetIsRecording", recording),
        lambda: changed("MXAutogradSetIsTraining", training),
    ]


@functools.lru_cache(maxsize=None)
def library_of_package():
    return C.CDLL(sys.modules["mxnet"].libinfo.find_lib_path()[0])


def of_package():
    """Functions that put back what the package keeps in Python."""
    from mxnet import _core, _np_scopes, attribute, context, name

    # Dear to import, and empty until they are.
    of_gluon, of_tests = "mxnet.gluon._naming", "mxnet.test_utils._compare"

    def lists():
        yield context._current.stack
        yield attribute._local.stack
        yield name._local.stack
        yield sys.modules[of_gluon]._local.stack if of_gluon in sys.modules else [None]
        yield sys.modules[of_tests]._default if of_tests in sys.modules else []

    contents = [list(each) for each in lists()]
    managers = [(manager, copy.copy(manager._counter)) for manager in name._local.stack]
    default, arrays = context._current.default, _np_scopes.is_np_array()

    def restore():
        for each, content in zip(lists(), contents):
            each[:] = content
        for manager, counter in managers:
            manager._counter = counter
        context._current.default = default
        _core.set_np_array(arrays)

    return [restore]


def of_process():
    """Functions that put back what belongs to Python and NumPy."""
    variables = dict(os.environ)
    state = random.getstate()
    random.seed(SEED)
    restores = [lambda: random.setstate(state)]
    if np := sys.modules.get("numpy"):
        numpy_state = np.random.get_state()
        np.random.seed(SEED)
        restores.append(lambda: np.random.set_state(numpy_state))

    def restore_variables():
        # Only what differs: threads of libraries may be reading the environment.
        now = dict(os.environ)
        for variable in now.keys() | variables.keys():
            if variable == "PYTEST_CURRENT_TEST" or now.get(variable) == variables.get(variable):
                continue
            if variable in variables:
                os.environ[variable] = variables[variable]
            else:
                del os.environ[variable]

    return [*restores, restore_variables]


@contextlib.contextmanager
def kept(library=None):
    """State inside the block is gone at its end. `library`: one that is used beside the package, or without it."""
    restores = of_process()
    if library is not None:
        restores += of_library(library)
    if "mxnet" in sys.modules:
        restores += of_package() + of_library(library_of_package())
    with contextlib.ExitStack() as stack:  # one that fails keeps none from its turn
        for restore in restores:
            stack.callback(restore)
        yield
