// SPDX-License-Identifier: Apache-2.0
// Functions that may use tensors of the model after they have returned, and what planned C does about it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/stays/address_keepers.hpp"
#include "tvm_c/stays/held_tensors.hpp"

namespace usmp::tvm_c {

// One of the entry that became a function.
struct LateStatement {
  std::string function;
  std::string text;   // that defines it
  std::string place;  // "lib0.c: line 3, column 1"
};

class LateUsers {
 public:
  // All functions of a device's file. `macros`: as in KeeperTexts.
  void add_device(const FileScope& scope, MacroDefinitions macros);

  // Functions of the model's files that are `asked`, and statements that keep an address, last = half(sid_1); or call
  // what does.
  void add(const FileScope& scope, const std::function<bool(const std::string& function)>& asked,
           MacroDefinitions macros, const std::vector<LateStatement>& statements);

  // hold_tensors of all that were added. Returns functions of C that functions of the module now call.
  const std::string& hold(const std::function<bool(const std::string& function)>& is_unknown, const std::string& entry,
                          tir::Module& module);

  // Warnings. `watchers`: functions of no file that get memory of tensors, those that are read left out.
  [[nodiscard]] std::vector<std::string> warnings(std::set<std::string> watchers) const;

 private:
  // Of functions that are `asked`: those that call what is `beside_`. O(bytes · log names).
  void add_callers(const FileScope& scope, const std::function<bool(const std::string& function)>& asked);

  AddressKeepers keepers_;
  Names beside_;  // functions of devices' files that have keepers; what calls them of the model's, and statements
  HeldTensors held_;
  std::map<std::string, std::string> statements_;    // that are keepers, as messages name them
  std::map<std::string, std::string> calls_keeper_;  // of other statements: a keeper that each calls
};

}  // namespace usmp::tvm_c
