# SPDX-License-Identifier: Apache-2.0
"""Networks of the literature: names and shapes of parameters are those of 1.9.1, and files of them are found."""

import hashlib
import json
import math
import pathlib
import zipfile

import numpy as np
import pytest

import mxnet as mx
from mxnet.gluon.model_zoo import model_store, vision

# Digests of the names, shapes and paths of all parameters, obtained by running 1.9.1.
FACTS = json.loads((pathlib.Path(__file__).parents[2] / "data" / "gluon" / "model_zoo.json").read_text())


def test_all_networks_are_known():
    assert sorted(FACTS) == sorted(vision._MODELS)


@pytest.mark.parametrize("name", FACTS)
def test_parameters_are_those_of_the_reference(name):
    with mx.name.NameManager():
        net = vision.get_model(name)
    size = 299 if name == "inceptionv3" else 224
    output = net(mx.sym.var("data"))
    arguments, outputs, states = output.infer_shape(data=(1, 3, size, size))
    shapes = dict(zip(output.list_arguments(), arguments))
    shapes.update(zip(output.list_auxiliary_states(), states))
    table = [[key, list(shapes[key]), parameter.grad_req] for key, parameter in net.collect_params().items()]
    paths = [[path, parameter.name] for path, parameter in net._collect_params_with_prefix().items()]
    facts = FACTS[name]
    assert (len(table), sum(math.prod(shape) for _, shape, _ in table)) == (facts["count"], facts["elements"])
    assert (output.list_outputs(), list(outputs[0])) == (facts["output"], facts["shape"])
    assert hashlib.sha256(json.dumps([table, paths]).encode()).hexdigest() == facts["sha256"]


@pytest.mark.parametrize("name", ["squeezenet1.1", "mobilenetv2_0.25", "resnet18_v2"])
def test_networks_run_as_blocks_and_as_graphs(name):
    mx.random.seed(1)
    net = vision.get_model(name, classes=7)
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(1, 3, 224, 224))
    expected = net(x).asnumpy()
    net.hybridize()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-3, atol=1e-4)
    assert expected.shape == (1, 7)


def test_small_residual_networks_for_small_images():
    for net, block in ((vision.ResNetV1, vision.BasicBlockV1), (vision.ResNetV2, vision.BottleneckV2)):
        made = net(block, [1, 1], [8, 8, 16], classes=3, thumbnail=True)
        made.initialize()
        assert made(mx.nd.ones((2, 3, 16, 16))).shape == (2, 3)
    with pytest.raises(AssertionError, match="one number more"):
        vision.ResNetV1(vision.BasicBlockV1, [1, 1], [8, 8])


def test_unknown_networks_are_errors():
    with pytest.raises(ValueError, match="given network 'vgg12'"):
        vision.get_model("vgg12")
    with pytest.raises(AssertionError, match="expected 1 or 2"):
        vision.get_resnet(3, 18)
    with pytest.raises(KeyError, match="num_layers 12"):
        vision.get_vgg(12)
    with pytest.raises(ValueError, match="version 2.0"):
        vision.SqueezeNet("2.0")


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository in a folder with a file for squeezenet1.1, whose SHA-1 the store is made to expect."""
    mx.random.seed(3)
    net = vision.squeezenet1_1()
    net.initialize(mx.init.Xavier())
    net(mx.nd.ones((1, 3, 224, 224)))
    path = tmp_path / "weights"
    net.save_parameters(path)
    digest = hashlib.sha1(path.read_bytes()).hexdigest()
    monkeypatch.setitem(model_store._model_sha1, "squeezenet1.1", digest)
    file = f"squeezenet1.1-{digest[:8]}"
    folder = tmp_path / "repo" / "gluon" / "models"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(folder / f"{file}.zip", "w") as archive:
        archive.write(path, f"{file}.params")
    with mx.util.environment({"MXNET_GLUON_REPO": (tmp_path / "repo").as_uri(), "MXNET_HOME": str(tmp_path / "home")}):
        yield net, tmp_path / "home" / "models" / f"{file}.params", folder / f"{file}.zip"


def test_trained_parameters_come_from_the_repository(repository):
    net, kept, archive = repository
    x = mx.nd.random.uniform(shape=(1, 3, 224, 224))
    made = vision.squeezenet1_1(pretrained=True)
    np.testing.assert_allclose(made(x).asnumpy(), net(x).asnumpy(), rtol=1e-5, atol=1e-6)
    assert kept.exists()
    archive.unlink()
    vision.get_model("squeezenet1.1", pretrained=True, ctx=mx.cpu(1))  # the kept file is enough
    kept.write_bytes(b"something else")
    with pytest.raises(OSError, match=r"without a network|Without a network"):
        vision.squeezenet1_1(pretrained=True)
    model_store.purge()
    assert not kept.exists()


def test_without_trained_parameters_there_is_an_error():
    with pytest.raises(ValueError, match="no trained parameters of 'mine'"):
        model_store.get_model_file("mine")
    assert model_store.short_hash("resnet18_v1") == "a0666292"
