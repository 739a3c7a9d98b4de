// SPDX-License-Identifier: Apache-2.0
// A shared library that has nothing to do with mxnet.
extern "C" __attribute__((visibility("default"))) int unrelated() { return 1; }
