// The last check of a function: every variable is declared where it is used.
#pragma once

#include "tir_json/graph.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// Throws Error at the function's node if a variable is used where neither a parameter nor a statement around it
// declares it, is declared again within its own scope, or stands for storage without being a handle. O(expanded nodes).
void check_scopes(const tir::Module& module, const tir::Function& function, NodeId prim_func);

}  // namespace usmp::tir_json
