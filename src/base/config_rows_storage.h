// SPDX-License-Identifier: Apache-2.0
// Rows of the memory pools: one set of variables, three kinds of memory. See config_rows.h.
#pragma once

// clang-format off
#define MX_CONFIG_STORAGE(STARTUP, LIVE) \
  STARTUP(use_naive_managers, int, "MXNET_USE_NAIVE_STORAGE_MANAGERS", "0", any(), active("StoragePool.NaiveStorageManagersSwitchTheCacheOff"), \
      "Non-zero switches all memory pools off.")

#define MX_CONFIG_POOL(STARTUP, LIVE, KIND) \
  STARTUP(type, PoolType, "MXNET_" KIND "_MEM_POOL_TYPE", "Naive", any(), active("StoragePool.TypeRoundReusesTheSamePowerOfTwo"), \
      "Strategy of the " KIND " memory pool: Naive reuses blocks of the same rounded size, Round rounds to powers of two " \
      "first, Unpooled asks the device each time.") \
  STARTUP(reserve, int, "MXNET_" KIND "_MEM_POOL_RESERVE", "5", between(0, 100), active("StoragePool.ReserveLeavesMemoryFree"), \
      "Percentage of memory that the " KIND " pool leaves free: cached blocks are released before it is touched.") \
  STARTUP(page_size, int64_t, "MXNET_" KIND "_MEM_POOL_PAGE_SIZE", "4096", power_of_two(), active("StoragePool.PageSizeIsTheSmallestChunkOfNaive"), \
      "Bytes to whose multiples the " KIND " pool rounds requests.") \
  STARTUP(large_alloc_round_size, int64_t, "MXNET_" KIND "_MEM_LARGE_ALLOC_ROUND_SIZE", "2097152", at_least(1), \
      active("StoragePool.LargeAllocRoundSizeRoundsLargeRequests"), \
      "Naive strategy of the " KIND " pool: requests above this many bytes are rounded up to a multiple of it; 1 = off.") \
  STARTUP(round_linear_cutoff, int, "MXNET_" KIND "_MEM_POOL_ROUND_LINEAR_CUTOFF", "24", between(0, 62), \
      active("StoragePool.RoundLinearCutoffEndsThePowersOfTwo"), \
      "Round strategy of the " KIND " pool: powers of two up to 2^this bytes, multiples of 2^this above. At least the " \
      "logarithm of the page size.")
// clang-format on
