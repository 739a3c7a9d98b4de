# SPDX-License-Identifier: Apache-2.0
"""Contexts: values, the current one of a thread, memory."""

import pickle
import threading

import mxnet as mx
import pytest


def test_contexts_compare_hash_and_pickle_by_value():
    assert mx.cpu() == mx.Context("cpu", 0) == mx.Context(mx.cpu())
    assert mx.gpu(1) != mx.gpu(0)
    assert mx.cpu() != "cpu(0)"
    assert len({mx.cpu(), mx.cpu(0), mx.gpu(0)}) == 2
    assert repr(mx.gpu(1)) == str(mx.gpu(1)) == "gpu(1)"
    assert pickle.loads(pickle.dumps(mx.gpu(3))) == mx.gpu(3)


def test_the_context_of_an_array():
    for context in (mx.cpu(), mx.cpu(1), mx.Context("cpu_pinned", 0), mx.Context("cpu_shared", 0)):
        array = mx.nd.zeros((2,), ctx=context)
        for kind in (array, array.as_np_ndarray()):
            assert kind.context == kind.ctx == context and str(kind.context) == str(context)
            assert kind.as_in_context(context) is kind and pickle.loads(pickle.dumps(kind.context)) == context


@pytest.mark.parametrize("name, number", [("cpu", 1), ("gpu", 2), ("cpu_pinned", 3), ("cpu_shared", 5)])
def test_numbers_are_those_of_files_and_the_c_abi(name, number):
    context = mx.Context(name, 4)
    assert (context.device_typeid, context.device_type, context.device_id) == (number, name, 4)
    assert mx.Context.devtype2str[number] == name
    assert mx.Context.devstr2type[name] == number


def test_unknown_kind_is_an_error():
    with pytest.raises(KeyError, match="given device type 'tpu', expected one of cpu, gpu"):
        mx.Context("tpu")


def test_with_block_makes_it_current():
    assert mx.current_context() == mx.cpu()
    with mx.gpu(1) as outer:
        assert mx.current_context() is outer
        with mx.cpu(7):
            assert mx.current_context() == mx.cpu(7)
        assert mx.current_context() == mx.gpu(1)
    assert mx.current_context() == mx.cpu()


def test_another_thread_starts_at_the_cpu():
    seen = []
    with mx.gpu(1):
        thread = threading.Thread(target=lambda: seen.append(mx.current_context()))
        thread.start()
        thread.join()
    assert seen == [mx.cpu(0)]


def test_memory_of_the_host(collector_off):
    mx.nd.waitall()
    free, total = mx.cpu_memory_info()
    assert 0 <= free <= total
    stats = mx.cpu().memory_stats()
    assert stats["peak_in_use"] >= stats["in_use"] >= 0
    mx.cpu().empty_cache()
    assert mx.cpu().memory_stats()["cached"] == 0
    mx.cpu().reset_peak_memory_stats()
    stats = mx.cpu().memory_stats()
    assert stats["peak_in_use"] == stats["in_use"]
    assert "cpu" in mx.cpu().memory_summary()


def test_gpu_that_is_not_there_is_an_error():
    assert mx.num_gpus() >= 0
    with pytest.raises(mx.MXNetError, match=r"gpu\(1000\)"):
        mx.gpu_memory_info(1000)
    with pytest.raises(mx.MXNetError, match=r"gpu\(1000\)"):
        mx.gpu(1000).empty_cache()


def test_why_there_is_no_gpu_is_told(run_python):
    done = run_python(
        "import mxnet as mx\n"
        "assert mx.num_gpus() == 0\n"
        "for use in (lambda: mx.nd.ones((2,), ctx=mx.gpu(0)), lambda: mx.gpu_memory_info(0)):\n"
        "    try:\n"
        "        use()\n"
        "        raise SystemExit('accepted')\n"
        "    except mx.MXNetError as error:\n"
        "        for part in ('gpu(0)', 'MXNET_SIM_GPU_LINKS', \"given '0 x; x 0'\", 'expected 2 rows'):\n"
        "            assert part in str(error), error\n",
        env={"MXNET_SIM_GPUS": "2", "MXNET_SIM_GPU_LINKS": "0 x; x 0"},
    )
    assert done.returncode == 0, done.stderr


def test_bulk_size_is_put_back():
    before = mx.engine.set_bulk_size(5)
    try:
        with mx.engine.bulk(9):
            assert mx.engine.set_bulk_size(9) == 9
        assert mx.engine.set_bulk_size(5) == 5
    finally:
        mx.engine.set_bulk_size(before)
    with pytest.raises(ValueError):
        mx.engine.set_bulk_size(-1)
