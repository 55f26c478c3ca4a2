// SPDX-License-Identifier: Apache-2.0
// ComputedValues that are computed from one another, each once: the stages of an analysis.
//
// A kind of value is a C++ type. Beside the type stands its declaration, the function that computes it; the
// parameters of that function are the values that it is computed from:
//
//   std::vector<GpuTimeline> ComputeTimelines(const Context& context);
//   template <>
//   inline constexpr Computed kValue<std::vector<GpuTimeline>>{"timelines", ComputeTimelines};
//
// So the order of computation follows from the signatures, and using a value that nothing declares does not
// compile. What an analysis starts from is declared as Given.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace dladvisor {

class ComputedValues;

// What values are about, which is what they are computed from in the end.
enum class Subject { kTrace, kFleet };

struct ValueKind {
  std::string name;
  std::vector<const ValueKind*> inputs;
  std::function<std::shared_ptr<void>(const ComputedValues& values)>
      compute;  // null where the value is given
  Subject subject = Subject::kTrace;
};

// What a value is about that is computed from these.
Subject SubjectOf(std::span<const ValueKind* const> inputs);

// These and all that they depend on, each after its inputs.
std::vector<const ValueKind*> WithInputs(std::span<const ValueKind* const> kinds);

// Declarations of a kind of value.
struct Undeclared {};
struct Given {
  std::string_view name;
  Subject subject = Subject::kTrace;
};
template <class Function>
struct Computed {
  std::string_view name;
  Function* function;
};
template <class Function>
Computed(std::string_view, Function*) -> Computed<Function>;

template <class T>
inline constexpr Undeclared kValue{};

template <class T>
const ValueKind& KindOf();

// What a function takes and gives.
template <class Function>
struct Signature : Signature<decltype(&Function::operator())> {};
template <class R, class... Inputs>
struct Signature<R (*)(Inputs...)> {
  using Result = R;
  static std::vector<const ValueKind*> Kinds() { return {&KindOf<std::remove_cvref_t<Inputs>>()...}; }
  template <class Function>
  static R Call(const Function& function, const ComputedValues& values);
};
template <class R, class... Inputs>
struct Signature<R(Inputs...)> : Signature<R (*)(Inputs...)> {};
template <class C, class R, class... Inputs>
struct Signature<R (C::*)(Inputs...) const> : Signature<R (*)(Inputs...)> {};

// The values of one subject. Safe to use from several threads.
class ComputedValues {
 public:
  // Refers to the value, which must outlive this. REQUIRES: T is declared as Given.
  template <class T>
  void Give(const T& value) {
    const std::lock_guard lock(mutex_);
    slots_[&KindOf<T>()] =
        std::make_unique<Slot>(std::shared_ptr<void>(std::shared_ptr<void>(), const_cast<T*>(&value)));
  }

  // Computes the value, and what it depends on, where that has not been done. Throws what a computation
  // throws.
  template <class T>
  const T& Get() const {
    return *static_cast<const T*>(Get(KindOf<T>()));
  }
  const void* Get(const ValueKind& kind) const;

  // Computes these and all that they depend on, on all cores.
  void Compute(std::span<const ValueKind* const> kinds) const;

  // Whether the value is there, given or computed.
  bool Has(const ValueKind& kind) const;

  // Computes the value, and forgets it: who asks again has it computed anew.
  std::shared_ptr<void> Take(const ValueKind& kind);

  // Forgets what was computed and neither is nor serves to compute one of these.
  void KeepOnly(std::span<const ValueKind* const> kinds);

 private:
  struct Slot {
    explicit Slot(std::shared_ptr<void> given = nullptr) : value(std::move(given)) {}
    std::once_flag once;
    std::atomic<bool> is_computed = false;
    std::shared_ptr<void> value;
  };
  Slot& SlotOf(const ValueKind& kind) const;

  mutable std::mutex mutex_;  // of the map; each slot is filled once
  mutable std::map<const ValueKind*, std::unique_ptr<Slot>> slots_;
};

template <class R, class... Inputs>
template <class Function>
R Signature<R (*)(Inputs...)>::Call(const Function& function, const ComputedValues& values) {
  return function(values.Get<std::remove_cvref_t<Inputs>>()...);
}

// A value that is computed by `compute` from `inputs`.
ValueKind ComputedKind(std::string name, std::vector<const ValueKind*> inputs,
                       std::shared_ptr<void> (*compute)(const ComputedValues& values));

template <class T>
const ValueKind& KindOf() {
  using Declaration = std::remove_cv_t<decltype(kValue<T>)>;
  static_assert(!std::is_same_v<Declaration, Undeclared>, "no kValue<T> says how this value is computed");
  static const ValueKind kind = [] {
    if constexpr (std::is_same_v<Declaration, Given>) {
      return ValueKind{std::string(kValue<T>.name), {}, nullptr, kValue<T>.subject};
    } else {
      using Function = Signature<decltype(kValue<T>.function)>;
      std::string name(kValue<T>.name);
      if constexpr (requires { T::Name(); }) name = T::Name();
      return ComputedKind(std::move(name), Function::Kinds(),
                          [](const ComputedValues& values) -> std::shared_ptr<void> {
                            return std::make_shared<T>(Function::Call(kValue<T>.function, values));
                          });
    }
  }();
  return kind;
}

}  // namespace dladvisor
