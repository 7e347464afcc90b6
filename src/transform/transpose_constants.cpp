// SPDX-License-Identifier: Apache-2.0
#include "transform/transpose_constants.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/arith/ranges.hpp"
#include "usmp/loops/edit.hpp"
#include "usmp/loops/reduction.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Block;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;

constexpr std::int64_t longest_row = 8;
constexpr std::int64_t shortest_column = 16;

// A pair of loops that may change places once the constant is stored by columns.
struct Candidate {
  tir::For* outer = nullptr;
  VarId constant;
  std::int64_t rows = 0;     // m
  std::int64_t columns = 0;  // n
  ExprRef index;             // of the constant afterwards
};

struct Turned {
  std::shared_ptr<const tir::Constant> before;  // which keeps its address its own
  std::shared_ptr<const tir::Constant> after;
};

struct Declared {
  tir::AllocateConst* constant = nullptr;
  const std::string* function = nullptr;
  std::size_t declarations = 0;
  std::size_t mentions = 0;
};

bool is_loop_from_zero(const tir::For& loop) { return tir::as_int(*loop.min) == 0 && tir::as_int(*loop.extent); }

bool is_multiple(const arith::Affine& value, std::int64_t of) {
  return value.constant % of == 0 &&
         std::ranges::all_of(value.terms, [&](const auto& term) { return term.second % of == 0; });
}

class Transposer {
 public:
  explicit Transposer(tir::Module& module) : module_(module), facts_(module) {}

  std::vector<Change> run() && {
    for (tir::Function& function : module_.functions) find_storage(function);
    for (tir::Function& function : module_.functions) {
      if (!tir::is_opaque(module_, function)) find_candidates(function.body);
    }
    for (const Candidate* candidate : fit_for_all()) transpose(*candidate);
    return std::move(changes_);
  }

 private:
  enum class Storage : std::uint8_t { none, param, allocation, constant };

  void find_storage(tir::Function& function) {
    for (const tir::Param& param : function.params) note(param.var, Storage::param);
    for (const auto& [var, use] : program::storage_uses(function.body))
      declared_[var].mentions += use.loads + use.stores + use.mentions;
    std::vector<Block*> pending = {&function.body};
    while (!pending.empty()) {
      Block& block = *pending.back();
      pending.pop_back();
      for (Stmt& stmt : block) {
        if (auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
          Declared& declared = declared_[constant->var];
          declared.constant = constant;
          declared.function = &function.name;
          ++declared.declarations;
          note(constant->var, Storage::constant);
          ++sharers_[constant->data.get()];
        } else if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
          note(allocate->var, Storage::allocation);
        } else if (const auto* let = std::get_if<tir::Let>(&stmt.node)) {
          note(let->var, Storage::none);
        }
        for (Block* inner : tir::blocks_of(stmt)) pending.push_back(inner);
      }
    }
  }

  // Functions, and scopes side by side, may bind one variable to things of different kinds.
  void note(VarId var, Storage kind) {
    Storage& known = storage_.try_emplace(var, kind).first->second;
    if (known != kind) known = Storage::none;
  }

  void find_candidates(Block& outermost) {
    struct Frame {
      Block* block;
      std::size_t mark;
      std::size_t next = 0;
    };
    std::vector<Frame> frames = {{&outermost, facts_.mark()}};
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next == frame.block->size()) {
        facts_.restore(frame.mark);
        frames.pop_back();
        continue;
      }
      Stmt& stmt = (*frame.block)[frame.next++];
      loops::bind_after(stmt, facts_);
      const std::size_t mark = facts_.mark();
      if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
        facts_.bind_loop(*loop);
        if (const std::optional<Candidate> candidate = candidate_at(*loop)) candidates_.push_back(*candidate);
      }
      for (Block* inner : tir::blocks_of(stmt)) frames.push_back({inner, mark});
    }
  }

  std::optional<Candidate> candidate_at(tir::For& outer) {
    tir::For* inner = tir::only_loop(outer.body);
    if (inner == nullptr || !is_loop_from_zero(outer) || !is_loop_from_zero(*inner)) return std::nullopt;
    Candidate found{&outer, {}, *tir::as_int(*outer.extent), *tir::as_int(*inner->extent), {}};
    if (found.rows < shortest_column || found.columns < 2 || found.columns > longest_row) return std::nullopt;
    const auto* sum = inner->body.size() == 1 ? std::get_if<tir::Store>(&inner->body[0].node) : nullptr;
    if (sum == nullptr) return std::nullopt;
    const std::size_t mark = facts_.mark();
    facts_.bind_loop(*inner);
    const bool fits = is_sum(*sum, outer.var, inner->var) && reads_in_order(found, *sum, inner->var);
    facts_.restore(mark);
    return fits ? std::optional(found) : std::nullopt;
  }

  // sum[… + x] = sum[… + x] + term
  [[nodiscard]] bool is_sum(const tir::Store& store, VarId k, VarId x) const {
    const tir::DataType type = store.value->type;
    if (loops::added_term(store) == nullptr || !type.is_int() || type.is_vector()) return false;
    if (storage_of(store.storage) != Storage::allocation) return false;
    const std::optional<arith::Affine> index = facts_.affine(*store.index);
    return index && !index->mentions(k) && index->factor(x) == 1 && !index->without(x).mentions(x);
  }

  // Whether the term reads one constant by rows, and everything else in the order of k; gives constant and index.
  bool reads_in_order(Candidate& found, const tir::Store& sum, VarId x) const {
    bool fits = true;
    tir::for_each_expr(*sum.value->operands[1], [&](const Expr& expr) {
      if (expr.kind == ExprKind::load) {
        fits = fits && expr.operands.size() == 1 && !expr.type.is_vector() && expr.var != sum.storage &&
               storage_of(expr.var) != Storage::none && (reads_rows(found, expr, x) || reads_along(found, expr, x));
      } else if (expr.kind == ExprKind::call) {
        fits = fits && tir::info(expr.op).is_folded;
      } else {
        const bool is_x = expr.kind == ExprKind::var && expr.var == x;
        fits = fits && !is_x && expr.kind != ExprKind::let && !expr.type.is_handle();
      }
      return fits && expr.kind != ExprKind::load;
    });
    return fits && found.constant.valid();
  }

  bool reads_rows(Candidate& found, const Expr& load, VarId x) const {
    if (found.constant.valid() || storage_of(load.var) != Storage::constant) return false;
    const Declared& declared = declared_.at(load.var);
    const tir::Constant& data = *declared.constant->data;
    const std::int64_t size = found.rows * found.columns;
    const bool is_bytes = data.type.is_integer() && data.type.bits == 8 && !data.type.is_vector();
    if (!is_bytes || load.type != data.type || declared.declarations != 1 || declared.mentions != 1 ||
        data.bytes.empty() || static_cast<std::int64_t>(data.bytes.size()) % size != 0) {
      return false;
    }
    const VarId k = found.outer->var;
    const std::optional<arith::Affine> index = facts_.affine(*load.operands[0]);
    if (!index || index->factor(k) != found.columns || index->factor(x) != 1) return false;
    const arith::Affine block = index->without(k).without(x);
    if (block.mentions(k) || block.mentions(x) || !is_multiple(block, size)) return false;
    const auto column = scaled(arith::variable(x), found.rows);
    const auto element = column ? sum(*column, arith::variable(k)) : std::nullopt;
    const auto turned = element ? sum(block, *element) : std::nullopt;
    if (!turned || !facts_.fits(*turned, load.operands[0]->type)) return false;
    found.constant = load.var;
    found.index = facts_.expr(*turned, load.operands[0]->type);
    return true;
  }

  bool reads_along(const Candidate& found, const Expr& load, VarId x) const {
    const VarId k = found.outer->var;
    const std::optional<arith::Affine> index = facts_.affine(*load.operands[0]);
    if (!index || index->mentions(x) || index->without(k).mentions(k)) return false;
    return index->factor(k) == 0 || index->factor(k) == 1;
  }

  [[nodiscard]] Storage storage_of(VarId var) const {
    const auto found = storage_.find(var);
    return found == storage_.end() ? Storage::none : found->second;
  }

  // Those of which all that share the constant's data change as they do.
  [[nodiscard]] std::vector<const Candidate*> fit_for_all() const {
    struct Alike {
      const Candidate* first;
      std::size_t count = 0;
    };
    std::map<const tir::Constant*, Alike> by_data;
    for (const Candidate& candidate : candidates_) {
      Alike& alike = by_data.try_emplace(data_of(candidate), Alike{&candidate}).first->second;
      if (alike.first->rows == candidate.rows && alike.first->columns == candidate.columns) ++alike.count;
    }
    std::vector<const Candidate*> fit;
    for (const Candidate& candidate : candidates_) {
      const tir::Constant* data = data_of(candidate);
      if (by_data.at(data).count == sharers_.at(data)) fit.push_back(&candidate);
    }
    return fit;
  }

  [[nodiscard]] const tir::Constant* data_of(const Candidate& candidate) const {
    return declared_.at(candidate.constant).constant->data.get();
  }

  void transpose(const Candidate& candidate) {
    const Declared& declared = declared_.at(candidate.constant);
    std::shared_ptr<const tir::Constant>& data = declared.constant->data;
    Turned& turned = turned_[data.get()];
    if (!turned.after) turned = {data, by_columns(*data, candidate)};
    data = turned.after;
    tir::For inner = *tir::only_loop(candidate.outer->body);
    auto& store = std::get<tir::Store>(inner.body[0].node);
    store.value = with_index(store.value, candidate);
    std::swap(candidate.outer->var, inner.var);
    std::swap(candidate.outer->min, inner.min);
    std::swap(candidate.outer->extent, inner.extent);
    candidate.outer->body[0] = {std::move(inner)};
    changes_.push_back({Step::constants, *declared.function,
                        module_.var(candidate.constant).name + ": stored by columns of " +
                            std::to_string(candidate.rows) + " instead of rows of " +
                            std::to_string(candidate.columns) + ", each sum added up at once"});
  }

  static std::shared_ptr<const tir::Constant> by_columns(const tir::Constant& data, const Candidate& candidate) {
    auto turned = std::make_shared<tir::Constant>(data);
    const auto rows = static_cast<std::size_t>(candidate.rows);
    const auto columns = static_cast<std::size_t>(candidate.columns);
    for (std::size_t i = 0; i < data.bytes.size(); ++i) {
      const std::size_t in_block = i % (rows * columns);
      turned->bytes[i - in_block + in_block % columns * rows + in_block / columns] = data.bytes[i];
    }
    return turned;
  }

  static ExprRef with_index(const ExprRef& root, const Candidate& candidate) {
    tir::ExprRewriter rewriter([&](const ExprRef& expr) -> ExprRef {
      const bool is_read = expr->kind == ExprKind::load && expr->var == candidate.constant;
      return is_read ? tir::make_load(expr->type, expr->var, candidate.index) : nullptr;
    });
    return rewriter.rewritten(root);
  }

  tir::Module& module_;
  arith::Facts facts_;
  std::map<VarId, Storage> storage_;
  std::map<VarId, Declared> declared_;
  std::map<const tir::Constant*, std::size_t> sharers_;
  std::vector<Candidate> candidates_;
  std::map<const tir::Constant*, Turned> turned_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> transpose_constants(tir::Module& module) { return Transposer(module).run(); }

}  // namespace usmp::transform
