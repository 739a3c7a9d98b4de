// SPDX-License-Identifier: Apache-2.0
// SEED: the engine helper completes this.
#include "engine/engine.h"
