# SPDX-License-Identifier: Apache-2.0
"""Threads that are the first to use parts of the package, each another part.

Python locks a module while it is loaded. A thread that wants `ndarray._dtypes` locks that and then waits for the whole
package `ndarray`; one that is loading the package wants `_dtypes`: Python breaks such a circle by handing out what is not
complete. So a package is imported before what lies in it, by whoever is outside.
"""

import ast
import functools
import pathlib
import subprocess
import sys

import pytest

import mxnet

ROOT = pathlib.Path(mxnet.__file__).parent
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
    if (path.parent / "__init__.py").exists()  # a wheel has programs beside the packages
}
del FILES["__init__"]


def parents(name):
    """The packages around a module, outermost first."""
    parts = name.split(".")
    return [".".join(parts[:count]) for count in range(1, len(parts))]


def _nested(body, inside=False):
    """Statements, and whether they are in a function; not those for type checkers."""
    for statement in body:
        yield statement, inside
        inner = inside or isinstance(statement, ast.FunctionDef)
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.dump(statement.test):
            continue
        for part in ("body", "orelse", "handlers", "finalbody"):
            yield from _nested([item for item in getattr(statement, part, []) if isinstance(item, (ast.stmt, ast.ExceptHandler))], inner)


@functools.lru_cache(maxsize=None)
def imports(name):
    """The modules of this package that a module imports, in order, and whether a function does it."""
    package = ["mxnet", *(name if FILES[name].name == "__init__.py" else name.rpartition(".")[0]).split(".")]
    package = [part for part in package if part]
    found = []
    for statement, inside in _nested(ast.parse(FILES[name].read_text()).body):
        if isinstance(statement, ast.ImportFrom) and statement.level:
            above = [*package[: len(package) - statement.level + 1], *(statement.module or "").split(".")]
            whole = ".".join(part for part in above[1:] if part)
            named = [f"{whole}.{alias.name}".lstrip(".") for alias in statement.names]
            found += [(module, inside) for module in (whole, *named) if module in FILES]
    return found


@functools.lru_cache(maxsize=None)
def loads(name):
    """All modules that are loaded with one."""
    found, left = set(), [name]
    while left:
        module = left.pop()
        if module not in found:
            found.add(module)
            left += [*parents(module), *(other for other, inside in imports(module) if not inside)]
    return found


def there_before(package):
    """What is loaded when the first module within a package begins."""
    found = set()
    for around in (*parents(package), package):
        for other, inside in imports(around):
            if other.startswith(around + "."):
                break
            found |= set() if inside or around in loads(other) else loads(other)
    return found


def test_a_package_is_imported_before_what_lies_in_it():
    wrong = []
    for name in sorted(FILES):
        around = parents(name)
        there = there_before(around[-1]) if around else set()
        for other, inside in imports(name):
            known = loads(name) | there if inside else there
            for package in parents(other):
                outside = package not in (*around, name) and name not in parents(package)
                if outside and package not in known and other in loads(package):
                    wrong.append(f"{name}: given an import of {other}, expected one of {package} before it")
            there |= loads(other)
    assert not wrong, "\n".join(wrong)


# Each thread begins with another of these.
_USES = ["mx.nd.ones((2,))", "mx.np.ones((2,))", "mx.npx.relu", "mx.autograd.record()", "mx.gluon.nn.Dense(2)", "mx.sym.var('a')"]
_PROGRAM = """
import sys, threading
import mxnet as mx
sys.setswitchinterval(1e-6)
start = threading.Barrier(len(sys.argv) - 1)
def run(use):
    start.wait()
    eval(use)
    sys.stdout.write("done\\n")
threads = [threading.Thread(target=run, args=(use,)) for use in sys.argv[1:]]
[thread.start() for thread in threads]
"""


@pytest.mark.parametrize("turn", range(4))
def test_each_thread_is_the_first_to_use_another_part(turn):
    uses = _USES[turn:] + _USES[:turn]
    run = subprocess.run([sys.executable, "-c", _PROGRAM, *uses], capture_output=True, text=True, timeout=120)
    assert run.stdout.split() == ["done"] * len(uses), run.stderr
