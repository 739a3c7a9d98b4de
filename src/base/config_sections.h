// SPDX-License-Identifier: Apache-2.0
// The sections of the configuration and the names of their types. A header that only hands a
// section on includes this, not config.h, so that a new row does not compile all of its users
// again.
#pragma once

// clang-format off
// SECTION(member of Config, its type, its rows, "title")
#define MX_CONFIG_SECTIONS(SECTION) \
  SECTION(general, GeneralConfig, MX_CONFIG_GENERAL, "Configuration itself") \
  SECTION(engine, EngineConfig, MX_CONFIG_ENGINE, "Dependency engine") \
  SECTION(device, DeviceConfig, MX_CONFIG_DEVICE, "Devices") \
  SECTION(cpu, CpuConfig, MX_CONFIG_CPU, "CPU operators and threads") \
  SECTION(resource, ResourceConfig, MX_CONFIG_RESOURCE, "Resources of operators") \
  SECTION(executor, ExecutorConfig, MX_CONFIG_EXECUTOR, "Graph execution") \
  SECTION(memory_plan, MemoryPlanConfig, MX_CONFIG_MEMORY_PLAN, "Memory planning of graphs") \
  SECTION(subgraph, SubgraphConfig, MX_CONFIG_SUBGRAPH, "Subgraph backends") \
  SECTION(quantization, QuantizationConfig, MX_CONFIG_QUANTIZATION, "Quantization") \
  SECTION(sparse, SparseConfig, MX_CONFIG_SPARSE, "Sparse arrays") \
  SECTION(onednn, OnednnConfig, MX_CONFIG_ONEDNN, "oneDNN") \
  SECTION(cuda, CudaConfig, MX_CONFIG_CUDA, "CUDA and cuDNN") \
  SECTION(kvstore, KvstoreConfig, MX_CONFIG_KVSTORE, "Key-value store") \
  SECTION(cluster, ClusterConfig, MX_CONFIG_CLUSTER, "Distributed training") \
  SECTION(io, IoConfig, MX_CONFIG_IO, "Data loading") \
  SECTION(profiler, ProfilerConfig, MX_CONFIG_PROFILER, "Profiler") \
  SECTION(log, LogConfig, MX_CONFIG_LOG, "Log and error messages") \
  SECTION(python, PythonConfig, MX_CONFIG_PYTHON, "Python package") \
  SECTION(testing, TestingConfig, MX_CONFIG_TESTING, "Tests")

// Storage holds three pools beside its own rows. POOL(member of Config, part of the name, "title")
#define MX_CONFIG_STORAGE_TITLE "Memory pools"
#define MX_CONFIG_POOLS(POOL) \
  POOL(storage.cpu, "CPU", "Memory pool of the CPU") \
  POOL(storage.pinned, "CPU_PINNED", "Memory pool of pinned host memory") \
  POOL(storage.gpu, "GPU", "Memory pool of each GPU")
// clang-format on

namespace mxnet {

#define MX_CONFIG_DECLARED(member, Struct, ROWS, title) struct Struct;
MX_CONFIG_SECTIONS(MX_CONFIG_DECLARED)
#undef MX_CONFIG_DECLARED
struct PoolConfig;
struct StorageConfig;
struct Config;

}  // namespace mxnet
