#include "transform/fuse_loops.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "transform/rewrite.hpp"
#include "usmp/arith/facts.hpp"
#include "usmp/support/checked.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

// How one loop accesses one storage: every index is stride · (loop variable) + rest, with rest in [0, stride) and free
// of the variable. Then iterations touch different elements.
class Slices {
 public:
  Slices(const tir::For& loop, VarId storage, arith::Facts& facts) : loop_(loop), storage_(storage) {
    Stmt copy{loop};
    const auto look = [this](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
      if (expr->kind == ExprKind::load && expr->var == storage_) add(*expr->operands[0], here);
      return nullptr;
    };
    visit(copy, facts, look);
  }

  // Nothing: not divided so, or not accessed at all.
  [[nodiscard]] std::optional<std::int64_t> stride() const { return divided_ ? stride_ : std::nullopt; }

 private:
  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void visit(Stmt& stmt, arith::Facts& facts, const RewriteExpr& look) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node); store != nullptr && store->storage == storage_) {
      add(*store->index, facts);
    }
    const auto blocks = tir::blocks_of(stmt);
    if (blocks.empty()) return rewrite(stmt, facts, look);
    const std::size_t mark = facts.mark();
    tir::for_each_expr_of(stmt, [&](const ExprRef& expr) { (void)rewritten(expr, facts, look); });
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) facts.bind_loop(*loop);
    const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node);
    for (Block* block : blocks) {
      const std::size_t inner = facts.mark();
      if (branch != nullptr && block == &branch->then_body) facts.assume(*branch->condition);
      for (Stmt& part : *block) visit(part, facts, look);
      facts.restore(inner);
    }
    facts.restore(mark);
  }
  // NOLINTEND(misc-no-recursion)

  void add(const Expr& index, const arith::Facts& facts) {
    if (!divided_) return;
    divided_ = false;
    const auto form = facts.affine(index);
    if (!form) return;
    const std::int64_t factor = form->factor(loop_.var);
    if (factor < 1 || (stride_ && *stride_ != factor)) return;
    const arith::Affine rest = form->without(loop_.var);
    if (rest.mentions(loop_.var)) return;
    const auto reach = facts.interval(rest);
    if (!reach || !reach->within({0, factor - 1})) return;
    stride_ = factor;
    divided_ = true;
  }

  const tir::For& loop_;
  const VarId storage_;
  std::optional<std::int64_t> stride_;
  bool divided_ = true;
};

// A loop over [0, count).
std::optional<std::int64_t> count_of(const tir::For& loop) {
  const auto extent = tir::as_int(*loop.extent);
  if (tir::as_int(*loop.min) != 0 || !extent || *extent < 1) return std::nullopt;
  return extent;
}

class LoopFuser {
 public:
  LoopFuser(tir::Module& module, std::size_t function, const ParamAliases& aliases)
      : module_(module), function_(function), aliases_(aliases), facts_(module) {}

  std::vector<VarId> run() {
    all_ = accesses_of(body());
    visit(body());
    return std::move(shrunk_);
  }

 private:
  Block& body() { return module_.functions[function_].body; }

  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  void visit(Block& block) {
    const std::size_t mark = facts_.mark();
    for (std::size_t i = 0; i < block.size(); ++i) {
      while (fuse_with_next(block, i)) {
      }
      Stmt& stmt = block[i];
      if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
        const std::size_t outside = facts_.mark();
        facts_.bind_loop(*loop);
        visit(loop->body);
        facts_.restore(outside);
      } else if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
        visit(branch->then_body);
        visit(branch->else_body);
      }
      bind_after(stmt, facts_);
    }
    facts_.restore(mark);
  }
  // NOLINTEND(misc-no-recursion)

  // Fuses the loop at `i` with the next one of the block, if only declarations stand between them.
  bool fuse_with_next(Block& block, std::size_t& i) {
    if (!std::holds_alternative<tir::For>(block[i].node)) return false;
    std::size_t next = i + 1;
    while (next < block.size() && (std::holds_alternative<tir::Allocate>(block[next].node) ||
                                   std::holds_alternative<tir::AllocateConst>(block[next].node))) {
      ++next;
    }
    if (next == block.size() || !std::holds_alternative<tir::For>(block[next].node)) return false;
    const auto& first = std::get<tir::For>(block[i].node);
    const auto& second = std::get<tir::For>(block[next].node);
    const auto a = count_of(first);
    const auto b = count_of(second);
    if (!a || !b || module_.var(first.var).type != module_.var(second.var).type) return false;
    const std::size_t vars = module_.vars.size();
    auto fused = *a == *b       ? fuse(block, first, second)
                 : *b % *a == 0 ? fuse(block, first, split(second, *a))
                 : *a % *b == 0 ? fuse(block, split(first, *b), second)
                                : std::nullopt;
    if (!fused) {
      module_.vars.resize(vars);  // those of a split that led to nothing
      return false;
    }
    block[next] = Stmt{std::move(*fused)};
    block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
    i = next - 1;
    std::erase_if(block, [&](const Stmt& stmt) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      return allocate != nullptr && moved_.contains(allocate->var);
    });
    i -= moved_.size();
    shrunk_.insert(shrunk_.end(), moved_.begin(), moved_.end());
    all_ = accesses_of(body());
    return true;
  }

  // The loop as two: `outer` iterations of the rest.
  tir::For split(const tir::For& loop, std::int64_t outer) {
    const tir::DataType type = module_.var(loop.var).type;
    const std::int64_t inner = *tir::as_int(*loop.extent) / outer;
    const std::string name = module_.var(loop.var).name;
    const VarId high = new_var(name + ".outer", type);
    const VarId low = new_var(name + ".inner", type);
    const ExprRef scaled = tir::make_binary(ExprKind::mul, tir::make_var(module_, high), tir::make_int(inner, type));
    const ExprRef value = tir::make_binary(ExprKind::add, scaled, tir::make_var(module_, low));
    Block body = loop.body;
    rename(body, {{loop.var, value}});
    tir::For inside{low, tir::make_int(0, type), tir::make_int(inner, type), std::move(body)};
    tir::For outside{high, tir::make_int(0, type), tir::make_int(outer, type), {}};
    outside.body.push_back(Stmt{std::move(inside)});
    return outside;
  }

  VarId new_var(std::string name, tir::DataType type) {
    module_.vars.push_back({std::move(name), type, {}, {}});
    return VarId(module_.vars.size() - 1);
  }

  // Nothing: not possible, or no buffer gets smaller. Leaves what it moves into the loop in moved_.
  std::optional<tir::For> fuse(const Block& block, const tir::For& first, const tir::For& second) {
    Accesses a;
    Accesses b;
    add_accesses(Stmt{first}, a);
    add_accesses(Stmt{second}, b);
    std::map<VarId, std::int64_t> smaller;  // buffers, with the elements that they need
    for (const VarId storage : storages_of(a, b)) {
      const bool in_both = is_accessed(a, storage) && is_accessed(b, storage);
      if (!in_both || (a.stores_of(storage) == 0 && b.stores_of(storage) == 0)) continue;
      const auto stride = common_stride(first, second, storage);
      if (!stride) return std::nullopt;
      const tir::Allocate* const allocate = declared_in(block, storage);
      if (allocate != nullptr && is_all(a, b, storage) && *stride < element_count(*allocate).value_or(0)) {
        smaller.emplace(storage, *stride);
      }
    }
    if (smaller.empty() || may_conflict(a, b)) return std::nullopt;
    return fused_loop(block, first, second, smaller);
  }

  static std::set<VarId> storages_of(const Accesses& a, const Accesses& b) {
    std::set<VarId> storages;
    for (const Accesses* accesses : {&a, &b}) {
      for (const auto& [storage, count] : accesses->loads) storages.insert(storage);
      for (const auto& [storage, count] : accesses->stores) storages.insert(storage);
    }
    return storages;
  }

  static bool is_accessed(const Accesses& accesses, VarId storage) {
    return accesses.loads_of(storage) + accesses.stores_of(storage) > 0;
  }

  // Whether the two loops hold all accesses of the storage.
  [[nodiscard]] bool is_all(const Accesses& a, const Accesses& b, VarId storage) const {
    return a.loads_of(storage) + b.loads_of(storage) == all_.loads_of(storage) &&
           a.stores_of(storage) + b.stores_of(storage) == all_.stores_of(storage);
  }

  // Whether different storages of the loops may share bytes that one of them writes.
  [[nodiscard]] bool may_conflict(const Accesses& a, const Accesses& b) const {
    const auto written_and_accessed = [&](const Accesses& writer, const Accesses& other) {
      return std::any_of(writer.stores.begin(), writer.stores.end(), [&](const auto& store) {
        const auto meets = [&](const auto& access) {
          return access.first != store.first && aliases_.may_alias(access.first, store.first);
        };
        return std::any_of(other.loads.begin(), other.loads.end(), meets) ||
               std::any_of(other.stores.begin(), other.stores.end(), meets);
      });
    };
    return written_and_accessed(a, b) || written_and_accessed(b, a);
  }

  std::optional<std::int64_t> common_stride(const tir::For& first, const tir::For& second, VarId storage) {
    const auto a = stride_of(first, storage);
    if (!a) return std::nullopt;
    const auto b = stride_of(second, storage);
    return a == b ? a : std::nullopt;
  }

  std::optional<std::int64_t> stride_of(const tir::For& loop, VarId storage) {
    const std::size_t mark = facts_.mark();
    const auto stride = Slices(loop, storage, facts_).stride();
    facts_.restore(mark);
    return stride;
  }

  static const tir::Allocate* declared_in(const Block& block, VarId storage) {
    for (const Stmt& stmt : block) {
      const auto* allocate = std::get_if<tir::Allocate>(&stmt.node);
      if (allocate != nullptr && allocate->var == storage) return allocate;
    }
    return nullptr;
  }

  tir::For fused_loop(const Block& block, const tir::For& first, const tir::For& second,
                      const std::map<VarId, std::int64_t>& smaller) {
    tir::For loop = first;
    Block rest = second.body;
    rename(rest, {{second.var, tir::make_var(module_, first.var)}});
    std::move(rest.begin(), rest.end(), std::back_inserter(loop.body));
    Stmt whole{std::move(loop)};
    moved_.clear();
    for (const auto& [storage, elements] : smaller) {
      shift(whole, storage, {tir::make_var(module_, first.var), elements});
      moved_.insert(storage);
    }
    tir::For result = std::move(std::get<tir::For>(whole.node));
    std::size_t position = 0;
    for (const auto& [storage, elements] : smaller) {
      tir::Allocate allocate = *declared_in(block, storage);
      allocate.extents = {tir::make_int(elements)};
      result.body.insert(result.body.begin() + static_cast<std::ptrdiff_t>(position++), Stmt{std::move(allocate)});
    }
    return result;
  }

  struct Offset {
    ExprRef iteration;
    std::int64_t elements;  // of an iteration
  };

  // Every index of the storage, less the offset.
  void shift(Stmt& stmt, VarId storage, const Offset& offset) {
    const std::size_t mark = facts_.mark();
    shift_stores(stmt, facts_, storage, offset);
    facts_.restore(mark);
    rewrite(stmt, facts_, [&](const ExprRef& expr, const arith::Facts& here) -> ExprRef {
      if (expr->kind != ExprKind::load || expr->var != storage) return nullptr;
      return tir::make_load(expr->type, storage, less(expr->operands[0], offset, here));
    });
    facts_.restore(mark);
  }

  // NOLINTBEGIN(misc-no-recursion): a level a block; the reader bounds those.
  static void shift_stores(Stmt& stmt, arith::Facts& facts, VarId storage, const Offset& offset) {
    if (auto* store = std::get_if<tir::Store>(&stmt.node); store != nullptr && store->storage == storage) {
      store->index = less(store->index, offset, facts);
    }
    const std::size_t mark = facts.mark();
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) facts.bind_loop(*loop);
    for (Block* block : tir::blocks_of(stmt)) {
      const std::size_t inner = facts.mark();
      for (Stmt& part : *block) shift_stores(part, facts, storage, offset);
      facts.restore(inner);
    }
    facts.restore(mark);
    bind_after(stmt, facts);
  }
  // NOLINTEND(misc-no-recursion)

  static ExprRef less(const ExprRef& index, const Offset& offset, const arith::Facts& facts) {
    const tir::DataType type = index->type;
    const ExprRef iteration =
        offset.iteration->type == type ? offset.iteration : tir::make_cast(type, offset.iteration);
    const ExprRef first = tir::make_binary(ExprKind::mul, iteration, tir::make_int(offset.elements, type));
    const auto value = facts.affine(*index);
    const auto taken = facts.affine(*first);
    const auto rest = value && taken ? difference(*value, *taken) : std::nullopt;
    return rest && facts.fits(*rest, type) ? facts.expr(*rest, type) : tir::make_binary(ExprKind::sub, index, first);
  }

  tir::Module& module_;
  const std::size_t function_;
  const ParamAliases& aliases_;
  arith::Facts facts_;
  Accesses all_;
  std::set<VarId> moved_;  // by the last fusion, into its loop
  std::vector<VarId> shrunk_;
};

}  // namespace

std::vector<VarId> fuse_loops(tir::Module& module, std::size_t function, const ParamAliases& aliases) {
  return LoopFuser(module, function, aliases).run();
}

}  // namespace usmp::transform
