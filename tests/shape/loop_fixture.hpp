// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An operator of loops that read bytes and write int32, to be shaped.
#pragma once

#include <utility>

#include "transform/program.hpp"

namespace usmp::transform::testing {

struct LoopFixture : Program {
  VarId x = input("x", 512, int8_type);
  VarId p = input("p", 4);
  VarId y = output("y", 512);
  VarId i = number("i");
  VarId j = number("j");

  // Whether something changed; what is computed must not.
  bool made(void (*shape)(tir::Module&)) {
    shape(changed());
    check_same();
    return !is_unchanged();
  }
  [[nodiscard]] ExprRef x_at(const ExprRef& place) const { return tir::make_cast(int32_type, load(x, place)); }
  [[nodiscard]] ExprRef place() const { return add(mul(var(j), 8), var(i)); }
  // What tests add to.
  tir::Stmt filled() {
    const VarId n = number("n");
    return loop(n, 512, block(store(y, var(n), var(n))));
  }
  // for j { for i { … } }
  tir::Stmt nest(tir::Block inner, std::int64_t extent = 8) {
    return loop(j, 4, block(loop(i, extent, std::move(inner))));
  }
};

}  // namespace usmp::transform::testing
