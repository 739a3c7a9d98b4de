# SPDX-License-Identifier: Apache-2.0
"""One library in a process of its own: the worker, which answers jobs with arrays or the text of an error, and the asker, which
starts it again where a job has ended or hung it. As a program it is the worker; Python 3.8 has to run it.

An answer is a dict of parts (outputs, gradients, ...), each a list of arrays or an error's text.
"""
import contextlib
import ctypes as C
import os
import pathlib
import pickle
import random
import select
import struct
import subprocess
import sys
import warnings

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 120  # for one job: entropy thresholds of a network are six of CPU time, in both libraries, on machines that are busy
ENDED = ("ends", "hangs")


def packed(value):
    """Arrays as bytes: NumPy's own pickles are of its version."""
    if isinstance(value, np.ndarray):
        return ("an array", value.dtype.name, value.shape, value.tobytes())
    if isinstance(value, dict):
        return {key: packed(item) for key, item in value.items()}
    return [packed(item) for item in value] if isinstance(value, list) else value


def unpacked(value):
    if isinstance(value, tuple) and value and isinstance(value[0], str) and value[0] == "an array":
        return np.frombuffer(value[3], value[1]).reshape(value[2]).copy()
    if isinstance(value, dict):
        return {key: unpacked(item) for key, item in value.items()}
    return [unpacked(item) for item in value] if isinstance(value, list) else value


def send(stream, what):
    data = pickle.dumps(packed(what), protocol=4)
    stream.write(struct.pack("q", len(data)) + data)
    stream.flush()


def receive(stream):
    head = stream.read(8)
    if len(head) < 8:
        raise EOFError
    return unpacked(pickle.loads(stream.read(struct.unpack("q", head)[0])))


class Asker:
    """The worker with a library, that of `library` or else that of the interpreter's own package."""

    def __init__(self, python, library=None, settings=()):
        self.python, self.process = python, None
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("MXNET_")}
        self.environment.update(OMP_NUM_THREADS="2", MXNET_STORAGE_FALLBACK_LOG_VERBOSE="0", MXNET_SUBGRAPH_VERBOSE="0")
        if library:
            self.environment["MXNET_LIBRARY_PATH"] = str(library)
        else:
            self.environment.pop("PYTHONPATH", None)
        self.environment.update(setting.split("=", 1) for setting in settings)

    def ask(self, job):
        if self.process is None:
            self.process = subprocess.Popen([self.python, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, env=self.environment)
        try:
            send(self.process.stdin, job)
            if not select.select([self.process.stdout], [], [], SECONDS)[0]:
                return {"outputs": self._gone("hangs")}
            return receive(self.process.stdout)
        except (EOFError, BrokenPipeError):
            return {"outputs": self._gone("ends")}

    def stop(self):
        if self.process is not None:
            for stream in (self.process.stdin, self.process.stdout):
                with contextlib.suppress(BrokenPipeError):  # what it has not read
                    stream.close()
            self.process.kill()
            self.process.wait()
            self.process = None

    def _gone(self, how):
        try:
            code = self.process.wait(0 if how == "hangs" else 5)
        except subprocess.TimeoutExpired:
            code = "killed"
        self.stop()
        return f"{how} ({code})"


class Operators:
    """Calls of single operators, through the C ABI."""

    def __init__(self, library):
        from op_calls import Library
        self.mx = Library(library)
        count, names = C.c_uint(), C.POINTER(C.c_char_p)()
        self.mx.call("MXListAllOpNames", C.byref(count), C.byref(names))  # until then the release knows its newer operators only

    def run(self, job):
        from op_calls import ADD, WRITE, Failure
        self.mx.numpy_shape(job["numpy_shape"])
        self.mx.training(job["training"])
        answer, op, arrays, wanted = {}, job["op"], job["arrays"], job["wanted"]
        try:
            answer["outputs"], answer["inputs afterwards"] = self._called(job)
        except Failure as error:
            return {"outputs": str(error)}
        rng = np.random.RandomState(job["seed"])
        heads = [eighths(rng, o) if o.dtype.kind == "f" else None for o in answer["outputs"]]
        if not wanted or all(h is None for h in heads):
            return answer
        request, start = (ADD, 0.5) if job["request"] == "add" else (WRITE, 0.0)
        try:
            answer["gradients"] = self.mx.gradients(op, arrays, heads, request, start, wanted=wanted, **job["params"])
            if job["request"] == "second":
                answer["second gradients"] = self.mx.second_gradients(op, arrays, heads, [eighths(rng, arrays[i]) for i in wanted],
                                                                      wanted, **job["params"])[0]
        except Failure as error:
            answer["second gradients" if "gradients" in answer else "gradients"] = str(error)
        return answer

    def _called(self, job):
        """What the operator gives, and what its inputs hold then."""
        mx, op, params, arrays = self.mx, job["op"], job["params"], job["arrays"]
        inputs = [self._middle_of(a) if job["request"] == "view" else mx.array(a) for a in arrays]
        outputs = mx.invoke(op, inputs, **params)
        made = [mx.numpy(o) for o in outputs]
        if job["request"] == "inplace":
            alike = [(o, i) for o, m in enumerate(made) for i, a in enumerate(arrays) if a.shape == m.shape and a.dtype == m.dtype]
            if alike:
                over, held = alike[job["seed"] % len(alike)]
                mx.free(*inputs, *outputs)
                inputs = [mx.array(a) for a in arrays]
                given = [inputs[held] if o == over else mx.array(np.zeros_like(m)) for o, m in enumerate(made)]
                return [mx.numpy(o) for o in mx.invoke(op, inputs, out=given, **params)], []
        return made, [mx.numpy(i) for i in inputs]

    def _middle_of(self, values):
        """The numbers as a view of an array that is one longer at both ends of the first axis."""
        if values.ndim == 0 or values.size == 0:
            return self.mx.array(values)
        longer, view = self.mx.array(np.concatenate([values[:1], values, values[:1]])), C.c_void_p()
        self.mx.call("MXNDArraySlice", longer, C.c_uint(1), C.c_uint(1 + len(values)), C.byref(view))
        self.mx.free(longer)
        return view


def eighths(rng, like):
    """A head gradient: numbers that every type holds."""
    return np.asarray(rng.randint(-8, 9, like.shape) / 8).astype(like.dtype)


class Networks:
    """Whole networks, through the front end."""

    def __init__(self, mx):
        self.mx = mx

    def run(self, job):
        import chains
        import predict
        mx, network, dtype = self.mx, chains.Network(**job["network"]), job["dtype"]
        network.steps = [chains.Step(**step) for step in network.steps]
        mx.npx.reset_np()  # which a program may have left
        try:
            net = chains.symbol(mx, network)
            shapes, results, states = net.infer_shape(data=tuple(network.shape))
            values = {name: mx.nd.array(chains.numbers(name, shape, job["seed"], dtype), dtype=dtype)
                      for name, shape in [*zip(net.list_arguments(), shapes), *zip(net.list_auxiliary_states(), states)]}
            heads = [mx.nd.array(chains.numbers("head%d" % i, s, job["seed"], dtype), dtype=dtype) for i, s in enumerate(results)]
            return getattr(self, job["way"])(net, values, heads, job)
        except (mx.MXNetError, predict.PredictError) as error:
            return {"outputs": str(error)}

    def _bound(self, net, values, request, dtype):
        shapes = {name: value.shape for name, value in values.items() if name in net.list_arguments()}
        bound = net.simple_bind(self.mx.cpu(), grad_req=request, type_dict={name: dtype for name in shapes}, **shapes)
        bound.copy_params_from({n: values[n] for n in net.list_arguments()}, {n: values[n] for n in net.list_auxiliary_states()})
        return bound

    def train(self, net, values, heads, job):
        request = {name: "null" if name == "label" else job["request"] for name in net.list_arguments()}
        bound = self._bound(net, values, request, job["dtype"])
        gradients = {n: g for n, g in bound.grad_dict.items() if g is not None}
        for gradient in gradients.values():
            gradient[:] = 0.5
        bound.forward(is_train=True)
        bound.backward(heads)
        return {"outputs": [o.asnumpy() for o in bound.outputs], "gradients": [gradients[n].asnumpy() for n in sorted(gradients)],
                "states": [bound.aux_dict[n].asnumpy() for n in sorted(bound.aux_dict)]}

    def infer(self, net, values, heads, job):
        bound = self._bound(net, values, "null", job["dtype"])
        return {"outputs": [o.asnumpy() for o in bound.forward(is_train=False)]}

    def _cached(self, net, values, job):
        inputs = [n for n in net.list_arguments() if n in ("data", "label")]
        block = self.mx.gluon.SymbolBlock(net, [self.mx.sym.var(n) for n in inputs])
        for name, parameter in block.collect_params().items():
            parameter.grad_req = "null" if name in net.list_auxiliary_states() else job["request"]
            parameter.shape = values[name].shape
            parameter.cast(job["dtype"])
            parameter.initialize()
            parameter.set_data(values[name])
        block.hybridize(**job["flags"])
        return block, [values[n] for n in inputs]

    def cached(self, net, values, heads, job):
        block, inputs = self._cached(net, values, job)
        parameters = block.collect_params()
        gradients = [parameters[n].grad() for n in sorted(parameters) if parameters[n].grad_req != "null"]
        for _ in range(2):  # the second run has what the first has kept
            for gradient in gradients:
                gradient[:] = 0.5
            inputs[0].attach_grad()
            with self.mx.autograd.record():
                outputs = block(*inputs)
                outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            self.mx.autograd.backward(list(outputs), heads)
        return {"outputs": [o.asnumpy() for o in outputs], "gradients": [g.asnumpy() for g in [inputs[0].grad] + gradients],
                "states": [parameters[n].data().asnumpy() for n in sorted(net.list_auxiliary_states())]}

    def cached_infer(self, net, values, heads, job):
        block, inputs = self._cached(net, values, job)
        for _ in range(2):
            outputs = block(*inputs)
        return {"outputs": [o.asnumpy() for o in (outputs if isinstance(outputs, (list, tuple)) else [outputs])]}

    def predict(self, net, values, heads, job):
        """Through the C predictor; it computes in float32 only."""
        import predict
        mx = self.mx
        states = net.list_auxiliary_states()
        parameters = {("aux:" if n in states else "arg:") + n: v for n, v in values.items() if n not in ("data", "label")}
        inputs = {n: values[n].asnumpy().astype("float32") for n in ("data", "label") if n in values}
        return {"outputs": predict.outputs(mx.libinfo.find_lib_path()[0], net.tojson(), mx.nd, parameters, inputs)}


class Programs:
    """Lines of Python with the front end, or with NumPy in its place."""

    def __init__(self, mx):
        self.mx = mx

    def run(self, job):
        mx = self.mx
        (mx.npx.set_np if job["numpy"] else mx.npx.reset_np)()
        mx.random.seed(job["seed"])
        np.random.seed(job["seed"])
        random.seed(job["seed"])
        names = {"mx": mx, "onp": np, "np": mx.np, "npx": mx.npx, "arrays": {k: v.copy() for k, v in job["arrays"].items()},
                 "array": mx.np.array if job["numpy"] else mx.nd.array}
        if job.get("by_numpy"):
            names.update(np=np, array=np.array, mx=None)
        answer = {}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for part, lines in job["steps"]:
                names["r"] = None
                try:
                    exec(job["start"] + "\n" + lines, names)
                    answer[part] = list(self._told(names["r"]))
                except Exception as error:
                    answer[part] = f"{type(error).__name__}: {error}"
        return answer

    def _told(self, value):
        """What a result is made of, as arrays; texts as bytes. Numbers that are no arrays are of no type: NumPy's version has a say in that."""
        if isinstance(value, (list, tuple)):
            for item in value:
                yield from self._told(item)
        elif getattr(value, "stype", "default") != "default":
            value.check_format()  # which elements that are zero it stores is its own choice
            yield self._text(f"{value.stype} {value.data.dtype} {value.indices.dtype} {len(value.indptr) if value.stype == 'csr' else ''}")
            yield value.asnumpy()
        elif hasattr(value, "asnumpy"):
            yield value.asnumpy()
        elif isinstance(value, np.ndarray) and value.dtype.kind in "biuf":
            yield value
        elif isinstance(value, (bool, int, float, np.bool_, np.number)):
            yield np.float64(value).reshape(())
        else:
            yield self._text(str(value))

    @staticmethod
    def _text(text):
        return np.frombuffer(text.encode(), "uint8").copy()


def work():
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.path[:0] = [str(HERE), str(HERE.parent / "python")]
    import mxnet as mx
    runners = {"operator": Operators(mx.libinfo.find_lib_path()[0]), "network": Networks(mx), "program": Programs(mx)}
    while True:
        try:
            job = receive(sys.stdin.buffer)
        except EOFError:
            return
        try:
            answer = runners[job["kind"]].run(job)
        except Exception as error:  # of the front end, or of this program: the next job is another
            answer = {"outputs": f"raises {type(error).__name__}: {error}"}
        send(answers, answer)


if __name__ == "__main__":
    work()
