# SPDX-License-Identifier: Apache-2.0
"""mx.config and `python -m mxnet.config`."""

import io
import json
import os
import signal
import subprocess
import sys

import mxnet as mx
import pytest

COLUMNS = {"name", "value", "default", "source", "allowed", "doc", "effect", "when", "type", "section"}


def test_rows_have_all_columns_and_unique_names():
    rows = mx.config.rows()
    assert len(rows) > 50
    assert all(COLUMNS <= set(row) for row in rows)
    assert len({row["name"] for row in rows}) == len(rows)


def test_get_and_set_of_a_live_row():
    assert mx.config.get("DMLC_LOG_STACK_TRACE_DEPTH") == "0"
    mx.config.set("DMLC_LOG_STACK_TRACE_DEPTH", 3)
    try:
        assert mx.config.get("DMLC_LOG_STACK_TRACE_DEPTH") == "3"
        row = next(r for r in mx.config.rows() if r["name"] == "DMLC_LOG_STACK_TRACE_DEPTH")
        assert row["source"] == "set"
    finally:
        mx.config.set("DMLC_LOG_STACK_TRACE_DEPTH", None)
    assert mx.config.get("DMLC_LOG_STACK_TRACE_DEPTH") == "0"


def test_bool_is_written_as_a_number():
    mx.config.set("MXNET_ENGINE_INFO", True)
    try:
        assert mx.config.get("MXNET_ENGINE_INFO") == "1"
    finally:
        mx.config.set("MXNET_ENGINE_INFO", None)


def test_startup_row_cannot_change():
    with pytest.raises(ValueError, match="MXNET_ENGINE_TYPE"):
        mx.config.set("MXNET_ENGINE_TYPE", "NaiveEngine")


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match="MXNET_ENGINE_TYPE"):
        mx.config.get("MXNET_ENGINE_TIPE")
    with pytest.raises(ValueError, match="MXNET_ENGINE_TYPE"):
        mx.config.set("MXNET_ENGINE_TIPE", "1")


def test_text_that_cannot_be_a_variable_is_refused():
    with pytest.raises((ValueError, TypeError)):
        mx.util.setenv("MXNET_LOG_LEVEL", "a\0b")
    with pytest.raises(TypeError):
        mx.util.setenv("MXNET_LOG_LEVEL", 3)


def test_show_prints_name_value_default_and_source():
    out = io.StringIO()
    mx.config.show("ENGINE_TYPE", file=out)
    header, *lines = out.getvalue().splitlines()
    assert header.split() == ["name", "value", "default", "source"]
    assert any(line.split()[0] == "MXNET_ENGINE_TYPE" for line in lines)


def test_command_prints_the_environments_value(run_python):
    done = run_python(None, "CPU_WORKER", module="mxnet.config", env={"MXNET_CPU_WORKER_NTHREADS": "3"})
    assert done.returncode == 0 and done.stderr == "", done.stderr
    line = next(line for line in done.stdout.splitlines() if line.startswith("MXNET_CPU_WORKER_NTHREADS"))
    assert line.split() == ["MXNET_CPU_WORKER_NTHREADS", "3", "1", "environment"]


def test_command_prints_json(run_python):
    done = run_python(None, "--json", module="mxnet.config")
    assert done.returncode == 0, done.stderr
    assert {row["name"] for row in json.loads(done.stdout)} == {row["name"] for row in mx.config.rows()}


def test_command_ends_in_silence_where_its_reader_has_ended():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([sys.executable, "-m", "mxnet.config"], stdout=writer, stderr=subprocess.PIPE, timeout=300)
    os.close(writer)
    assert done.returncode == -signal.SIGPIPE and done.stderr == b"", done.stderr


def test_command_lists_what_is_pending(run_python):
    done = run_python(None, "--pending", "--json", module="mxnet.config")
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert all(row["effect"] == "pending" and row["note"] for row in rows)
    assert len(rows) == sum(row["effect"] == "pending" for row in mx.config.rows())


def test_values_that_are_no_text_are_shown(run_python):
    done = run_python(None, "LD_LIBRARY", module="mxnet.config", env={"LD_LIBRARY_PATH": os.fsdecode(b"/a\xff")})
    assert done.returncode == 0, done.stderr
    assert "LD_LIBRARY_PATH" in done.stdout
