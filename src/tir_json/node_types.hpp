// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The node types of save_json that planning knows, and which of their attributes lead further into a function body.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace usmp::tir_json {

enum class NodeType : std::uint8_t {
  unknown,
  null,  // type_key ""
  // Containers and module level.
  array,
  map,
  string,
  ndarray,
  op,
  global_var,
  ir_module,
  dict_attrs,
  prim_func,
  buffer,
  iter_var,
  pointer_type,
  prim_type,
  target,
  target_kind,
  executor,
  pools,  // ir.WorkspaceMemoryPools, ir.ConstantMemoryPools
  workspace_pool_info,
  constant_pool_info,
  relay_constant,
  constant_info,
  // Expressions.
  var,
  int_imm,
  float_imm,
  string_imm,
  add,
  sub,
  mul,
  div,
  mod,
  floor_div,
  floor_mod,
  min,
  max,
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  and_,
  or_,
  not_,
  select,
  cast,
  load,
  buffer_load,
  ramp,
  broadcast,
  shuffle,
  let,
  call,
  any,
  // Statements.
  allocate,
  allocate_const,
  decl_buffer,
  let_stmt,
  attr_stmt,
  seq_stmt,
  for_,
  while_,
  if_then_else,
  evaluate,
  store,
  buffer_store,
  assert_stmt,
  block,  // tir.Block, tir.BlockRealize: TensorIR that is not lowered yet
};

struct NodeTypeInfo {
  std::string_view name;
  NodeType type;
  // Attributes that hold expressions, statements, Arrays of them or (`buffer`) the Buffer that an access goes to, in
  // order of evaluation. Attributes without influence on what the body computes are not listed.
  std::array<std::string_view, 4> children = {};
};

// That of type `unknown` if the name is not known.
[[nodiscard]] const NodeTypeInfo& find_node_type(std::string_view name);
// By its first name.
[[nodiscard]] const NodeTypeInfo& node_type_info(NodeType type);

}  // namespace usmp::tir_json
