// SPDX-License-Identifier: Apache-2.0
// Rows of NVIDIA GPUs: choice of kernels, run-time compilation, CUDA graphs. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_CUDA(STARTUP, LIVE) \
  LIVE(allow_tensor_core, bool, "MXNET_CUDA_ALLOW_TENSOR_CORE", "1", any(), active("EngineChoice.TensorCoresNeedPermission"), \
      "Permit kernels on tensor cores.") \
  LIVE(tensor_op_math_allow_conversion, bool, "MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION", "0", any(), \
      active("EngineChoice.DownConversionNeedsPermission"), \
      "Permit float32 to be rounded to float16 on the way into tensor cores.") \
  LIVE(fc_true_fp16, bool, "MXNET_FC_TRUE_FP16", "0", any(), active("GemmChoice.HalfIsSummedInHalfOnlyWhenAsked"), \
      "Accumulate float16 products in float16: faster, less exact.") \
  LIVE(enforce_determinism, bool, "MXNET_ENFORCE_DETERMINISM", "0", any(), active("WinogradConfig.TheRowChoosesWhoDecides"), \
      "Use deterministic algorithms only, and fail where there is none.") \
  STARTUP(worker_nstreams, int, "MXNET_GPU_WORKER_NSTREAMS", "1", between(1, 2), active("SideStreams.BothPartsRunAtTheSameTime"), \
      "Streams that one operator may use; with 2, both gradients of a convolution run at the same time.") \
  STARTUP(lib_checking, bool, "MXNET_CUDA_LIB_CHECKING", "1", any(), active("LibraryVersions.AnotherCudaThanTheBuildsIsWarnedAbout"), \
      "Compare the version of CUDA with that of the build, and warn.") \
  STARTUP(cudnn_lib_checking, bool, "MXNET_CUDNN_LIB_CHECKING", "1", any(), active("LibraryVersions.AnotherCudnnThanTheBuildsIsWarnedAbout"), \
      "Compare the version of cuDNN with that of the build, and warn.") \
  LIVE(cudnn_autotune_default, int, "MXNET_CUDNN_AUTOTUNE_DEFAULT", "1", between(0, 2), active("EngineChoice.TuningTakesTheFastestWithinItsLimit"), \
      "How convolutions without a cudnn_tune of their own choose: 0 heuristics, 1 fastest within the workspace limit, 2 fastest.") \
  LIVE(cudnn_heur_mode, std::optional<int>, "MXNET_CUDNN_HEUR_MODE", "auto", between(0, 1), active("EngineChoice.HeuristicsAreAsked"), \
      "Heuristics of cuDNN: 0 decision tree, 1 neural network; auto: 1 from cuDNN 8.1 on.") \
  LIVE(cudnn_algo_verbose_level, int, "MXNET_CUDNN_ALGO_VERBOSE_LEVEL", "0", between(0, 2), active("EngineChoice.VerboseLevelsPrintOneOrAll"), \
      "Print the chosen (1) or all (2) engine configurations of convolutions.") \
  LIVE(cudnn_allow_fft, bool, "MXNET_CUDNN_ALLOW_FFT", "1", any(), active("EngineChoice.FourierNeedsPermission"), \
      "Permit convolution engines that use Fourier transforms.") \
  LIVE(cudnn_allow_winograd, bool, "MXNET_CUDNN_ALLOW_WINOGRAD", "1", any(), active("EngineChoice.WinogradNeedsPermission"), \
      "Permit convolution engines that use Winograd transforms.") \
  LIVE(cudnn_allow_reduced_precision_reduction, bool, "MXNET_CUDNN_ALLOW_REDUCED_PRECISION_REDUCTION", "1", any(), \
      active("EngineChoice.ReducedSumsNeedPermission"), \
      "Permit convolution engines that sum in reduced precision.") \
  LIVE(cudnn_disabled_conv_fwd_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_FWD_ENGINES", "", integers_between(0, 9999), \
      active("EngineChoice.DisabledEnginesAreLeftOut"), \
      "Numbers of forward convolution engines not to use.") \
  LIVE(cudnn_disabled_conv_dgrad_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_DGRAD_ENGINES", "", integers_between(0, 9999), \
      active("EngineChoice.DisabledEnginesAreLeftOut"), \
      "Numbers of data-gradient convolution engines not to use.") \
  LIVE(cudnn_disabled_conv_wgrad_engines, std::string, "MXNET_CUDNN_DISABLED_CONV_WGRAD_ENGINES", "", integers_between(0, 9999), \
      active("EngineChoice.DisabledEnginesAreLeftOut"), \
      "Numbers of weight-gradient convolution engines not to use.") \
  LIVE(use_fusion, bool, "MXNET_USE_FUSION", "1", any(), active("FusePointwise.GradientsAreTheSameBits"), \
      "Run chains of pointwise operators of a compiled graph as one, tile by tile in the cache of a CPU.") \
  LIVE(rtc_verbose, bool, "MXNET_RTC_VERBOSE", "0", any(), active("ChainKernels.SourceIsPrintedWhenAsked"), \
      "Print the source of kernels that are compiled at run time.") \
  LIVE(rtc_size_warning, bool, "MXNET_RTC_SIZE_WARNING", "1", any(), active("ChainKernels.ChainsOfTooManyArraysStayUnfusedAndSaySo"), \
      "Warn when a chain of operators has too many arrays for one kernel and runs unfused.") \
  LIVE(cache_dir, std::string, "MXNET_CUDA_CACHE_DIR", "~/.mxnet/cuda", any(), active("DiskCache.LiesInTheConfiguredFolder"), \
      "Where kernels compiled at run time and choices of cuDNN's engines are kept; ~ is the user's home.") \
  LIVE(cache_size, int64_t, "MXNET_CUDA_CACHE_SIZE", "256", at_least(0), active("DiskCache.TheOldestMakesRoom"), \
      "Most megabytes in that folder; 0: nothing is kept.") \
  LIVE(enable_cuda_graphs, bool, "MXNET_ENABLE_CUDA_GRAPHS", "0", any(), active("GraphReplay.SegmentsAreCapturedAndReplayed"), \
      "Capture segments of static graphs and replay them as CUDA graphs.") \
  LIVE(cuda_graphs_verbose, bool, "MXNET_CUDA_GRAPHS_VERBOSE", "0", any(), active("GraphReplay.LogSaysWhatIsCaptured"), \
      "Log what is captured.") \
  LIVE(cuda_graphs_max_log_entries, int, "MXNET_CUDA_GRAPHS_MAX_LOG_ENTRIES", "0", at_least(0), active("GraphReplay.LogEndsAfterTheMostEntries"), \
      "Most of these log lines; 0 = none.") \
  LIVE(cuda_graphs_dbg_file, std::string, "MXNET_CUDA_GRAPHS_DBG_FILE", "", any(), active("GraphReplay.DebugFilesTellDevicePartAndGraph"), \
      "Write each graph to <this>-devN-{trn,inf}.<graph>.dot. Empty: none.") \
  LIVE(cuda_graphs_dbg_file_flags, std::optional<int>, "MXNET_CUDA_GRAPHS_DBG_FILE_FLAGS", "auto", at_least(0), \
      active("GraphReplay.DebugFlagsReachTheDevice"), \
      "What these files hold: a sum of cudaGraphDebugDotFlags; auto: everything.") \
  LIVE(cutensor_cachefile, std::string, "MXNET_CUTENSOR_CACHEFILE", "", any(), inert("cuTENSOR is not used"), \
      "File in which cuTENSOR keeps its choices.")
// clang-format on
