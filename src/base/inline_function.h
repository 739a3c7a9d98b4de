// SPDX-License-Identifier: Apache-2.0
// A move-only std::function whose closure lies inside it up to `kInline` bytes, so that pushing an
// operation allocates nothing. Larger closures go to the heap.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace mxnet {

template <class Signature, std::size_t kInline = 48>
class InlineFunction;

template <class R, class... Args, std::size_t kInline>
class InlineFunction<R(Args...), kInline> {
 public:
  InlineFunction() = default;
  InlineFunction(std::nullptr_t) {}  // NOLINT(google-explicit-constructor): mirrors std::function
  template <class F>
  requires(!std::is_same_v<std::decay_t<F>, InlineFunction> &&
           std::is_invocable_r_v<R, std::decay_t<F>&, Args...>)
      InlineFunction(F&& f) {  // NOLINT(google-explicit-constructor): mirrors std::function
    using D = std::decay_t<F>;
    if constexpr (fits<D>()) {
      new (storage_) D(std::forward<F>(f));
      ops_ = &kInlineOps<D>;
    } else {
      *reinterpret_cast<D**>(storage_) = new D(std::forward<F>(f));
      ops_ = &kHeapOps<D>;
    }
  }
  InlineFunction(InlineFunction&& other) noexcept { take(other); }
  InlineFunction& operator=(InlineFunction&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  InlineFunction(const InlineFunction&) = delete;
  InlineFunction& operator=(const InlineFunction&) = delete;
  ~InlineFunction() { reset(); }

  explicit operator bool() const { return ops_ != nullptr; }
  R operator()(Args... args) { return ops_->call(storage_, std::forward<Args>(args)...); }

  void reset() {
    if (ops_ != nullptr) {
      if (ops_->destroy != nullptr) ops_->destroy(storage_);
      ops_ = nullptr;
    }
  }

 private:
  // Null move / destroy mean "copy the bytes" / "nothing to do": the common closures cost no
  // indirect call.
  struct Ops {
    R (*call)(void*, Args&&...);
    void (*move)(void* to, void* from);
    void (*destroy)(void*);
  };

  template <class D>
  static constexpr bool fits() {
    return sizeof(D) <= kInline && alignof(D) <= alignof(std::max_align_t) &&
           std::is_nothrow_move_constructible_v<D>;
  }
  template <class D>
  static D& inlined(void* p) {
    return *std::launder(reinterpret_cast<D*>(p));
  }
  template <class D>
  static constexpr Ops make_inline_ops() {
    Ops ops{[](void* p, Args&&... args) -> R { return inlined<D>(p)(std::forward<Args>(args)...); },
            nullptr, nullptr};
    if constexpr (!std::is_trivially_copyable_v<D>) {
      ops.move = [](void* to, void* from) {
        new (to) D(std::move(inlined<D>(from)));
        inlined<D>(from).~D();
      };
    }
    if constexpr (!std::is_trivially_destructible_v<D>) {
      ops.destroy = [](void* p) { inlined<D>(p).~D(); };
    }
    return ops;
  }
  template <class D>
  static constexpr Ops make_heap_ops() {
    return Ops{[](void* p, Args&&... args) -> R {
                 return (**reinterpret_cast<D**>(p))(std::forward<Args>(args)...);
               },
               nullptr, [](void* p) { delete *reinterpret_cast<D**>(p); }};
  }
  template <class D>
  static constexpr Ops kInlineOps = make_inline_ops<D>();
  template <class D>
  static constexpr Ops kHeapOps = make_heap_ops<D>();

  void take(InlineFunction& other) {
    ops_ = other.ops_;
    if (ops_ == nullptr) return;
    if (ops_->move != nullptr) {
      ops_->move(storage_, other.storage_);
    } else {
      __builtin_memcpy(storage_, other.storage_, kInline);
    }
    other.ops_ = nullptr;
  }

  const Ops* ops_ = nullptr;
  alignas(std::max_align_t) unsigned char storage_[kInline];
};

}  // namespace mxnet
