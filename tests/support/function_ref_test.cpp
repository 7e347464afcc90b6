// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// References to functions, with arguments that only move and results that are dropped.
#include "usmp/support/function_ref.hpp"

#include <doctest/doctest.h>

#include <functional>
#include <memory>
#include <utility>

namespace usmp::support::function_ref_test {

namespace {

int twice(FunctionRef<int(int)> function) { return function(function(1)); }
int taken(FunctionRef<int(std::unique_ptr<int>)> function) { return function(std::make_unique<int>(5)); }

}  // namespace

TEST_CASE("a reference to a function calls that very object") {
  int calls = 0;
  const auto add = [&calls](int value) {
    ++calls;
    return value + 3;
  };
  CHECK(twice(add) == 7);
  CHECK(calls == 2);
  auto counter = [count = 0](int) mutable { return ++count; };
  CHECK(twice(counter) == 2);
  CHECK(counter(0) == 3);
  const std::function<int(int)> kept = add;
  CHECK(twice(kept) == 7);
}

TEST_CASE("a reference to a function hands on what only moves, and drops a result that nobody wants") {
  CHECK(taken([](const std::unique_ptr<int>& value) { return *value; }) == 5);
  int seen = 0;
  const auto see = [&seen](int value) { return seen = value; };
  const FunctionRef<void(int)> without_result = see;
  without_result(8);
  CHECK(seen == 8);
}

}  // namespace usmp::support::function_ref_test
