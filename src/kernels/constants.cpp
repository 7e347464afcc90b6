// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Counts declarations and uses by variable, and replaces declarations where they stand.
#include "kernels/constants.hpp"

#include <cstdint>
#include <iterator>
#include <utility>
#include <variant>

#include "usmp/program/storage_uses.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::kernels {

bool DeclaredConstants::add(const tir::Block& body) {
  bool has_constants = false;
  tir::for_each_stmt(body, [&](const tir::Stmt& stmt) {
    const auto* constant = std::get_if<tir::AllocateConst>(&stmt.node);
    if (constant == nullptr) return;
    Declared& declared = declared_[constant->var];
    declared.data = constant->data;
    ++declared.declarations;
    ++sharers_[constant->data.get()];
    has_constants = true;
  });
  if (!has_constants) return false;
  for (const auto& [var, use] : program::storage_uses(body)) {
    declared_[var].uses += use.loads + use.stores + use.mentions;
  }
  return true;
}

ConstantData DeclaredConstants::read_once(tir::VarId var) const {
  const auto found = declared_.find(var);
  const bool is_once = found != declared_.end() && found->second.declarations == 1 && found->second.uses == 1;
  return is_once ? found->second.data : nullptr;
}

std::int64_t DeclaredConstants::bytes() const {
  std::int64_t sum = 0;
  for (const auto& [constant, sharers] : sharers_) sum += static_cast<std::int64_t>(constant->bytes.size());
  return sum;
}

void replace_constants(tir::Module& module, const std::map<tir::VarId, std::vector<NewConstant>>& after) {
  if (after.empty()) return;
  for (tir::Function& function : module.functions) {
    tir::for_each_block(function.body, [&](tir::Block& block) {
      for (std::size_t i = 0; i < block.size(); ++i) {
        const auto* constant = std::get_if<tir::AllocateConst>(&block[i].node);
        const auto found = constant == nullptr ? after.end() : after.find(constant->var);
        if (found == after.end()) continue;
        tir::Block declarations;
        for (const NewConstant& one : found->second) {
          tir::AllocateConst declared = *constant;
          declared.var = one.var;
          declared.data = one.data;
          declared.type = one.data->type;
          module.vars[one.var.index()].element = one.data->type;
          declarations.push_back({std::move(declared)});
        }
        const auto at = block.erase(block.begin() + static_cast<std::ptrdiff_t>(i));
        i += declarations.size() - 1;
        block.insert(at, std::make_move_iterator(declarations.begin()), std::make_move_iterator(declarations.end()));
      }
    });
  }
}

}  // namespace usmp::kernels
