// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The part of the graph that a function body is made of: which nodes stand under a statement or an expression, and
// how large the body is when shared nodes are counted once a use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tir_json/graph.hpp"

namespace usmp::tir_json {

// Appends the expressions and statements directly under `node` in order of evaluation. Arrays are looked through, and
// so is the Buffer of an access: of it come the expressions that flattening the access needs.
void append_children(const Graph& graph, NodeId node, std::vector<NodeId>& children);

// Proves that what a node leads to is free of cycles and counts it, so that the builders after it need not. Each node
// is visited once in all: O(nodes + references).
class BodyCheck {
 public:
  BodyCheck(const Graph& graph, std::size_t limit)
      : graph_(graph), limit_(limit), counts_(graph.size(), unseen), no_op_(graph.size()) {}

  // Throws Error if a cycle is reached, or, together with the bodies before, more expressions and statements than the
  // limit.
  void check(NodeId body);

  // Whether a statement that has been checked does nothing: an evaluated number, or a sequence of such.
  [[nodiscard]] bool is_no_op(NodeId statement) const { return no_op_[statement]; }

 private:
  static constexpr std::uint64_t unseen = 0;
  static constexpr std::uint64_t in_progress = UINT64_MAX;

  struct Frame {
    NodeId node;
    std::size_t first_child;  // in children_, which ends with the children of the innermost frame
    std::size_t next_child;
    std::uint64_t count;
    bool children_are_no_ops;
  };
  void enter(NodeId node);
  void leave();

  const Graph& graph_;
  std::uint64_t limit_;
  std::uint64_t total_ = 0;            // of the bodies so far
  std::vector<std::uint64_t> counts_;  // of nodes below and including this one; saturates above the limit
  std::vector<bool> no_op_;
  std::vector<Frame> frames_;
  std::vector<NodeId> children_;
};

}  // namespace usmp::tir_json
