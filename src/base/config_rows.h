// SPDX-License-Identifier: Apache-2.0
// The table of configuration variables: one row each, the only place where a name, default, range,
// doc or effect stands. The typed struct, parser, Python table, docs/env_vars.md and the row tests
// are derived from it. To add a variable, add its row to its subsystem's file; a new subsystem also
// gets a line in MX_CONFIG_SECTIONS (config_sections.h).
//
// A row: STARTUP or LIVE (field, type, "NAME", "default", allowed, effect, "doc").
//   STARTUP   read once, when the library is first used
//   LIVE      may also be set later (MXSetEnv, mx.config.set)
//   type      bool, int, int64_t, double, std::string, an enumeration (config_types.h), or
//             std::optional of one of them, where "auto" leaves the choice to the library
//   default   text, parsed like a value from the environment; "=NAME": the value of that row
//   allowed   any(), at_least(lo), ... of config_allowed.h; enumerations know their own names
//   effect    active("Suite.Test that shows it"), pending("issue: subsystem"), or
//             inert("why it has no effect here")
#pragma once
#include "base/config_rows_cuda.h"
#include "base/config_rows_graph.h"
#include "base/config_rows_kvstore.h"
#include "base/config_rows_onednn.h"
#include "base/config_rows_python.h"
#include "base/config_rows_runtime.h"
#include "base/config_rows_storage.h"
#include "base/config_sections.h"

// clang-format off
// {"other spelling", "row"}: names of earlier releases, and those that the 2.0 code built itself. A `*` at the end
// of both stands for the same rest. Two spellings of one row may be set together only to the same value.
#define MX_CONFIG_ALIASES \
  {"MXNET_MKLDNN_ENABLED", "MXNET_ONEDNN_ENABLED"}, \
  {"MXNET_MKLDNN_CACHE_NUM", "MXNET_ONEDNN_CACHE_NUM"}, \
  {"MXNET_MKLDNN_FORCE_FC_AB_FORMAT", "MXNET_ONEDNN_FORCE_FC_AB_FORMAT"}, \
  {"MXNET_USE_MKLDNN_RNN", "MXNET_USE_ONEDNN_RNN"}, \
  {"MXNET_MKLDNN_DEBUG", "MXNET_ONEDNN_DEBUG"}, \
  {"MXNET_MKLDNN_QFC_DYNAMIC_PARAMS", "MXNET_ONEDNN_QFC_DYNAMIC_PARAMS"}, \
  {"MXNET_DISABLE_MKLDNN_*", "MXNET_DISABLE_ONEDNN_*"}, \
  {"MXNET_DISABLE_DNNL_FC_SUM", "MXNET_DISABLE_ONEDNN_FC_SUM"}, \
  {"MXNET_EXEC_MATCH_RANGE", "NNVM_EXEC_MATCH_RANGE"}, \
  {"MXNET_FUSION_VERBOSE", "MXNET_RTC_VERBOSE"}, \
  {"MXNET_FUSION_SIZE_WARNING", "MXNET_RTC_SIZE_WARNING"}, \
  {"MXNET_USE_NAIVE_STORAGE_MANAGER", "MXNET_USE_NAIVE_STORAGE_MANAGERS"}, \
  {"MXNET_CPU_POOL_PAGE_SIZE", "MXNET_CPU_MEM_POOL_PAGE_SIZE"}, \
  {"MXNET_CPU_PINNED_POOL_PAGE_SIZE", "MXNET_CPU_PINNED_MEM_POOL_PAGE_SIZE"}, \
  {"MXNET_GPU_POOL_PAGE_SIZE", "MXNET_GPU_MEM_POOL_PAGE_SIZE"}, \
  {"MXNET_ENABLE_OPERATOR_TUNING", "MXNET_USE_OPERATOR_TUNING"}
// clang-format on
