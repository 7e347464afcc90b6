// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Functions that are known to be done with their arguments when they return: the one table of them, and the user's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace usmp::tvm_c {

// Which of a synchronous function's arguments may point to memory that has addresses, such as structs. Their addresses
// would go where the others' bytes go.
enum class HandsOn : std::uint8_t { none, first, all };

struct SynchronousFunction {
  std::string_view name;
  bool is_family = false;  // all functions whose names begin so
  HandsOn structs = HandsOn::none;
  bool returns_first = false;  // its first argument; else no address
  std::size_t addresses = 99;  // arguments behind so many are numbers
};

class SynchronousFunctions {
 public:
  SynchronousFunctions() = default;
  // `named`: those that the user names.
  explicit SynchronousFunctions(const std::set<std::string>& named) : named_(named.begin(), named.end()) {}

  void add(const std::string& name) { named_.insert(name); }
  [[nodiscard]] bool is_named(std::string_view name) const { return named_.contains(name); }
  // What a macro of that name stands for does not matter.
  [[nodiscard]] bool may_be_macro(std::string_view name) const {
    const SynchronousFunction* const found = find(name, false);
    return found != nullptr && (is_named(name) || found->addresses == 0);
  }

  // Null: it is none. Of functions that the files define, only those that are named count. O(log names).
  [[nodiscard]] const SynchronousFunction* find(std::string_view name, bool is_defined) const;

 private:
  std::set<std::string, std::less<>> named_;
};

}  // namespace usmp::tvm_c
