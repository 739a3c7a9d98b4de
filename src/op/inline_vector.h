// SPDX-License-Identifier: Apache-2.0
// A vector whose first N elements lie in the object itself: the lists of a call (inputs, outputs,
// variables) are short, and the eager path may not allocate for them.
#pragma once
#include <cstddef>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace mxnet {

// Not copyable and not movable: meant for stack frames and for objects that are reused in place.
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);

 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t size) { resize(size); }
  InlineVector(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector&) = delete;
  ~InlineVector() {
    clear();
    if (on_heap()) std::allocator<T>().deallocate(data_, capacity_);
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& back() { return data_[size_ - 1]; }
  std::span<const T> span() const { return {data_, size_}; }
  std::span<T> span() { return {data_, size_}; }

  template <class... Args>
  T& emplace_back(Args&&... args) {
    if (size_ == capacity_) grow(capacity_ * 2);
    T* place = new (data_ + size_) T(std::forward<Args>(args)...);
    ++size_;
    return *place;
  }
  void push_back(T value) { emplace_back(std::move(value)); }
  void pop_back() { data_[--size_].~T(); }

  // New elements are value-initialised.
  void resize(std::size_t size) {
    if (size > capacity_) grow(size);
    while (size_ > size) pop_back();
    while (size_ < size) emplace_back();
  }
  // Keeps the memory.
  void clear() {
    while (size_ > 0) pop_back();
  }

 private:
  bool on_heap() const { return data_ != reinterpret_cast<const T*>(inline_); }
  void grow(std::size_t capacity) {
    T* bigger = std::allocator<T>().allocate(capacity);
    for (std::size_t i = 0; i < size_; ++i) {
      new (bigger + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    if (on_heap()) std::allocator<T>().deallocate(data_, capacity_);
    data_ = bigger;
    capacity_ = capacity;
  }

  T* data_ = reinterpret_cast<T*>(inline_);
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
  // NOLINTNEXTLINE(bugprone-sizeof-expression): elements may well be pointers
  alignas(T) unsigned char inline_[N * sizeof(T)];
};

}  // namespace mxnet
