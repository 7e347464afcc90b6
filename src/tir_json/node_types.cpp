// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The table of node types with the attributes to follow.
#include "tir_json/node_types.hpp"

#include <algorithm>
#include <iterator>

namespace usmp::tir_json {
namespace {

// Several names may stand for one type; the first is the one that node_type_info gives.
constexpr NodeTypeInfo infos[] = {
    {"", NodeType::null},
    {"Array", NodeType::array},
    {"Map", NodeType::map},
    {"runtime.String", NodeType::string},
    {"runtime.NDArray", NodeType::ndarray},
    {"Op", NodeType::op},
    {"GlobalVar", NodeType::global_var},
    {"relay.GlobalVar", NodeType::global_var},
    {"IRModule", NodeType::ir_module},
    {"DictAttrs", NodeType::dict_attrs},
    {"tir.PrimFunc", NodeType::prim_func},
    {"tir.Buffer", NodeType::buffer},
    {"tir.IterVar", NodeType::iter_var},
    {"IterVar", NodeType::iter_var},
    {"PointerType", NodeType::pointer_type},
    {"PrimType", NodeType::prim_type},
    {"Target", NodeType::target},
    {"TargetKind", NodeType::target_kind},
    {"Executor", NodeType::executor},
    {"relay.Executor", NodeType::executor},
    {"ir.WorkspaceMemoryPools", NodeType::pools},
    {"ir.ConstantMemoryPools", NodeType::pools},
    {"ir.WorkspacePoolInfo", NodeType::workspace_pool_info},
    {"ir.PoolInfo", NodeType::workspace_pool_info},
    {"ir.ConstantPoolInfo", NodeType::constant_pool_info},
    {"relay.Constant", NodeType::relay_constant},
    {"ir.ConstantInfo", NodeType::constant_info},
    {"tir.Var", NodeType::var},
    {"tir.SizeVar", NodeType::var},
    {"IntImm", NodeType::int_imm},
    {"FloatImm", NodeType::float_imm},
    {"tir.StringImm", NodeType::string_imm},
    {"tir.Add", NodeType::add, {"a", "b"}},
    {"tir.Sub", NodeType::sub, {"a", "b"}},
    {"tir.Mul", NodeType::mul, {"a", "b"}},
    {"tir.Div", NodeType::div, {"a", "b"}},
    {"tir.Mod", NodeType::mod, {"a", "b"}},
    {"tir.FloorDiv", NodeType::floor_div, {"a", "b"}},
    {"tir.FloorMod", NodeType::floor_mod, {"a", "b"}},
    {"tir.Min", NodeType::min, {"a", "b"}},
    {"tir.Max", NodeType::max, {"a", "b"}},
    {"tir.EQ", NodeType::eq, {"a", "b"}},
    {"tir.NE", NodeType::ne, {"a", "b"}},
    {"tir.LT", NodeType::lt, {"a", "b"}},
    {"tir.LE", NodeType::le, {"a", "b"}},
    {"tir.GT", NodeType::gt, {"a", "b"}},
    {"tir.GE", NodeType::ge, {"a", "b"}},
    {"tir.And", NodeType::and_, {"a", "b"}},
    {"tir.Or", NodeType::or_, {"a", "b"}},
    {"tir.Not", NodeType::not_, {"a"}},
    {"tir.Select", NodeType::select, {"condition", "true_value", "false_value"}},
    {"tir.Cast", NodeType::cast, {"value"}},
    {"tir.Load", NodeType::load, {"buffer_var", "index", "predicate"}},
    {"tir.BufferLoad", NodeType::buffer_load, {"buffer", "indices", "predicate"}},
    {"tir.Ramp", NodeType::ramp, {"base", "stride"}},
    {"tir.Broadcast", NodeType::broadcast, {"value"}},
    {"tir.Shuffle", NodeType::shuffle, {"vectors", "indices"}},
    {"tir.Let", NodeType::let, {"var", "value", "body"}},
    {"tir.Call", NodeType::call, {"args"}},
    {"tir.Any", NodeType::any},
    {"tir.Allocate", NodeType::allocate, {"extents", "condition", "body"}},
    {"tir.AllocateConst", NodeType::allocate_const, {"extents", "body"}},
    {"tir.DeclBuffer", NodeType::decl_buffer, {"body"}},
    {"tir.LetStmt", NodeType::let_stmt, {"value", "body"}},
    {"tir.AttrStmt", NodeType::attr_stmt, {"value", "body"}},
    {"tir.SeqStmt", NodeType::seq_stmt, {"seq"}},
    {"tir.For", NodeType::for_, {"min", "extent", "body"}},
    {"tir.While", NodeType::while_, {"condition", "body"}},
    {"tir.IfThenElse", NodeType::if_then_else, {"condition", "then_case", "else_case"}},
    {"tir.Evaluate", NodeType::evaluate, {"value"}},
    {"tir.Store", NodeType::store, {"index", "value", "predicate"}},
    {"tir.BufferStore", NodeType::buffer_store, {"buffer", "indices", "value", "predicate"}},
    {"tir.AssertStmt", NodeType::assert_stmt, {"condition", "body"}},
    {"tir.Block", NodeType::block},
    {"tir.BlockRealize", NodeType::block},
};

constexpr NodeTypeInfo unknown_info{"unknown", NodeType::unknown};

}  // namespace

const NodeTypeInfo& find_node_type(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(infos), std::end(infos), [&](const NodeTypeInfo& info) { return info.name == name; });
  return found == std::end(infos) ? unknown_info : *found;
}

const NodeTypeInfo& node_type_info(NodeType type) {
  const auto* const found =
      std::find_if(std::begin(infos), std::end(infos), [&](const NodeTypeInfo& info) { return info.type == type; });
  return found == std::end(infos) ? unknown_info : *found;
}

}  // namespace usmp::tir_json
