/* SPDX-License-Identifier: Apache-2.0
 * What a C program outside of this repository does first: include, link, ask for the version. */
#include <mxnet/c_api.h>
#include <stdio.h>

int main(void) {
  int version = 0;
  if (MXGetVersion(&version) != 0) {
    fprintf(stderr, "MXGetVersion: %s\n", MXGetLastError());
    return 1;
  }
  if (version != 10901) { /* the level of the ABI, not of the package */
    fprintf(stderr, "MXGetVersion gave %d, expected 10901\n", version);
    return 1;
  }
  printf("consumer: found libmxnet.so, C ABI %d\n", version);
  return 0;
}
