# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a call of an operator is an error that names the operator and what is wrong, and never the end of the process.

Usage: MXNET_LIBRARY_PATH=path/to/libmxnet.so pytest tests/python/c_api/test_c_api_error_texts.py
"""
import collections
import json
import pathlib
import subprocess
import sys

import pytest

from op_faults import TAKES_ANYTHING, Fault, drawn_calls, faults
from op_registry import names_of

SEED = 20
# More than a loaded machine takes for a part; what has no end takes longer.
SECONDS = 600
PARTS = 8
DRAWN_EACH = 40  # calls of each gradient operator
CALLER = pathlib.Path(__file__).resolve().parent.parent / "hostile_calls.py"
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the memory of a process is limited by what Linux offers")


def answers_to(given):
    """Of calls in a process of their own: "made", or the text of the error."""
    lines = "".join(json.dumps(fault.call()) + "\n" for fault in given)
    child = subprocess.run([sys.executable, CALLER], input=lines, capture_output=True, text=True, timeout=SECONDS)
    answers = [json.loads(line) for line in child.stdout.splitlines()]
    assert len(answers) == len(given), f"{given[len(answers)]} ended the process ({child.returncode}): {child.stderr[-2000:]}"
    return answers


@pytest.fixture(scope="module")
def names(mx):
    """All names of each operator: its own, and aliases."""
    of_handle = collections.defaultdict(list)
    for name in names_of(mx.lib._name):
        of_handle[mx.op(name).value].append(name)
    return {name: all_names for all_names in of_handle.values() for name in all_names}


def problem_of(fault, answer, names):
    """What an answer lacks, or None."""
    if answer == "made":
        return "made" if fault.must_fail else None
    if fault.op in TAKES_ANYTHING:
        return None
    kind, _, said = answer.partition(": ")
    if kind not in ("MXNetError", "NotImplementedError") or not any(said.startswith(f"[{name}] ") for name in names[fault.op]):
        return "the operator"
    return next((text for text in fault.named if text not in said), None)


@pytest.mark.parametrize("part", range(PARTS))
def test_an_error_names_the_operator_the_argument_and_what_was_given(mx, names, part):
    given = list(faults(mx))[part::PARTS]
    poor = [(what, fault.call(), answer) for fault, answer in zip(given, answers_to(given))
            if (what := problem_of(fault, answer, names)) is not None]
    assert not poor[:5], f"{len(poor)} of {len(given)}"


@pytest.mark.parametrize("part", range(PARTS))
def test_gradient_operators_check_what_they_are_given(mx, names, part):
    given = list(drawn_calls(mx, "backward", DRAWN_EACH, SEED))[part::PARTS]
    answers = answers_to(given)
    assert sum(answer == "made" for answer in answers) > len(given) // 100  # some calls are right
    unnamed = [(fault.call(), answer) for fault, answer in zip(given, answers) if problem_of(fault, answer, names) is not None]
    assert not unnamed[:5]


LSTM_PARAMS = {"mode": "lstm", "num_layers": 1, "projection_size": 3, "state_outputs": True, "state_size": 5}
LSTM = [(3, 2, 4), (195,), (1, 2, 3), (1, 2, 5), (3, 2, 3), (180,), (3, 2, 3), (1, 2, 3), (1, 2, 5)]


def lstm_with(place, shape):
    """The gradient of an LSTM, one of its arrays of another shape."""
    shapes = [shape if i == place else s for i, s in enumerate(LSTM)]
    return Fault("_backward_RNN", LSTM_PARAMS, tuple((s, "float32") for s in shapes), must_fail=True)


def product(op, shapes, **params):
    return Fault(op, {"wrt": 2**31 - 1, **params}, tuple((s, "float32") for s in shapes), must_fail=True)


WRONG_INSIDE = [
    Fault("_sg_constant", {}, (), must_fail=True),
    *(lstm_with(place, shape) for place in (4, 5, 6, 7, 8) for shape in [(0,), (0, 2, 5), (7, 2, 3)]),
    product("_backward_dot", [(2, 4), (2, 3), (3, 4)]),
    product("_backward_np_dot", [(2, 4), (2, 3), (3, 4)]),
    product("_backward_batch_dot", [(2, 6, 2), (2, 6, 6), (2, 6, 2)]),
    product("_backward_npi_matmul", [(2, 2, 4), (2, 2, 3), (3, 4)]),
    product("_backward_npi_tensordot_int_axes", [(2, 4), (2, 3), (3, 4)], axes=1),
    product("_backward_npi_tensordot", [(4, 4), (4, 5), (5, 4)], a_axes_summed="(-1,)", b_axes_summed="(0,)"),
    Fault("_backward__npi_dsplit", {"axis": 2, "indices": "(0,1,3)", "sections": 2**31 - 1},
          (((2, 3, 4), "float32"),) + (((2, 3, 1), "float32"),) * 3, must_fail=True),
]


@pytest.mark.parametrize("fault", WRONG_INSIDE, ids=lambda fault: fault.op)
def test_operators_that_graphs_are_made_of_check_what_they_are_given(names, fault):
    answers = answers_to([fault])
    assert problem_of(fault, answers[0], names) is None, answers


def test_the_gradient_of_a_recurrent_layer_takes_what_fits():
    assert answers_to([Fault("_backward_RNN", LSTM_PARAMS, tuple((s, "float32") for s in LSTM))]) == ["made"]
