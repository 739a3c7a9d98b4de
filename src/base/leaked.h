// SPDX-License-Identifier: Apache-2.0
// A singleton that is never destroyed: worker threads may use it while the process exits, so it
// must not race static destruction. Use: `static Leaked<Engine> engine(args...); return *engine;`
#pragma once
#include <new>
#include <utility>

namespace mxnet {

template <class T>
class Leaked {
 public:
  template <class... Args>
  explicit Leaked(Args&&... args) {
    new (storage_) T(std::forward<Args>(args)...);
  }
  Leaked(const Leaked&) = delete;
  Leaked& operator=(const Leaked&) = delete;

  T& operator*() { return *std::launder(reinterpret_cast<T*>(storage_)); }
  T* operator->() { return &**this; }

 private:
  alignas(T) unsigned char storage_[sizeof(T)];
};

}  // namespace mxnet
