// SPDX-License-Identifier: Apache-2.0
// Rows of everything between a symbol and its execution: executor, memory plan, subgraphs,
// quantization, sparse fallback. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_EXECUTOR(STARTUP, LIVE) \
  LIVE(bulk_exec_inference, bool, "MXNET_EXEC_BULK_EXEC_INFERENCE", "1", any(), active("PlanConfig.InferenceIsOneOperationUnlessBulkIsOff"), \
      "Run a whole inference graph as one engine operation.") \
  LIVE(bulk_exec_train, bool, "MXNET_EXEC_BULK_EXEC_TRAIN", "1", any(), active("PlanConfig.TrainingIsMergedUnlessBulkIsOff"), \
      "Run a training graph as a few engine operations of many operators each.") \
  LIVE(bulk_exec_max_node_train, int, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", "15", at_least(0), active("PlanConfig.TrainingMergesAtMostSoManyNodes"), \
      "Most operators merged into one engine operation while training.") \
  LIVE(bulk_exec_max_node_train_fwd, int, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_FWD", "=MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", \
      at_least(0), active("PlanConfig.ForwardHasALimitOfItsOwn"), \
      "The same limit for the forward part alone.") \
  LIVE(bulk_exec_max_node_train_bwd, int, "MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN_BWD", "=MXNET_EXEC_BULK_EXEC_MAX_NODE_TRAIN", \
      at_least(0), active("PlanConfig.BackwardHasALimitOfItsOwn"), \
      "The same limit for the backward part alone.") \
  LIVE(eliminate_common_expr, bool, "MXNET_ELIMINATE_COMMON_EXPR", "1", any(), active("Passes.CommonExpressionsFollowTheConfiguration"), \
      "Compute operators with equal inputs and parameters once.") \
  LIVE(node_elimination, bool, "MXNET_NODE_ELIMINATION", "1", any(), active("Passes.NodeEliminationFollowsTheConfiguration"), \
      "Drop operators that change nothing, such as an identity.") \
  LIVE(inplace_grad_sum_cap, int, "MXNET_EXEC_INPLACE_GRAD_SUM_CAP", "8", at_least(0), active("Passes.SumCapFollowsTheConfiguration"), \
      "Gradients with at most this many terms are summed by one operator, longer ones by a chain of additions in place.") \
  LIVE(verbose_logging, bool, "MXNET_EXEC_VERBOSE_LOGGING", "0", any(), active("PlanConfig.VerboseExecutorsLogTheirGraph"), \
      "Log graphs as they are bound.") \
  LIVE(disable_remove_casts, bool, "MXNET_DISABLE_REMOVE_CASTS_PROPERTY", "0", any(), active("Passes.CastPairsFollowTheConfiguration"), \
      "Keep pairs of casts that cancel each other.") \
  LIVE(graph_dump, std::string, "MXNET_GRAPH_DUMP", "", any(), active("Passes.DumpsShowEachPassBeforeAndAfter"), \
      "Show graphs before and after each pass: \"stderr\", or a folder that gets a file for each. Empty: no.")

#define MX_CONFIG_MEMORY_PLAN(STARTUP, LIVE) \
  LIVE(backward_do_mirror, bool, "MXNET_BACKWARD_DO_MIRROR", "0", any(), active("PlanConfig.MirroringSavesBytesAndChangesNoResult"), \
      "Recompute cheap forward results in the backward pass instead of keeping them.") \
  LIVE(memory_opt, int, "MXNET_MEMORY_OPT", "0", between(0, 1), active("PlanConfig.MemoryOptimizationTakesTheSmallestPlan"), \
      "Level of memory optimization of graphs: 1 trades time for memory.") \
  LIVE(backward_mirror_budget, int64_t, "MXNET_BACKWARD_MIRROR_BUDGET", "0", at_least(0), \
      active("PlanConfig.ABudgetIsKeptWithAsLittleRecomputationAsPossible"), \
      "Bytes of activations that a training graph should stay under, by recomputing any operators; 0 = no budget.") \
  LIVE(enable_inplace, bool, "MXNET_EXEC_ENABLE_INPLACE", "true", any(), active("PlanConfig.InPlaceSavesBytes"), \
      "Let an operator write its output over an input that nobody needs any more.") \
  LIVE(match_range, int, "NNVM_EXEC_MATCH_RANGE", "16", at_least(0), active("PlanConfig.MatchRangeLimitsWhoSharesBytes"), \
      "A freed buffer is reused for a request of up to this many times smaller or larger size; 0 = no reuse.") \
  LIVE(auto_search_match_range, bool, "NNVM_AUTO_SEARCH_MATCH_RANGE", "0", any(), active("MemoryPlan.SearchingTheMatchRangeNeverCostsBytesAndSometimesSavesSome"), \
      "Try the powers of two up to NNVM_EXEC_MATCH_RANGE and keep the smallest plan.") \
  LIVE(num_temp, int, "MXNET_EXEC_NUM_TEMP", "1", at_least(1), active("PlanBranchesConfig.BranchesShareSoManyWorkspaces"), \
      "Most workspaces of a graph's kernels; branches of a graph with different ones may run at the same time, if bulk is off.") \
  LIVE(nnvm_num_temp, int, "NNVM_EXEC_NUM_TEMP", "=MXNET_EXEC_NUM_TEMP", at_least(1), active("PlanBranchesConfig.BranchesHaveMemoryOfTheirOwn"), \
      "Colours of branches: values of different colours never use the same memory.") \
  LIVE(verbose_logging, bool, "MXNET_MEM_PLAN_VERBOSE_LOGGING", "0", any(), active("PlanConfig.VerboseMemoryPlansLogTheirBytes"), \
      "Log memory plans.")

#define MX_CONFIG_SUBGRAPH(STARTUP, LIVE) \
  LIVE(backend, std::string, "MXNET_SUBGRAPH_BACKEND", "ONEDNN", any(), active("FusedPlanConfig.BackendChoosesWhetherPlansAreOptimised"), \
      "Backend whose subgraphs replace parts of a graph when it is bound: ONEDNN (older name MKLDNN), a registered one, " \
      "or NONE.") \
  LIVE(verbose, int, "MXNET_SUBGRAPH_VERBOSE", "1", at_least(0), active("PartitionConfig.VerbosityTellsWhatAPartHolds"), \
      "Log the parts that a backend takes out of a graph; 0 = silent, 1 = how many, 2 = their nodes too.") \
  LIVE(tensorrt_max_batch_size, std::optional<int>, "MXNET_TENSORRT_MAX_BATCH_SIZE", "auto", at_least(1), \
      inert("TensorRT is not used"), \
      "Largest batch of a TensorRT engine; auto: the first one's.") \
  LIVE(tensorrt_use_fp16, bool, "MXNET_TENSORRT_USE_FP16", "1", any(), inert("TensorRT is not used"), \
      "Let TensorRT compute in float16.") \
  LIVE(tensorrt_verbose, int, "MXNET_TENSORRT_VERBOSE", "0", at_least(0), inert("TensorRT is not used"), \
      "Log level of TensorRT.")

#define MX_CONFIG_QUANTIZATION(STARTUP, LIVE) \
  LIVE(verbose, bool, "MXNET_QUANTIZATION_VERBOSE", "0", any(), active("test_the_log_says_what_becomes_of_each_operator"), \
      "Log which nodes are quantized, and why others are not.")

#define MX_CONFIG_SPARSE(STARTUP, LIVE) \
  LIVE(storage_fallback_log_verbose, bool, "MXNET_STORAGE_FALLBACK_LOG_VERBOSE", "1", any(), active("SparseConfig.FallbackIsLoggedOnceForACombination"), \
      "Warn, once for each operator, when a sparse array is made dense because there is no sparse kernel.") \
  LIVE(infer_storage_type_verbose_logging, bool, "MXNET_INFER_STORAGE_TYPE_VERBOSE_LOGGING", "0", any(), \
      active("SparseConfig.VerboseLoggingShowsEveryDecision"), \
      "Log the storage types of every operator with sparse arrays and how it is run.")
// clang-format on
