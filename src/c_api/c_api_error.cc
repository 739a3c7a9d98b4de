// SPDX-License-Identifier: Apache-2.0
// SEED: the C ABI helper completes this.
