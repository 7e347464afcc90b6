// Module + Plan → module with pool parameters, as TVM's USMP lowers: every planned allocate becomes a pointer at an
// offset of a pool parameter, and each function takes the pool pointers that it or its callees need.
#pragma once

#include <string>
#include <vector>

#include "usmp/assemble/assemble.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::lower {

// What stands where inside one function, for comments in the emitted C.
struct Placement {
  tir::VarId var;
  BufferId buffer;
};

struct LoweredFunction {
  // Pools whose pointers the function takes, ascending; the last params of the function, in this order.
  std::vector<PoolId> pools;
  std::vector<Placement> placements;  // buffers declared in this function, in order of appearance
};

struct Lowered {
  // Planned Allocate and AllocateConst nodes are replaced by
  //   Let(var, address_of(load uint8 pool_param[offset]))
  // (dropped if nothing uses the variable); calls of module functions pass the pool pointers after their own arguments
  // (before the trailing resource handle of tvm_call_cpacked). Entry parameters that are planned (workspace_io) are
  // removed from params and bound by such a Let at the start of the body. Foreign (opaque) functions keep their
  // signature.
  tir::Module module;
  std::vector<LoweredFunction> functions;  // by index into module.functions
};

[[nodiscard]] Lowered lower(const tir::Module& module, const liveness::Analysis& analysis,
                            const assemble::Assembly& assembly, const Plan& plan);

}  // namespace usmp::lower
