# SPDX-License-Identifier: Apache-2.0
"""mx.util: variables of the library."""

import os

import mxnet as mx
import pytest

LIVE = "DMLC_LOG_STACK_TRACE_DEPTH"


def test_setenv_reaches_the_library_and_not_the_process():
    mx.util.setenv(LIVE, "2")
    try:
        assert mx.util.getenv(LIVE) == "2"
        assert mx.config.get(LIVE) == "2"
        assert LIVE not in os.environ
    finally:
        mx.util.setenv(LIVE, None)
    assert mx.util.getenv(LIVE) is None


def test_any_other_name_is_kept():
    mx.util.setenv("SOME_PROGRAMS_NAME", "x y")
    assert mx.util.getenv("SOME_PROGRAMS_NAME") == "x y"
    mx.util.setenv("SOME_PROGRAMS_NAME", None)
    assert mx.util.getenv("SOME_PROGRAMS_NAME") is None


def test_getenv_sees_the_environment_of_the_start(run_python):
    done = run_python("import mxnet as mx; print(mx.util.getenv('FROM_OUTSIDE'))", env={"FROM_OUTSIDE": "é"})
    assert done.stdout == "é\n", done.stderr


def test_environment_holds_inside_the_block_only():
    with mx.util.environment(LIVE, "4"):
        assert mx.config.get(LIVE) == "4"
        with mx.util.environment({LIVE: "5", "ANOTHER": "1"}):
            assert mx.config.get(LIVE) == "5"
            assert mx.util.getenv("ANOTHER") == "1"
        assert mx.config.get(LIVE) == "4"
        assert mx.util.getenv("ANOTHER") is None
        with mx.util.environment(LIVE, None):
            assert mx.config.get(LIVE) == "0"
        assert mx.config.get(LIVE) == "4"
    assert mx.util.getenv(LIVE) is None


def test_environment_is_restored_after_an_exception():
    with pytest.raises(KeyError):
        with mx.util.environment(LIVE, "4"):
            raise KeyError
    assert mx.config.get(LIVE) == "0"


def test_environment_that_fails_halfway_changes_nothing():
    with pytest.raises(ValueError, match="MXNET_ENGINE_TYPE"):
        with mx.util.environment({LIVE: "4", "MXNET_ENGINE_TYPE": "NaiveEngine"}):
            pytest.fail("entered")
    assert mx.config.get(LIVE) == "0"


@pytest.mark.parametrize("arguments", [(), ("a",), ("a", "b", "c"), (1, 2)])
def test_environment_checks_its_arguments(arguments):
    with pytest.raises(TypeError):
        with mx.util.environment(*arguments):
            pytest.fail("entered")


def test_gpu_facts_agree_with_context(run_python):
    assert mx.util.get_gpu_count() == mx.num_gpus()
    done = run_python(
        "import mxnet as mx\n"
        "assert mx.util.get_gpu_count() == 2\n"
        "free, total = mx.util.get_gpu_memory(1)\n"
        "assert 0 < free <= total == 67108864\n"
        "assert mx.gpu_memory_info(1) == (free, total)\n",
        env={"MXNET_SIM_GPUS": "2", "MXNET_SIM_GPU_MEMORY_BYTES": "67108864"},
    )
    assert done.returncode == 0, done.stderr
