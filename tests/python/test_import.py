# SPDX-License-Identifier: Apache-2.0
"""What `import mxnet` does and does not do."""

import os
import pickle

import mxnet as mx
import pytest


def test_versions_are_those_of_the_package_and_of_the_release_it_follows():
    assert mx.__version__ == "1.10.0"
    assert mx._core.version() == 10901


def test_versions_are_compared_by_their_numbers():
    assert not mx.__version__ < "1.3.1" and mx.__version__ >= "1.9" and "1.9.1" < mx.__version__ <= "1.10.0"
    assert mx.__version__ < "2.0" and max("1.9.1", mx.__version__) == "1.10.0" and mx.libinfo.__version__ is mx.__version__
    assert pickle.loads(pickle.dumps(mx.__version__)) == "1.10.0" and {mx.__version__: 1}["1.10.0"] == 1


def test_a_version_is_pickled_as_plain_text():
    """Checkpoints that name it are read without this package."""
    pickled = pickle.dumps(mx.__version__)
    assert b"mxnet" not in pickled and type(pickle.loads(pickled)) is str


def test_a_version_is_written_by_what_knows_text_alone():
    """As yaml.safe_dump looks for the function that writes a value: by the first class of its type."""
    assert type(mx.__version__).__mro__[0] is str and isinstance(mx.__version__, str)
    yaml = pytest.importorskip("yaml")
    assert yaml.safe_dump({"mxnet": mx.__version__}) == "mxnet: 1.10.0\n"


def test_modules_are_loaded_when_used(run_python):
    done = run_python(
        "import sys, mxnet as mx\n"
        "assert 'mxnet.config' not in sys.modules and 'json' not in sys.modules\n"
        "assert 'numpy' not in sys.modules\n"
        "assert 'ctypes' not in sys.modules or 'mxnet._ctypes' in sys.modules\n"
        "assert mx.config.get('MXNET_ENGINE_TYPE') and 'mxnet.config' in sys.modules\n"
        "assert 'config' in dir(mx)\n"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "" and done.stderr == ""


@pytest.mark.parametrize("module", ["", "gluon", "nd", "npx", "sym"])
def test_modules_list_nothing_that_only_annotations_need(module):
    listed = dir(getattr(mx, module) if module else mx)
    assert not {"Any", "List", "annotations"} & set(listed)
    assert {"": "nd", "gluon": "Trainer", "nd": "Convolution", "npx": "relu", "sym": "Convolution"}[module] in listed


def test_an_unknown_attribute_is_named():
    with pytest.raises(AttributeError, match="no_such_thing"):
        mx.no_such_thing  # pylint: disable=pointless-statement,no-member


@pytest.mark.parametrize(
    "name, value",
    [
        ("MXNET_ENGINE_TYPE", "Foo"),
        ("MXNET_CPU_WORKER_NTHREADS", "abc"),
        ("MXNET_CPU_WORKER_NTHREADS", "-3"),
        ("MXNET_GPU_MEM_POOL_RESERVE", "170"),
        ("MXNET_PROFILER_MODE", "99"),
        ("OMP_NUM_THREADS", "0"),
    ],
)
def test_bad_value_in_the_environment_raises_at_import(run_python, name, value):
    done = run_python("import mxnet", env={name: value})
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "ValueError" in last and name in last and value in last
    assert "binding" not in done.stderr, "it is not the binding's fault"


def test_bad_value_can_be_caught_as_either_class(run_python):
    done = run_python(
        "try:\n    import mxnet\n    print('imported')\nexcept ValueError as error:\n    print(isinstance(error, RuntimeError))",
        env={"MXNET_ENGINE_TYPE": "Foo"},
    )
    assert done.stdout == "True\n", done.stderr


def test_bytes_that_are_no_text(run_python):
    done = run_python("import mxnet", env={"MXNET_ENGINE_TYPE": os.fsdecode(b"\xff\xfe")})
    assert done.returncode == 1
    assert "MXNET_ENGINE_TYPE" in done.stderr


def test_unknown_name_warns_once_with_the_nearest(run_python):
    done = run_python("import mxnet", env={"MXNET_ENGINE_TYP": "NaiveEngine"})
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.count("MXNET_ENGINE_TYPE") == 1, done.stderr


def test_thread_counts_are_taken_from_the_environment(run_python):
    done = run_python(
        "import mxnet as mx\nprint(mx.config.get('OMP_NUM_THREADS'))", env={"OMP_NUM_THREADS": "4,2"}
    )
    assert done.stdout == "4,2\n", done.stderr


def test_exit_is_quiet_in_every_way_to_exit(run_python):
    for code in ("", "raise SystemExit(0)", "import atexit; atexit.register(mx._core.wait_all)"):
        done = run_python(f"import mxnet as mx\n{code}")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), code
