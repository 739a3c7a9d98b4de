// SPDX-License-Identifier: Apache-2.0
// Rows of NVIDIA GPUs: choice of kernels, run-time compilation, CUDA graphs. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_CUDA(STARTUP, LIVE) \
  LIVE(allow_tensor_core, bool, "MXNET_CUDA_ALLOW_TENSOR_CORE", "1", any(), pending("issue 10: cuBLASLt, cuDNN"), \
      "Permit kernels on tensor cores.") \
  LIVE(tensor_op_math_allow_conversion, bool, "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "0", any(), \
      pending("issue 10: cuBLASLt, cuDNN"), \
      "Permit float32 to be rounded to float16 on the way into tensor cores.") \
  LIVE(fc_true_fp16, bool, "MXNET_FC_TRUE_FP16", "0", any(), pending("issue 10: cuBLASLt"), \
      "Accumulate float16 products in float16: faster, less exact.") \
  LIVE(enforce_determinism, bool, "MXNET_ENFORCE_DETERMINISM", "0", any(), active("WinogradConfig.TheRowChoosesWhoDecides"), \
      "Use deterministic algorithms only, and fail where there is none.") \
  STARTUP(worker_nstreams, int, "MXNET_GPU_WORKER_NSTREAMS", "1", between(1, 2), pending("issue 10: streams"), \
      "Streams that one operator may use; with 2, both gradients of a convolution run at the same time.") \
  STARTUP(lib_checking, bool, "MXNET_CUDA_LIB_CHECKING", "1", any(), pending("issue 10: loader"), \
      "Compare the version of CUDA with that of the build, and warn.") \
  STARTUP(cudnn_lib_checking, bool, "MXNET_CUDNN_LIB_CHECKING", "1", any(), pending("issue 10: loader"), \
      "Compare the version of cuDNN with that of the build, and warn.") \
  LIVE(cudnn_autotune_default, int, "MXNET_CUDNN_AUTOTUNE_DEFAULT", "1", between(0, 2), pending("issue 10: cuDNN"), \
      "How convolutions without a cudnn_tune of their own choose: 0 heuristics, 1 fastest within the workspace limit, 2 fastest.") \
  LIVE(cudnn_heur_mode, std::optional<int>, "MXNET_CUDNN_HEUR_MODE", "auto", between(0, 1), pending("issue 10: cuDNN"), \
      "Heuristics of cuDNN: 0 decision tree, 1 neural network; auto: 1 from cuDNN 8.1 on.") \
  LIVE(cudnn_algo_verbose_level, int, "MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "0", between(0, 2), pending("issue 10: cuDNN"), \
      "Print the chosen (1) or all (2) engine configurations of convolutions.") \
  LIVE(cudnn_allow_fft, bool, "MXNET_CUDNN_ALLOW_FFT", "1", any(), pending("issue 10: cuDNN"), \
      "Permit convolution engines that use Fourier transforms.") \
  LIVE(cudnn_allow_winograd, bool, "MXNET_CUDNN_ALLOW_WINOGRAD", "1", any(), pending("issue 10: cuDNN"), \
      "Permit convolution engines that use Winograd transforms.") \
  LIVE(cudnn_allow_reduced_precision_reduction, bool, "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", "1", any(), \
      pending("issue 10: cuDNN"), \
      "Permit convolution engines that sum in reduced precision.") \
  LIVE(cudnn_disabled_conv_fwd_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "", integers_between(0, 9999), \
      pending("issue 10: cuDNN"), \
      "Numbers of forward convolution engines not to use.") \
  LIVE(cudnn_disabled_conv_dgrad_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", "", integers_between(0, 9999), \
      pending("issue 10: cuDNN"), \
      "Numbers of data-gradient convolution engines not to use.") \
  LIVE(cudnn_disabled_conv_wgrad_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", "", integers_between(0, 9999), \
      pending("issue 10: cuDNN"), \
      "Numbers of weight-gradient convolution engines not to use.") \
  LIVE(use_fusion, bool, "MXNET_USE_FUSION", "1", any(), active("FusePointwise.GradientsAreTheSameBits"), \
      "Run chains of pointwise operators of a compiled graph as one, tile by tile in the cache of a CPU.") \
  LIVE(rtc_verbose, bool, "MXNET_RTC_VERBOSE", "0", any(), pending("issue 10: fusion"), \
      "Print the source of kernels that are compiled at run time.") \
  LIVE(rtc_size_warning, bool, "MXNET_RTC_SIZE_WARNING", "1", any(), pending("issue 10: fusion"), \
      "Warn when a fused kernel has too many inputs and is split.") \
  LIVE(enable_cuda_graphs, bool, "MXNET_ENABLE_CUDA_GRAPHS", "0", any(), pending("issue 10: CUDA graphs"), \
      "Capture segments of static graphs and replay them as CUDA graphs.") \
  LIVE(cuda_graphs_verbose, bool, "MXNET_CUDA_GRAPHS_VERBOSE", "0", any(), pending("issue 10: CUDA graphs"), \
      "Log what is captured.") \
  LIVE(cuda_graphs_max_log_entries, int, "MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "0", at_least(0), pending("issue 10: CUDA graphs"), \
      "Most of these log lines; 0 = none.") \
  LIVE(cuda_graphs_dbg_file, std::string, "MXNET_CUDA_GRAPHS_DBG_FILE", "", any(), pending("issue 10: CUDA graphs"), \
      "Write each graph to <this>-devN-{trn,inf}.<graph>.dot. Empty: none.") \
  LIVE(cuda_graphs_dbg_file_flags, std::optional<int>, "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", "auto", at_least(0), \
      pending("issue 10: CUDA graphs"), \
      "What these files hold: a sum of cudaGraphDebugDotFlags; auto: everything.") \
  LIVE(cutensor_cachefile, std::string, "MXNET_CUTENSOR_CACHEFILE", "", any(), inert("cuTENSOR is not used"), \
      "File in which cuTENSOR keeps its choices.")
// clang-format on
