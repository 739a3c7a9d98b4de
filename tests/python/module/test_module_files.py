# SPDX-License-Identifier: Apache-2.0
"""Files between this library and the release it succeeds: networks, parameters, optimizer states.

REFERENCE_PYTHON names an interpreter that has the release (mxnet 1.9.1); without it only saved results are compared.
"""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

import mxnet as mx

DATA = pathlib.Path(__file__).resolve().parents[2] / "data"
MODELS = DATA / "gluon" / "models"
# Not the one of Gluon: the slope of its PReLU is one number, where shapes that are inferred have one for each channel.
NAMES = [path.name[: -len("-0000.params")] for path in sorted(MODELS.glob("*.params")) if path.name != "gluon-0000.params"]
REFERENCE = os.environ.get("REFERENCE_PYTHON")
needs_reference = pytest.mark.skipif(REFERENCE is None, reason="REFERENCE_PYTHON names no interpreter with the release")


def checkpoint(name, folder):
    """A model's two files side by side, as load_checkpoint looks for them; what was fed and predicted."""
    for source in (DATA / "symbols" / f"{name}-symbol.json", MODELS / f"{name}-symbol.json", MODELS / f"{name}-0000.params"):
        if source.exists():
            (folder / source.name).write_bytes(source.read_bytes())
    facts = np.load(MODELS / "models.npz")
    feed = {key.split("/")[2]: facts[key] for key in facts if key.startswith(f"{name}/feed/")}
    return str(folder / name), feed, [facts[key] for key in sorted(facts) if key.startswith(f"{name}/predict/")]


@pytest.mark.parametrize("name", NAMES)
def test_models_of_the_release_predict_through_module(name, tmp_path):
    prefix, feed, expected = checkpoint(name, tmp_path)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 0)
    labels = [key for key in feed if key.endswith("label") and key in symbol.list_arguments()]
    inputs = [key for key in feed if key not in labels]

    def described(keys):
        # The batch is along the first axis of the first input; the others may have it anywhere.
        return [mx.io.DataDesc(key, feed[key].shape, feed[key].dtype, "N" if key == inputs[0] else "") for key in keys]

    module = mx.mod.Module(symbol, inputs, labels)
    module.bind(described(inputs), described(labels) or None, for_training=False)
    module.set_params(arguments, states)
    batch = mx.io.DataBatch(
        [mx.nd.array(feed[key], dtype=feed[key].dtype) for key in inputs], [mx.nd.array(feed[key]) for key in labels]
    )
    module.forward(batch, is_train=False)
    outputs = module.get_outputs()
    assert len(outputs) == len(expected)
    for found, wanted in zip(outputs, expected):
        np.testing.assert_allclose(found.asnumpy(), wanted, rtol=1e-3, atol=1e-5)


# Runs in either library: trains two epochs from a seed or goes on from a checkpoint, saves, prints predictions.
PROGRAM = """
import json, sys
import numpy as np
import mxnet as mx
prefix, begin, optimizer = sys.argv[1], int(sys.argv[2]), sys.argv[3]
draws = np.random.RandomState(0)
x = draws.randn(40, 6).astype('float32')
y = (x[:, 0] > 0) * 1.0
data = mx.io.NDArrayIter(x, y, 10)
if begin:
    module = mx.mod.Module.load(prefix, begin, load_optimizer_states=True)
else:
    mx.random.seed(1)
    net = mx.sym.FullyConnected(mx.sym.Variable('data'), num_hidden=5, name='fc1')
    net = mx.sym.BatchNorm(mx.sym.Activation(net, act_type='tanh'), name='bn', fix_gamma=False)
    net = mx.sym.SoftmaxOutput(mx.sym.FullyConnected(net, num_hidden=2, name='fc2'), name='softmax')
    module = mx.mod.Module(net)
settings = {'learning_rate': 0.05}
if optimizer == 'sgd':
    settings['momentum'] = 0.9
module.fit(data, begin_epoch=begin, num_epoch=begin + 2, optimizer=optimizer, optimizer_params=settings,
           initializer=mx.init.Xavier())
module.save_checkpoint(prefix, begin + 2, save_optimizer_states=True)
print(json.dumps(module.predict(data).asnumpy().tolist()))
"""


def ours(run_python, *arguments):
    done = run_python(PROGRAM, *map(str, arguments))
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout.splitlines()[-1]))


def theirs(*arguments):
    env = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MXNET_", "LD_"))}
    command = [REFERENCE, "-c", PROGRAM, *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return np.array(json.loads(done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_training_goes_on_from_a_checkpoint_with_states(optimizer, tmp_path, run_python):
    prefix = tmp_path / "ours"
    first = ours(run_python, prefix, 0, optimizer)
    second = ours(run_python, prefix, 2, optimizer)
    assert first.shape == second.shape == (40, 2)
    assert np.abs(first - second).max() > 1e-3
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "ours-0002.params", "ours-0002.states", "ours-0004.params", "ours-0004.states", "ours-symbol.json",
    ]  # fmt: skip


@needs_reference
@pytest.mark.parametrize("optimizer", ["sgd", "adam", "rmsprop"])
def test_each_library_goes_on_where_the_other_was(optimizer, tmp_path, run_python):
    """Four epochs: two here and two there, in both orders, give what four of the release give."""
    wanted_half = theirs(tmp_path / "a", 0, optimizer)
    wanted = theirs(tmp_path / "a", 2, optimizer)
    np.testing.assert_allclose(ours(run_python, tmp_path / "b", 0, optimizer), wanted_half, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(theirs(tmp_path / "b", 2, optimizer), wanted, rtol=2e-3, atol=2e-3)
    theirs(tmp_path / "c", 0, optimizer)
    np.testing.assert_allclose(ours(run_python, tmp_path / "c", 2, optimizer), wanted, rtol=2e-3, atol=2e-3)


@needs_reference
def test_networks_are_written_alike(tmp_path, run_python):
    ours(run_python, tmp_path / "a", 0, "sgd")
    theirs(tmp_path / "b", 0, "sgd")
    assert (tmp_path / "a-symbol.json").read_text() == (tmp_path / "b-symbol.json").read_text()


def test_files_that_cannot_be_written_are_errors_of_one_class(tmp_path):
    """A checkpoint is a network and its arrays: programs catch MXNetError for both."""
    missing = tmp_path / "missing"
    with pytest.raises(mx.base.MXNetError, match="missing"):
        mx.nd.save(str(missing / "a.params"), mx.nd.ones((1,)))
    with pytest.raises(mx.base.MXNetError, match="missing.*No such file"):
        mx.sym.var("data").save(str(missing / "a.json"))
