// SPDX-License-Identifier: Apache-2.0
// SEED: the storage helper completes this.
#include "storage/storage.h"
