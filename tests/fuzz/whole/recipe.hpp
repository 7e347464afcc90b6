// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The input of the whole-path target: which real module to start from, what to change in it, and how to plan it. A few
// bytes each, so that a corpus of modules is small, and every byte string means something.
//
//   byte 0      seed            1, 2  calls of the entry that are kept (see cut)
//   byte 3      algorithm       4     options, see below
//   byte 5      n, the number of mutations, of 8 bytes each: kind, flavour, where, what, value (little endian)
//   the rest    the pools file; empty: none
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "mutations.hpp"

namespace usmp::fuzz {

struct Recipe {
  std::uint8_t seed = 0;
  std::uint8_t first_call = 0;
  std::uint8_t calls = 0;
  std::uint8_t algorithm = 0;
  std::uint8_t options = 0;
  std::vector<Mutation> mutations;
  std::string pools;

  // Bits of `options`.
  [[nodiscard]] bool workspace_io() const { return (options & 1U) != 0; }
  [[nodiscard]] bool has_header() const { return (options & 2U) == 0; }  // the archive has its own C header
  [[nodiscard]] bool minimizes() const { return (options & 4U) != 0; }   // the first pool before everything else
  [[nodiscard]] bool transforms() const { return (options & 8U) != 0; }
  [[nodiscard]] bool recomputes() const { return (options & 16U) != 0; }  // if it transforms
};

[[nodiscard]] Recipe parse_recipe(const std::uint8_t* data, std::size_t size);
[[nodiscard]] std::string recipe_bytes(const Recipe& recipe);

// Changes something at random: a mutation added, dropped or changed, other pools, another algorithm.
void vary(Recipe& recipe, std::mt19937& random);

// Some mutations of both.
[[nodiscard]] Recipe crossed(const Recipe& a, const Recipe& b, std::mt19937& random);

}  // namespace usmp::fuzz
