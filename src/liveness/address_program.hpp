// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A loop nest as statements whose expressions are flat programs: what address_walk.cpp runs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "liveness/index_program.hpp"
#include "usmp/problem/problem.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::liveness::addresses {

// A condition of an if_then_else around an access: it happens only if that is so.
struct Guard {
  std::size_t condition = 0;  // index into Statement::conditions
  bool holds = true;

  friend auto operator<=>(const Guard&, const Guard&) = default;
};

struct Access {
  std::size_t storage = 0;  // number of the variable
  IndexProgram index;
  Bytes element = 1;
  std::vector<Guard> guards = {};
};

struct Statement {
  enum class Kind : std::uint8_t { leaf, let, loop, branch, repeat, block };
  Kind kind = Kind::leaf;
  std::vector<Access> reads;                  // by the statement's own expressions
  std::vector<IndexProgram> conditions = {};  // of if_then_else in these expressions
  std::optional<Access> write = {};           // leaf: a store
  std::uint32_t variable = 0;                 // let, loop
  std::vector<IndexProgram> values = {};      // let: its value; loop: min, extent; branch: condition
  std::vector<Statement> body = {};
  std::vector<Statement> else_body = {};
};

struct Compiled {
  std::vector<Statement> statements;
  std::vector<tir::VarId> storages;
  std::vector<std::optional<tir::DataType>> types;  // by storage
  std::size_t variables = 0;
  std::size_t size = 0;  // instructions of all programs
};

// Nothing if the nest does what is not followed: see walk_addresses. O(size of the nest).
[[nodiscard]] std::optional<Compiled> compile(const tir::For& nest);

// All that a walk depends on as words, variables by number: nests of the same words have the same footprints. Sizes
// are those of walk_addresses. O(size).
[[nodiscard]] std::vector<std::uint64_t> form_of(const Compiled& compiled, const std::map<tir::VarId, Bytes>& sizes,
                                                 std::size_t most_groups);

}  // namespace usmp::liveness::addresses
