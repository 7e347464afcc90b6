// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The pools of a plan that TVM made, by the entry's parameters.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/file_scope.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

class PoolSizes {
 public:
  // TVMGEN_MODULE_WORKSPACE_SIZE, …_POOL_WORKSPACE_POOL_SIZE and …_POOL_CONSTANT_POOL_SIZE. O(bytes · log pools).
  void read_header(const Code& code, std::string_view module, const ConstantNames& names);

  // In the order of the parameters; then those of which only `places` speak, as the packed interface has no parameters.
  // O((parameters + places) · log names + tables).
  [[nodiscard]] std::vector<PlannedPool> pools_of(const FunctionText& entry, std::span<const PlannedPlace> places,
                                                  const FileScope& scope) const;

  [[nodiscard]] std::optional<Bytes> workspace() const { return workspace_; }

 private:
  [[nodiscard]] PlannedPool pool_named(const std::string& name, const FileScope& scope) const;

  std::optional<Bytes> workspace_;
  std::map<std::string, PlannedPool, std::less<>> by_macro_;  // by the pool's name in upper case
};

}  // namespace usmp::tvm_c
