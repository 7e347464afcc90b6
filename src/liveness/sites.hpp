// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the module says of a buffer: its size, alignment and kind.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "liveness/program.hpp"
#include "usmp/liveness/liveness.hpp"
#include "usmp/program/call_graph.hpp"

namespace usmp::liveness {

using program::fail_in;
[[noreturn]] void fail_too_large(const tir::Function& function, std::string message);

// What the executor demands of every buffer, powers of two.
struct Alignments {
  Bytes workspace = 1;
  Bytes constant = 1;
};

// Throws Error of kind archive if one is no power of two.
[[nodiscard]] Alignments alignments_of(const tir::Module& module);

// What an element of that many bytes needs on a machine that insists on alignment: a power of two.
[[nodiscard]] Bytes natural_alignment(Bytes element_bytes);

// Nothing if an extent is not a constant. Throws if the size is negative, overflows or is above max_site_bytes.
[[nodiscard]] std::optional<Bytes> size_of(const tir::Module& module, std::size_t function,
                                           const Declaration& declaration);

// Without its size, live ranges and targets.
[[nodiscard]] Site declared_site(const tir::Module& module, std::size_t function, const Declaration& declaration,
                                 const Alignments& alignments);

// A tensor parameter of the entry, without its live ranges and targets. Throws if its size is not known or impossible.
[[nodiscard]] Site param_site(const tir::Module& module, std::size_t index, BufferKind kind,
                              const Alignments& alignments);

}  // namespace usmp::liveness
