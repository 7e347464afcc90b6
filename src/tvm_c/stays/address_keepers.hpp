// SPDX-License-Identifier: Apache-2.0
// Functions that keep addresses of what they are passed: an accelerator may go on with it when they have returned.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "tvm_c/text/file_scope.hpp"

namespace usmp::tvm_c {

// Variables that outlive functions and keep addresses of what these are passed, by function.
using AddressKeepers = std::map<std::string, std::string, std::less<>>;

// Of the scope's functions that are `asked`, and of nothing else. A function keeps an address by itself, queue.out =
// out; or through another one that is asked. What stands in macros is not seen. O(tokens · log names).
[[nodiscard]] AddressKeepers address_keepers(const FileScope& scope,
                                             const std::function<bool(const std::string& function)>& asked);

// The variable in which a function, which is none of the scope's, keeps an address by itself; empty: none.
[[nodiscard]] std::string kept_address(const FunctionText& function, const FileScope& scope);

}  // namespace usmp::tvm_c
