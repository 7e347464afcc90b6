// SPDX-License-Identifier: Apache-2.0
// Functions that may use tensors of the model after they have returned, and what planned C does about it.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tvm_c/stays/address_keepers.hpp"
#include "tvm_c/stays/held_tensors.hpp"

namespace usmp::tvm_c {

class LateUsers {
 public:
  void add(AddressKeepers keepers) { keepers_.merge(keepers); }

  // A statement of the entry that became a function, if it keeps an address, last = half(sid_1); or calls what does.
  // `text` defines the function, `place` is that of the statement: "lib0.c: line 3, column 1".
  void add_statement(const std::string& function, const std::string& text, const std::string& place,
                     const FileScope& scope);

  // hold_tensors of all that were added. Returns functions of C that functions of the module now call.
  const std::string& hold(const std::function<bool(const std::string& function)>& is_unknown, const std::string& entry,
                          tir::Module& module);

  // Warnings. `watchers`: functions of no file that get memory of tensors, those that are read left out.
  [[nodiscard]] std::vector<std::string> warnings(std::set<std::string> watchers) const;

 private:
  AddressKeepers keepers_;
  HeldTensors held_;
  std::map<std::string, std::string> statements_;    // that are keepers, as messages name them
  std::map<std::string, std::string> calls_keeper_;  // of other statements: a keeper that each calls
};

}  // namespace usmp::tvm_c
