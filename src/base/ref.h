// SPDX-License-Identifier: Apache-2.0
// Intrusive reference counting: one word in the object, one in the handle, no control block.
#pragma once
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace mxnet {

// Base of counted objects; starts at zero references. Thread-safe counts, like std::shared_ptr's.
class RefCounted {
 public:
  RefCounted() = default;
  RefCounted(const RefCounted&) = delete;
  RefCounted& operator=(const RefCounted&) = delete;

  // Relaxed: whoever copies a reference holds one already.
  void add_ref() const noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  // Release: our writes happen before the last owner's destruction, which acquires them. True for
  // the last reference.
  bool drop_ref() const noexcept {
    // The only owner needs no read-modify-write: nobody else can copy what nobody else holds.
    if (count_.load(std::memory_order_acquire) == 1) return true;
    return count_.fetch_sub(1, std::memory_order_acq_rel) == 1;
  }
  bool unique() const noexcept { return count_.load(std::memory_order_acquire) == 1; }

 protected:
  ~RefCounted() = default;

 private:
  mutable std::atomic<uint32_t> count_{0};
};

template <class T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) noexcept : object_(object) {
    if (object_ != nullptr) object_->add_ref();
  }
  Ref(const Ref& other) noexcept : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  // From an owner of a derived class, which then is deleted through this base.
  template <class U>
  requires(!std::is_same_v<U, T> && std::is_convertible_v<U*, T*>) Ref(Ref<U> other)
  noexcept : object_(other.release()) {  // NOLINT: as pointers convert
    static_assert(std::has_virtual_destructor_v<T>);
  }
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_ != nullptr && object_->drop_ref()) delete object_;
  }

  T* get() const noexcept { return object_; }
  // Gives the reference away, uncounted: for another Ref's constructor.
  T* release() noexcept { return std::exchange(object_, nullptr); }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  bool operator==(const Ref& other) const = default;

 private:
  T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
  return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace mxnet
