// SPDX-License-Identifier: Apache-2.0
// A vector whose first N elements lie in the object itself: the lists of a call (inputs, outputs,
// variables, how arrays lie) are short, and the eager path may not allocate for them.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace mxnet {

// For stack frames and for objects that are reused in place. Lists of numbers can be copied and
// moved; of what owns something, such as arrays, nothing is.
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_nothrow_move_constructible_v<T>);
  static constexpr bool kIsBytes = std::is_trivially_copyable_v<T>;

 public:
  InlineVector() = default;
  explicit InlineVector(std::size_t size) { resize(size); }
  InlineVector(std::size_t size, const T& value) { assign(size, value); }
  InlineVector(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  InlineVector(const T* first, const T* last) { append(first, last); }
  InlineVector(const InlineVector&) = delete;
  InlineVector(const InlineVector& other) requires kIsBytes { append(other.begin(), other.end()); }
  InlineVector(InlineVector&& other) noexcept requires kIsBytes { take(other); }
  InlineVector& operator=(const InlineVector&) = delete;
  InlineVector& operator=(const InlineVector& other) requires kIsBytes {
    if (this != &other) copy(other);
    return *this;
  }
  InlineVector& operator=(InlineVector&& other) noexcept requires kIsBytes {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~InlineVector() {
    clear();
    release();
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
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  std::span<const T> span() const { return {data_, size_}; }
  std::span<T> span() { return {data_, size_}; }
  friend bool operator==(const InlineVector& a, const InlineVector& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
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
    reserve(size);
    while (size_ > size) pop_back();
    for (; size_ < size; ++size_) new (data_ + size_) T();
  }
  void assign(std::size_t size, const T& value) {
    clear();
    reserve(size);
    std::uninitialized_fill_n(data_, size, value);
    size_ = size;
  }
  // Elements of another list.
  void append(const T* first, const T* last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    std::uninitialized_copy(first, last, data_ + size_);
    size_ += static_cast<std::size_t>(last - first);
  }
  // Keeps the memory.
  void clear() {
    while (size_ > 0) pop_back();
  }

 private:
  bool on_heap() const { return data_ != reinterpret_cast<const T*>(inline_); }
  void release() {
    if (on_heap()) std::allocator<T>().deallocate(data_, capacity_);
  }
  // What fits into the object goes as a whole, which takes no call.
  void copy(const InlineVector& other) {
    reserve(other.size_);
    size_ = other.size_;
    // NOLINTNEXTLINE(bugprone-sizeof-expression): elements may well be pointers
    std::memcpy(data_, other.data_, size_ <= N ? sizeof(inline_) : size_ * sizeof(T));
  }
  // Of an object that has no memory.
  void take(InlineVector& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    data_ = other.data_;
    if (!other.on_heap()) {
      data_ = reinterpret_cast<T*>(inline_);
      std::memcpy(inline_, other.inline_, sizeof(inline_));
    }
    other.data_ = reinterpret_cast<T*>(other.inline_);
    other.capacity_ = N;
    other.size_ = 0;
  }
  [[gnu::noinline, gnu::cold]] void grow(std::size_t capacity) {
    T* bigger = std::allocator<T>().allocate(capacity);
    for (std::size_t i = 0; i < size_; ++i) {
      new (bigger + i) T(std::move(data_[i]));
      data_[i].~T();
    }
    release();
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
