# SPDX-License-Identifier: Apache-2.0
"""What is saved appears whole: a program that is killed meanwhile, or a full disk, leaves the file of before."""

import ctypes
import os
import resource
import stat
import tempfile
import threading

import pytest

import mxnet as mx
from mxnet.base import _LIB, check_call


def symbol_of(number):
    return mx.sym.var(f"x{number}")


def trainer_of(number, on_kvstore):
    weight = mx.gluon.Parameter("weight", shape=(3,))
    weight.initialize(ctx=mx.cpu())
    trainer = mx.gluon.Trainer([weight], "sgd", {"learning_rate": number, "momentum": 0.5}, update_on_kvstore=on_kvstore)
    with mx.autograd.record():
        loss = weight.data() * number
    loss.backward()
    trainer.step(1)
    return trainer


def store_of(number):
    store = mx.kv.create("local")
    store.set_optimizer(mx.optimizer.SGD(learning_rate=1, momentum=0.5))
    store.init(0, mx.nd.ones(3))
    store.push(0, mx.nd.full(3, number))
    return store


def module_of(number):
    module = mx.mod.Module(mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2), label_names=None, context=mx.cpu())
    module.bind([("data", (1, 3))])
    module.init_params()
    module.init_optimizer(kvstore=None, optimizer_params={"momentum": 0.5})
    module.forward_backward(mx.io.DataBatch([mx.nd.full((1, 3), number)]))
    module.update()
    return module


def save_in_c(number, path):
    handle = ctypes.c_void_p()
    check_call(_LIB.MXSymbolCreateFromJSON(symbol_of(number).tojson().encode(), ctypes.byref(handle)))
    check_call(_LIB.MXSymbolSaveToFile(handle, os.fsencode(path)))
    check_call(_LIB.MXSymbolFree(handle))


def profile(number, path):
    mx.profiler.set_config(profile_all=True, filename=path)
    mx.profiler.set_state("run")
    mx.nd.full(3, number).wait_to_read()
    mx.profiler.dump()


WRITERS = {
    "arrays": lambda number, path: mx.nd.save(path, mx.nd.full(3, number)),
    "symbol in C": save_in_c,
    "symbol": lambda number, path: symbol_of(number).save(path),
    "trainer": lambda number, path: trainer_of(number, False).save_states(path),
    "trainer on a store": lambda number, path: trainer_of(number, True).save_states(path),
    "store": lambda number, path: store_of(number).save_optimizer_states(path),
    "module": lambda number, path: module_of(number).save_optimizer_states(path),
}


REPLACES = {**WRITERS, "profile": profile}  # where it is on after an error, the next one would hear of it


@pytest.mark.parametrize("kind", REPLACES)
def test_the_file_of_before_is_not_written_to_but_replaced(tmp_path, kind):
    path, link, before = tmp_path / "saved", tmp_path / "link", tmp_path / "before"
    REPLACES[kind](1, str(path))
    path.chmod(0o640)
    if os.geteuid() == 0:
        os.chown(path, 1234, 1235)
    content = path.read_bytes()
    link.symlink_to(path)
    os.link(path, before)
    REPLACES[kind](2, str(link))
    assert before.read_bytes() == content != path.read_bytes()
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    if os.geteuid() == 0:
        assert (path.stat().st_uid, path.stat().st_gid) == (1234, 1235)
    assert sorted(os.listdir(tmp_path)) == ["before", "link", "saved"]


def test_after_an_error_the_file_of_before_is_there(tmp_path, monkeypatch):
    path = tmp_path / "states"
    trainer = trainer_of(1, False)
    trainer.save_states(path)
    content = path.read_bytes()
    monkeypatch.setattr(trainer._updaters[0], "get_states", lambda dump_optimizer: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        trainer.save_states(path)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["states"]


@pytest.mark.parametrize("kind", REPLACES)
def test_names_of_all_kinds(tmp_path, kind, monkeypatch):
    monkeypatch.chdir(tmp_path)
    os.symlink("later", "link")
    os.mkdir("folder")
    for name in "a b", "ü文", "n" * 255, "link", "folder/../relative", "./x":
        REPLACES[kind](1, name)
        assert os.path.getsize(name) > 0
    assert os.path.islink("link")
    assert sorted(os.listdir()) == sorted(["a b", "ü文", "n" * 255, "link", "later", "folder", "relative", "x"])


@pytest.mark.parametrize("kind", WRITERS)
def test_links_that_go_round_stay(tmp_path, kind):
    for name, leads in ("a", "b"), ("b", "a"):
        os.symlink(leads, tmp_path / name)
    with pytest.raises((mx.MXNetError, OSError), match="Too many levels of symbolic links: .*/a'|/a': Too many levels"):
        WRITERS[kind](1, str(tmp_path / "a"))
    assert [os.readlink(tmp_path / name) for name in sorted(os.listdir(tmp_path))] == ["b", "a"]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_url_of_a_file_is_its_path(tmp_path, kind):
    WRITERS[kind](1, f"file://{tmp_path}/saved")
    assert os.listdir(tmp_path) == ["saved"]


def test_a_network_is_loaded_from_the_url_of_a_file(tmp_path):
    symbol_of(1).save(tmp_path / "saved")
    assert mx.sym.load(f"file://{tmp_path}/saved").list_arguments() == ["x1"]
    handle = ctypes.c_void_p()
    check_call(_LIB.MXSymbolCreateFromFile(f"file://{tmp_path}/saved".encode(), ctypes.byref(handle)))
    check_call(_LIB.MXSymbolFree(handle))


@pytest.mark.parametrize("kind", WRITERS)
def test_a_full_disk_is_an_error_that_leaves_the_file_of_before(tmp_path, kind):
    path = tmp_path / "saved"
    WRITERS[kind](1, str(path))
    content = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))  # as if there were no room for more
    try:
        with pytest.raises((mx.MXNetError, OSError), match="File too large"):
            WRITERS[kind](2, str(path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == content
    assert os.listdir(tmp_path) == ["saved"]
    with pytest.raises((mx.MXNetError, OSError), match="No space left on device"):
        WRITERS[kind](2, "/dev/full")


def test_records_on_a_full_disk_are_an_error_once(tmp_path, capfd):
    for make in lambda: mx.recordio.MXRecordIO("/dev/full", "w"), lambda: mx.recordio.MXIndexedRecordIO(tmp_path / "i", "/dev/full", "w"):
        records = make()
        records.write(b"abc")
        with pytest.raises(mx.MXNetError, match="No space left on device"):
            records.close()
        records.close()
        del records
    assert "Exception ignored" not in capfd.readouterr().err


@pytest.mark.parametrize("kind", WRITERS)
def test_an_error_names_the_path_that_was_given(kind):
    with pytest.raises((mx.MXNetError, OSError), match="'/nonexistent/x'"):
        WRITERS[kind](1, "/nonexistent/x")
    with pytest.raises((mx.MXNetError, OSError), match="No such file"):
        WRITERS[kind](1, "")


def test_a_file_that_cannot_be_profiled_to_is_left_for_another(tmp_path):
    with pytest.raises(mx.MXNetError, match="/nonexistent/x"):
        profile(1, "/nonexistent/x")
    profile(1, str(tmp_path / "trace"))
    assert os.listdir(tmp_path) == ["trace"]


# A user without rights of the superuser, who would be let into any folder.
AS_NOBODY = """
import os, sys
sys.path[:0] = [{tests!r}]
import mxnet as mx
from test_files_replaced import WRITERS
path, kind = sys.argv[1:]
WRITERS[kind](1, os.devnull)  # imports what nobody may not
if os.geteuid() == 0:
    os.seteuid(65534)
WRITERS[kind](2, path)
"""


@pytest.mark.parametrize("kind", ["arrays", "symbol"])
def test_a_file_in_a_folder_that_takes_no_other_is_written_itself(run_python, kind):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "saved")
        WRITERS[kind](1, path)
        with open(path, "rb") as file:
            content = file.read()
        os.chmod(path, 0o666)
        os.chmod(folder, 0o555)
        done = run_python(AS_NOBODY.format(tests=os.path.dirname(__file__)), path, kind)
        os.chmod(folder, 0o755)
        assert done.returncode == 0, done.stderr
        assert os.listdir(folder) == ["saved"]
        with open(path, "rb") as file:
            assert content != file.read() != b""


def test_standard_output_is_written_itself(tmp_path, run_python):
    path = tmp_path / "out"
    code = "import mxnet as mx, os, sys\nos.dup2(os.open(sys.argv[1], os.O_CREAT | os.O_RDWR | os.O_APPEND), 1)\n"
    code += "mx.sym.var('x').save('/dev/stdout')\nos.write(1, b'behind it')"
    done = run_python(code, str(path))
    assert done.returncode == 0, done.stderr
    assert path.read_text() == mx.sym.var("x").tojson() + "behind it"


@pytest.mark.parametrize("native", ["1", "0"])
def test_ctrl_c_ends_a_load_that_waits(tmp_path, run_python, native):
    code = """
import os, signal, sys, threading, time
import mxnet as mx
mx.nd.save(os.devnull, mx.nd.ones(2))  # imports all
os.mkfifo(sys.argv[1])
writer = os.open(sys.argv[1], os.O_RDWR)  # which says nothing
over = threading.Event()
def interrupt():
    while not over.wait(0.05):
        if began:
            os.kill(os.getpid(), signal.SIGINT)
began = []
threading.Thread(target=interrupt, daemon=True).start()
try:
    began.append(True)
    mx.nd.load(sys.argv[1])
except KeyboardInterrupt:
    over.set()
    print(mx.nd.ones(2).asnumpy().sum())
"""
    done = run_python(code, str(tmp_path / "pipe"), env={"MXNET_ENABLE_CYTHON": native})
    assert done.stdout == "2.0\n", done.stderr


def test_a_pipe_is_written_to(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()), daemon=True)
    reader.start()
    symbol_of(1).save(path)
    reader.join(60)
    assert read == [symbol_of(1).tojson()] and stat.S_ISFIFO(path.stat().st_mode)
