// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What emission must know of a module before it prints: which functions and variables are in use, what pointers point
// to, and what is written through them.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "codegen/c_types.hpp"
#include "codegen/continued_loops.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::codegen {

// A handle variable of one function.
struct PointerFacts {
  PointerType type;                // as declared
  std::vector<std::string> types;  // storage types of the accesses through it, in order of appearance
  bool written = false;            // perhaps: by a store, a callee, or through another pointer made of it
  bool stored = false;             // for certain: by a store or a callee's, not by C that may do no more than read
  bool is_constant = false;        // storage of an AllocateConst
  // The storage is accessed under several types that C's aliasing rules keep apart, through this variable or another
  // pointer into the same storage: then all accesses go through memcpy, which may alias anything.
  bool mixed_types = false;
};

struct FunctionFacts {
  std::unordered_map<tir::VarId, PointerFacts> pointers;
  std::unordered_set<tir::VarId> used;  // variables whose value the emitted statements need
  // Elements on the stack of which a compiler may think that they are read before they are set: one guard around the
  // store and the same, spelled otherwise, around the load. They are set to zero first.
  std::unordered_set<tir::VarId> initialised;
  // What addresses are multiples of, in bytes, for what is accessed through a pointer or others made of it, here and in
  // functions that get it. Absent: 1.
  std::unordered_map<tir::VarId, Bytes> alignments;
  std::unordered_set<tir::VarId> float_vectors;  // float_vectors.hpp
  ContinuedLoops continued;
  bool gives_status = true;  // it returns 0 or an error; false: void, as it cannot fail (status.hpp)
};

struct ModuleFacts {
  std::vector<std::size_t> order;        // functions to emit, callees first, the entry last
  std::vector<FunctionFacts> functions;  // by function; empty for those not emitted
};

// Throws Error of kind archive: recursion, a call whose argument count does not fit, a constant that is written.
[[nodiscard]] ModuleFacts find_facts(const EmissionInput& module);

// FunctionFacts::alignments.
[[nodiscard]] Bytes alignment_of(const FunctionFacts& facts, tir::VarId pointer);

// Variables whose pointer value the handle expression may give.
void collect_bases(const tir::Expr& pointer, std::vector<tir::VarId>& bases);

// Whether evaluating the expression may do more than give a value: calls of functions, return, errors.
[[nodiscard]] bool has_side_effects(const tir::Expr& expr);

// Whether there is C for a statement that evaluates this: it has side effects, or calls a function by name, whatever
// TIR says of its purity.
[[nodiscard]] bool is_worth_evaluating(const tir::Expr& value);

// Error of kind archive about the function.
[[noreturn]] void fail(const tir::Function& function, const std::string& message);

}  // namespace usmp::codegen
