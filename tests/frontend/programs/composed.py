# SPDX-License-Identifier: Apache-2.0
"""Operators that networks are composed of but that no array is given to: the symbols that their functions make."""
from registry import program

# Name below contrib: number of inputs, parameters.
OPERATORS = {
    "backward_gradientmultiplier": (1, {"scalar": 3.0}),
    "calibrate_entropy": (2, {}),
    "dgl_adjacency": (1, {}),
    "dgl_csr_neighbor_non_uniform_sample": (3, {"num_args": 3}),
    "dgl_csr_neighbor_uniform_sample": (2, {"num_args": 2}),
    "dgl_graph_compact": (2, {"num_args": 2, "return_mapping": False, "graph_sizes": (3,)}),
    "dgl_subgraph": (2, {"num_args": 2, "return_mapping": False}),
    "edge_id": (3, {}),
    "ifft": (1, {"compute_size": 2}),
    "quantize_asym": (1, {}),
    "quantized_batch_norm": (7, {"eps": 1e-3}),
    "quantized_elemwise_mul": (6, {}),
    "quantized_rnn": (4, {"state_size": 2, "num_layers": 1, "mode": "lstm"}),
}


@program()
def symbols_alone(mx, np):
    results = {}
    for name, (inputs, parameters) in OPERATORS.items():
        variables = [mx.sym.Variable(f"v{i}") for i in range(inputs)]
        made = getattr(mx.sym.contrib, name)(*variables, name="made", **parameters)
        results[name] = [made.list_arguments(), made.list_outputs()]
    return results


@program()
def multiplied_gradient(mx, np):
    return mx.nd.contrib.backward_gradientmultiplier(mx.nd.array([[1, 2], [3, 4]]), scalar=3.0)
