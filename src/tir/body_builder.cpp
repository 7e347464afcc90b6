// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps a stack of open blocks, and checks sizes, extents and depth of what is added.
#include <algorithm>
#include <cassert>
#include <utility>

#include "tir/node_rules.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tir {
namespace {

[[noreturn]] void refuse_statement(std::string message) { throw Error(ErrorKind::archive, {}, std::move(message)); }

}  // namespace

void BodyBuilder::allocate(VarId var, DataType type, std::vector<ExprRef> extents, ExprRef condition,
                           std::vector<std::string> candidate_pools, bool was_on_stack, std::uint16_t alignment) {
  for (const ExprRef& extent : extents) check_extent(*extent);
  const bool is_certain = condition != nullptr && condition->kind == ExprKind::int_imm && condition->int_value != 0;
  Allocate result{.var = var,
                  .type = type,
                  .extents = std::move(extents),
                  .condition = is_certain ? nullptr : std::move(condition),
                  .candidate_pools = std::move(candidate_pools),
                  .was_on_stack = was_on_stack,
                  .alignment = alignment};
  check_size(var, allocation_size(result).bytes);
  emit(std::move(result));
}

void BodyBuilder::check_extent(const Expr& extent) {
  if (is_scalar_integer(extent.type)) return;
  refuse_statement("an extent of type " + shown(to_string(extent.type)) + ", expected an integer type");
}

void BodyBuilder::allocate_const(VarId var, DataType type, std::span<const std::int64_t> extents,
                                 std::shared_ptr<const Constant> data, std::vector<std::string> candidate_pools) {
  std::optional<Bytes> size = type.bytes();
  for (const std::int64_t extent : extents) {
    size = size && extent >= 0 ? checked_mul(*size, extent) : std::nullopt;
  }
  const auto data_size = static_cast<Bytes>(data->bytes.size());
  if (data->type.element_bytes() != type.element_bytes() || size != data_size) {
    refuse_statement("the constant is " + to_string(type) + " of " +
                     (size ? std::to_string(*size) : "an impossible number of") + " bytes, but its data is " +
                     to_string(data->type) + " of " + std::to_string(data_size) + " bytes");
  }
  check_size(var, size);
  emit(AllocateConst{.var = var, .type = type, .data = std::move(data), .candidate_pools = std::move(candidate_pools)});
}

void BodyBuilder::check_size(VarId var, const std::optional<Bytes>& size) {
  const auto [entry, is_new] = sizes_.emplace(var, size);
  if (is_new || entry->second == size) return;
  refuse_statement("storage " + shown(module_.var(var).name) +
                   " is allocated twice with different sizes, expected one size for each variable");
}

void BodyBuilder::evaluate(ExprRef value) {
  if (value->kind != ExprKind::int_imm) emit(Evaluate{std::move(value)});
}

void BodyBuilder::import_c(std::string source) {
  std::vector<std::string>& imported = function_.imported_c;
  if (std::find(imported.begin(), imported.end(), source) == imported.end()) imported.push_back(std::move(source));
}

void BodyBuilder::open_loop(VarId var, ExprRef min, ExprRef extent) {
  for (const DataType part : {module_.var(var).type, min->type, extent->type}) {
    if (is_scalar_integer(part)) continue;
    refuse_statement("a loop variable or bound of type " + shown(to_string(part)) + ", expected an integer type");
  }
  check_depth();
  open(emit(For{var, std::move(min), std::move(extent), {}}).body);
}

void BodyBuilder::open_while(ExprRef condition) {
  check_depth();
  open(emit(While{std::move(condition), {}}).body);
}

void BodyBuilder::open_branch(ExprRef condition) {
  check_depth();
  IfThenElse& branch = emit(IfThenElse{std::move(condition), {}, {}});
  open(branch.then_body, &branch);
}

void BodyBuilder::open_else() {
  IfThenElse* const branch = open_.back().branch;
  assert(branch != nullptr);
  close();
  open(branch->else_body);
}

void BodyBuilder::open_scope() {
  check_depth();
  open(emit(Scope{}).body);
}

void BodyBuilder::open(Block& block, IfThenElse* branch) { open_.push_back({&block, branch}); }

void BodyBuilder::close() {
  assert(open_.size() > 1);
  open_.pop_back();
}

void BodyBuilder::check_depth() const {
  if (open_.size() < max_depth_) return;
  refuse_statement("loops, branches and scopes nest deeper than " + std::to_string(max_depth_) +
                   " levels, which is the limit: C compilers accept no more");
}

}  // namespace usmp::tir
