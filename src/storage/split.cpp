// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Cuts where no byte is live between two statements, and renames the storage on either side.
#include "usmp/storage/split.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "storage/accesses.hpp"
#include "storage/flow.hpp"
#include "storage/sites.hpp"
#include "usmp/program/call_graph.hpp"
#include "usmp/tir/verify.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::storage {
namespace {

using tir::Block;
using tir::Stmt;
using tir::VarId;

// What a statement accesses of a storage that has been taken apart: parts, by number.
struct Parts {
  std::size_t loads = 0;
  std::size_t stores = 0;
};

// One of the tensors.
struct Part {
  std::optional<Bytes> end = 0;       // of the bytes accessed; nothing: not known
  std::optional<tir::DataType> type;  // of all accesses
  bool has_types = true;              // they are of one type

  void touch(std::optional<Bytes> up_to, std::optional<tir::DataType> as) {
    end = end && up_to ? std::optional(std::max(*end, *up_to)) : std::nullopt;
    if (up_to == Bytes{0}) return;
    has_types = has_types && as && (!type || *type == *as);
    type = as;
  }
};

struct Division {
  std::vector<Part> parts;
  std::vector<Parts> statements;  // by StatementFlow
};

// Where one tensor ends and the next begins. Without `where` all is one.
Division divide(const std::vector<StatementFlow>& flows, Bytes size, std::optional<Where> where) {
  std::vector<char> is_dead_before(flows.size());     // no byte is live in front of the statement
  std::vector<char> passes_nothing_by(flows.size());  // what is live behind it, it writes
  ByteSet live;
  for (std::size_t i = flows.size(); i-- > 0;) {
    const Flow& flow = flows[i].flow;
    live.remove(flow.written);
    passes_nothing_by[i] = live.empty() ? 1 : 0;
    live.add(flow.exposed);
    if (flow.exposes_all) live.add({0, size});
    is_dead_before[i] = live.empty() ? 1 : 0;
  }
  Division division;
  division.parts.emplace_back();
  bool has_begun = false;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const StatementFlow& at = flows[i];
    const bool touches = at.flow.end != Bytes{0};
    if (where && has_begun && touches && is_dead_before[i] != 0) division.parts.emplace_back();
    has_begun = has_begun || touches;
    Parts parts{division.parts.size() - 1, division.parts.size() - 1};
    division.parts.back().touch(at.loads_end, at.loaded);
    if (where == Where::in_place && at.is_in_place && is_dead_before[i] == 0 && passes_nothing_by[i] != 0) {
      division.parts.emplace_back();
      ++parts.stores;
    }
    division.parts.back().touch(at.stores_end, at.stored);
    division.statements.push_back(parts);
  }
  return division;
}

struct Rename {
  VarId loaded;
  VarId stored;
};
using Renames = std::map<VarId, Rename>;  // by storage

// In the statement and the blocks inside.
void rename(Stmt& stmt, const Renames& renames, const tir::Module& module) {
  tir::ExprRewriter rewriter([&](const tir::ExprRef& expr) -> tir::ExprRef {
    const bool is_use = expr->kind == tir::ExprKind::var || expr->kind == tir::ExprKind::load;
    const auto found = is_use ? renames.find(expr->var) : renames.end();
    if (found == renames.end()) return nullptr;
    if (expr->kind == tir::ExprKind::var) return tir::make_var(module, found->second.loaded);
    tir::Expr load = *expr;
    load.var = found->second.loaded;
    return tir::make_expr(std::move(load));
  });
  const auto rename_in = [&](Stmt& one) {
    if (auto* store = std::get_if<tir::Store>(&one.node)) {
      if (const auto found = renames.find(store->storage); found != renames.end())
        store->storage = found->second.stored;
    }
    tir::for_each_expr_of(one, [&](tir::ExprRef& expr) { expr = rewriter.rewritten(expr); });
  };
  rename_in(stmt);
  for (Block* block : tir::blocks_of(stmt)) {
    tir::for_each_block(*block, [&](Block& inner) {
      for (Stmt& one : inner) rename_in(one);
    });
  }
}

// What functions do to their parameters; callees have to be read first.
class FlowReader {
 public:
  explicit FlowReader(const tir::Module& module) : module_(module), flows_(module.functions.size()) {}

  void read(std::size_t index) {
    const tir::Function& function = module_.functions[index];
    accesses_ = accesses_of(module_, function);
    for (const tir::Param& param : function.params) {
      Flow flow;
      if (const auto found = accesses_.storages.find(param.var); found != accesses_.storages.end()) {
        const auto statements = flows_of(found->second, 0);
        flow = {.exposed = {}, .exposes_all = true, .written = {}, .end = std::nullopt};
        if (statements) flow = together(*statements);
      }
      flows_[index].push_back(std::move(flow));
    }
  }

  [[nodiscard]] const FunctionAccesses& accesses() const { return accesses_; }  // of the function read last
  [[nodiscard]] std::optional<std::vector<StatementFlow>> flows_of(const StorageAccesses& storage, std::size_t depth) {
    return statement_flows(accesses_, storage, depth, flows_, pairs_left_);
  }

 private:
  const tir::Module& module_;
  Flows flows_;
  FunctionAccesses accesses_;
  std::size_t pairs_left_ = max_pairs;
};

class Splitter {
 public:
  Splitter(tir::Module& module, std::optional<Where> where) : module_(module), where_(where), reader_(module) {}

  // Callees first.
  std::size_t split(std::size_t index) {
    reader_.read(index);
    const Sites sites = sites_of(module_.functions[index].body);
    std::size_t added = 0;
    for (const Site& site : sites.all) {
      if (!sites.twice.contains(site.allocate->var)) added += split_site(site);
    }
    Block& body = module_.functions[index].body;
    tir::for_each_block(body, [&](Block& block) {
      for (Stmt& stmt : block) rename_in(stmt);
    });
    tir::for_each_block(body, [&](Block& block) { insert_allocates(block); });
    renames_.clear();
    new_allocates_.clear();
    return added;
  }

 private:
  std::size_t split_site(const Site& site) {
    const tir::Allocate& allocate = *site.allocate;
    const auto size = tir::allocation_size(allocate).bytes;
    const FunctionAccesses& accesses = reader_.accesses();
    const auto found = accesses.storages.find(allocate.var);
    if (!size || allocate.condition != nullptr || found == accesses.storages.end()) return 0;
    const auto flows = reader_.flows_of(found->second, site.depth);
    if (!flows) return 0;
    const Division division = divide(*flows, *size, where_);
    const std::size_t parts = division.parts.size();
    if (where_ && parts == 1) return 0;
    std::vector<tir::Allocate>& allocates = new_allocates_[allocate.var];
    for (const Part& part : division.parts) {
      VarId var = allocate.var;
      if (!allocates.empty()) {
        var = VarId(module_.vars.size());
        module_.vars.push_back(module_.var(allocate.var));
      }
      allocates.push_back(allocate_of(part, var, allocate, *size));
    }
    for (std::size_t i = 0; i < flows->size(); ++i) {
      const Parts& used = division.statements[i];
      if (used.stores == 0) continue;
      renames_[(*flows)[i].statement][allocate.var] = {allocates[used.loads].var, allocates[used.stores].var};
    }
    return parts - 1;
  }

  // As large as what is accessed of it, which may be more than is allocated in programs that are wrong.
  tir::Allocate allocate_of(const Part& part, VarId var, const tir::Allocate& whole, Bytes size) {
    tir::Allocate allocate = whole;
    allocate.var = var;
    const Bytes bytes = std::min(part.end.value_or(size), size);
    tir::DataType type = whole.type;
    if (part.has_types && part.type) type = *part.type;
    if (bytes % type.bytes() != 0) type = tir::uint8_type;
    allocate.type = type;
    allocate.extents = {tir::make_int(std::max<Bytes>(bytes / type.bytes(), 1))};
    module_.vars[var.index()].element = type;
    return allocate;
  }

  void rename_in(Stmt& stmt) const {
    const auto found = renames_.find(&stmt);
    if (found == renames_.end()) return;
    rename(stmt, found->second, module_);
  }

  void insert_allocates(Block& block) {
    const auto parts_of = [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate == nullptr ? new_allocates_.end() : new_allocates_.find(allocate->var);
    };
    if (std::none_of(block.begin(), block.end(), [&](const Stmt& s) { return parts_of(s) != new_allocates_.end(); })) {
      return;
    }
    Block result;
    for (Stmt& stmt : block) {
      const auto found = parts_of(stmt);
      if (found == new_allocates_.end()) {
        result.push_back(std::move(stmt));
        continue;
      }
      for (tir::Allocate& part : found->second) result.push_back({std::move(part)});
      new_allocates_.erase(found);
    }
    block = std::move(result);
  }

  tir::Module& module_;
  std::optional<Where> where_;  // nothing: tensors stay together, and are made as large as they are
  FlowReader reader_;
  std::unordered_map<const Stmt*, Renames> renames_;
  std::map<VarId, std::vector<tir::Allocate>> new_allocates_;  // in the place of the one of the variable
};

void widen(std::optional<Interval>& all, const std::optional<Interval>& more) {
  if (!more) return;
  all = all ? Interval{std::min(all->low, more->low), std::max(all->high, more->high)} : *more;
}

// Whether the statement loads under a condition: of what is loaded then, more is known than its index says.
class Choices {
 public:
  bool is_around(const Access& access) {
    const auto is_branch = [](const Stmt* stmt) { return std::holds_alternative<tir::IfThenElse>(stmt->node); };
    const Stmt* statement = access.chain.back();
    if (std::any_of(access.chain.begin(), access.chain.end(), is_branch)) return true;
    const auto [known, is_new] = known_.try_emplace(statement, false);
    if (!is_new) return known->second;
    bool chooses = false;
    tir::for_each_expr_of(*statement, [&](const tir::ExprRef& root) {
      tir::for_each_expr(*root, [&](const tir::Expr& expr) {
        chooses = chooses || expr.kind == tir::ExprKind::select || expr.kind == tir::ExprKind::and_ ||
                  expr.kind == tir::ExprKind::or_ ||
                  (expr.kind == tir::ExprKind::call && expr.op == tir::Op::if_then_else);
      });
    });
    known_[statement] = chooses;
    return chooses;
  }

 private:
  std::unordered_map<const Stmt*, bool> known_;
};

// What is loaded and stored; callees are known.
void add_reach(const StorageAccesses& storage, const tir::Module& module,
               const std::vector<std::map<VarId, Extent>>& known, Choices& choices, Extent& extent) {
  extent.are_stores_known = storage.is_known;
  for (const Access& access : storage.accesses) {
    const bool is_certain = !choices.is_around(access);
    extent.begins_in_front = extent.begins_in_front || (access.is_in_front && is_certain);
    if (!access.is_store && !is_certain) continue;
    if (!access.bytes) {
      extent.are_stores_known = extent.are_stores_known && !access.is_store;
    } else if (access.bytes->begin < access.bytes->end) {
      widen(access.is_store ? extent.stored : extent.loaded, Interval{access.bytes->begin, access.bytes->end - 1});
    }
  }
  for (const Passed& passed : storage.passed) {
    if (!passed.callee) {
      extent.are_stores_known = false;
      continue;
    }
    const auto& callee = known[*passed.callee];
    const auto param = callee.find(module.functions[*passed.callee].params[passed.param].var);
    if (param == callee.end()) continue;
    widen(extent.loaded, param->second.loaded);
    widen(extent.stored, param->second.stored);
    extent.are_stores_known = extent.are_stores_known && param->second.are_stores_known;
    extent.begins_in_front = extent.begins_in_front || param->second.begins_in_front;
  }
}

}  // namespace

std::size_t split(tir::Module& module, Where where) {
  std::size_t added = 0;
  Splitter splitter(module, where);
  for (const std::size_t function : program::callees_first(module, program::call_graph(module))) {
    added += splitter.split(function);
  }
  if (added > 0) tir::check_pass(module, "storage::split");
  return added;
}

void fit(tir::Module& module) {
  Splitter splitter(module, std::nullopt);
  for (const std::size_t function : program::callees_first(module, program::call_graph(module))) {
    splitter.split(function);
  }
}

std::vector<std::map<VarId, Extent>> extents(const tir::Module& module) {
  std::vector<std::map<VarId, Extent>> result(module.functions.size());
  FlowReader reader(module);
  Choices choices;
  for (const std::size_t function : program::callees_first(module, program::call_graph(module))) {
    reader.read(function);
    for (const auto& [var, storage] : reader.accesses().storages) {
      Extent extent;
      const auto statements = reader.flows_of(storage, 0);
      if (statements) extent.end = together(*statements).end;
      bool has_types = true;
      for (const Access& access : storage.accesses) {
        has_types = has_types && (!extent.type || *extent.type == access.type);
        extent.type = access.type;
      }
      if (!has_types) extent.type.reset();
      add_reach(storage, module, result, choices, extent);
      result[function].emplace(var, extent);
    }
  }
  return result;
}

}  // namespace usmp::storage
