// SPDX-License-Identifier: Apache-2.0
// Rows of the oneDNN kernels and of the fusions that are made for them. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_ONEDNN(STARTUP, LIVE) \
  LIVE(enabled, bool, "MXNET_ONEDNN_ENABLED", "1", any(), active("OnednnConfig.EnabledChoosesTheKernels"), \
      "Use the kernels of oneDNN where they accept the arrays; 0 runs everything on the plain kernels.") \
  LIVE(cache_num, int64_t, "MXNET_ONEDNN_CACHE_NUM", "-1", at_least(-1), active("OnednnCache.CacheNumBoundsEachCache"), \
      "Primitives kept in each cache, the least recently used goes first; -1 = no limit.") \
  LIVE(force_fc_ab_format, bool, "MXNET_ONEDNN_FORCE_FC_AB_FORMAT", "0", any(), active("OnednnConfig.ForceFcAbFormatKeepsWeightsAsTheyAre"), \
      "Keep weights of FullyConnected in plain layout, for models whose other users share them.") \
  LIVE(use_rnn, bool, "MXNET_USE_ONEDNN_RNN", "1", any(), active("OnednnConfig.UseRnnChoosesPackedWeights"), \
      "Run the fused RNN operator on packed weights, of bfloat16 in bfloat16; 0, or MXNET_ONEDNN_ENABLED=0, runs the plain " \
      "kernel: BLAS on weights as they lie, half types in float32.") \
  LIVE(rnn_use_weight_cache, bool, "MXNET_RNN_USE_WEIGHT_CACHE", "0", any(), active("test_kept_weights_do_not_see_changes"), \
      "Keep the packed weights of the fused RNN operator without looking whether they changed; for inference only.") \
  LIVE(rnn_matrix_unit, int, "MXNET_RNN_MATRIX_UNIT", "1", between(0, 2), active("test_the_matrix_unit_is_used_where_it_is_chosen"), \
      "Multiply by the processor's matrix unit (AMX) in recurrent layers, bfloat16 as it is and float32 as three digits of a byte, " \
      "where numbers allow it. 0: never. 1: where there is one and sizes gain. 2: everywhere, else by slow loops: for tests.") \
  LIVE(rnn_strassen, int, "MXNET_RNN_STRASSEN", "1", between(0, 2), active("test_strassen_is_used_where_it_is_chosen"), \
      "Multiply in fewer multiplications in LSTM layers of float32 outside of training, where sizes and numbers allow it: by " \
      "Strassen's method with the input (49 of 64), by Hopcroft and Kerr's with the state (26 of 32, with AVX-512 only). Rounding " \
      "errors are those of the largest numbers, and last bits may depend on the number of threads. 0, or " \
      "MXNET_ENFORCE_DETERMINISM=1: all products as they are, and cells as in training. 1: where it takes less time. 2: wherever " \
      "it is allowed.") \
  LIVE(fc_strassen, int, "MXNET_FC_STRASSEN", "1", between(0, 2), active("DenseStrassen.LargeLayersAreInFewerMultiplications"), \
      "Multiply by Strassen's method in large fully connected layers of float32 of graphs for inference, where sizes and numbers " \
      "allow it: 49 of 64 multiplications, with a rounding error of the largest numbers, and three times as much memory " \
      "for weights. 0: all products as they are. 1: where it takes less time. 2: wherever it is allowed.") \
  LIVE(debug, bool, "MXNET_ONEDNN_DEBUG", "0", any(), active("OnednnDebug.AKernelThatDiffersFromThePlainOneIsAnError"), \
      "Run the plain kernel too and compare; an error where they differ by more than rounding.") \
  LIVE(disable_fc_cache, bool, "MXNET_ONEDNN_DISABLE_FC_CACHE", "0", any(), active("FusedDenseConfig.WithoutACacheWeightsArePackedAtEachRun"), \
      "Pack the weights of FullyConnected at each call.") \
  LIVE(fuse_dequantize, bool, "MXNET_ONEDNN_FUSE_DEQUANTIZE", "1", any(), active("test_rows_of_the_configuration_keep_steps_behind_layers_apart"), \
      "Fuse dequantization into the operator before it.") \
  LIVE(fuse_requantize, bool, "MXNET_ONEDNN_FUSE_REQUANTIZE", "1", any(), active("test_rows_of_the_configuration_keep_steps_behind_layers_apart"), \
      "Fuse requantization into the operator before it.") \
  LIVE(qfc_dynamic_params, bool, "MXNET_ONEDNN_QFC_DYNAMIC_PARAMS", "0", any(), inert("parameters that have changed are always seen"), \
      "Compute the ranges of quantized FullyConnected at each call.") \
  LIVE(disable_conv_opt, bool, "MXNET_DISABLE_ONEDNN_CONV_OPT", "0", any(), active("FusedPlanConfig.EachRowSwitchesItsFusionOff"), \
      "Skip all fusions into convolutions.") \
  LIVE(disable_fuse_conv_bn, bool, "MXNET_DISABLE_ONEDNN_FUSE_CONV_BN", "0", any(), active("FusedPlanConfig.EachRowSwitchesItsFusionOff"), \
      "Skip the fusion of batch normalization into convolutions.") \
  LIVE(disable_fuse_conv_relu, bool, "MXNET_DISABLE_ONEDNN_FUSE_CONV_RELU", "0", any(), active("FusedPlanConfig.EachRowSwitchesItsFusionOff"), \
      "Skip the fusion of activations into convolutions.") \
  LIVE(disable_fuse_conv_sum, bool, "MXNET_DISABLE_ONEDNN_FUSE_CONV_SUM", "0", any(), active("FusedPlanConfig.EachRowSwitchesItsFusionOff"), \
      "Skip the fusion of sums into convolutions.") \
  LIVE(winograd, std::string, "MXNET_ONEDNN_WINOGRAD", "heuristic", one_of("off heuristic measure"), \
      active("WinogradConfig.TheRowChoosesWhoDecides"), \
      "Which convolutions of compiled graphs (3x3, 5x5, rows and columns of 3 and 7) are computed by " \
      "Winograd's method: none; those that a model of the CPU chooses, the same at each run; or those that are faster " \
      "when both are timed once.") \
  LIVE(trials, std::string, "MXNET_ONEDNN_TRIALS", "~/.mxnet/convolution_trials.txt", any(), \
      active("ConvTrials.AFileKeepsThem"), \
      "File that keeps the choices of MXNET_ONEDNN_WINOGRAD=measure for later processes; empty: none.") \
  LIVE(bfloat16, bool, "MXNET_ONEDNN_BFLOAT16", "0", any(), active("BFloat16Plan.TheRowMakesLayersComputeInIt"), \
      "Compute convolutions and dense layers of compiled inference graphs in bfloat16, where the CPU has instructions " \
      "for it; inputs, weights and results of the graph stay float32.") \
  LIVE(disable_fc_opt, bool, "MXNET_DISABLE_ONEDNN_FC_OPT", "0", any(), active("FusedDenseConfig.EachRowSwitchesItsFusionOff"), \
      "Skip all fusions into FullyConnected.") \
  LIVE(disable_fc_sum, bool, "MXNET_DISABLE_ONEDNN_FC_SUM", "0", any(), active("FusedDenseConfig.EachRowSwitchesItsFusionOff"), \
      "Skip the fusion of sums into FullyConnected.") \
  LIVE(disable_fuse_fc_eltwise, bool, "MXNET_DISABLE_ONEDNN_FUSE_FC_ELTWISE", "0", any(), active("FusedDenseConfig.EachRowSwitchesItsFusionOff"), \
      "Skip the fusion of elementwise operators into FullyConnected.") \
  LIVE(disable_bn_relu_opt, bool, "MXNET_DISABLE_ONEDNN_BN_RELU_OPT", "0", any(), active("NormRelu.EachRowKeepsThemApart"), \
      "Skip all fusions into batch normalization.") \
  LIVE(disable_fuse_bn_relu, bool, "MXNET_DISABLE_ONEDNN_FUSE_BN_RELU", "0", any(), active("NormRelu.EachRowKeepsThemApart"), \
      "Skip the fusion of relu into batch normalization.") \
  LIVE(disable_batch_dot_fuse, bool, "MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE", "0", any(), inert("nothing is fused into batch_dot"), \
      "Skip fusions into batch_dot.") \
  LIVE(disable_pow_mul_scalar_opt, bool, "MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT", "0", any(), inert("chains of pointwise operators run as one: MXNET_USE_FUSION"), \
      "Skip the fusion of a power and a multiplication by a scalar.") \
  LIVE(disable_transformer_opt, bool, "MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT", "0", any(), inert("the attention operators are whole kernels, nothing is fused into them"), \
      "Skip fusions in attention.") \
  LIVE(disable_qem_float_output, bool, "MXNET_DISABLE_ONEDNN_QEM_FLOAT_OUTPUT", "0", any(), inert("nothing is fused into quantized elementwise multiplication"), \
      "Quantized elementwise multiplication keeps integer output.") \
  LIVE(disable_qem_fuse_all, bool, "MXNET_DISABLE_ONEDNN_QEM_FUSE_ALL", "0", any(), inert("nothing is fused into quantized elementwise multiplication"), \
      "Skip all fusions into quantized elementwise multiplication.") \
  LIVE(disable_qfc_float_output, bool, "MXNET_DISABLE_ONEDNN_QFC_FLOAT_OUTPUT", "0", any(), active("test_rows_of_the_configuration_keep_steps_behind_layers_apart"), \
      "Quantized FullyConnected keeps integer output.") \
  LIVE(disable_qfc_fuse_all, bool, "MXNET_DISABLE_ONEDNN_QFC_FUSE_ALL", "0", any(), active("test_rows_of_the_configuration_keep_steps_behind_layers_apart"), \
      "Skip all fusions into quantized FullyConnected.") \
  LIVE(disable_qtransformer_float_output, bool, "MXNET_DISABLE_ONEDNN_QTRANSFORMER_FLOAT_OUTPUT", "0", any(), \
      active("test_rows_of_the_configuration_keep_steps_behind_attention_apart"), \
      "Quantized attention keeps integer output.") \
  LIVE(disable_qtransformer_fuse_all, bool, "MXNET_DISABLE_ONEDNN_QTRANSFORMER_FUSE_ALL", "0", any(), \
      active("test_rows_of_the_configuration_keep_steps_behind_attention_apart"), \
      "Skip all fusions into quantized attention.")
// clang-format on
