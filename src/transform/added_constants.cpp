// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Looks at sums from the inside out: what two constants have become is one that a third may be added to.
#include "transform/added_constants.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "usmp/arith/facts.hpp"
#include "usmp/loops/walk.hpp"
#include "usmp/program/storage_uses.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/element_range.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Constant;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::VarId;

// A summand, subtracted or not.
struct Summand {
  ExprRef value;
  bool is_negative = false;
};

bool is_int32_sum(const Expr& expr) {
  return (expr.kind == ExprKind::add || expr.kind == ExprKind::sub) && expr.type == tir::int32_type;
}

// Summands that are not sums themselves; nothing: there are many.
std::optional<std::vector<Summand>> parts_of(const ExprRef& root) {
  constexpr std::size_t most = 8;
  std::vector<Summand> parts = {{root, false}};
  for (std::size_t i = 0; i < parts.size();) {
    const Summand part = parts[i];
    if (!is_int32_sum(*part.value)) {
      ++i;
      continue;
    }
    if (parts.size() == most) return std::nullopt;
    parts[i].value = part.value->operands[0];
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                 {part.value->operands[1], part.is_negative != (part.value->kind == ExprKind::sub)});
  }
  return parts;
}

// Adds up the constants of a function.
class Adder {
 public:
  Adder(tir::Module& module, tir::Function& function, const std::map<std::string_view, std::size_t>& equal,
        std::vector<Change>& changes)
      : module_(module), function_(function), equal_(equal), changes_(changes) {}

  void run() {
    find_constants();
    if (constants_.size() < 2) return;
    arith::Facts facts(module_);
    const auto before = [&](tir::Block& block, std::size_t& at, arith::Facts& here) {
      tir::for_each_expr_of(block[at], [&](ExprRef& root) {
        root = loops::rewritten(root, here, [&](const ExprRef& expr, const arith::Facts& known) {
          return is_int32_sum(*expr) ? added(expr, known) : nullptr;
        });
      });
      return loops::Next::enter;
    };
    loops::edit(function_.body, facts, {.before = before, .after = {}});
    if (gone_.empty()) return;
    tir::for_each_block(function_.body, [&](tir::Block& block) {
      std::erase_if(block, [&](const tir::Stmt& stmt) {
        const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        return constant != nullptr && gone_.contains(constant->var);
      });
      for (tir::Stmt& stmt : block) {
        auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        if (constant == nullptr || !sums_.contains(constant->var)) continue;
        constant->data = constants_.at(constant->var).data;
        constant->type = tir::int32_type;
      }
    });
  }

 private:
  void find_constants() {
    const auto uses = program::storage_uses(function_.body);
    std::set<VarId> seen;
    tir::for_each_stmt(function_.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr) return;
      const bool is_first = seen.insert(constant->var).second;
      const auto use = uses.find(constant->var);
      const Constant& data = *constant->data;
      const bool is_number = data.type.is_integer() && !data.type.is_vector() && !data.type.is_bool() &&
                             data.type.bits <= 32 && constant->type == data.type;
      const bool is_read_once = use != uses.end() && use->second.loads == 1 && use->second.stores == 0 &&
                                use->second.mentions == 0 && !use->second.has_predicates &&
                                !use->second.has_addresses && use->second.is_of_scalars();
      const auto range = tir::range_of_elements(data);
      if (is_first && is_number && is_read_once && range && range->low < range->high)
        constants_.emplace(constant->var, *constant);
      if (!is_first) constants_.erase(constant->var);
    });
  }

  // What is loaded, if it is of such a constant, as int32.
  [[nodiscard]] const Expr* constant_of(const ExprRef& value) const {
    const ExprRef& load = value->kind == ExprKind::cast ? value->operands[0] : value;
    const bool is_it = load->kind == ExprKind::load && load->operands.size() == 1 && constants_.contains(load->var) &&
                       load->type == constants_.at(load->var).type && !load->type.is_vector();
    const bool is_whole = load->type.is_int() || load->type.bits < 32;
    return is_it && is_whole ? load.get() : nullptr;
  }

  ExprRef added(const ExprRef& sum, const arith::Facts& facts) {
    const auto parts = parts_of(sum);
    if (!parts) return nullptr;
    const Summand* other = nullptr;
    std::vector<Summand> loads;  // of constants
    for (const Summand& part : *parts) {
      const Expr* load = constant_of(part.value);
      if (load == nullptr && other != nullptr) return nullptr;
      if (load == nullptr) other = &part;
      if (load != nullptr) loads.push_back({tir::make_expr(*load), part.is_negative});
    }
    if (loads.size() < 2 || other == nullptr || !are_at_one_place(loads, facts) || has_equal_elsewhere(loads))
      return nullptr;
    auto data = sum_of(loads);
    if (data == nullptr) return nullptr;
    tir::AllocateConst& kept = constants_.at(loads[0].value->var);
    for (std::size_t i = 1; i < loads.size(); ++i) {
      const tir::AllocateConst& dropped = constants_.at(loads[i].value->var);
      changes_.push_back({Step::constants, function_.name,
                          module_.var(dropped.var).name + ": added to " + module_.var(kept.var).name + " (" +
                              bytes_text(static_cast<Bytes>(dropped.data->bytes.size())) + ")"});
      gone_.insert(dropped.var);
    }
    kept.data = std::move(data);
    kept.type = tir::int32_type;
    module_.vars[kept.var.index()].element = tir::int32_type;
    sums_.insert(kept.var);
    const ExprRef load = tir::make_load(tir::int32_type, kept.var, loads[0].value->operands[0]);
    return other->is_negative ? tir::make_binary(ExprKind::sub, load, other->value)
                              : tir::make_binary(ExprKind::add, other->value, load);
  }

  [[nodiscard]] bool are_at_one_place(const std::vector<Summand>& loads, const arith::Facts& facts) const {
    const auto place = facts.affine(*loads[0].value->operands[0]);
    const std::vector<std::string>& pools = constants_.at(loads[0].value->var).candidate_pools;
    return place && std::ranges::all_of(loads, [&](const Summand& load) {
             return facts.affine(*load.value->operands[0]) == place &&
                    constants_.at(load.value->var).candidate_pools == pools;
           });
  }

  // Which is stored once for both.
  [[nodiscard]] bool has_equal_elsewhere(const std::vector<Summand>& loads) const {
    return std::ranges::any_of(loads, [&](const Summand& load) {
      const std::string_view bytes = constants_.at(load.value->var).data->bytes;
      const auto all = equal_.find(bytes);
      const auto here = std::ranges::count_if(
          loads, [&](const Summand& one) { return constants_.at(one.value->var).data->bytes == bytes; });
      return all != equal_.end() && all->second > static_cast<std::size_t>(here);
    });
  }

  // Null: they have other numbers of elements, or a sum does not fit.
  [[nodiscard]] std::shared_ptr<const Constant> sum_of(const std::vector<Summand>& loads) const {
    std::vector<std::int64_t> sums;
    for (const Summand& load : loads) {
      const Constant& data = *constants_.at(load.value->var).data;
      const std::size_t count = data.bytes.size() / static_cast<std::size_t>(data.type.bytes());
      if (sums.empty()) sums.resize(count);
      if (sums.size() != count) return nullptr;
      for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t element = tir::integer_of(tir::element_bits(data, i), data.type);
        sums[i] += load.is_negative ? -element : element;
      }
    }
    auto result = std::make_shared<Constant>();
    result->type = tir::int32_type;
    result->shape = constants_.at(loads[0].value->var).data->shape;
    for (const std::int64_t one : sums) {
      if (one < INT32_MIN || one > INT32_MAX) return nullptr;
      append_little_endian(result->bytes, static_cast<std::uint64_t>(one), 4);
    }
    return result;
  }

  tir::Module& module_;
  tir::Function& function_;
  const std::map<std::string_view, std::size_t>& equal_;  // constants with these bytes
  std::vector<Change>& changes_;
  std::map<VarId, tir::AllocateConst> constants_;
  std::set<VarId> sums_;
  std::set<VarId> gone_;
};

}  // namespace

std::vector<Change> add_up_constants(tir::Module& module) {
  std::map<std::string_view, std::size_t> equal;
  std::vector<std::shared_ptr<const Constant>> held;  // whose bytes these are
  for (const tir::Function& function : module.functions) {
    tir::for_each_stmt(function.body, [&](const tir::Stmt& stmt) {
      const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
      if (constant == nullptr) return;
      held.push_back(constant->data);
      ++equal[held.back()->bytes];
    });
  }
  std::vector<Change> changes;
  for (tir::Function& function : module.functions) {
    if (!tir::is_opaque(module, function)) Adder(module, function, equal, changes).run();
  }
  return changes;
}

}  // namespace usmp::transform
