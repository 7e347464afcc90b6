// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Decides a form for each group, merges equal constants, then rewrites every load and call.
#include "transform/constants.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "transform/added_constants.hpp"
#include "transform/constant_uses.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/element_range.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {
namespace {

using tir::Constant;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::TypeCode;
using tir::VarId;

// --- Elements --------------------------------------------------------------------------------------------------------

bool is_uniform(const Constant& constant) {
  const auto size = static_cast<std::size_t>(constant.type.element_bytes());
  return std::equal(constant.bytes.begin() + static_cast<std::ptrdiff_t>(size), constant.bytes.end(),
                    constant.bytes.begin());
}

// The literal of an element; null where there is none of exactly that value.
ExprRef literal_of(std::uint64_t bits, DataType type) {
  if (type.is_integer()) {
    if (type.is_bool() && bits > 1) return {};
    return tir::make_int(tir::integer_of(bits, type), type);
  }
  double value = std::numeric_limits<double>::quiet_NaN();
  if (type.code == TypeCode::float_ && type.bits == 32) {
    value = static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  } else if (type.code == TypeCode::float_ && type.bits == 64) {
    value = std::bit_cast<double>(bits);
  }
  return std::isfinite(value) ? tir::make_float(value, type) : ExprRef();
}

bool holds_all(DataType narrow, std::int64_t low, std::int64_t high) {
  const std::int64_t top = std::int64_t{1} << (narrow.bits - (narrow.is_int() ? 1 : 0));
  return high < top && low >= (narrow.is_int() ? -top : 0);
}

// The narrowest type of whole bytes that holds all values, signed where both do; `type` itself if no narrower one does.
DataType narrowest(DataType type, const std::vector<const Constant*>& constants) {
  std::int64_t low = std::numeric_limits<std::int64_t>::max();
  std::int64_t high = std::numeric_limits<std::int64_t>::min();
  for (const Constant* constant : constants) {
    const auto range = tir::range_of_elements(*constant);
    if (!range) return type;
    low = std::min(low, range->low);
    high = std::max(high, range->high);
  }
  for (const int width : {8, 16, 32}) {
    const auto bits = static_cast<std::uint8_t>(width);
    if (bits >= type.bits) break;
    for (const TypeCode code : {TypeCode::int_, TypeCode::uint}) {
      if (holds_all({code, bits, 1}, low, high)) return {code, bits, 1};
    }
  }
  return type;
}

std::shared_ptr<const Constant> stored_as(const Constant& constant, DataType type) {
  auto narrow = std::make_shared<Constant>();
  narrow->type = type;
  narrow->shape = constant.shape;
  const std::size_t count = constant.bytes.size() / static_cast<std::size_t>(constant.type.element_bytes());
  for (std::size_t i = 0; i < count; ++i) {
    append_little_endian(narrow->bytes, tir::element_bits(constant, i), static_cast<std::size_t>(type.element_bytes()));
  }
  return narrow;
}

// Whether every value of `from` is one of `to`; integers.
bool widens(DataType from, DataType to) {
  if (from.is_bool() || (from.is_int() && to.is_uint())) return false;
  return from.is_int() == to.is_int() ? from.bits <= to.bits : from.bits < to.bits;
}

// --- The step --------------------------------------------------------------------------------------------------------

class Shrinker {
 public:
  explicit Shrinker(tir::Module& module) : module_(module) {}

  std::vector<Change> run() && {
    find_constants();
    if (declared_.empty()) return {};
    const std::vector<ConstantGroup> groups = constant_groups(module_);
    for (const ConstantGroup& group : groups) decide(group);
    for (tir::Function& function : module_.functions) {
      function_ = &function;
      merge_in(function.body);
    }
    if (literals_.empty() && elements_.empty() && same_as_.empty()) return std::move(changes_);
    drop_params();
    for (tir::Function& function : module_.functions) rewrite(function.body);
    return std::move(changes_);
  }

 private:
  struct Declared {
    tir::AllocateConst* constant = nullptr;
    const std::string* function = nullptr;
  };

  void find_constants() {
    for (tir::Function& function : module_.functions) {
      tir::for_each_block(function.body, [&](tir::Block& block) {
        for (tir::Stmt& stmt : block) {
          if (auto* constant = std::get_if<tir::AllocateConst>(&stmt.node)) {
            declared_[constant->var] = {constant, &function.name};
          }
        }
      });
    }
  }

  void decide(const ConstantGroup& group) {
    std::vector<const Constant*> data;
    for (const VarId var : group.constants) {
      data.push_back(declared_.at(var).constant->data.get());
      may_merge_.insert(var);
    }
    if (const ExprRef literal = common_literal(data, group.type)) return replace(group, literal);
    if (!group.type.is_int() && !group.type.is_uint()) return;
    const DataType narrow = narrowest(group.type, data);
    if (narrow != group.type) store_as(group, narrow);
  }

  // The literal that all elements of all these are; null: they differ.
  static ExprRef common_literal(const std::vector<const Constant*>& constants, DataType type) {
    const std::uint64_t first = tir::element_bits(*constants[0], 0);
    const bool are_equal = std::all_of(constants.begin(), constants.end(), [&](const Constant* constant) {
      return tir::element_bits(*constant, 0) == first && is_uniform(*constant);
    });
    return are_equal ? literal_of(first, type) : ExprRef();
  }

  void replace(const ConstantGroup& group, const ExprRef& literal) {
    for (const VarId var : group.constants) {
      literals_[var] = literal;
      const std::size_t bytes = declared_.at(var).constant->data->bytes.size();
      report(var, "all elements equal, replaced by a literal (" + bytes_text(static_cast<Bytes>(bytes)) + ")");
    }
    for (const VarId var : group.params) literals_[var] = literal;
  }

  void store_as(const ConstantGroup& group, DataType narrow) {
    for (const VarId var : group.constants) {
      tir::AllocateConst& constant = *declared_.at(var).constant;
      std::shared_ptr<const Constant>& stored = narrowed_[{constant.data.get(), tir::to_string(narrow)}];
      if (!stored) {
        stored = stored_as(*constant.data, narrow);
        originals_.push_back(constant.data);  // their addresses are keys
      }
      report(var, "stored as " + tir::to_string(narrow) + " (" +
                      bytes_text(static_cast<Bytes>(constant.data->bytes.size() - stored->bytes.size())) + " less)");
      constant.data = stored;
      constant.type = narrow;
      set_element(var, narrow);
    }
    for (const VarId var : group.params) set_element(var, narrow);
  }

  void set_element(VarId var, DataType narrow) {
    elements_[var] = narrow;
    if (!module_.vars[var.index()].element.is_void()) module_.vars[var.index()].element = narrow;
  }

  void report(VarId var, const std::string& what) {
    changes_.push_back({Step::constants, *declared_.at(var).function, module_.var(var).name + ": " + what});
  }

  // --- Equal ones

  // Literals lose their storage. Equal constants of the block are stored once, all others share their data.
  void merge_in(tir::Block& body) {
    tir::for_each_block(body, [&](tir::Block& block) {
      std::erase_if(block, [&](const tir::Stmt& stmt) {
        const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        return constant != nullptr && literals_.contains(constant->var);
      });
      using Key = std::tuple<const Constant*, TypeCode, std::uint8_t, std::vector<std::string>>;
      std::map<Key, VarId> stored;
      std::erase_if(block, [&](tir::Stmt& stmt) {
        auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
        if (constant == nullptr) return false;
        const bool had_own = share_data(*constant);
        const auto keep = [&] {
          if (had_own) report_shared(*constant);
          return false;
        };
        if (!may_merge_.contains(constant->var)) return keep();
        const Key key(constant->data.get(), constant->type.code, constant->type.bits, constant->candidate_pools);
        const auto [first, is_first] = stored.emplace(key, constant->var);
        if (is_first) return keep();
        same_as_[constant->var] = first->second;
        changes_.push_back({Step::constants, function_->name,
                            module_.var(constant->var).name + ": the same as " + module_.var(first->second).name +
                                " (" + bytes_text(static_cast<Bytes>(constant->data->bytes.size())) + ")"});
        return true;
      });
    });
  }

  void report_shared(const tir::AllocateConst& constant) {
    changes_.push_back({Step::constants, function_->name,
                        module_.var(constant.var).name + ": shares the data of an equal constant (" +
                            bytes_text(static_cast<Bytes>(constant.data->bytes.size())) + ")"});
  }

  // Whether the constant had data of its own.
  bool share_data(tir::AllocateConst& constant) {
    using Key = std::tuple<TypeCode, std::uint8_t, std::uint16_t, std::string_view>;
    const DataType type = constant.data->type;
    const Key key(type.code, type.bits, type.lanes, constant.data->bytes);
    const auto& shared = shared_.emplace(key, constant.data).first->second;
    return std::exchange(constant.data, shared) != shared;
  }

  // --- Uses

  void drop_params() {
    for (tir::Function& function : module_.functions) {
      std::vector<bool>& drops = dropped_[function.name];
      for (const tir::Param& param : function.params) drops.push_back(literals_.contains(param.var));
      std::erase_if(function.params, [&](const tir::Param& param) { return literals_.contains(param.var); });
      for (tir::Param& param : function.params) {
        const auto narrow = elements_.find(param.var);
        if (narrow != elements_.end() && param.is_tensor) param.element = narrow->second;
      }
    }
  }

  void rewrite(tir::Block& body) {
    tir::for_each_block(body, [&](tir::Block& block) {
      for (tir::Stmt& stmt : block) {
        tir::for_each_expr_of(stmt, [&](ExprRef& expr) { rewrite(expr); });
      }
    });
  }

  void rewrite(ExprRef& root) {
    tir::for_each_expr_bottom_up(
        root, [&](const Expr& expr) { return rewritten_.contains(&expr); },
        [&](const ExprRef& expr) { rewritten_.emplace(expr.get(), std::pair(expr, rewritten(expr))); });
    root = rewritten_.at(root.get()).second;
  }

  ExprRef rewritten(const ExprRef& expr) {
    NewOperands operands = operands_of(*expr);
    if (expr->kind == ExprKind::load) {
      if (const auto literal = literals_.find(expr->var); literal != literals_.end()) return own(literal->second);
    }
    const VarId var = stored_var(expr->var);
    if (expr->kind == ExprKind::load && elements_.contains(expr->var)) {
      return own(tir::make_cast(expr->type, tir::make_load(elements_.at(expr->var), var, operands.list[0])));
    }
    if (expr->kind == ExprKind::cast && own_.contains(operands.list[0].get())) {
      if (const ExprRef joined = joined_cast(expr->type, operands.list[0])) return own(joined);
    }
    if (!operands.differ && (var == expr->var || (expr->kind != ExprKind::load && expr->kind != ExprKind::var))) {
      return expr;
    }
    Expr copy = *expr;
    copy.var = var;
    copy.operands = std::move(operands.list);
    return tir::make_expr(std::move(copy));
  }

  struct NewOperands {
    std::vector<ExprRef> list;
    bool differ = false;
  };

  // Rewritten; of calls without the arguments for dropped parameters.
  NewOperands operands_of(const Expr& expr) const {
    const auto call = tir::named_call(expr);
    const std::vector<bool> drops =
        call && dropped_.contains(*call->name) ? dropped_.at(*call->name) : std::vector<bool>();
    NewOperands operands;
    for (std::size_t i = 0; i < expr.operands.size(); ++i) {
      const bool is_argument = i > 0 && i <= drops.size();
      if (is_argument && drops[i - 1]) {
        operands.differ = true;
        continue;
      }
      operands.list.push_back(rewritten_.at(expr.operands[i].get()).second);
      operands.differ = operands.differ || operands.list.back() != expr.operands[i];
    }
    return operands;
  }

  VarId stored_var(VarId var) const {
    const auto same = same_as_.find(var);
    return same == same_as_.end() ? var : same->second;
  }

  // A cast of what this step has widened or put down as a literal; null: there is nothing to join.
  static ExprRef joined_cast(DataType to, const ExprRef& operand) {
    if (operand->kind == ExprKind::int_imm) {
      const bool fits = to.is_integer() && widens(operand->type, to);
      return fits ? tir::make_int(operand->int_value, to) : ExprRef();
    }
    if (operand->kind != ExprKind::cast) return {};
    const ExprRef& narrow = operand->operands[0];
    if (!widens(narrow->type, operand->type)) return {};
    return narrow->type == to ? narrow : tir::make_cast(to, narrow);
  }

  const ExprRef& own(const ExprRef& expr) {
    own_.insert(expr.get());
    return expr;
  }

  tir::Module& module_;
  tir::Function* function_ = nullptr;
  std::vector<Change> changes_;
  std::map<VarId, Declared> declared_;
  std::map<VarId, ExprRef> literals_;   // constants and parameters that are no more
  std::map<VarId, DataType> elements_;  // constants and parameters that are narrower now
  std::set<VarId> may_merge_;
  std::map<VarId, VarId> same_as_;
  std::map<std::pair<const Constant*, std::string>, std::shared_ptr<const Constant>> narrowed_;  // by new type
  std::vector<std::shared_ptr<const Constant>> originals_;
  std::map<std::tuple<TypeCode, std::uint8_t, std::uint16_t, std::string_view>, std::shared_ptr<const Constant>>
      shared_;
  std::map<std::string, std::vector<bool>> dropped_;  // by function, by parameter as it was
  // By the old expression, which is held so that its address stays its own.
  std::unordered_map<const Expr*, std::pair<ExprRef, ExprRef>> rewritten_;
  std::unordered_set<const Expr*> own_;
};

}  // namespace

std::vector<Change> shrink_constants(tir::Module& module) {
  std::vector<Change> changes = add_up_constants(module);
  std::vector<Change> shrunk = Shrinker(module).run();
  std::move(shrunk.begin(), shrunk.end(), std::back_inserter(changes));
  return changes;
}

}  // namespace usmp::transform
