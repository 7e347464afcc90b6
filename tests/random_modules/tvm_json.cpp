// SPDX-License-Identifier: Apache-2.0
#include "random_modules/tvm_json.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <variant>

#include "tir_json/json_builder.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir/visit.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::random_modules {
namespace {

using testing::JsonBuilder;
using tir::Block;
using tir::DataType;
using tir::Expr;
using tir::ExprKind;
using tir::ExprRef;
using tir::Stmt;
using tir::VarId;
using Node = JsonBuilder::Node;
using Nodes = JsonBuilder::Nodes;

bool declares(const Stmt& stmt) {
  return std::holds_alternative<tir::Allocate>(stmt.node) || std::holds_alternative<tir::AllocateConst>(stmt.node) ||
         std::holds_alternative<tir::Let>(stmt.node);
}

bool is_true(const ExprRef& expr) {
  if (!expr) return true;
  const Expr& value = expr->kind == ExprKind::broadcast ? *expr->operands[0] : *expr;
  return value.kind == ExprKind::int_imm && value.int_value != 0;
}

const char* node_type(ExprKind kind) {
  static constexpr const char* names[] = {"tir.Add",      "tir.Sub", "tir.Mul", "tir.Div", "tir.Mod", "tir.FloorDiv",
                                          "tir.FloorMod", "tir.Min", "tir.Max", "tir.EQ",  "tir.NE",  "tir.LT",
                                          "tir.LE",       "tir.GT",  "tir.GE",  "tir.And", "tir.Or"};
  return names[static_cast<std::size_t>(kind) - static_cast<std::size_t>(ExprKind::add)];
}

std::string number_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return shortest_decimal(value);
}

class Writer {
 public:
  Writer(const tir::Module& module, bool modern) : module_(module), modern_(modern) {}

  std::string run() && {
    std::vector<std::pair<std::string, Node>> functions;
    JsonBuilder::Attributes attributes;
    Nodes pools;
    for (const tir::AnnotatedPool& described : module_.annotated_pools) pools.push_back(pool(described.name));
    const Node list = b_.add("ir.WorkspaceMemoryPools", {{"pools", JsonBuilder::ref(b_.array(pools))}});
    attributes.emplace_back("workspace_memory_pools", list);
    JsonBuilder::Attributes alignments;
    if (module_.workspace_alignment) {
      alignments.emplace_back("workspace-byte-alignment", b_.integer(*module_.workspace_alignment));
    }
    if (module_.constant_alignment) {
      alignments.emplace_back("constant-byte-alignment", b_.integer(*module_.constant_alignment));
    }
    attributes.emplace_back("executor", b_.add("Executor", {{"name", JsonBuilder::ref(b_.string("aot"))},
                                                            {"attrs", JsonBuilder::ref(b_.dict_attrs(alignments))}}));
    for (const tir::Function& one : module_.functions) functions.emplace_back(one.name, function(one));
    b_.set_version(module_.tvm_version);
    return b_.module(functions, attributes);
  }

 private:
  Node pool(const std::string& name) {
    Node& node = pools_[name];
    if (node != 0) return node;
    for (const tir::AnnotatedPool& described : module_.annotated_pools) {
      if (described.name != name) continue;
      const std::string size = JsonBuilder::ref(b_.integer(described.size_hint.value_or(-1)));
      const char* type = described.is_constant ? "ir.ConstantPoolInfo" : "ir.WorkspacePoolInfo";
      node = b_.add(type, {{"pool_name", JsonBuilder::ref(b_.string(name))},
                           {"size_hint_bytes", size},
                           {"is_internal", described.is_internal ? "1" : "0"},
                           {"targets", JsonBuilder::ref(b_.array({}))}});
    }
    return node;
  }

  JsonBuilder::Attributes annotations(const std::vector<std::string>& candidates) {
    if (candidates.empty()) return {};
    Nodes infos;
    for (const std::string& name : candidates) infos.push_back(pool(name));
    return {{"candidate_memory_pools", b_.array(infos)}};
  }

  Node var(VarId id) {
    Node& node = vars_[id];
    if (node != 0) return node;
    const tir::Var& described = module_.var(id);
    if (described.type.is_handle() && !described.element.is_void()) {
      node = b_.handle(described.name, to_string(described.element), described.storage_scope);
    } else {
      node = b_.var(described.name, to_string(described.type));
    }
    return node;
  }

  Node function(const tir::Function& function) {
    std::vector<JsonBuilder::Param> params;
    for (const tir::Param& param : function.params) {
      if (!param.is_tensor) {
        params.push_back({var(param.var)});
        continue;
      }
      Nodes shape;
      for (const std::int64_t extent : *param.shape) shape.push_back(b_.integer(extent));
      params.push_back({b_.var(param.name, "handle"), b_.buffer(var(param.var), to_string(param.element), shape)});
    }
    Node body = block(function.body, 0);
    for (std::size_t i = function.imported_c.size(); i-- > 0;) {
      body = b_.attr_stmt(b_.integer(0), "pragma_import_c", b_.string_imm(function.imported_c[i]), body);
    }
    JsonBuilder::Attributes attributes = {{"global_symbol", b_.string(function.name)}};
    if (!function.target.empty()) attributes.emplace_back("target", b_.target(function.target));
    if (function.is_entry) attributes.emplace_back("runner_function", b_.integer(1, "bool"));
    return b_.function(params, body, attributes);
  }

  // Statements from the given one on; what one declares holds for all behind it.
  // NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
  Node block(const Block& statements, std::size_t first) {
    Nodes nodes;
    for (std::size_t i = first; i < statements.size(); ++i) {
      if (declares(statements[i])) {
        nodes.push_back(declaration(statements[i], block(statements, i + 1)));
        break;
      }
      nodes.push_back(statement(statements[i]));
    }
    if (nodes.size() == 1) return nodes[0];
    return nodes.empty() ? b_.evaluate(b_.integer(0)) : b_.seq(nodes);
  }

  Node declaration(const Stmt& stmt, Node body) {
    if (const auto* let = std::get_if<tir::Let>(&stmt.node)) return b_.let_stmt(var(let->var), expr(let->value), body);
    if (const auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      Nodes extents;
      for (const ExprRef& extent : allocate->extents) extents.push_back(expr(extent));
      const Node node = b_.allocate(var(allocate->var), to_string(allocate->type), extents, body,
                                    annotations(allocate->candidate_pools));
      if (allocate->condition) b_.at(node)["attrs"]["condition"] = JsonBuilder::ref(expr(allocate->condition));
      return node;
    }
    const auto& constant = std::get<tir::AllocateConst>(stmt.node);
    Nodes extents;
    for (const std::int64_t extent : constant.data->shape) extents.push_back(b_.integer(extent));
    const DataType type = constant.data->type;
    const auto code = static_cast<std::uint8_t>(type.is_int()                        ? 0
                                                : type.is_uint()                     ? 1
                                                : type.code == tir::TypeCode::bfloat ? 4
                                                                                     : 2);
    const Node data = b_.ndarray(
        {.type_code = code, .bits = type.bits, .shape = constant.data->shape, .bytes = constant.data->bytes});
    const Node node = b_.allocate_const(var(constant.var), to_string(constant.type), extents, data, body);
    b_.at(node)["attrs"]["annotations"] = JsonBuilder::ref(b_.map(annotations(constant.candidate_pools)));
    return node;
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
  Node statement(const Stmt& stmt) {
    if (const auto* store = std::get_if<tir::Store>(&stmt.node)) return this->store(*store);
    if (const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) return b_.evaluate(expr(evaluate->value));
    if (const auto* scope = std::get_if<tir::Scope>(&stmt.node)) return block(scope->body, 0);
    if (const auto* loop = std::get_if<tir::For>(&stmt.node)) {
      const Node min = expr(loop->min);
      return b_.for_loop(var(loop->var), min, expr(loop->extent), block(loop->body, 0));
    }
    if (const auto* loop = std::get_if<tir::While>(&stmt.node)) {
      const Node condition = expr(loop->condition);
      return b_.add("tir.While",
                    {{"condition", JsonBuilder::ref(condition)}, {"body", JsonBuilder::ref(block(loop->body, 0))}});
    }
    if (const auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      const Node condition = expr(branch->condition);
      const Node then_body = block(branch->then_body, 0);
      return b_.if_then_else(condition, then_body, branch->else_body.empty() ? 0 : block(branch->else_body, 0));
    }
    const auto& check = std::get<tir::Assert>(stmt.node);
    return b_.add("tir.AssertStmt", {{"condition", JsonBuilder::ref(expr(check.condition))},
                                     {"message", JsonBuilder::ref(b_.string_imm(check.message))},
                                     {"body", JsonBuilder::ref(b_.evaluate(b_.integer(0)))}});
  }

  Node access_buffer(VarId storage, DataType element) {
    return b_.buffer(var(storage), to_string(element), {b_.integer(1)});
  }

  Node store(const tir::Store& store) {
    const Node index = expr(store.index);
    const Node value = expr(store.value);
    const Node predicate = store.predicate ? expr(store.predicate) : 0;
    if (modern_) return b_.store(access_buffer(store.storage, store.value->type.element()), {index}, value, predicate);
    return b_.add("tir.Store", {{"buffer_var", JsonBuilder::ref(var(store.storage))},
                                {"index", JsonBuilder::ref(index)},
                                {"value", JsonBuilder::ref(value)},
                                {"predicate", JsonBuilder::ref(predicate)}});
  }

  // NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
  Node expr(const ExprRef& ref) {
    if (const auto known = exprs_.find(ref.get()); known != exprs_.end()) return known->second;
    Nodes operands;
    for (const ExprRef& operand : ref->operands) operands.push_back(expr(operand));
    const Node node = made(*ref, operands);
    exprs_.emplace(ref.get(), node);
    return node;
  }

  Node made(const Expr& expr, const Nodes& operands) {
    const std::string type = to_string(expr.type);
    const auto ref = [&](std::size_t i) { return JsonBuilder::ref(operands[i]); };
    switch (expr.kind) {
      case ExprKind::int_imm:
        return b_.integer(expr.int_value, type);
      case ExprKind::float_imm:
        return b_.floating(number_text(expr.float_value), type);
      case ExprKind::string_imm:
        return b_.string_imm(expr.text);
      case ExprKind::var:
        return var(expr.var);
      case ExprKind::not_:
        return b_.add("tir.Not", {{"a", ref(0)}, {"dtype", type}});
      case ExprKind::select:
        return b_.add("tir.Select",
                      {{"condition", ref(0)}, {"true_value", ref(1)}, {"false_value", ref(2)}, {"dtype", type}});
      case ExprKind::cast:
        return b_.add("tir.Cast", {{"value", ref(0)}, {"dtype", type}});
      case ExprKind::load: {
        const Node predicate = operands.size() > 1 ? operands[1] : 0;
        if (modern_) return b_.load(access_buffer(expr.var, expr.type.element()), {operands[0]}, type, predicate);
        return b_.add("tir.Load", {{"buffer_var", JsonBuilder::ref(var(expr.var))},
                                   {"index", ref(0)},
                                   {"predicate", JsonBuilder::ref(predicate)},
                                   {"dtype", type}});
      }
      case ExprKind::ramp:
        return b_.add(
            "tir.Ramp",
            {{"base", ref(0)}, {"stride", ref(1)}, {"lanes", std::to_string(expr.type.lanes)}, {"dtype", type}});
      case ExprKind::broadcast:
        return b_.add("tir.Broadcast",
                      {{"value", ref(0)}, {"lanes", std::to_string(expr.type.lanes)}, {"dtype", type}});
      case ExprKind::shuffle: {
        const auto middle = operands.begin() + expr.int_value;
        const Node vectors = b_.array({operands.begin(), middle});
        const Node indices = b_.array({middle, operands.end()});
        return b_.add(
            "tir.Shuffle",
            {{"vectors", JsonBuilder::ref(vectors)}, {"indices", JsonBuilder::ref(indices)}, {"dtype", type}});
      }
      case ExprKind::let:
        return b_.add("tir.Let",
                      {{"var", JsonBuilder::ref(var(expr.var))}, {"value", ref(0)}, {"body", ref(1)}, {"dtype", type}});
      case ExprKind::call:
        // What TVM has for the operator of our own that the reader makes.
        if (expr.op == tir::Op::q_multiply_shift_half) return b_.call("tir.q_multiply_shift", operands, type);
        return b_.call(std::string(tir::operator_name(expr)), operands, type);
      default:
        return b_.binary(node_type(expr.kind), operands[0], operands[1], type);
    }
  }

  const tir::Module& module_;
  const bool modern_;
  JsonBuilder b_;
  std::unordered_map<VarId, Node> vars_;
  std::unordered_map<const Expr*, Node> exprs_;
  std::unordered_map<std::string, Node> pools_;
};

// --- What reading changes --------------------------------------------------------------------------------------------

// NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
ExprRef normal(const ExprRef& expr) {
  if (!expr) return expr;
  Expr changed = *expr;
  for (ExprRef& operand : changed.operands) operand = normal(operand);
  if (changed.kind == ExprKind::load && changed.operands.size() > 1 && is_true(changed.operands[1])) {
    changed.operands.pop_back();
  }
  return tir::make_expr(std::move(changed));
}

bool is_dropped(const Stmt& stmt) {
  const auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node);
  return evaluate != nullptr && evaluate->value->kind == ExprKind::int_imm;
}

// NOLINTNEXTLINE(misc-no-recursion): as deep as what the generator nests.
void normalise(Block& block) {
  Block result;
  for (std::size_t i = 0; i < block.size(); ++i) {
    Stmt& stmt = block[i];
    if (is_dropped(stmt)) continue;
    if (auto* store = std::get_if<tir::Store>(&stmt.node)) {
      if (is_true(store->predicate)) store->predicate = nullptr;
      store->index = normal(store->index);
      store->value = normal(store->value);
      store->predicate = normal(store->predicate);
    } else if (auto* let = std::get_if<tir::Let>(&stmt.node)) {
      let->value = normal(let->value);
    } else if (auto* allocate = std::get_if<tir::Allocate>(&stmt.node)) {
      for (ExprRef& extent : allocate->extents) extent = normal(extent);
      allocate->condition = is_true(allocate->condition) ? nullptr : normal(allocate->condition);
    } else if (auto* evaluate = std::get_if<tir::Evaluate>(&stmt.node)) {
      evaluate->value = normal(evaluate->value);
    } else if (auto* check = std::get_if<tir::Assert>(&stmt.node)) {
      check->condition = normal(check->condition);
    } else if (auto* loop = std::get_if<tir::For>(&stmt.node)) {
      loop->min = normal(loop->min);
      loop->extent = normal(loop->extent);
      normalise(loop->body);
    } else if (auto* repeat = std::get_if<tir::While>(&stmt.node)) {
      repeat->condition = normal(repeat->condition);
      normalise(repeat->body);
    } else if (auto* branch = std::get_if<tir::IfThenElse>(&stmt.node)) {
      branch->condition = normal(branch->condition);
      normalise(branch->then_body);
      normalise(branch->else_body);
    } else if (auto* scope = std::get_if<tir::Scope>(&stmt.node)) {
      normalise(scope->body);
      // Only what declares something has to end, and only where something follows.
      const bool is_last = std::all_of(block.begin() + static_cast<std::ptrdiff_t>(i) + 1, block.end(), is_dropped);
      auto first = is_last ? scope->body.end() : std::find_if(scope->body.begin(), scope->body.end(), declares);
      Block inner(std::make_move_iterator(first), std::make_move_iterator(scope->body.end()));
      result.insert(result.end(), std::make_move_iterator(scope->body.begin()), std::make_move_iterator(first));
      if (!inner.empty()) result.push_back({tir::Scope{std::move(inner)}});
      continue;
    }
    result.push_back(std::move(stmt));
  }
  block = std::move(result);
}

std::string pools_text(const tir::Module& module) {
  std::string text;
  for (const tir::AnnotatedPool& pool : module.annotated_pools) {
    text += pool.name + " " + std::to_string(pool.is_constant) + " " + std::to_string(pool.is_internal) + " " +
            std::to_string(pool.size_hint.value_or(-1)) + "\n";
  }
  return text + std::to_string(module.workspace_alignment.value_or(-1)) + " " +
         std::to_string(module.constant_alignment.value_or(-1)) + " " + module.tvm_version + "\n";
}

std::string text_of(const tir::Module& module) {
  std::string text = pools_text(module) + tir::print(module);
  for (const tir::Function& function : module.functions) {
    text += function.name;
    for (const std::string& source : function.imported_c) text += "\n" + source;
    for (const tir::Param& param : function.params) {
      text +=
          "\n" + param.name + " " + std::to_string(param.is_tensor) + " " + to_string(module.var(param.var).element);
      if (param.shape) text += " " + std::to_string((*param.shape)[0]);
    }
    text += "\n";
  }
  return text;
}

std::string line_at(const std::string& text, std::size_t at) {
  const std::size_t before = text.rfind('\n', at == 0 ? 0 : at - 1);
  const std::size_t begin = before == std::string::npos ? 0 : before + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

}  // namespace

std::string json_of(const tir::Module& module, bool modern) { return Writer(module, modern).run(); }

tir::Module in_normal_form(tir::Module module) {
  for (tir::Function& function : module.functions) normalise(function.body);
  return module;
}

std::string round_trip_fault(const tir::Module& module, bool modern) {
  const std::string wanted = text_of(in_normal_form(module));
  const std::string got = text_of(tir_json::read_module(json_of(module, modern)));
  if (wanted == got) return {};
  const auto at = static_cast<std::size_t>(std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end()).first -
                                           wanted.begin());
  return "read back from JSON: '" + line_at(got, at) + "', expected '" + line_at(wanted, at) + "'";
}

}  // namespace usmp::random_modules
