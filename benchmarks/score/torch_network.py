# SPDX-License-Identifier: Apache-2.0
"""A symbol file and its parameters as a PyTorch module, so that PyTorch runs the very network that the others do."""
import json

import torch
from onnx_model import pair, read_params
from torch import nn


def layer(op, attrs, params):
    """The module of one operator; `params` are its own."""
    if op == "Convolution":
        weight = params[0]
        groups = int(attrs.get("num_group", 1))
        conv = nn.Conv2d(weight.shape[1] * groups, weight.shape[0], pair(attrs["kernel"], 1), pair(attrs.get("stride"), 1),
                         pair(attrs.get("pad"), 0), pair(attrs.get("dilate"), 1), groups, bias=len(params) > 1)
        set_parameters(conv, params, ("weight", "bias"))
        return conv
    if op == "BatchNorm":
        norm = nn.BatchNorm2d(len(params[0]), float(attrs.get("eps", 1e-3)), 0.1)
        set_parameters(norm, params, ("weight", "bias", "running_mean", "running_var"))
        return norm
    if op == "FullyConnected":
        dense = nn.Linear(params[0].shape[1], params[0].shape[0], bias=len(params) > 1)
        set_parameters(dense, params, ("weight", "bias"))
        return nn.Sequential(nn.Flatten(), dense)
    if op == "Pooling":
        if attrs.get("global_pool") in ("True", "1"):
            return nn.AdaptiveAvgPool2d(1) if attrs["pool_type"] == "avg" else nn.AdaptiveMaxPool2d(1)
        kind = nn.MaxPool2d if attrs.get("pool_type", "max") == "max" else nn.AvgPool2d
        return kind(pair(attrs["kernel"], 1), pair(attrs.get("stride"), 1), pair(attrs.get("pad"), 0),
                    ceil_mode=attrs.get("pooling_convention") == "full")
    if op == "Activation":
        return {"relu": nn.ReLU, "sigmoid": nn.Sigmoid, "tanh": nn.Tanh}[attrs["act_type"]]()
    if op == "Dropout":
        return nn.Dropout(float(attrs.get("p", 0.5)))
    return {"Flatten": nn.Flatten}[op]()


def set_parameters(module, values, names):
    with torch.no_grad():
        for name, value in zip(names, values):
            getattr(module, name).copy_(torch.from_numpy(value.copy()))


class TorchNetwork(nn.Module):
    def __init__(self, prefix):
        super().__init__()
        with open(prefix + "-symbol.json") as file:
            symbol = json.load(file)
        params = read_params(prefix + "-0000.params")
        nodes = symbol["nodes"]
        self.steps, self.layers = [], nn.ModuleList()
        for index, node in enumerate(nodes):
            if node["op"] == "null":
                continue
            inputs = [i for i, *_ in node["inputs"] if nodes[i]["name"] not in params]
            if node["op"] in ("Concat", "elemwise_add", "broadcast_add"):
                self.steps.append((index, node["op"], inputs))
                continue
            own = [params[nodes[i]["name"]] for i, *_ in node["inputs"] if nodes[i]["name"] in params]
            self.steps.append((index, len(self.layers), inputs))
            self.layers.append(layer(node["op"], node.get("attrs", {}), own))
        self.data = next(i for i, node in enumerate(nodes) if node["name"] == "data")
        self.output = symbol["heads"][0][0]

    def forward(self, data):
        values = {self.data: data}
        for index, what, inputs in self.steps:
            given = [values[i] for i in inputs]
            if what == "Concat":
                values[index] = torch.cat(given, 1)
            elif isinstance(what, str):
                values[index] = given[0] + given[1]
            else:
                values[index] = self.layers[what](given[0])
        return values[self.output]
