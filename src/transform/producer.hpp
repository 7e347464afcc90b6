// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A buffer of a function as something that is computed from others, element by element, and where it is read.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "transform/simple_function.hpp"
#include "usmp/loops/injective_nest.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::transform {

struct Producer {
  loops::InjectiveNest nest;         // of all that writes it
  std::vector<std::size_t> writers;  // statements of the function's body, in order
  std::vector<std::size_t> readers;  // likewise, all behind the writers
};

// A buffer that the function allocates, and that nothing but injective nests (loops/injective_nest.hpp) in the
// outermost block write, no element twice, before anybody reads it; and what these read is written neither by them nor
// until the last reader has ended, also not under another parameter's name. So an element may be computed anywhere up
// to there, and again.
//
// Several nests, as of a concatenation, count if each writes all elements of an interval and these follow each other
// without a gap: then one nest over all of them chooses. Its loop variable is new in `module`.
//
// Nothing if that cannot be shown. The function is simple (simple_function.hpp), and has no scopes. O(size).
[[nodiscard]] std::optional<Producer> producer_of(tir::Module& module, std::size_t function,
                                                  const ParamAliases& aliases, tir::VarId buffer);

// Takes the writers, and the buffer's allocate, out of the body. Nobody reads it any more.
void erase_producer(tir::Function& function, const Producer& producer);

}  // namespace usmp::transform
