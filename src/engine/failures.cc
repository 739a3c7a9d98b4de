// SPDX-License-Identifier: Apache-2.0
// Book-keeping of failed variables, and the naming of what was thrown.
#include "engine/failures.h"

#include <stdexcept>
#include <string>
#include <typeinfo>

#include "base/error.h"

namespace mxnet::engine {

void Failures::carry(Var* var, const FailureRef& failure) {
  if (var->failure != nullptr || var->order_only) return;
  var->failure = failure;
  carrying_.insert(var);
  carriers_.store(carrying_.size(), std::memory_order_relaxed);  // see any
}

void Failures::clear(Var* var) {
  var->failure.reset();
  carrying_.erase(var);
  carriers_.store(carrying_.size(), std::memory_order_relaxed);  // see any
}

FailureRef Failures::find(std::span<Var* const> reads, std::span<Var* const> writes) {
  MutexLock lock(mutex_);
  for (const auto& list : {reads, writes}) {
    for (const Var* var : list) {
      if (var->failure != nullptr) return var->failure;
    }
  }
  return nullptr;
}

void Failures::record(std::exception_ptr error, std::span<Var* const> writes) {
  auto failure = std::make_shared<Failure>(Failure{std::move(error)});
  MutexLock lock(mutex_);
  if (unseen_.size() < kMostUnseen) unseen_.push_back(failure);
  for (Var* var : writes) carry(var, failure);
}

void Failures::spread(const FailureRef& failure, std::span<Var* const> writes) {
  MutexLock lock(mutex_);
  for (Var* var : writes) carry(var, failure);
}

void Failures::forget(std::span<Var* const> vars) {
  if (vars.empty() || !any()) return;
  MutexLock lock(mutex_);
  for (Var* var : vars)
    if (var->failure != nullptr) clear(var);
}

std::exception_ptr Failures::carried(const Var* var) {
  if (!any()) return nullptr;
  MutexLock lock(mutex_);
  return var->failure == nullptr ? nullptr : var->failure->error;
}

std::exception_ptr Failures::take(Var* var) {
  if (!any()) return nullptr;
  MutexLock lock(mutex_);
  if (var->failure == nullptr) return nullptr;
  const FailureRef failure = var->failure;
  clear(var);
  if (!failure->shown) {
    failure->shown = true;
    std::erase(unseen_, failure);
  }
  return failure->error;
}

std::exception_ptr Failures::take_all() {
  MutexLock lock(mutex_);
  std::exception_ptr first = unseen_.empty() ? nullptr : unseen_.front()->error;
  for (const FailureRef& failure : unseen_) failure->shown = true;
  unseen_.clear();
  for (Var* var : carrying_) var->failure.reset();
  carrying_.clear();
  carriers_.store(0, std::memory_order_relaxed);  // see any
  return first;
}

namespace {

// A copy of `error` with the name in front, if its dynamic type is exactly E.
template <class E>
std::exception_ptr renamed(const std::exception& error, const char* name) {
  if (typeid(error) != typeid(E)) return nullptr;
  return std::make_exception_ptr(E("[" + std::string(name) + "] " + error.what()));
}

template <class... E>
std::exception_ptr renamed_as_one_of(const std::exception& error, const char* name) {
  std::exception_ptr result;
  static_cast<void>(((result = renamed<E>(error, name)) || ...));
  return result;
}

}  // namespace

std::exception_ptr name_error(std::exception_ptr error, const char* name) noexcept {
  if (name == nullptr) return error;
  try {
    std::rethrow_exception(error);
  } catch (const Error& e) {
    if (!e.tag().empty()) return error;
    return std::make_exception_ptr(e.retold(name, e.message()));
  } catch (const std::exception& e) {
    try {
      auto result =
          renamed_as_one_of<std::runtime_error, std::range_error, std::overflow_error,
                            std::underflow_error, std::logic_error, std::invalid_argument,
                            std::domain_error, std::length_error, std::out_of_range>(e, name);
      return result != nullptr ? result : error;
    } catch (...) {
      return error;  // no memory for a better message
    }
  } catch (...) {
    return error;
  }
}

}  // namespace mxnet::engine
