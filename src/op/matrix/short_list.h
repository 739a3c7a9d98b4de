// SPDX-License-Identifier: Apache-2.0
// What std::vector is to the few numbers that say how arrays of a call lie: without memory of its
// own for up to eight, since a small product takes no longer than a dozen allocations.
#pragma once
#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace mxnet {

template <class T>
class ShortList {
  static_assert(std::is_trivially_copyable_v<T>, "copied as bytes, never ended");

 public:
  ShortList() = default;
  explicit ShortList(std::size_t size, T value = T{}) { assign(size, value); }
  ShortList(std::initializer_list<T> list) { append(list.begin(), list.end()); }
  ShortList(const T* first, const T* last) { append(first, last); }
  ShortList(const ShortList& other) { append(other.begin(), other.end()); }
  ShortList(ShortList&& other) noexcept { take(other); }
  ShortList& operator=(const ShortList& other) {
    if (this == &other) return *this;
    size_ = 0;
    append(other.begin(), other.end());
    return *this;
  }
  ShortList& operator=(ShortList&& other) noexcept {
    if (this == &other) return *this;
    release();
    take(other);
    return *this;
  }
  ~ShortList() { release(); }

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
  friend bool operator==(const ShortList& a, const ShortList& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

  void reserve(std::size_t capacity) {
    if (capacity > capacity_) grow(capacity);
  }
  void push_back(T value) {
    if (size_ == capacity_) grow(2 * capacity_);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void assign(std::size_t size, T value) {
    reserve(size);
    size_ = size;
    std::fill_n(data_, size, value);
  }
  // Numbers of another list.
  void append(const T* first, const T* last) {
    reserve(size_ + static_cast<std::size_t>(last - first));
    std::copy(first, last, data_ + size_);
    size_ += static_cast<std::size_t>(last - first);
  }

 private:
  static constexpr std::size_t kInline = 8;

  void release() {
    if (data_ != inline_) delete[] data_;
  }
  // Of an object that has no memory.
  void take(ShortList& other) noexcept {
    size_ = other.size_;
    capacity_ = other.capacity_;
    data_ = other.data_;
    if (data_ == other.inline_) data_ = std::copy_n(other.inline_, kInline, inline_) - kInline;
    other.data_ = other.inline_;
    other.capacity_ = kInline;
    other.size_ = 0;
  }
  [[gnu::noinline, gnu::cold]] void grow(std::size_t capacity) {
    T* const larger = new T[capacity];
    std::copy_n(data_, size_, larger);
    release();
    data_ = larger;
    capacity_ = capacity;
  }

  T* data_ = inline_;
  std::size_t size_ = 0, capacity_ = kInline;
  T inline_[kInline];
};

}  // namespace mxnet
