// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parameters of a function with the packed interface: what its body unpacks of its arguments.
#pragma once

#include <cstdint>
#include <map>

#include "tvm_c/body/body_names.hpp"
#include "tvm_c/body/packed.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

class UnpackedParams {
 public:
  UnpackedParams(const FileScope& scope, BodyNames& names) : scope_(scope), names_(names) {}

  // void* p0 = (((DLTensor*)arg_p0)[0].data);
  void add(const Token& name, CType type, std::int64_t at);

  [[nodiscard]] bool contains(tir::VarId var) const;

  // They become the function's. Throws Error of kind archive: one is not unpacked.
  void insert_into(tir::Function& function);

 private:
  const FileScope& scope_;
  BodyNames& names_;
  std::map<std::int64_t, tir::Param> params_;  // by position; of a pool without a name
};

}  // namespace usmp::tvm_c
