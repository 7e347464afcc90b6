// SPDX-License-Identifier: Apache-2.0
// Functions that keep addresses of what they are passed: an accelerator may go on with it when they have returned.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/macros.hpp"

namespace usmp::tvm_c {

struct KeptAddress {
  std::string variable;  // that outlives the function
  std::string through;   // the function that keeps it for this one; empty: this one does
};

// By function.
using AddressKeepers = std::map<std::string, KeptAddress, std::less<>>;

struct KeeperTexts {
  MacroDefinitions macros;                                        // that functions may name
  std::vector<std::pair<std::string_view, FunctionText>> more{};  // functions that are none of the scope's
};

// Of the scope's functions that are `asked`, those of `texts`, and macros with arguments that these name. A function
// keeps an address by itself, queue.out = out; or through another one that is asked. All conditional groups count. What
// is read of memory is an address if it is no number: of structs, and of pointers to pointers; a number is one if an
// address is passed for it. O(tokens · log names), up to most_rounds times.
[[nodiscard]] AddressKeepers address_keepers(const FileScope& scope,
                                             const std::function<bool(const std::string& function)>& asked,
                                             const KeeperTexts& texts);

}  // namespace usmp::tvm_c
