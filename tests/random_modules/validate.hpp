// Is a module well formed? What every stage takes for granted and no type of C++ says.
#pragma once

#include <optional>
#include <string>

#include "usmp/tir/ir.hpp"

namespace usmp::random_modules {

// The first fault, with its function; nothing if there is none. Every variable is used inside of its scope, is declared
// in one function only and not again inside of its own scope; operands have the number and types that their node asks
// for; literals fit their types; calls of the module's functions pass as many arguments as there are parameters;
// functions are sorted by name, and the entry is where the module says. O(nodes).
[[nodiscard]] std::optional<std::string> fault_of(const tir::Module& module);

// How the entry's interface (name, parameters) differs; nothing: it does not.
[[nodiscard]] std::optional<std::string> difference_of_interfaces(const tir::Module& before, const tir::Module& after);

}  // namespace usmp::random_modules
