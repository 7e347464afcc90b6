// SPDX-License-Identifier: Apache-2.0
// The pools of a plan that TVM made, by the entry's parameters.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/file_scope.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

class PoolSizes {
 public:
  // TVMGEN_MODULE_POOL_WORKSPACE_POOL_SIZE and …_CONSTANT_POOL_SIZE. O(bytes · log pools).
  void read_header(std::string_view text, std::string_view module);

  // In the order of the parameters. O(parameters · log names + tables).
  [[nodiscard]] std::vector<PlannedPool> pools_of(const FunctionText& entry, const FileScope& scope) const;

 private:
  std::map<std::string, PlannedPool, std::less<>> by_macro_;  // by the pool's name in upper case
};

}  // namespace usmp::tvm_c
