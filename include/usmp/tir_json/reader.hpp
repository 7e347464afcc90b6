// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// tvm.ir.save_json graphs → tir::Module. The JSON is read as a stream (SAX); only nodes that planning needs are built.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "usmp/support/error.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tir_json {

// Limits on a module; beyond them it is rejected. The size after unfolding shared nodes is bounded in proportion to the
// graph, so memory is proportional to the text: real modules have about as many expressions and statements as nodes.
struct Limits {
  std::size_t json_bytes = std::size_t{256} << 20;
  std::size_t graph_bytes = std::size_t{192} << 20;  // of nodes, attributes and texts that do not stand in the JSON
  std::size_t block_depth = 250;           // loops, branches and scopes inside each other, the function's body included
                                           // (in the normal form of tir/ir.hpp: a run of nested allocates counts
                                           // once). Clang compiles no more than 256 blocks
  std::size_t expression_depth = 100'000;  // of one expression. The limit for its C is lower: see docs/generated-c.md
  // Expressions and statements of all functions, shared ones once per use: at most the first number, and at most the
  // second plus `unfolding` times the graph's nodes and the elements of its Arrays and Maps.
  std::size_t expanded_nodes = 1'500'000;
  std::size_t small_expanded_nodes = 100'000;
  std::size_t unfolding = 8;
  std::size_t dimensions = 64;  // of a tensor
  std::size_t pools = 32;       // that an allocation may name, and that are described in total
  // Names and other texts, shared ones once per use: at most `small_texts` bytes plus `text_unfolding` times the
  // JSON's, and at most `texts`.
  std::size_t texts = std::size_t{128} << 20;
  std::size_t small_texts = std::size_t{64} << 20;
  std::size_t text_unfolding = 16;
};

// Builds the module. Throws Error of kind archive whose place is the JSON path ("nodes[17].attrs.body"): malformed JSON
// (byte offset), a node index out of range, a cycle, a missing or wrongly typed attribute, an unknown type_key or
// operator shape inside a function body, an NDArray whose blob does not fit its header, one storage variable allocated
// with two sizes, no entry function or several, a limit exceeded; and faults that tir::find_fault reports in the
// module, at its function's node and the statement ("nodes[17], body[2].then[0]"). Sizes of allocations are not checked
// (see tir::allocation_size). Unknown nodes that no function body reaches are ignored.
[[nodiscard]] tir::Module read_module(std::string_view json, const Limits& limits = {});

}  // namespace usmp::tir_json
