# SPDX-License-Identifier: Apache-2.0
"""Tests that say something of the CPU itself, so that a run with gpu(0) as the default context leaves them out."""

LOADS = "what is loaded, or quantized, without a context lies on cpu(0), as in 1.x, and meets arrays of gpu(0)"
ASKS = "asks for the CPU and gives arrays of gpu(0)"
TEXT = "looks at a text, or at a context, that says cpu(0)"
HOST = "NumPy, buffers and extensions reach arrays in host memory only"
MEMORY = "memory of simulated GPUs is the process's, and grows with what is pushed ahead"
NUMBERS = "GPUs draw other numbers"
NAN = "kernels of GPUs cannot throw: what is wrong is NaN there"
FORKS = "a forked process cannot use the GPUs of its parent"

REASONS = {
    "contrib/test_contrib_onnx.py::test_a_network_of_the_zoo_and_batches_of_any_size": LOADS,
    "contrib/test_contrib_parts.py::test_a_converted_model_computes_the_same": ASKS,
    "contrib/test_contrib_quantization.py::test_a_collector_of_the_user": LOADS,
    "contrib/test_contrib_quantization.py::test_quantized_blocks_answer_as_the_real_ones": LOADS,
    "contrib/test_contrib_quantization.py::test_layers_of_blocks_are_excluded_by_a_part_of_their_names": LOADS,
    "contrib/test_contrib_quantized_layers.py::test_blocks_give_what_executors_give": LOADS,
    "data/test_data_loader.py::test_a_worker_may_use_the_library": FORKS,
    "data/test_data_loader_faults.py::test_a_batch_that_cannot_be_sent_is_an_error_and_the_next_epoch_goes_on": FORKS,
    "data/test_data_vision.py::test_records_and_lists": FORKS,
    "gluon/test_gluon_graph_files.py::test_files_of_the_reference_load": LOADS,
    "gluon/test_gluon_graph_files.py::test_imported_block_computes_the_same_and_can_be_trained": LOADS,
    "gluon/test_gluon_graph_files.py::test_models_of_the_reference_predict_what_they_did": LOADS,
    "gluon/test_gluon_graph_files.py::test_save_and_load_keep_the_graphs": LOADS,
    "gluon/test_gluon_layers.py::test_graph_is_that_of_the_reference[contrib_nn.SyncBatchNorm()]": "counts the GPUs",
    "gluon/test_gluon_memory.py": MEMORY,
    "gluon/test_gluon_model_zoo.py::test_trained_parameters_come_from_the_repository": LOADS,
    "gluon/test_gluon_numpy.py::test_training_and_files": LOADS,
    "gluon/test_gluon_parameter.py::test_unknown_shape_defers_the_values": TEXT,
    "gluon/test_gluon_rnn.py::test_files_of_layers_and_cells_are_alike": LOADS,
    "gluon/test_gluon_trainer.py::test_frozen_parameters_stay": ASKS,
    "gluon/test_gluon_trainer.py::test_seeded_training_gives_the_losses_of_the_reference": NUMBERS,
    "library/test_library_extension.py::test_state_lives_from_a_call_to_its_gradient": HOST,
    "ndarray/test_ndarray_exchange.py::test_buffers_show_values_and_types": HOST,
    "ndarray/test_ndarray_exchange.py::test_dlpack_shares_memory_both_ways": HOST,
    "ndarray/test_ndarray_exchange.py::test_notebooks_show_arrays_as_tables": TEXT,
    "ndarray/test_ndarray_exchange.py::test_notebooks_show_other_arrays_as_text": TEXT,
    "ndarray/test_ndarray_exchange.py::test_types_without_a_letter_and_sparse_arrays_have_no_buffer": HOST,
    "ndarray/test_ndarray_exchange.py::test_who_asks_for_memory_to_write_to_gets_it": HOST,
    "numpy/test_numpy_array.py::test_dlpack_round_trip": HOST,
    "numpy/test_numpy_array.py::test_an_array_tells_shape_type_and_context": TEXT,
    "numpy/test_numpy_array.py::test_shown_as_the_reference_shows_it": TEXT,
    "numpy/test_numpy_array.py::test_shown_without_elements_and_as_text": TEXT,
    "test_context.py::test_with_block_makes_it_current": TEXT,
    "test_mirroring.py": MEMORY,
    "test_ndarray.py::test_dlpack_shares_memory": HOST,
    "test_ndarray.py::test_an_array_prints_values_shape_and_context": TEXT,
    "test_pages.py": "each block runs in an interpreter of its own, on the CPU",
    "op/test_ops_detect.py::test_a_sample_that_is_matched_with_no_box_is_an_error": NAN,
    "op/test_ops_image.py::test_seeded_coins_jitters_and_lights_are_those_of_the_release": NUMBERS,
    "op/test_ops_losses.py::test_cross_entropy_of_a_label_that_is_no_class_is_an_error": NAN,
    "op/test_ops_losses.py::test_ctc_labels_out_of_range_are_errors": NAN,
    "op/test_ops_norm.py::test_dropout_masks_are_those_of_seeded_programs": NUMBERS,
    "op/test_ops_random.py::test_numpy_gamma_numbers_come_in_rounds": NUMBERS,
    "op/test_ops_rnn.py::test_kept_weights_do_not_see_changes": "kept weights are the CPU's: cuDNN reads the operator's",
    "op/test_ops_rnn.py::test_the_plain_kernel_computes_bfloat16_in_float32": "the plain kernel is the CPU's",
    "op/test_ops_sparse.py::test_updates_that_are_not_lazy_treat_missing_rows_as_zeros": "sparse updates run on the host, dense ones on the GPU",
    "op/test_ops_spatial.py::test_a_column_that_hashes_to_nowhere_is_an_error": NAN,
    "op/test_ops_spatial.py::test_a_region_of_an_image_that_is_not_there_is_an_error": NAN,
}


def reason(node_id):
    """Why the test of this name is left out; None where it is not."""
    for name, why in REASONS.items():
        before, found, after = node_id.partition(name)
        if found and before in ("", "tests/python/", "../tests/python/") and after[:1] in ("", "[", ":"):
            return why
    return None
