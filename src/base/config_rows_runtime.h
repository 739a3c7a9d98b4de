// SPDX-License-Identifier: Apache-2.0
// Rows of what runs operations: the engine, devices, threads and resources,
// and how it reports. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_GENERAL(STARTUP, LIVE) \
  STARTUP(strict_env, bool, "MXNET_STRICT_ENV", "0", any(), active("ConfigResolve.StrictModeRejectsUnknownNames"), \
      "Make an unknown MXNET_* variable an error instead of a warning.")

#define MX_CONFIG_ENGINE(STARTUP, LIVE) \
  STARTUP(type, EngineType, "MXNET_ENGINE_TYPE", "ThreadedEnginePerDevice", any(), active("EngineConfig.TypeSelectsPolicy"), \
      "Which scheduler runs operations. NaiveEngine runs each on the caller's thread, at once.") \
  STARTUP(cpu_worker_nthreads, int, "MXNET_CPU_WORKER_NTHREADS", "1", between(1, 1024), active("EngineConfig.CpuWorkerThreadsRunAtOnce"), \
      "How many operations the CPU side of the engine may run at once; OMP_NUM_THREADS is the width inside one.") \
  STARTUP(cpu_priority_nthreads, int, "MXNET_CPU_PRIORITY_NTHREADS", "4", between(1, 1024), active("EngineConfig.CpuPriorityThreadsRunAtOnce"), \
      "Threads reserved for CPU operations of high priority, such as kvstore pushes.") \
  STARTUP(gpu_worker_nthreads, int, "MXNET_GPU_WORKER_NTHREADS", "2", between(1, 64), active("EngineConfigGpu.GpuWorkerThreadsRunAtOnceOnEachGpu"), \
      "Compute threads, each with its stream, that the per-device engine keeps for every GPU.") \
  STARTUP(gpu_copy_nthreads, int, "MXNET_GPU_COPY_NTHREADS", "2", between(1, 64), active("EngineConfigGpu.GpuCopyThreadsRunAtOnce"), \
      "Threads for copies from and to every GPU.") \
  STARTUP(mp_worker_nthreads, int, "MXNET_MP_WORKER_NTHREADS", "1", between(1, 1024), active("EngineConfig.ForkedChildHasItsOwnNumberOfWorkers"), \
      "CPU worker threads in a forked child, such as a DataLoader worker process.") \
  LIVE(info, bool, "MXNET_ENGINE_INFO", "0", any(), active("EngineConfig.InfoLogsEveryOperation"), \
      "Log every operation that the engine runs.") \
  STARTUP(run_ahead_bytes, int64_t, "MXNET_ENGINE_RUN_AHEAD_BYTES", "2147483648", at_least(0), active("EngineConfig.RunAheadBytesBoundWhatIsInFlight"), \
      "Bytes of temporaries that pushed, unfinished operations may hold before push waits; 0 = unbounded.")

#define MX_CONFIG_DEVICE(STARTUP, LIVE) \
  STARTUP(sim_gpus, int, "MXNET_SIM_GPUS", "0", between(0, 64), active("SimDevice.CountComesFromConfig"), \
      "Number of simulated accelerators that stand in for GPUs; 0 = none.") \
  STARTUP(sim_memory_bytes, int64_t, "MXNET_SIM_GPU_MEMORY_BYTES", "1073741824", at_least(1048576), active("SimDevice.CapacityComesFromConfig"), \
      "Capacity of each simulated accelerator.") \
  STARTUP(sim_links, std::string, "MXNET_SIM_GPU_LINKS", "", any(), active("SimDevice.LinksComeFromConfig"), \
      "What the direct links between simulated accelerators carry: a symmetric matrix, its rows parted by ';', its numbers " \
      "by spaces; 0 = no link. Empty: 1 between all of them.")

#define MX_CONFIG_CPU(STARTUP, LIVE) \
  STARTUP(omp_num_threads, std::string, "OMP_NUM_THREADS", "", integers_between(1, 65536), active("OpenMPEnvironment.ThreadCountReachesCallersAndWorkers"), \
      "OpenMP threads inside one operator; of a list, the first number counts. Empty: one for each physical core " \
      "that the process may use.") \
  STARTUP(omp_max_threads, std::optional<int>, "MXNET_OMP_MAX_THREADS", "auto", at_least(1), active("OpenMPEnvironment.TheCapBoundsTheCount"), \
      "Upper limit of the OpenMP threads inside one operator; auto: no limit but the machine's.") \
  STARTUP(kmp_affinity, std::string, "KMP_AFFINITY", "", any(), active("OpenMPEnvironment.CompactAffinityGivesEachThreadOneCpuOfItsOwn"), \
      "Pins OpenMP threads to cores, in the syntax of Intel's OpenMP: granularity=fine,compact,1,0 fills cores in " \
      "order, one thread each. Empty: the operating system places them.") \
  STARTUP(vector_level, std::optional<int>, "MXNET_CPU_VECTOR_LEVEL", "auto", between(0, 2), active("VectorLevelDeathTest.ALowerLevelIsTakenInsteadOfTheProcessors"), \
      "Widest vector instructions of the library's own loops: 0 = SSE4.2, 1 = AVX2 and FMA, 2 = AVX-512 and what is beyond; auto: " \
      "all that the processor has. oneDNN has ONEDNN_MAX_CPU_ISA, OpenBLAS has OPENBLAS_CORETYPE.") \
  LIVE(parallel_size, int64_t, "MXNET_CPU_PARALLEL_SIZE", "200000", at_least(0), active("Parallel.ConfiguredSizeDecidesAboutThreads"), \
      "Elements from which an operator that checks it uses several threads.") \
  LIVE(safe_accumulation, bool, "MXNET_SAFE_ACCUMULATION", "1", any(), active("SafeAccumulation.SumsOfFloatMeetInDouble"), \
      "Accumulate reductions in a wider type than the data's.") \
  STARTUP(use_operator_tuning, std::string, "MXNET_USE_OPERATOR_TUNING", "1", \
      some_of("0 1 float32 float64 float16 bfloat16 int8 uint8 int32 int64"), active("Parallel.TuningMayBeLimitedToSomeTypes"), \
      "Whether, or for which types, what an elementwise operator costs counts in the choice between one and several threads; " \
      "otherwise only the number of elements does. Nothing is timed at start.") \
  STARTUP(use_num_cores_operator_tuning, std::optional<int>, "MXNET_USE_NUM_CORES_OPERATOR_TUNING", "auto", at_least(1), \
      active("ParallelDeathTest.AssumedCoresLimitTheThreads"), \
      "Cores that this cost model assumes; auto: the OpenMP threads of one operator.") \
  STARTUP(output_tuning_data, bool, "MXNET_OUTPUT_TUNING_DATA", "0", any(), inert("no operator is timed, so there is no data"), \
      "Print the results of operator tuning as code.") \
  STARTUP(verbose_tuning_info, bool, "MXNET_VERBOSE_TUNING_INFO", "0", any(), inert("no operator is timed"), \
      "Log operator tuning.") \
  STARTUP(tuning_weight_scale, double, "MXNET_TUNING_WEIGHT_SCALE", "0.0", at_least(0), inert("no operator is timed"), \
      "Scale of the weights that operator tuning found.") \
  STARTUP(nnpack_nthreads, int, "MXNET_CPU_NNPACK_NTHREADS", "4", at_least(1), inert("NNPACK is not used: oneDNN covers it"), \
      "Threads of NNPACK.")

#define MX_CONFIG_RESOURCE(STARTUP, LIVE) \
  STARTUP(cpu_temp_copy, int, "MXNET_CPU_TEMP_COPY", "4", at_least(1), inert("an operation borrows its scratch memory from the pool: no copy is kept"), \
      "Temporary-space resources kept for CPU contexts, handed out in turn.") \
  STARTUP(gpu_temp_copy, int, "MXNET_GPU_TEMP_COPY", "1", at_least(1), inert("an operation borrows its scratch memory from the pool: no copy is kept"), \
      "Temporary-space resources kept for each GPU, handed out in turn.") \
  STARTUP(cpu_parallel_rand_copy, int, "MXNET_CPU_PARALLEL_RAND_COPY", "1", at_least(1), active("RandomStreams.CopiesTakeTurns"), \
      "Sets of parallel random generators kept for CPU contexts; requests take them in turn.") \
  STARTUP(gpu_parallel_rand_copy, int, "MXNET_GPU_PARALLEL_RAND_COPY", "4", at_least(1), inert("a kernel draws with a key of its own, so none waits for the state of another"), \
      "Parallel random generators kept for each GPU.") \
  STARTUP(gpu_cudnn_dropout_state_copy, int, "MXNET_GPU_CUDNN_DROPOUT_STATE_COPY", "4", at_least(1), inert("dropout draws with a key of its own, so cuDNN keeps no state for it"), \
      "Dropout states of cuDNN kept for each GPU.")

#define MX_CONFIG_IO(STARTUP, LIVE) \
  STARTUP(mp_opencv_num_threads, int, "MXNET_MP_OPENCV_NUM_THREADS", "0", at_least(0), inert("OpenCV is not used; in a forked worker an image is one thread's"), \
      "Threads of OpenCV inside a forked worker process; 0 = none beside the caller's.")

#define MX_CONFIG_PROFILER(STARTUP, LIVE) \
  STARTUP(autostart, bool, "MXNET_PROFILER_AUTOSTART", "0", any(), active("ProfilerProcess.AutostartWritesProfileJsonAtExit"), \
      "Profile from the first call of the library on; profile.json in the working directory is written every second " \
      "and at exit.") \
  STARTUP(mode, int, "MXNET_PROFILER_MODE", "13", between(0, 15), active("ProfilerProcess.ModeChoosesWhatIsRecorded"), \
      "What is recorded until set_config says otherwise, as a sum: 1 symbolic operators, 2 imperative operators, " \
      "4 C calls, 8 memory; in old releases 0 was symbolic and 1 all operators.") \
  STARTUP(ring_events, int, "MXNET_PROFILER_RING_EVENTS", "65536", between(16, 16777216), \
      active("ProfilerProcess.RingEventsBoundWhatIsKept"), \
      "Events that a thread keeps until they are dumped, 40 bytes each; older ones are dropped, and counted.")

#define MX_CONFIG_LOG(STARTUP, LIVE) \
  LIVE(level, LogLevel, "MXNET_LOG_LEVEL", "info", any(), active("Log.LevelDropsWhatIsBelow"), \
      "Messages below this level are not written.") \
  LIVE(stack_trace_depth, int, "DMLC_LOG_STACK_TRACE_DEPTH", "0", between(0, 128), active("StackTrace.StartsAtTheThrowingFunctionAndHasAtMostNFrames"), \
      "Stack frames added to error messages.")

#define MX_CONFIG_TESTING(STARTUP, LIVE) \
  STARTUP(test_seed, std::optional<int64_t>, "MXNET_TEST_SEED", "auto", at_least(0), inert("read by test suites, not by the library"), \
      "Seed of randomized tests; auto: each test's own.")
// clang-format on
