// SPDX-License-Identifier: Apache-2.0
// The table of configuration variables: one row each, the only place where a name, default, range, doc or effect
// stands. The typed struct, parser, Python table, docs/env_vars.md and the row tests are derived from it.
//
// A row: STARTUP or LIVE (field, type, "NAME", "default", allowed, effect, "doc").
//   default   text, parsed like a value from the environment
//   allowed   any(), at_least(lo), between(lo, hi), ...; enum types know their own names
//   effect    active(), pending("which issue's subsystem"), inert("accepted without effect, because ...")
#pragma once

// clang-format off
#define MX_CONFIG_ENGINE(STARTUP, LIVE) \
  STARTUP(type, EngineType, "MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice", any(), active(), \
      "Which scheduler runs operations. NaiveEngine runs each on the caller's thread, at once.") \
  STARTUP(cpu_worker_nthreads, int, "MXNET_CPU_WORKER_NTHREADS", "1", between(1, 1024), active(), \
      "How many operations the CPU side of the engine may run at once; OMP_NUM_THREADS is the width inside one.") \
  STARTUP(cpu_priority_nthreads, int, "MXNET_CPU_PRIORITY_NTHREADS", "4", between(1, 1024), active(), \
      "Threads reserved for CPU operations of high priority, such as kvstore pushes.") \
  STARTUP(gpu_worker_nthreads, int, "MXNET_GPU_WORKER_NTHREADS", "2", between(1, 64), active(), \
      "Compute threads, each with its stream, that the per-device engine keeps for every GPU.") \
  STARTUP(gpu_copy_nthreads, int, "MXNET_GPU_COPY_NTHREADS", "2", between(1, 64), active(), \
      "Threads for copies from and to every GPU.") \
  STARTUP(mp_worker_nthreads, int, "MXNET_MP_WORKER_NTHREADS", "1", between(1, 1024), active(), \
      "CPU worker threads in a forked child, such as a DataLoader worker process.") \
  LIVE(info, bool, "MXNET_ENGINE_INFO", "0", any(), active(), \
      "Log every operation that the engine runs.") \
  STARTUP(run_ahead_bytes, int64_t, "MXNET_ENGINE_RUN_AHEAD_BYTES", "2147483648", at_least(0), active(), \
      "Bytes of temporaries that pushed, unfinished operations may hold before push waits; 0 = unbounded.")

#define MX_CONFIG_POOL(STARTUP, LIVE, KIND) \
  STARTUP(type, PoolType, "MXNET_" KIND "_MEM_POOL_TYPE", "Naive", any(), active(), \
      "Strategy of the " KIND " memory pool.") \
  STARTUP(reserve, int, "MXNET_" KIND "_MEM_POOL_RESERVE", "5", between(0, 100), active(), \
      "Percentage of memory that the " KIND " pool leaves free: cached blocks are released before it is touched.") \
  STARTUP(page_size, int64_t, "MXNET_" KIND "_MEM_POOL_PAGE_SIZE", "4096", power_of_two(), active(), \
      "Rounding unit of the " KIND " pool.") \
  STARTUP(large_alloc_round_size, int64_t, "MXNET_" KIND "_MEM_LARGE_ALLOC_ROUND_SIZE", "2097152", at_least(1), active(), \
      "Naive strategy: requests above this size are rounded up to a multiple of it; 1 = off.") \
  STARTUP(round_linear_cutoff, int, "MXNET_" KIND "_MEM_POOL_ROUND_LINEAR_CUTOFF", "24", between(0, 62), active(), \
      "Round strategy: powers of two up to 2^this, multiples of 2^this above.")

#define MX_CONFIG_STORAGE(STARTUP, LIVE) \
  STARTUP(use_naive_managers, int, "MXNET_USE_NAIVE_STORAGE_MANAGERS", "0", any(), active(), \
      "Non-zero switches all memory pools off.")

#define MX_CONFIG_DEVICE(STARTUP, LIVE) \
  STARTUP(sim_gpus, int, "MXNET_SIM_GPUS", "0", between(0, 64), active(), \
      "Number of simulated accelerators that stand in for GPUs; 0 = none.") \
  STARTUP(sim_memory_bytes, int64_t, "MXNET_SIM_GPU_MEMORY_BYTES", "1073741824", at_least(1048576), active(), \
      "Capacity of each simulated accelerator.")

#define MX_CONFIG_LOG(STARTUP, LIVE) \
  LIVE(stack_trace_depth, int, "DMLC_LOG_STACK_TRACE_DEPTH", "0", between(0, 128), active(), \
      "Stack frames added to error messages.")
// clang-format on
