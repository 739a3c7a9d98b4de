// SPDX-License-Identifier: Apache-2.0
// Everything is hidden unless marked. MX_PLUGIN_API marks the few C++ names that the plug-ins
// (CUDA, MPI) share with the core: they are built from the same tree, so this is no promise to
// anybody else.
#pragma once

#define MX_PLUGIN_API __attribute__((visibility("default")))
