// SPDX-License-Identifier: Apache-2.0
// A plug-in that needs a name which no library has, as one of an older libmxnet.so would.
extern "C" int mxnet_name_that_does_not_exist();
extern "C" __attribute__((visibility("default"))) const void* mxnet_plugin_table() {
  static const int table = mxnet_name_that_does_not_exist();
  return &table;
}
