// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A lower bound as two files that others can check: constraints that every plan below the bound fulfils, and a proof
// that nothing fulfils them.
//
// Constraints (OPB, https://www.cril.univ-artois.fr/PB24/OPBgeneral.pdf). `bound` is what is proved, C = bound - 1; the
// buffers are those with bytes that can be in no other pool, numbered 0, 1, … in their order (comments name them).
//   - Offsets: o(i) = A(i) * (x + 2 x' + 4 x'' + …), with A(i) the alignment of the buffer in the pool and as many bits
//     as C / A(i) has; then, for i < j that are live together, y(i, j): "i is below j". y(j, i) stands for 1 - y(i, j).
//   - For each i: o(i) >= first(i), behind what the pool reserves, or of a pinned buffer its offset, and o(i) <= that;
//     o(i) <= C - size(i).
//   - For i < j that are live together: o(j) - o(i) >= d(i, j) if y(i, j), and o(i) - o(j) >= d(j, i) if not. d(i, j)
//     is size(i), or less where j may share bytes with i (Problem::distances).
//   - For one set K of buffers that are live at one step, and each j in it: o(j) >= F + sum of w(i) over the i in K
//     that are below j, and o(j) + w(j) + sum of w(i) over the i in K that are above j <= C + R.
// g is the common divisor of the alignments in K, w(i) the smallest d(i, k) to another k in K, or size(i) if K has no
// other, rounded up to g; F the reserved bytes, rounded up to g; R the largest w(k) - size(k).
//
// Every plan of at most C bytes fulfils them: let y(i, j) be true where o(j) - o(i) >= d(i, j). Of two in K, one starts
// by its w above the other at least, as offsets there are multiples of g; so the ranges [o(i), o(i) + w(i)) are apart,
// none begins below F, those of buffers below j end at or below o(j), those of buffers above it begin at or above o(j)
// + w(j), and each ends by R or less above its buffer, which ends at or below C.
//
// Proof (VeriPB's format 3.0, lines in reverse Polish notation) of what is live at one step: the sum of a lower and an
// upper constraint, of one buffer or of one in K, is 0 >= something positive.
//
// Proof by a search, without K. A stack is buffers i, j, …, k of which each is below the next, as the y say, so that k
// ends above C: the sum of o(i) >= first(i), the constraints of the neighbours and o(k) <= C - size(k), rounded to the
// alignment (a division) where a buffer is pushed up, and divided by what it exceeds: "not all of these orders". A
// lesson follows from stacks and earlier lessons by resolution: each is added to the sum so far, which is then
// saturated. The last lesson is 0 >= 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "usmp/problem/problem.hpp"

namespace usmp::bounds {

struct Certificate {
  std::string constraints;
  std::string proof;
};

inline constexpr std::size_t most_certified = 500;  // buffers

// The buffers of a certificate: those with bytes that can be in no other pool. Throws Error of kind usage, without a
// place, if there are more than `most_certified`.
[[nodiscard]] std::vector<BufferId> certified_buffers(const Problem& problem, PoolId pool);

// That no plan uses less than `bound` bytes of the pool, which is more than 0. Nothing if neither the end of one buffer
// nor the bytes that are live at one step prove it. Throws as certified_buffers. O(pairs of buffers · bits of an
// offset).
[[nodiscard]] std::optional<Certificate> certificate(const Problem& problem, PoolId pool, Bytes bound);

// What a search found out: why nothing fits.
struct Refutation {
  using Stack = std::vector<std::uint32_t>;  // numbers of buffers, each live together with the next
  struct Step {
    bool is_lesson = false;  // or a stack
    std::uint32_t number = 0;
  };
  using Lesson = std::vector<Step>;
  std::vector<Stack> stacks;
  std::vector<Lesson> lessons;  // the last one is the contradiction
};

inline constexpr std::size_t most_proof_lines = 500'000;

// The same from a refutation of `bound` - 1 bytes, which has to be right, with at most `most_proof_lines` stacks and
// lessons. O(pairs of buffers · bits of an offset + length of the refutation).
[[nodiscard]] Certificate certificate(const Problem& problem, PoolId pool, Bytes bound, const Refutation& refutation);

}  // namespace usmp::bounds
