// SPDX-License-Identifier: Apache-2.0
// What the thread sanitizer cannot know: exception_ptr counts its references atomically, but inside
// libstdc++.so, which is not instrumented, so each last release looks like a race with an earlier
// reader of the exception.
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_suppressions() {
  return "race:exception_ptr\n";
}
// And what it would refuse: a child of fork that starts threads, which is what the engine promises
// to survive.
extern "C" __attribute__((visibility("default"), used)) const char* __tsan_default_options() {
  return "die_after_fork=0";
}
