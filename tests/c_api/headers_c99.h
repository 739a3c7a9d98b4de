/* SPDX-License-Identifier: Apache-2.0
 * What headers_c99.c offers to the C++ tests. */
#ifndef TESTS_C_API_HEADERS_C99_H_
#define TESTS_C_API_HEADERS_C99_H_

#ifdef __cplusplus
extern "C" {
#endif

/* (start + 1) * 2, computed by two operations on one variable; -1 if a call failed. */
int run_from_c(int start);

#ifdef __cplusplus
}
#endif

#endif /* TESTS_C_API_HEADERS_C99_H_ */
