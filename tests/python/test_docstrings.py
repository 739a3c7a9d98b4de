# SPDX-License-Identifier: Apache-2.0
"""What users call has a docstring of its own: help() of an override else shows what the base has to say. Examples in
docstrings run."""

import ast
import re
from pathlib import Path

import mxnet as mx
import numpy as np
import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "python" / "mxnet"


def _is_setter(function):
    """A setter's docstring is shown nowhere: the getter has it."""
    return any(isinstance(one, ast.Attribute) and one.attr == "setter" for one in function.decorator_list)


def _public(node, prefix=""):
    """(name, node) of public classes, their methods and public functions.

    The methods of a class with a private name count where a class of its file is derived from it.
    """
    bases = {ast.unparse(base) for child in node.body if isinstance(child, ast.ClassDef) for base in child.bases}
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            if not child.name.startswith("_"):
                yield prefix + child.name, child
            if not child.name.startswith("_") or child.name in bases:
                yield from _public(child, f"{prefix}{child.name}.")
        elif isinstance(child, ast.FunctionDef) and not child.name.startswith("_") and not _is_setter(child):
            yield prefix + child.name, child


def _sources():
    """Files of the package that users reach: not the folders with private names."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE)
        if not any(part.startswith("_") for part in name.parts[:-1]):
            yield name.as_posix(), ast.parse(path.read_text())


def _without_docstring():
    found = {}
    for name, tree in _sources():
        missing = {what for what, node in _public(tree) if ast.get_docstring(node) is None}
        if missing:
            found[name] = missing
    return found


def test_public_functions_have_docstrings():
    assert _without_docstring() == {}


def test_every_file_says_what_it_is_for():
    assert [name for name, tree in _sources() if ast.get_docstring(tree) is None] == []


def _examples():
    """Code by place: paragraphs of docstrings that are indented (those with >>> have a test beside symbols')."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            text = ast.get_docstring(node) if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) else None
            for paragraph in (text or "").split("\n\n"):
                if ">>>" not in paragraph and re.fullmatch(r"(    .*\n?)+", paragraph):
                    place = f"{path.relative_to(PACKAGE)}:{getattr(node, 'name', 'module')}"
                    found[place] = "\n".join(line[4:] for line in paragraph.splitlines())
    return found


EXAMPLES = _examples()


def _module(batches, bound):
    network = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=10), name="softmax")
    module = mx.mod.Module(network)
    if bound:
        module.bind(batches.provide_data, batches.provide_label)
        module.init_params()
    return module


def _told(code):
    """What examples take for granted."""
    images = np.ones((64, 1, 28, 28), "float32")
    batches = mx.io.NDArrayIter(images, np.zeros(64), 32, label_name="softmax_label")
    cell = mx.gluon.rnn.LSTMCell(64)
    cell.initialize()
    return {
        "mx": mx, "gluon": mx.gluon, "NDArrayIter": mx.io.NDArrayIter, "images": images, "train_batches": batches,
        "test_batches": batches, "module": _module(batches, not re.search(r"\.(bind|fit)\(", code)), "cell": cell,
        "inputs": mx.nd.ones((32, 20, 8)), "scores": mx.nd.ones((32, 10)), "classes": mx.nd.zeros(32),
    }  # fmt: skip


@pytest.mark.parametrize("place", EXAMPLES)
def test_an_example_runs(place):
    exec(compile(EXAMPLES[place], place, "exec"), _told(EXAMPLES[place]))  # pylint: disable=exec-used


def test_there_are_examples():
    assert len(EXAMPLES) >= 9
