// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Changes of a module's graph, each small and given by a few numbers, so that libFuzzer can combine and shorten them.
#pragma once

#include <cstdint>

#include "graph.hpp"

namespace usmp::fuzz {

// Every value means something for every graph: the numbers are taken modulo what there is to choose from.
struct Mutation {
  std::uint8_t kind = 0;
  std::uint8_t flavour = 0;
  std::uint16_t where = 0;  // which node or reference is changed
  std::uint16_t what = 0;   // what comes into its place
  std::uint16_t value = 0;
};

inline constexpr std::uint8_t mutation_kinds = 24;  // of them, those below are insertions
inline constexpr std::uint8_t first_insertion = 16;

void apply(Graph& graph, const Mutation& mutation);

// The part of `apply` that adds statements and expressions around others.
void insert(Graph& graph, const Mutation& mutation);

// Numbers at which something happens: limits of types, powers of two and their neighbours.
[[nodiscard]] std::int64_t odd_number(unsigned choice);
[[nodiscard]] const char* odd_dtype(unsigned choice);
[[nodiscard]] const char* odd_operator(unsigned choice);  // "tir.exp"
[[nodiscard]] const char* odd_text(unsigned choice);      // names that C, files and messages have to stand

}  // namespace usmp::fuzz
