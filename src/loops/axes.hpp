// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Along which axes the tensors of a function may be divided into rows: the dimensions of a tensor's shape; of a buffer
// without more of a shape than its size, those that the factors of its indices suggest.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "usmp/loops/stage.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::loops {

// Storage that is visible between the statements of a function's body.
struct TensorAxes {
  std::int64_t elements = 1;
  std::vector<Axis> axes;  // long rows first

  friend bool operator==(const TensorAxes&, const TensorAxes&) = default;
};
using Tensors = std::map<tir::VarId, TensorAxes>;

// Parameters with a shape and storage that is allocated in the function's body. `joins`: two neighbouring dimensions
// of a shape together are an axis, too. Notes the accesses of loops that are not known.
[[nodiscard]] Tensors divisible_tensors(const tir::Module& module, const tir::Function& function, bool joins,
                                        KnownNests& known);

}  // namespace usmp::loops
