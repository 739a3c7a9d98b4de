# SPDX-License-Identifier: Apache-2.0
"""Drawings of networks: what stands in a node. The package that draws need not be installed."""

import sys
import types

import mxnet as mx
import pytest


class Digraph:
    def __init__(self, **_):
        self.nodes = {}

    def node(self, name, **look):
        self.nodes[name] = look

    def edge(self, **_):
        pass


@pytest.fixture(autouse=True)
def graphviz(monkeypatch):
    monkeypatch.setitem(sys.modules, "graphviz", types.SimpleNamespace(Digraph=Digraph))


def drawn(**kwargs):
    data = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=4, name="scan")
    data = mx.sym.BatchNorm(data, name="steady")
    network = mx.sym.softmax(mx.sym.concat(data, data, name="twice"), name="shares")
    return mx.viz.plot_network(network, **kwargs).nodes


def test_nodes_are_called_by_their_names():
    nodes = drawn()
    assert [nodes[name]["label"] for name in ("steady", "twice", "shares")] == ["steady", "twice", "shares"]


def test_layers_say_their_sizes():
    assert drawn()["scan"]["label"] == "Convolution\n3x3/1, 4"


def test_operators_without_a_colour_of_their_own_share_one():
    assert drawn()["shares"]["fillcolor"] == "#fccde5"


def test_weights_are_shown_on_request():
    assert "scan_weight" not in drawn()
    assert drawn(hide_weights=False)["scan_weight"]["label"] == "scan_weight"
