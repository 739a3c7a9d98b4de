# SPDX-License-Identifier: Apache-2.0
"""`python -m mxnet.diagnose`, and the tool that writes .pyi files."""

import ast
import os
import pathlib
import subprocess
import sys

from mxnet import diagnose

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_report_has_every_part(run_python):
    done = run_python("", module="mxnet.diagnose", env={"MXNET_ENGINE_TYPE": "NaiveEngine"})
    assert done.returncode == 0, done.stdout + done.stderr
    for part in ("Versions", "numpy", "Features", "OPENMP", "Self-check", "MXNET_ENGINE_TYPE", "NaiveEngine (environment)"):
        assert part in done.stdout
    assert done.stdout.count("  ok") == len(diagnose.checks())


def test_a_reader_may_stop_before_the_end():
    reader, writer = os.pipe()
    os.close(reader)
    try:
        done = subprocess.run([sys.executable, "-m", "mxnet.diagnose"], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    finally:
        os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_failed_check_is_reported(monkeypatch):
    def broken():
        raise ValueError("on purpose")

    monkeypatch.setitem(diagnose._CHECKS, "files", broken)
    assert ("files", "ValueError: on purpose") in diagnose.checks()


def test_what_is_wrong_is_found_without_assertions(run_python):
    done = run_python(
        "from mxnet import diagnose, nd\n"
        "nd.ones = nd.zeros\n"
        "assert False, 'python -O passes over this'\n"
        "print(dict(diagnose.checks()))\n",
        env={"PYTHONOPTIMIZE": "1"},
    )
    assert done.returncode == 0, done.stderr
    assert "ArithmeticError: computed [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], expected [[3.0" in done.stdout


def test_stubs_show_every_operator_with_its_parameters(tmp_path):
    for package in ("ndarray", "symbol"):
        (tmp_path / package).mkdir()
    command = [sys.executable, str(ROOT / "tools" / "make_pyi.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    module = ast.parse((tmp_path / "ndarray" / "op.pyi").read_text())
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef)}
    assert len(functions) > 200
    arguments = [argument.arg for argument in functions["Convolution"].args.args]
    assert arguments[:3] == ["data", "weight", "bias"] and "kernel" in arguments
    assert ast.get_docstring(functions["softmax"])
