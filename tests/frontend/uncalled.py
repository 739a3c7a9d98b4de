# SPDX-License-Identifier: Apache-2.0
"""Public names that no program calls, and why. A name that is in no list here, and in no program, fails the run."""

REASONS = {
    "gradients, which run through their operators": """
        nd.contrib.backward_hawkesll nd.contrib.backward_index_copy nd.contrib.backward_quadratic
        sym.contrib.backward_hawkesll sym.contrib.backward_index_copy sym.contrib.backward_quadratic""",
    "samples of graphs from random streams of another generator": """
        nd.contrib.dgl_csr_neighbor_non_uniform_sample nd.contrib.dgl_csr_neighbor_uniform_sample nd.contrib.dgl_graph_compact""",
    "the release has no CPU kernel, or ends the process when it is called alone": """
        nd.contrib.ifft nd.contrib.quantize_asym nd.contrib.quantized_batch_norm nd.contrib.quantized_elemwise_mul
        nd.contrib.quantized_rnn""",
    "the release refuses them for symbols": "sym.contrib.adamw_update sym.contrib.mp_adamw_update",
    "structures and classes without a function of their own": """
        nd.ndarray.DLContext nd.ndarray.DLDataType nd.ndarray.DLManagedTensor nd.ndarray.DLTensor
        gluon.contrib.estimator.event_handler.EventHandler gluon.parameter.DeferredInitializationError""",
    "files from the network": """
        gluon.contrib.data.text.WikiText103 gluon.contrib.data.text.WikiText2 gluon.data.vision.datasets.CIFAR10
        gluon.data.vision.datasets.CIFAR100 gluon.data.vision.datasets.FashionMNIST gluon.data.vision.datasets.MNIST
        gluon.utils.download""",
    "bodies of worker processes, which the measurement does not see": """
        gluon.data.dataloader.ConnectionWrapper gluon.data.dataloader.Queue gluon.data.dataloader.SimpleQueue
        gluon.data.dataloader.fetcher_loop_v1 gluon.data.dataloader.worker_loop_v1""",
    "hidden behind a function of the same name, or read by no network": """
        gluon.model_zoo.vision.alexnet.AlexNet gluon.model_zoo.vision.alexnet.alexnet gluon.model_zoo.vision.inception.make_aux""",
}
REASON_OF = {f"mxnet.{name}": reason for reason, names in REASONS.items() for name in names.split()}
