# SPDX-License-Identifier: Apache-2.0
"""What users call has a docstring of its own: help() of an override else shows what the base has to say."""

import ast
from pathlib import Path

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
