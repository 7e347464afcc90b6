// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Sorts, inlines, fuses, tightens and interchanges loops of one function in turn, and notes which buffers shrank.
#include "transform/fuse.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "transform/fuse_loops.hpp"
#include "transform/inline.hpp"
#include "transform/interchange_reductions.hpp"
#include "transform/simple_function.hpp"
#include "transform/sort_loops.hpp"
#include "transform/tighten.hpp"
#include "transform/wide_tiles.hpp"
#include "transform/zero_borders.hpp"
#include "usmp/storage/sink.hpp"
#include "usmp/storage/split.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Stmt;
using tir::VarId;

// Scopes end what their statements declare. Where no name is declared twice, nothing depends on it.
// NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
void dissolve_scopes(Block& block) {
  Block flat;
  for (Stmt& stmt : block) {
    for (Block* inner : tir::blocks_of(stmt)) dissolve_scopes(*inner);
    auto* scope = std::get_if<tir::Scope>(&stmt.node);
    if (scope == nullptr) {
      flat.push_back(std::move(stmt));
    } else {
      std::move(scope->body.begin(), scope->body.end(), std::back_inserter(flat));
    }
  }
  block = std::move(flat);
}

void single_elements_on_stack(Block& block, bool inside_loop, std::vector<VarId>& found) {
  for (Stmt& stmt : block) {
    auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
    if (allocate != nullptr && inside_loop && !allocate->on_stack && tir::element_count(*allocate) == 1) {
      allocate->on_stack = true;
      found.push_back(allocate->var);
    }
    const bool inside = inside_loop || std::holds_alternative<tir::For>(stmt.node);
    for (Block* inner : tir::blocks_of(stmt)) single_elements_on_stack(*inner, inside, found);
  }
}
// NOLINTEND(misc-no-recursion)

class FunctionFuser {
 public:
  FunctionFuser(tir::Module& module, std::size_t index, const ParamAliases& aliases, std::vector<Change>& changes)
      : module_(module), index_(index), aliases_(aliases), changes_(changes) {}

  void run() {
    const std::size_t vars = module_.vars.size();
    const std::size_t changes = changes_.size();
    const tir::Function before = function();
    dissolve_scopes(function().body);
    sort_loops(module_, function(), aliases_);
    fuse_all();
    if (skip_padding() || skip_other_borders()) fuse_all();
    join_tiles(module_, function(), aliases_);
    note_smaller();
    const Sizes scalars = sizes();
    for (const VarId var : interchange_reductions(module_, function(), aliases_))
      note(module_.var(var).name + ": " + resized(scalars, var) + ", a row of sums at a time");
    const Sizes tiles = sizes();
    for (const VarId var : widen_tiles(module_, index_, aliases_))
      note(module_.var(var).name + ": " + resized(tiles, var) + " of the stack, several tiles of sums at a time");
    const Sizes arrays = sizes();
    std::vector<VarId> single;
    single_elements_on_stack(function().body, false, single);
    for (const VarId var : single) note(with_size(arrays, var) + ": a variable instead of workspace");
    if (changes_.size() > changes) return;
    function() = before;
    module_.vars.resize(vars);
  }

 private:
  using Sizes = std::map<VarId, Bytes>;

  tir::Function& function() { return module_.functions[index_]; }

  // The sizes of what the function allocates.
  Sizes sizes() {
    Sizes sizes;
    tir::for_each_stmt(function().body, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      const auto bytes = allocate == nullptr ? std::nullopt : tir::allocation_size(*allocate).bytes;
      if (bytes) sizes[allocate->var] = *bytes;
    });
    return sizes;
  }

  void note(std::string text) { changes_.push_back({Step::fuse, function().name, std::move(text)}); }

  // "T_add (4096 bytes)", as large as it was at first.
  std::string with_size(const Sizes& before, VarId var) const {
    const auto smaller = smaller_.find(var);
    const auto known = before.find(var);
    if (smaller == smaller_.end() && known == before.end()) return module_.var(var).name;
    const Bytes bytes = smaller == smaller_.end() ? known->second : smaller->second;
    return module_.var(var).name + " (" + std::to_string(bytes) + " bytes)";
  }

  // "4096 -> 64 bytes".
  std::string resized(const Sizes& before, VarId var) {
    return std::to_string(before.at(var)) + " -> " + std::to_string(sizes().at(var)) + " bytes";
  }

  void fuse_all() {
    constexpr int most_rounds = 16;  // each makes buffers smaller; real operators need two or three
    for (int round = 0; round < most_rounds; ++round) {
      Sizes before = sizes();
      const auto gone = inline_producers(module_, function(), aliases_, Inlining::never_slower);
      note_gone(before, gone, "computed where it is read");
      before = sizes();
      const auto smaller = fuse_loops(module_, index_, aliases_);
      for (const VarId var : smaller) smaller_.emplace(var, before.at(var));
      if (gone.empty() && smaller.empty()) return;
    }
  }

  void note_gone(const Sizes& before, const std::vector<VarId>& gone, const std::string& what) {
    for (const VarId var : gone) {
      note(with_size(before, var) + ": " + what);
      smaller_.erase(var);
    }
  }

  // Those that are still there.
  void note_smaller() {
    for (const auto& [var, bytes] : smaller_)
      note(module_.var(var).name + ": " + resized(smaller_, var) + ", since loops were fused");
    smaller_.clear();
  }

  // Whether a padded copy is gone. The loops that read it must not have to decide for each element.
  bool skip_padding() {
    const tir::Function function_before = function();
    const Sizes before = sizes();
    const auto gone = inline_producers(module_, function(), aliases_, Inlining::padding);
    if (gone.empty()) return false;
    tighten(module_, function());
    if (decisions(module_, function()) > decisions(module_, function_before)) {
      function() = function_before;
      return false;
    }
    note_gone(before, gone, "read without padding, loops skip the border");
    return true;
  }

  // The same of a border that is not zero.
  bool skip_other_borders() {
    const std::size_t vars = module_.vars.size();
    auto moved = move_borders(module_, function());
    if (!moved) return false;
    if (skip_padding()) return true;
    function() = std::move(moved->before);
    module_.vars.resize(vars);
    for (const auto& [buffer, element] : moved->elements) module_.vars[buffer.index()].element = element;
    return false;
  }

  tir::Module& module_;
  const std::size_t index_;
  const ParamAliases& aliases_;
  std::vector<Change>& changes_;
  Sizes smaller_;  // buffers that have got smaller, as large as they were
};

}  // namespace

std::vector<Change> fuse_function(tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  std::vector<Change> changes;
  FunctionFuser(module, function, aliases, changes).run();
  return changes;
}

std::vector<Change> fuse(tir::Module& module) {
  std::vector<Change> changes;
  storage::sink(module);  // tensors that share storage inside a loop are told apart there
  if (storage::split(module, storage::Where::in_place) > 0) storage::sink(module);
  const ParamAliases aliases(module);
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (is_simple(module, i, aliases)) FunctionFuser(module, i, aliases, changes).run();
  }
  return changes;
}

}  // namespace usmp::transform
