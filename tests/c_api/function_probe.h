// SPDX-License-Identifier: Apache-2.0
// Calls a function of any signature with arguments that are wrong in one way: nulls, or handles
// that are not what they should be. All other pointers lead to memory that may be read and written.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

// What a call came to.
struct Outcome {
  std::string function, scenario, error;
  std::string seen;  // what an observer was told that the function is; empty where it was not
  int result = 0;
  bool untouched = true;  // all that the function may write
  bool wrong_handle = false, all_null = false;
};

class FunctionProbe {
 public:
  // The handle to pass for one of this type, by the name that the ABI has for it.
  using HandleOf = std::function<void*(const std::string& type)>;
  FunctionProbe(HandleOf wrong, HandleOf stale) : handles_{std::move(wrong), std::move(stale)} {}

  // All ways to be wrong, each with small numbers in all other places.
  template <class R, class... P>
  void operator()(const char* name, R (*function)(P...), const std::vector<std::string>& types) {
    if constexpr (sizeof...(P) > 0 && std::is_same_v<R, int>) {
      constexpr std::array<bool, sizeof...(P)> pointers{std::is_pointer_v<P>...};
      std::set<std::size_t> all;
      for (std::size_t i = 0; i < pointers.size(); ++i)
        if (pointers[i]) all.insert(i);
      if (all.empty()) return;
      for (const int number : {1, 2}) {
        call(name, function, types, {number, all, nullptr}, "all null");
        for (const std::size_t i : all)
          call(name, function, types, {number, {i}, &handles_[0]}, "null " + std::to_string(i));
        call(name, function, types, {number, {}, &handles_[0]}, "handles of another kind");
        call(name, function, types, {number, {}, &handles_[1]}, "freed handles");
      }
    }
  }

  std::vector<Outcome> outcomes;

 private:
  struct Wrong {
    int number;
    std::set<std::size_t> nulls;
    const HandleOf* handle;  // null: all are
  };
  // Memory behind one argument, as it was before the call too.
  struct Block {
    alignas(64) std::array<char, 4096> now{}, before{};
    std::array<void*, 8> deeper{};
    bool may_change = false;
  };
  template <class F>
  struct Nothing;
  template <class R, class... A>
  struct Nothing<R(A...)> {
    static R call(A...) {
      if constexpr (!std::is_void_v<R>) return R();
    }
  };

  // Contexts and properties are structures that the caller fills; DLPack's tensors are its own.
  static bool is_handle(const std::string& type) {
    const bool named = type.ends_with("Handle") || type.ends_with("Creator");
    return named && type != "ContextHandle" && type != "EngineFnPropertyHandle" &&
           type != "DLManagedTensorHandle" && type != "CustomOpPropCreator";
  }
  static std::string without_star(const std::string& type) {
    const std::size_t end = type.find_first_of(" *", type.starts_with("const ") ? 6 : 0);
    return type.substr(type.starts_with("const ") ? 6 : 0,
                       end - (type.starts_with("const ") ? 6 : 0));
  }

  template <class T>
  static void fill(Block* block, T value) {
    for (std::size_t i = 0; i + sizeof(T) <= block->now.size(); i += sizeof(T))
      std::memcpy(block->now.data() + i, &value, sizeof(T));
  }

  template <class T>
  T argument(std::size_t i, const std::string& type, const Wrong& wrong, Block* block) {
    if constexpr (!std::is_pointer_v<T>) {
      return static_cast<T>(wrong.number);
    } else {
      using To = std::remove_pointer_t<T>;
      if (wrong.nulls.count(i) > 0) return nullptr;
      if constexpr (std::is_function_v<To>) {
        return &Nothing<To>::call;
      } else {
        const bool handles = is_handle(without_star(type));
        if (handles && std::is_void_v<To> && type != "EngineVarHandle")
          return static_cast<T>((*wrong.handle)(without_star(type)));
        if (type == "DLManagedTensorHandle") return nullptr;
        if (handles && (type == "EngineVarHandle" || std::is_same_v<std::remove_cv_t<To>, void*>)) {
          fill(block, (*wrong.handle)(without_star(type)));
        } else if constexpr (std::is_pointer_v<To>) {
          using Deep = std::remove_cv_t<std::remove_pointer_t<To>>;
          const void* to = std::is_same_v<Deep, char> ? static_cast<const void*>("x")
                                                      : static_cast<const void*>(&block->deeper);
          if (std::is_pointer_v<Deep>) block->deeper.fill(const_cast<char*>("x"));
          fill(block, to);
        } else if constexpr (std::is_same_v<std::remove_cv_t<To>, char>) {
          block->now[0] = 'x';
        } else if constexpr (std::is_arithmetic_v<To>) {
          fill(block, static_cast<std::remove_cv_t<To>>(wrong.number));
        }
        block->before = block->now;
        block->may_change = !std::is_const_v<To>;
        return reinterpret_cast<T>(block->now.data());
      }
    }
  }

  template <class... P>
  void call(const char* name, int (*function)(P...), const std::vector<std::string>& types,
            const Wrong& wrong, const std::string& scenario) {
    bool has_handle = false;
    for (std::size_t i = 0; i < types.size(); ++i)
      has_handle |= is_handle(without_star(types[i])) && wrong.nulls.count(i) == 0;
    if (wrong.nulls.empty() && !has_handle) return;
    auto blocks = std::make_unique<std::array<Block, sizeof...(P)>>();
    const std::string what = scenario + ", numbers " + std::to_string(wrong.number);
    begin();
    const int result = [&]<std::size_t... I>(std::index_sequence<I...>) {
      // Braces: in order.
      const std::tuple<P...> arguments{argument<P>(I, types[I], wrong, &(*blocks)[I])...};
      return std::apply(function, arguments);
    }
    (std::index_sequence_for<P...>());
    Outcome outcome{name, what, last_error(), last_seen(), result};
    outcome.all_null = wrong.handle == nullptr;
    outcome.wrong_handle = has_handle && wrong.handle != nullptr;
    for (const Block& block : *blocks)
      outcome.untouched &= !block.may_change || block.now == block.before;
    outcomes.push_back(std::move(outcome));
  }

  static void begin();
  static std::string last_error();
  static std::string last_seen();

  std::array<HandleOf, 2> handles_;
};

// Every function of the reference's ABI; generated.
void probe_every_function(FunctionProbe& probe);
