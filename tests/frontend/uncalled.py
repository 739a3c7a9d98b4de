# SPDX-License-Identifier: Apache-2.0
"""Public names that no program calls, and why. A name that is in no list here, and in no program, fails the run."""

REASONS = {
    "operators of gradients: their functions take no arrays, and raise whatever is given": """
        nd.contrib.backward_hawkesll nd.contrib.backward_index_copy nd.contrib.backward_quadratic
        sym.contrib.backward_hawkesll sym.contrib.backward_index_copy sym.contrib.backward_quadratic""",
    "the release ends the process when it is called": "nd.contrib.quantize_asym",
    "structures and classes without a function of their own": """
        nd.ndarray.DLContext nd.ndarray.DLDataType nd.ndarray.DLManagedTensor nd.ndarray.DLTensor
        gluon.contrib.estimator.event_handler.EventHandler gluon.parameter.DeferredInitializationError""",
}
REASON_OF = {f"mxnet.{name}": reason for reason, names in REASONS.items() for name in names.split()}
