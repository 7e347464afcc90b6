// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Tensors whose addresses escape live on until nothing that is not read runs any more.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tvm_c/kept/escape.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// For memory of the entry's own, or of an operator's.
struct EscapeCause {
  std::string function;  // that is called with it, and not read
  FunctionEscape escape;
  std::set<tir::VarId> longer = {};  // of what it got: those that live longer for it, by whoever else they got
};

struct ExtendedLifetimes {
  std::vector<EscapeCause> causes;  // in the order of calls, each function once
  std::string text;                 // functions of C that these functions of the module now call
  std::vector<std::size_t> functions;
};

// `of`: what escapes of a function that is not read. In each block, behind the last statement that calls such a
// function, or is text that stays, then stands a call that does nothing, of all memory that has escaped before, which
// so is live until then; in a loop, what escapes in one iteration is live in the next. Not of memory at a place of
// `places` where something else is by then, nor of parameters of the entry that are no tensors. Of the entry, nothing
// moves across statements that are not read. O(module · (depth + log)).
[[nodiscard]] ExtendedLifetimes extend_lifetimes(const std::function<FunctionEscape(const std::string& name)>& of,
                                                 std::span<const PlannedPlace> places, tir::Module& module);

// A sentence for each cause that has tensors which live longer, or might be kept beyond their lifetimes; sizes are
// those in `module`. O(module · log).
[[nodiscard]] std::vector<std::string> warnings_of(const ExtendedLifetimes& extended, const tir::Module& module);

}  // namespace usmp::tvm_c
