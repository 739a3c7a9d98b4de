# SPDX-License-Identifier: Apache-2.0
"""Large dense layers of plans, multiplied by Strassen's method, where there is room for what that keeps and where there is none."""

import subprocess
import sys

PROGRAM = """
import resource
import numpy as np
import mxnet as mx

UNITS, MIB = 4096, 2**20

def layer(units, rows, weight):
    symbol = mx.sym.FullyConnected(mx.sym.Variable("rows"), mx.sym.Variable("weight"), num_hidden=units, no_bias=True)
    executor = symbol.bind(mx.cpu(), {"rows": mx.nd.array(rows), "weight": mx.nd.array(weight)}, grad_req="null")
    mx.nd.waitall()
    return lambda: executor.forward(is_train=False)[0].asnumpy()

random = np.random.RandomState(7)
rows, weight = (random.normal(size=(n, UNITS)).astype("float32") for n in (128, UNITS))
want = rows @ weight.T
layer(512, rows[:, :512], weight[:512, :512])()  # the threads are there, and their memory
large = layer(UNITS, rows, weight)
with open("/proc/self/statm") as pages:
    now = int(pages.read().split()[0]) * resource.getpagesize()
before = resource.getrlimit(resource.RLIMIT_AS)
resource.setrlimit(resource.RLIMIT_AS, (now + 190 * MIB, before[1]))  # the weight has 64, its sums 196
np.testing.assert_allclose(large(), want, atol=1e-3)
resource.setrlimit(resource.RLIMIT_AS, before)
np.testing.assert_allclose(large(), want, atol=1e-3)
"""


def test_a_layer_without_room_for_its_sums_multiplies_plainly():
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=300)
