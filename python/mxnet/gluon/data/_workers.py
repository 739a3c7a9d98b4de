# SPDX-License-Identifier: Apache-2.0
"""Who makes batches for a DataLoader: processes, or threads of this one."""

from __future__ import annotations

import _thread
import atexit
import concurrent.futures
import hashlib
import itertools
import multiprocessing
import multiprocessing.connection
import os
import pickle
import queue
import random
import signal
import threading
import time
import traceback
import weakref
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ...util import is_np_array, is_np_shape, np_array, np_shape, set_np
from ._transport import receive_batch, send_batch


class WorkerError(RuntimeError):
    """A worker process has ended, or has not answered in time."""


class WorkerTimeout(WorkerError, multiprocessing.TimeoutError):
    """A worker has not answered in time."""


_pools = itertools.count()  # how many pools of worker processes this process has begun


def _seeds_of(pool: int, worker: int) -> Tuple[int, int]:
    """Seeds for a worker's numbers of NumPy and MXNet, and for those of Python's `random`.

    Each follows from the state of its generator here without changing it. Python's follows from the number
    of the pool too: a loader made anew each epoch shall not repeat augmentations, and a forked process has
    other numbers of Python's each time. NumPy's repeat until somebody draws or seeds, as a fork's do.
    """
    import numpy as np

    state: Any = np.random.get_state()
    words = np.asarray(state[1]).tobytes() + f"{state[2]} {worker}".encode()
    numpys = int.from_bytes(hashlib.sha256(words).digest()[:4], "little")
    words = f"{random.getstate()} {pool} {worker}".encode()
    return numpys, int.from_bytes(hashlib.sha256(words).digest()[:8], "little")


def _semantics() -> Tuple[bool, bool]:
    """Whether this thread has NumPy's shapes and arrays; its workers shall have them too."""
    return is_np_shape(), is_np_array()


_ends: weakref.WeakSet[Any] = weakref.WeakSet()  # of connections to workers: the parent's


def _work(
    worker: int, seeds: Tuple[int, int], connection: Any, pickled: Optional[bytes], job: Any,
    semantics: Tuple[bool, bool],
) -> None:
    """The life of a worker process: keys and numbers of samples in, batches out."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides when to end
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})  # which it has held back until here
    for end in list(_ends):
        end.close()  # inherited by a fork: while one is open, the workers that it leads to do not see that the parent is gone
    set_np(*semantics)
    import numpy as np

    from ... import random as mx_random

    numpys, pythons = seeds
    random.seed(pythons)
    np.random.seed(numpys)
    mx_random.seed(numpys & 0x7FFFFFFF)
    dataset, batchify_fn = pickle.loads(pickled) if pickled is not None else job
    while True:
        try:
            message = connection.recv()
        except (EOFError, ConnectionResetError):
            return  # the parent is gone
        if message is None:
            return
        key, numbers = message
        try:
            batch, failure = batchify_fn([dataset[i] for i in numbers]), None
        except Exception as error:
            batch, failure = None, _portable(error, worker)
        try:
            send_batch(connection, (key, failure), batch)
        except (BrokenPipeError, ConnectionResetError):
            return
        except Exception as error:  # what does not pickle
            send_batch(connection, (key, _portable(error, worker)), None)


def _portable(error: Exception, worker: int) -> Exception:
    """An exception that can be sent, with the trace of the worker in its text."""
    text = f"in worker {worker} (process {os.getpid()}) of a DataLoader:\n{traceback.format_exc()}"
    for made in (lambda: type(error)(text), lambda: RuntimeError(text)):
        try:
            copy = made()
            pickle.loads(pickle.dumps(copy))
            return copy
        except Exception:
            continue
    return RuntimeError(text)


class ProcessWorkers:
    """Worker processes. Used by one thread of the parent at a time.

    Ctrl-C may end any of its methods in the middle of a message: the next call starts new processes then, and asks them
    for what has not come.
    """

    def __init__(self, dataset: Any, batchify_fn: Callable[[List[Any]], Any], count: int, timeout: float) -> None:
        self._dataset, self._batchify_fn, self._count, self._timeout = dataset, batchify_fn, count, timeout
        self._keys = itertools.count()
        self._asked: Dict[int, List[int]] = {}  # numbers of the samples of a batch that is wanted, by its key
        self._ready: Dict[int, Any] = {}
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context()
        forks = context.get_start_method() == "fork"
        given = self._dataset, self._batchify_fn
        pickled, job = (None, given) if forks else (pickle.dumps(given), None)
        pool = next(_pools)
        self._connections: List[Any] = []
        self._processes: List[Any] = []
        # At exit and when the loader is dropped, whichever comes first.
        self._finalizer = weakref.finalize(self, _end, os.getpid(), self._connections, self._processes)
        for worker in range(self._count):
            ours, theirs = context.Pipe(duplex=True)
            _ends.add(ours)
            process = context.Process(
                target=_work, args=(worker, _seeds_of(pool, worker), theirs, pickled, job, _semantics()), daemon=True,
                name=f"DataLoader-{worker}",
            )
            # Inherited: a terminal sends Ctrl-C to all processes, of which the worker is to ignore it from its first moment.
            mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
            try:
                process.start()
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            theirs.close()
            self._connections.append(ours)
            self._processes.append(process)
        self._busy = [0] * self._count
        self._waiting: Dict[int, int] = {}  # key of a batch to the worker that makes it
        self._whole = True  # False while it is not to be cut off

    def _mend(self) -> None:
        if self._whole:
            return
        self._finalizer()
        self._start()
        for key in self._asked:
            if key not in self._ready:
                self._send(key)

    def submit(self, numbers: Sequence[int]) -> int:
        """Has a batch made; the key is for wait(), result() or drop()."""
        self._mend()
        key = next(self._keys)
        self._asked[key] = list(numbers)
        self._send(key)
        return key

    def _send(self, key: int) -> None:
        worker = min(range(self._count), key=self._busy.__getitem__)
        self._whole = False
        try:
            self._connections[worker].send((key, self._asked[key]))
        except (BrokenPipeError, ConnectionResetError):
            pass  # it has ended: result() says so, after the batches that it has made before
        self._busy[worker] += 1
        self._waiting[key] = worker
        self._whole = True

    def wait(self, key: int) -> None:
        """Returns when the batch is there, or what is wrong with it. May be called again where Ctrl-C has ended it."""
        deadline = time.monotonic() + self._timeout
        try:
            while key not in self._ready:
                self._mend()
                self._receive(key, deadline)
        except Exception as error:  # pylint: disable=broad-except  (result() raises it)
            self._ready[key] = error, None

    def result(self, key: int) -> Any:
        """The batch, after wait(). Raises what the worker raised, or WorkerError."""
        self._asked.pop(key, None)
        failure, batch = self._ready.pop(key)
        if failure is not None:
            raise failure
        return batch

    def drop(self, key: int) -> None:
        """Nobody wants this batch any more."""
        self._asked.pop(key, None)
        self._ready.pop(key, None)

    def _receive(self, key: int, deadline: float) -> None:
        worker = self._waiting[key]
        sources = [*self._connections, self._processes[worker].sentinel]
        readable = multiprocessing.connection.wait(sources, max(0.0, deadline - time.monotonic()))
        if not readable:
            raise WorkerTimeout(
                f"worker {worker} (process {self._processes[worker].pid}) of a DataLoader has not made a batch within "
                f"{self._timeout} s; a larger timeout, or fewer workers, may help"
            )
        for number, connection in enumerate(self._connections):
            if connection not in readable:
                continue
            self._whole = False
            try:
                (got, failure), batch = receive_batch(connection)
            except (EOFError, ConnectionResetError):
                self._whole = True
                self._fail(number, min((own for own, maker in self._waiting.items() if maker == number), default=key))
            self._busy[number] -= 1
            del self._waiting[got]
            if got in self._asked:
                self._ready[got] = (failure, batch)
            self._whole = True
            return
        self._fail(worker, key)

    def _fail(self, worker: int, key: int) -> None:
        process = self._processes[worker]
        process.join(5)
        code = process.exitcode
        how = f"by signal {signal.Signals(-code).name}" if code is not None and code < 0 else f"with status {code}"
        raise WorkerError(
            f"worker {worker} (process {process.pid}) of a DataLoader has ended {how} before it made batch {key}; "
            f"its data set or batchify_fn may have run out of memory or have called something that ends the process"
        )

    def close(self) -> None:
        """Ends the processes."""
        self._finalizer()


def _end(owner: int, connections: List[Any], processes: List[Any]) -> None:
    if os.getpid() != owner:
        return
    for connection in connections:
        try:
            connection.send(None)
        except OSError:
            pass  # it has ended already
        connection.close()
    deadline = time.monotonic() + 2
    try:
        for process in processes:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.terminate()
                process.join()
    except KeyboardInterrupt:  # lost where a destructor has called
        for process in processes:
            process.terminate()
        _thread.interrupt_main()


_thread_pools: weakref.WeakSet[_Threads] = weakref.WeakSet()  # whose threads may be at work


class _Threads:
    """Threads that run what is put into `jobs`. Daemons: not the interpreter waits for them at exit, but _end_threads."""

    def __init__(self, count: int) -> None:
        self.jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self.closed = False
        self.members = [threading.Thread(target=self._run, name=f"DataLoader_{i}", daemon=True) for i in range(count)]
        for thread in self.members:
            thread.start()
        _thread_pools.add(self)

    def _run(self) -> None:
        while not self.closed:
            job = self.jobs.get()
            if job is None:
                return
            future, function, arguments = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(function(*arguments))
                except BaseException as error:  # pylint: disable=broad-except  (result() raises it)
                    future.set_exception(error)
            del job, future, function, arguments  # or the batch, and the loader, would live until the next job

    def close(self) -> None:
        """Has each end after the sample that it makes."""
        self.closed = True
        for _ in self.members:
            self.jobs.put(None)


@atexit.register
def _end_threads() -> None:
    pools = list(_thread_pools)
    for pool in pools:
        pool.close()
    deadline = time.monotonic() + 2
    try:
        for pool in pools:
            for thread in pool.members:
                thread.join(max(0.0, deadline - time.monotonic()))
    except KeyboardInterrupt:
        pass  # the program ends, with them


class ThreadWorkers:
    """Threads of this process: for samples whose making does not hold the GIL."""

    def __init__(self, dataset: Any, batchify_fn: Callable[[List[Any]], Any], count: int, timeout: float) -> None:
        self._dataset, self._batchify_fn, self._count, self._timeout = dataset, batchify_fn, count, timeout
        self._threads: Optional[_Threads] = None  # from the first batch on
        self._lock = threading.Lock()
        self._keys = itertools.count()
        self._futures: Dict[int, Any] = {}

    def submit(self, numbers: Sequence[int]) -> int:
        """Has a batch made; the key is for wait(), result() or drop()."""
        future: Any = concurrent.futures.Future()
        with self._lock:
            threads = self._threads
            if threads is None or threads.closed or not threads.members[0].is_alive():  # as in a process forked since
                threads = self._threads = _Threads(self._count)
            key = next(self._keys)
            self._futures[key] = future
            threads.jobs.put((future, self._make, (threads, list(numbers), *_semantics())))
        return key

    def _make(self, threads: _Threads, numbers: List[int], shape: bool, array: bool) -> Any:
        with np_shape(shape), np_array(array):
            samples = []
            for i in numbers:
                if threads.closed:
                    raise concurrent.futures.CancelledError
                samples.append(self._dataset[i])
            return self._batchify_fn(samples)

    def wait(self, key: int) -> None:
        """Returns when the batch is there, or what is wrong with it. May be called again where Ctrl-C has ended it."""
        concurrent.futures.wait([self._futures[key]], self._timeout)

    def result(self, key: int) -> Any:
        """The batch, after wait(). Raises what making it raised, or WorkerError."""
        future = self._futures.pop(key)
        if not future.done():
            raise WorkerTimeout(f"a thread of a DataLoader has not made a batch within {self._timeout} s")
        return future.result()

    def drop(self, key: int) -> None:
        """Nobody wants this batch any more."""
        self._futures.pop(key).cancel()

    def close(self) -> None:
        """Ends the threads."""
        if self._threads is not None:
            self._threads.close()
