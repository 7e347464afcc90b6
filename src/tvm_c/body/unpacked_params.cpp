// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Makes a parameter of each element of the arguments that the body takes.
#include "tvm_c/body/unpacked_params.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/error.hpp"

namespace usmp::tvm_c {

void UnpackedParams::add(const Token& name, CType type, std::int64_t at) {
  const auto pool = pool_of_param(name.text);
  const bool is_pool = pool && (scope_.arrays.contains(*pool) || scope_.constant_pools.contains(*pool));
  const auto [param, is_new] = params_.try_emplace(at);
  if (is_pool) {
    return names_.declare_pool(name, *pool);
  }
  if (is_new) {
    param->second.var = names_.new_var(name.text, tir::handle_type, type.element);
    param->second.name = std::string(name.text);
    param->second.is_tensor = !type.element.is_void();
    param->second.element = type.element;
  }
  names_.declare(name, pointer_to(param->second.var, type.element));
}

bool UnpackedParams::contains(tir::VarId var) const {
  return std::any_of(params_.begin(), params_.end(), [&](const auto& one) { return one.second.var == var; });
}

void UnpackedParams::insert_into(tir::Function& function) {
  std::int64_t next = 0;
  for (auto& [at, param] : params_) {
    if (at != next++) {
      throw Error(ErrorKind::archive, {}, "argument " + std::to_string(next - 1) + " is not unpacked");
    }
    if (!param.name.empty()) function.params.push_back(std::move(param));
  }
}

}  // namespace usmp::tvm_c
