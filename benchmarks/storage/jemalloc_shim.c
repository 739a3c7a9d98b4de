// SPDX-License-Identifier: Apache-2.0
// jemalloc under other names; see CMakeLists.txt.
#include <stdlib.h>

void* bench_jemalloc_malloc(size_t bytes) { return malloc(bytes); }
void bench_jemalloc_free(void* data) { free(data); }
