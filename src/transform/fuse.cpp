#include "transform/fuse.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "transform/fuse_loops.hpp"
#include "transform/inline.hpp"
#include "transform/rows.hpp"
#include "transform/simple_function.hpp"
#include "transform/tighten.hpp"
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
    if (allocate != nullptr && inside_loop && !allocate->on_stack && element_count(*allocate) == 1) {
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
    fuse_all();
    if (skip_padding()) fuse_all();
    for (const VarId var : sum_in_rows(module_, function(), aliases_)) note(var, "a row of sums at a time");
    std::vector<VarId> single;
    single_elements_on_stack(function().body, false, single);
    for (const VarId var : single) note(var, "a variable instead of workspace");
    if (changes_.size() > changes) return;
    function() = before;
    module_.vars.resize(vars);
  }

 private:
  tir::Function& function() { return module_.functions[index_]; }

  void note(VarId var, const std::string& what) {
    changes_.push_back({Step::fuse, function().name, module_.var(var).name + ": " + what});
  }

  void fuse_all() {
    constexpr int most_rounds = 16;  // each makes buffers smaller; real operators need two or three
    for (int round = 0; round < most_rounds; ++round) {
      const auto gone = inline_producers(module_, function(), aliases_, Inlining::never_slower);
      for (const VarId var : gone) note(var, "computed where it is read");
      const auto smaller = fuse_loops(module_, index_, aliases_);
      for (const VarId var : smaller) note(var, "smaller, since loops were fused");
      if (gone.empty() && smaller.empty()) return;
    }
  }

  // Whether a padded copy is gone. The loops that read it must not have to decide for each element.
  bool skip_padding() {
    const tir::Function before = function();
    const auto gone = inline_producers(module_, function(), aliases_, Inlining::padding);
    if (gone.empty()) return false;
    tighten(module_, function());
    if (decisions(module_, function()) > decisions(module_, before)) {
      function() = before;
      return false;
    }
    for (const VarId var : gone) note(var, "read without padding, loops skip the border");
    return true;
  }

  tir::Module& module_;
  const std::size_t index_;
  const ParamAliases& aliases_;
  std::vector<Change>& changes_;
};

}  // namespace

std::vector<Change> fuse_function(tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  std::vector<Change> changes;
  FunctionFuser(module, function, aliases, changes).run();
  return changes;
}

std::vector<Change> fuse(tir::Module& module) {
  std::vector<Change> changes;
  const ParamAliases aliases(module);
  for (std::size_t i = 0; i < module.functions.size(); ++i) {
    if (is_simple(module, i, aliases)) FunctionFuser(module, i, aliases, changes).run();
  }
  return changes;
}

}  // namespace usmp::transform
