// SPDX-License-Identifier: Apache-2.0
// What the thread sanitizer cannot see: glibc keeps the stacks of threads that have ended, and the
// thread that ends when they are too many frees what the others had as thread-local variables of
// libraries that were opened later. It takes turns by a lock of its own, inside of the dynamic
// linker, of which the sanitizer sees nothing but the call of free.

extern "C" [[gnu::visibility("default")]] const char* __tsan_default_suppressions();  // NOLINT
extern "C" const char* __tsan_default_suppressions() {  // NOLINT(bugprone-reserved-identifier)
  return "called_from_lib:ld-linux\n";
}
