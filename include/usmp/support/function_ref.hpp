// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A function that is called, but not kept: no memory is allocated and nothing is copied, as std::function does.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace usmp {

template <class Signature>
class FunctionRef;

// For parameters: the object that it is made of, often a temporary lambda, must live as long as it.
template <class Result, class... Arguments>
class FunctionRef<Result(Arguments...)> {
 public:
  // Implicit, as std::function.
  template <class F>
  requires(!std::is_same_v<F, FunctionRef> && std::is_invocable_r_v<Result, F&, Arguments...>)
      FunctionRef(const F& function)
  noexcept
      : object_(const_cast<void*>(static_cast<const void*>(std::addressof(function)))),
        call_([](void* object, Arguments... arguments) -> Result {
          return static_cast<Result>((*static_cast<F*>(object))(std::forward<Arguments>(arguments)...));
        }) {}

  Result operator()(Arguments... arguments) const { return call_(object_, std::forward<Arguments>(arguments)...); }

 private:
  void* object_;
  Result (*call_)(void* object, Arguments... arguments);
};

}  // namespace usmp
