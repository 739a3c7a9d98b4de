# SPDX-License-Identifier: Apache-2.0
"""Programs end while daemon threads of theirs are inside of calls and callbacks; interpreters within the interpreter are refused."""

import sys

import pytest

PRELUDE = """
import threading
import time
import mxnet as mx

def on_daemons(work, count=3):
    begun = threading.Barrier(count + 1)
    def repeat():
        work()
        begun.wait()
        while True:
            work()
    for _ in range(count):
        threading.Thread(target=repeat, daemon=True).start()
    begun.wait()

def pause():
    time.sleep(0.0005)  # as long as the interpreter may take the thread's turn away
"""

OPERATOR = """
class Twice(mx.operator.CustomOp):
    def forward(self, is_train, req, in_data, out_data, aux):
        pause()
        self.assign(out_data[0], req[0], in_data[0] * 2)

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        pause()
        self.assign(in_grad[0], req[0], out_grad[0] * 2)

@mx.operator.register("twice")
class TwiceProp(mx.operator.CustomOpProp):
    def create_operator(self, ctx, shapes, dtypes):
        return Twice()

def gradient(function):
    x = mx.nd.ones(3)
    x.attach_grad()
    with mx.autograd.record():
        y = function(x)
    y.backward()
    x.grad.wait_to_read()
"""

AT_WORK = {
    "calls": "on_daemons(lambda: (mx.nd.ones((30, 30)) + 1).asnumpy())",
    "operator": OPERATOR + "on_daemons(lambda: gradient(lambda x: mx.nd.Custom(x, op_type='twice')))",
    "operator-in-a-block": OPERATOR + """
class Net(mx.gluon.HybridBlock):
    def hybrid_forward(self, F, x):
        return F.relu(F.Custom(x, op_type="twice"))
net = Net()
net.hybridize()
on_daemons(lambda: gradient(net))
""",
    "operator-in-an-executor": OPERATOR + """
def forward():
    executor = mx.sym.relu(mx.sym.Custom(mx.sym.var("x"), op_type="twice")).bind(mx.cpu(), {"x": mx.nd.ones(3)})
    executor.forward(is_train=True)[0].wait_to_read()
on_daemons(forward)
""",
    "operator-that-goes": OPERATOR + "on_daemons(lambda: mx.sym.relu(mx.sym.Custom(mx.sym.var('x'), op_type='twice')))",
    "function": OPERATOR + """
class TwiceFunction(mx.autograd.Function):
    def forward(self, x):
        pause()
        return x * 2

    def backward(self, gradient):
        pause()
        return gradient * 2
on_daemons(lambda: gradient(TwiceFunction()))
""",
    "updater": """
store = mx.kv.create("local")
store.init(0, mx.nd.ones(3))

def update(key, pushed, stored):
    pause()
    stored[:] = stored + pushed
store._set_updater(update)
on_daemons(lambda: store.push(0, mx.nd.ones(3)))
""",
    "monitor": """
def forward():
    executor = mx.sym.exp(mx.sym.var("x")).bind(mx.cpu(), {"x": mx.nd.ones(3)})
    executor.set_monitor_callback(lambda name, array: pause())
    executor.forward()[0].wait_to_read()
on_daemons(forward)
""",
    "hook": """
def forward():
    net = mx.gluon.nn.Dense(3, in_units=3)
    net.initialize()
    net.hybridize()
    net.register_op_hook(lambda name, op, array: pause())
    net(mx.nd.ones((2, 3))).wait_to_read()
on_daemons(forward)
""",
}


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.parametrize("at_work", AT_WORK)
def test_daemon_threads_do_not_change_how_a_program_ends(run_python, at_work, native):
    for _ in range(3):  # the end of the interpreter finds the threads at other places each time
        done = run_python(f"{PRELUDE}{AT_WORK[at_work]}\nraise SystemExit(7)", env={"MXNET_ENABLE_CYTHON": native})
        assert (done.returncode, done.stdout, done.stderr) == (7, "", "")


INTERPRETER = """
import sys
try:
    import _interpreters as interpreters
    created = interpreters.create("legacy")
    def run(code):
        failed = interpreters.exec(created, code)
        return failed and failed.formatted
except ImportError:
    import _xxsubinterpreters as interpreters
    created = interpreters.create()
    def run(code):
        try:
            interpreters.run_string(created, code)
        except interpreters.RunFailedError as error:
            return str(error)
"""


@pytest.mark.parametrize("native", ["1", "0"])
@pytest.mark.parametrize("first", ["", "import mxnet\n"])
def test_an_interpreter_within_the_interpreter_is_refused(run_python, native, first):
    if sys.version_info >= (3, 14):
        pytest.skip("creates interpreters by other functions")
    done = run_python(f"""{INTERPRETER}
{first}
print(run("import mxnet"))
interpreters.destroy(created)
import mxnet
print(mxnet.nd.ones(2).asnumpy().tolist())
""", env={"MXNET_ENABLE_CYTHON": native})
    refused, works = done.stdout.splitlines()
    assert "ImportError" in refused and "given a sub-interpreter, expected the main one" in refused
    assert works == "[1.0, 1.0]"
    assert (done.returncode, done.stderr) == (0, "")
