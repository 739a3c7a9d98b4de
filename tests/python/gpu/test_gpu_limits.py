# SPDX-License-Identifier: Apache-2.0
"""A full GPU, and a long run: on a simulated GPU, or with --on-real-gpu on one of this machine."""

import pytest

FULL = """if True:
    import sys
    import mxnet as mx

    gpu, piece = mx.gpu(0), int(sys.argv[1])
    held = []
    try:
        while True:
            made = mx.nd.ones(piece, ctx=gpu, dtype="uint8")
            made.wait_to_read()
            held.append(made)
    except mx.base.MXNetError as error:
        print(str(error))
    assert held, "not even one piece"
    del made
    held.pop()
    small = mx.nd.ones(1000, ctx=gpu)  # one piece less, and others find room; what is held stays as it was
    assert float(small.sum().asscalar()) == 1000 and int(held[0][:10].asnumpy().sum()) == 10
    held.clear()
    whole = mx.nd.ones(piece, ctx=gpu, dtype="uint8") + 1  # and what was let go can be had again
    assert int(whole[:10].asnumpy().sum()) == 20
    print("goes on")
"""

LONG = """if True:
    import sys
    import mxnet as mx
    from mxnet import gluon
    from mxnet.gluon import nn

    gpu = mx.gpu(0)
    net = nn.HybridSequential()
    net.add(nn.Conv2D(8, 3, in_channels=3), nn.BatchNorm(in_channels=8), nn.Activation("relu"), nn.GlobalAvgPool2D(),
            nn.Dense(4, in_units=8))
    net.initialize(ctx=gpu)
    net.hybridize()
    trainer = gluon.Trainer(net.collect_params(), "adam")
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    used, losses = [], []
    for step in range(int(sys.argv[1])):
        size = 4 + step % 8
        images, labels = mx.nd.random.normal(shape=(size, 3, 12, 12), ctx=gpu), mx.nd.zeros(size, ctx=gpu)
        with mx.autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(size)
        mx.nd.waitall()  # how far Python runs ahead depends on what else the machine does, and with it the pool's peak
        if step % 64 == 63:
            losses.append(float(loss.mean().asscalar()))
            free, total = mx.context.gpu_memory_info(0)
            used.append(total - free)
    assert losses[-1] < losses[0], losses
    assert used[-1] <= used[len(used) // 2] * 1.02, used
    print("flat")
"""


@pytest.fixture
def run_on_gpu(request, run_python):
    """In a process of its own, whose GPU has little memory where it is simulated."""
    real = request.config.getoption("--on-real-gpu")
    sim = {} if real else {"MXNET_SIM_GPUS": "1", "MXNET_SIM_GPU_MEMORY_BYTES": str(64 << 20)}

    def run(code, simulated_argument, real_argument):
        done = run_python(code, str(real_argument if real else simulated_argument), env=sim)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout

    return run


def test_a_full_gpu_is_an_error_that_says_what_holds_it_and_leaves_the_rest_as_it_was(run_on_gpu):
    shown = run_on_gpu(FULL, 4 << 20, 4 << 30)
    assert "gpu(0)" in shown and "memory" in shown and shown.splitlines()[-1] == "goes on"


def test_training_for_long_keeps_the_memory_flat(run_on_gpu):
    assert run_on_gpu(LONG, 512, 4096).split() == ["flat"]
