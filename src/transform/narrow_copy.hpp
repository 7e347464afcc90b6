// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Operators that copy one tensor to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "usmp/tir/ir.hpp"

namespace usmp::transform {

// to[i] = from[i] for each i in [0, count).
struct Copy {
  std::size_t from = 0;  // positions among the parameters
  std::size_t to = 0;
  tir::DataType element;
  std::int64_t count = 0;
};

// The function as a copy: all that it does is one store, to[e] = from[e], between two of its parameters, of one scalar
// type, without a predicate, in loops of constant bounds with e affine, where e takes each of 0 … count - 1, as a mixed
// radix number does. Nothing if it is none, or if that is not seen. O(size of the function).
[[nodiscard]] std::optional<Copy> find_copy(const tir::Module& module, const tir::Function& function);

}  // namespace usmp::transform
