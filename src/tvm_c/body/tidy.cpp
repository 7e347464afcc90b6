// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Replaces variables by values, branches by choices, quotients by floor quotients.
#include "tvm_c/body/tidy.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tvm_c/body/idioms.hpp"
#include "tvm_c/body/numbers.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// How often variables are read, and storage loaded and stored.
struct Uses {
  std::unordered_map<VarId, std::size_t> reads;
  std::unordered_map<VarId, std::size_t> stores;
};

Uses uses_of(const Block& body) {
  Uses uses;
  tir::for_each_stmt(body, [&](const Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) ++uses.stores[store->storage];
    tir::for_each_expr_of(stmt, [&](const ExprRef& root) {
      tir::for_each_expr(*root, [&](const Expr& expr) {
        if (expr.kind == ExprKind::var || expr.kind == ExprKind::load) ++uses.reads[expr.var];
      });
    });
  });
  return uses;
}

// Variables that nothing reads, with what is stored to them, and workspace that nothing accesses.
void drop_unread(tir::Function& function, const std::set<VarId>& planned) {
  const Uses uses = uses_of(function.body);
  std::set<VarId> unread;
  std::set<VarId> needed;
  tir::for_each_stmt(function.body, [&](const Stmt& stmt) {
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      const bool is_variable = allocate->extents.empty();
      const bool is_workspace = !is_variable && !planned.contains(allocate->var);
      const bool is_unused = is_variable || (is_workspace && !uses.stores.contains(allocate->var));
      if (is_unused && !uses.reads.contains(allocate->var)) unread.insert(allocate->var);
    } else if (const auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (!tir::is_pure(*store->value)) needed.insert(store->storage);
    }
  });
  std::erase_if(unread, [&](VarId var) { return needed.contains(var); });
  if (unread.empty()) return;
  tir::for_each_block(function.body, [&](Block& block) {
    std::erase_if(block, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      const auto* store = std::get_if<tir::Store>(&stmt.node);
      return (allocate != nullptr && unread.contains(allocate->var)) ||
             (store != nullptr && unread.contains(store->storage));
    });
  });
}

// The only statement of the block, if it stores to the variable of one element.
const tir::Store* only_store(const Block& block, VarId scalar) {
  const auto* store = block.size() == 1 ? std::get_if<tir::Store>(&block[0].node) : nullptr;
  return store != nullptr && store->storage == scalar ? store : nullptr;
}

// Puts values in the place of variables that are read once, by the next statement that does more than declare; blocks
// inside first. A value reads memory: so it waits for nothing that may write.
class Folder {
 public:
  Folder(tir::Module& module, tir::Function& function)
      : module_(module), function_(function), uses_(uses_of(function.body)), numbers_(numbers_of(function.body)) {}

  void run() {
    std::vector<Block*> blocks;
    tir::for_each_block(function_.body, [&](Block& block) { blocks.push_back(&block); });
    for (std::size_t i = blocks.size(); i-- > 0;) fold(*blocks[i]);
    if (!chosen_.empty()) replace_loads();
  }

 private:
  struct Waiting {
    ExprRef value;
    std::size_t depth = 0;  // of values inside each other
  };

  void fold(Block& block) {
    Block folded;
    folded.reserve(block.size());
    waiting_.clear();
    scalars_.clear();
    for (Stmt& stmt : block) {
      depth_ = 0;
      const bool loops = std::holds_alternative<tir::For>(stmt.node) || std::holds_alternative<tir::While>(stmt.node);
      if (loops) flush(folded);
      tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = replaced(expr); });
      if (auto* store = std::get_if<tir::Store>(&stmt.node)) store->value = uncut(store->value);
      if (auto* let = std::get_if<tir::Let>(&stmt.node)) {
        if (waits(*let)) continue;
      } else if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
        if (allocate->extents.empty()) scalars_.emplace(allocate->var, folded.size());
      } else {
        if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node); branch != nullptr && choice(*branch, folded)) {
          continue;
        }
        const auto* store = std::get_if<tir::Store>(&stmt.node);
        flush(folded, store != nullptr && numbers_.contains(store->storage) ? store->storage : VarId());
      }
      folded.push_back(std::move(stmt));
    }
    flush(folded);
    std::erase_if(folded, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && chosen_.contains(allocate->var);
    });
    block = std::move(folded);
  }

  // Without a cast that does what storing does.
  static ExprRef uncut(const ExprRef& value) {
    const bool repeats = value->kind == ExprKind::cast && value->operands[0]->type == value->type;
    return repeats ? value->operands[0] : value;
  }

  // Whether the let is kept back.
  bool waits(const tir::Let& let) {
    const tir::DataType type = module_.var(let.var).type;
    // Such as a zero that only the packed interface's structs get.
    if (uses_.reads[let.var] == 0 && tir::is_pure(*let.value)) return true;
    if (type.is_handle() || uses_.reads[let.var] != 1 || depth_ >= max_depth) return false;
    waiting_[let.var] = {is_cut(*let.value) ? let.value : tir::make_cast(type, let.value), depth_ + 1};
    return true;
  }

  // int32_t condval; if (c) { condval = a; } else { condval = b; }
  bool choice(const tir::IfThenElse& branch, Block& folded) {
    const auto* first = branch.then_body.size() == 1 ? std::get_if<tir::Store>(&branch.then_body[0].node) : nullptr;
    if (first == nullptr) return false;
    const VarId scalar = first->storage;
    const auto declared = scalars_.find(scalar);
    if (declared == scalars_.end() || uses_.stores[scalar] != 2) return false;
    const tir::Store* yes = only_store(branch.then_body, scalar);
    const tir::Store* no = only_store(branch.else_body, scalar);
    if (yes == nullptr || no == nullptr) return false;
    const tir::DataType type = module_.var(scalar).element;
    ExprRef value = replaced(tir::make_call(type, tir::Op::if_then_else, {branch.condition, yes->value, no->value}));
    const VarId var(module_.vars.size());
    module_.vars.push_back({module_.var(scalar).name, type, tir::void_type, {}});
    uses_.reads[var] = uses_.reads[scalar];
    chosen_.emplace(scalar, tir::make_var(module_, var));
    tir::Let let{var, std::move(value)};
    if (!waits(let)) {
      flush(folded);
      folded.emplace_back().node.emplace<tir::Let>(std::move(let));
    }
    return true;
  }

  // Values that what follows may change. `stored`: a variable whose address nobody has, and all that it writes.
  void flush(Block& folded, VarId stored = {}) {
    std::erase_if(waiting_, [&](auto& entry) {
      if (stored.valid() && is_kept_by(*entry.second.value, stored)) return false;
      folded.emplace_back().node.emplace<tir::Let>(tir::Let{entry.first, std::move(entry.second.value)});
      return true;
    });
  }

  static bool is_kept_by(const Expr& value, VarId stored) {
    bool is_read = !tir::is_pure(value);
    tir::for_each_expr(value, [&](const Expr& expr) { is_read = is_read || expr.var == stored; });
    return !is_read;
  }

  ExprRef replaced(const ExprRef& root) {
    if (waiting_.empty() && chosen_.empty()) return root;
    tir::ExprRewriter rewriter([&](const ExprRef& expr) { return value_of(expr); });
    return rewriter.rewritten(root);
  }

  ExprRef value_of(const ExprRef& expr) {
    VarId var = expr->var;
    ExprRef chosen;
    if (expr->kind == ExprKind::load) {
      const auto found = chosen_.find(var);
      if (found == chosen_.end()) return nullptr;
      chosen = found->second;
      var = chosen->var;
    } else if (expr->kind != ExprKind::var) {
      return nullptr;
    }
    const auto found = waiting_.find(var);
    if (found == waiting_.end()) return chosen;
    depth_ = std::max(depth_, found->second.depth);
    ExprRef value = std::move(found->second.value);
    waiting_.erase(found);
    return value;
  }

  // In blocks that were done before the choice outside of them.
  void replace_loads() {
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      const auto found = expr->kind == ExprKind::load ? chosen_.find(expr->var) : chosen_.end();
      return found == chosen_.end() ? nullptr : found->second;
    });
    tir::for_each_block(function_.body, [&](Block& block) {
      for (Stmt& stmt : block) {
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { expr = rewriter.rewritten(expr); });
      }
    });
  }

  tir::Module& module_;
  tir::Function& function_;
  Uses uses_;
  const std::set<VarId> numbers_;
  static constexpr std::size_t max_depth = 50;
  std::map<VarId, Waiting> waiting_;      // none reads another
  std::size_t depth_ = 0;                 // of what has been put into the statement at hand
  std::map<VarId, std::size_t> scalars_;  // that the block declares without a value
  std::map<VarId, ExprRef> chosen_;       // by scalar: the variable in its place
};

std::optional<std::int64_t> literal_bits(const Expr& expr) {
  const auto value = tir::as_int(expr);
  return value && *value >= 0 && *value < 31 ? value : std::nullopt;
}

// Quotients and remainders of indices as floor quotients, which is what TVM has printed so.
ExprRef floor_of(const ExprRef& expr, const arith::Facts& facts) {
  if (expr->operands.size() != 2 || !expr->type.is_int() || expr->type.bits < 32) return nullptr;
  const ExprRef& a = expr->operands[0];
  const ExprRef& b = expr->operands[1];
  if (expr->kind == ExprKind::div || expr->kind == ExprKind::mod) return arith::as_floor(expr, facts);
  if (expr->kind != ExprKind::call || !facts.affine(*a)) return nullptr;
  if (expr->op == tir::Op::shift_right) {
    const auto bits = literal_bits(*b);
    return bits ? tir::make_binary(ExprKind::floor_div, a, tir::make_int(std::int64_t{1} << *bits, expr->type))
                : nullptr;
  }
  if (expr->op != tir::Op::bitwise_and) return nullptr;
  const auto mask = tir::as_int(*b);
  if (!mask || *mask < 1 || *mask > INT32_MAX - 1 || !std::has_single_bit(static_cast<std::uint64_t>(*mask) + 1)) {
    return nullptr;
  }
  return tir::make_binary(ExprKind::floor_mod, a, tir::make_int(*mask + 1, expr->type));
}

}  // namespace

void tidy(tir::Module& module, tir::Function& function, const std::set<VarId>& planned) {
  drop_unread(function, planned);
  Folder(module, function).run();
  arith::Facts facts(module);
  loops::edit(function.body, facts,
              {.before =
                   [](Block& block, std::size_t& at, arith::Facts& known) {
                     tir::for_each_expr_of(block[at],
                                           [&](ExprRef& expr) { expr = loops::rewritten(expr, known, floor_of); });
                     return loops::Next::enter;
                   },
               .after = {}});
}

}  // namespace usmp::tvm_c
