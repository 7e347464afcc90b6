#include "usmp/storage/split.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "storage/accesses.hpp"
#include "storage/flow.hpp"
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

// Where one tensor ends and the next begins; nothing: it is one.
std::optional<Division> divide(const std::vector<StatementFlow>& flows, Bytes size, Where where) {
  std::vector<ByteSet> live_in(flows.size() + 1);  // [i]: in front of statement i
  for (std::size_t i = flows.size(); i-- > 0;) {
    const Flow& flow = flows[i].flow;
    live_in[i] = live_in[i + 1];
    live_in[i].remove(flow.written);
    live_in[i].add(flow.exposed);
    if (flow.exposes_all) live_in[i].add({0, size});
  }
  Division division;
  division.parts.emplace_back();
  bool has_begun = false;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    const StatementFlow& at = flows[i];
    const bool touches = at.flow.end != Bytes{0};
    if (has_begun && touches && live_in[i].empty()) division.parts.emplace_back();
    has_begun = has_begun || touches;
    Parts parts{division.parts.size() - 1, division.parts.size() - 1};
    ByteSet passes_by = live_in[i + 1];
    passes_by.remove(at.flow.written);
    division.parts.back().touch(at.loads_end, at.loaded);
    if (where == Where::in_place && at.is_in_place && !live_in[i].empty() && passes_by.empty()) {
      division.parts.emplace_back();
      ++parts.stores;
    }
    division.parts.back().touch(at.stores_end, at.stored);
    division.statements.push_back(parts);
  }
  if (division.parts.size() == 1) return std::nullopt;
  return division;
}

void rename(Stmt& stmt, VarId storage, VarId loaded, VarId stored, const tir::Module& module) {
  tir::ExprRewriter rewriter([&](const tir::ExprRef& expr) -> tir::ExprRef {
    const bool is_use = expr->kind == tir::ExprKind::var || expr->kind == tir::ExprKind::load;
    if (!is_use || expr->var != storage) return nullptr;
    if (expr->kind == tir::ExprKind::var) return tir::make_var(module, loaded);
    tir::Expr load = *expr;
    load.var = loaded;
    return tir::make_expr(std::move(load));
  });
  const auto rename_in = [&](Stmt& one) {
    if (auto* store = std::get_if<tir::Store>(&one.node); store != nullptr && store->storage == storage) {
      store->storage = stored;
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

class Splitter {
 public:
  Splitter(tir::Module& module, Where where) : module_(module), where_(where), flows_(module.functions.size()) {}

  // Callees first.
  void read(std::size_t index) {
    const tir::Function& function = module_.functions[index];
    accesses_ = accesses_of(module_, function);
    for (const tir::Param& param : function.params) {
      Flow flow;
      if (const auto found = accesses_.storages.find(param.var); found != accesses_.storages.end()) {
        const auto statements = statement_flows(accesses_, found->second, 0, flows_);
        flow = {.exposed = {}, .exposes_all = true, .written = {}, .end = std::nullopt};
        if (statements) flow = together(*statements);
      }
      flows_[index].push_back(std::move(flow));
    }
  }

  // What has just been read.
  std::size_t split(std::size_t index) {
    std::size_t added = 0;
    Walker walker;
    tir::walk(module_.functions[index].body, walker);
    std::set<VarId> once;
    for (const Site& site : walker.sites) {
      if (!once.insert(site.allocate->var).second) twice_.insert(site.allocate->var);
    }
    for (const Site& site : walker.sites) added += split_site(site);
    for (auto& [block, allocates] : new_allocates_) insert(*block, std::move(allocates));
    new_allocates_.clear();
    return added;
  }

  [[nodiscard]] const std::vector<Flow>& flows_of(std::size_t function) const { return flows_[function]; }

 private:
  struct Site {
    const tir::Allocate* allocate = nullptr;
    const Block* block = nullptr;
    std::size_t depth = 0;
  };

  struct Walker {
    std::vector<Site> sites;
    std::vector<const Block*> blocks;

    void open(const Block& block, const Stmt*) { blocks.push_back(&block); }
    void close(const Block&, const Stmt*) { blocks.pop_back(); }
    void statement(const Stmt& stmt) {
      if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        sites.push_back({allocate, blocks.back(), blocks.size() - 1});
      }
    }
  };

  std::size_t split_site(const Site& site) {
    const tir::Allocate& allocate = *site.allocate;
    const auto size = tir::allocation_size(allocate).bytes;
    const auto found = accesses_.storages.find(allocate.var);
    if (!size || allocate.condition != nullptr || found == accesses_.storages.end() || twice_.contains(allocate.var)) {
      return 0;
    }
    const auto flows = statement_flows(accesses_, found->second, site.depth, flows_);
    const auto division = flows ? divide(*flows, *size, where_) : std::nullopt;
    if (!division) return 0;
    std::vector<VarId> vars;
    for (const Part& part : division->parts) {
      const bool is_first = vars.empty();
      vars.push_back(is_first ? allocate.var : VarId(module_.vars.size()));
      if (!is_first) module_.vars.push_back(module_.var(allocate.var));
      new_allocates_[const_cast<Block*>(site.block)][allocate.var].push_back(
          allocate_of(part, vars.back(), allocate, *size));
    }
    for (std::size_t i = 0; i < flows->size(); ++i) {
      const Parts& parts = division->statements[i];
      if (parts.stores == 0) continue;
      rename(const_cast<Stmt&>(*(*flows)[i].statement), allocate.var, vars[parts.loads], vars[parts.stores], module_);
    }
    return vars.size() - 1;
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

  static void insert(Block& block, std::map<VarId, std::vector<tir::Allocate>> allocates) {
    Block result;
    for (Stmt& stmt : block) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      const auto found = allocate == nullptr ? allocates.end() : allocates.find(allocate->var);
      if (found == allocates.end()) {
        result.push_back(std::move(stmt));
        continue;
      }
      for (tir::Allocate& part : found->second) result.push_back({std::move(part)});
    }
    block = std::move(result);
  }

  tir::Module& module_;
  Where where_;
  Flows flows_;
  FunctionAccesses accesses_;  // of the function that has been read last
  std::set<VarId> twice_;      // allocated in several places
  std::map<Block*, std::map<VarId, std::vector<tir::Allocate>>> new_allocates_;
};

}  // namespace

std::size_t split(tir::Module& module, Where where) {
  std::size_t added = 0;
  Splitter splitter(module, where);
  for (const std::size_t function : program::callees_first(module, program::call_graph(module))) {
    splitter.read(function);
    added += splitter.split(function);
  }
  if (added > 0) tir::check_pass(module, "storage::split");
  return added;
}

std::vector<std::optional<Bytes>> entry_sizes(const tir::Module& module) {
  tir::Module copy = module;
  Splitter splitter(copy, Where::between_tensors);
  for (const std::size_t function : program::callees_first(module, program::call_graph(module))) splitter.read(function);
  std::vector<std::optional<Bytes>> sizes;
  for (const Flow& flow : splitter.flows_of(module.entry)) sizes.push_back(flow.end);
  return sizes;
}

}  // namespace usmp::storage
