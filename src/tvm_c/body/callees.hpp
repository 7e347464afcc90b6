// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What is known of the functions of the C that a body calls, by what stands in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/function_tree.hpp"

namespace usmp::tvm_c {

class Callees {
 public:
  // Both have to stay.
  Callees(const FileScope& scope, const KeptPools& kept) : scope_(scope), kept_(kept) {}

  // Parsed once; `texts`, of the first time: as function_tree. Throws SyntaxError.
  const FunctionTree& tree_of(const FunctionText& text, const std::map<std::size_t, std::size_t>& texts = {});

  // Whether the C defines it, with TVM's packed interface.
  [[nodiscard]] bool takes_packed(std::string_view name) const;
  // How many arguments a packed function of the C takes from its array.
  [[nodiscard]] std::int64_t packed_arguments(std::string_view name);

  // Whether the function is one that is read and returns 0, or that planned C does not call.
  [[nodiscard]] bool returns_only_0(std::string_view name);
  // Whether the C has the function, and it, or one that it asks for its result, may return something else than 0.
  [[nodiscard]] bool may_fail(const std::string& name);
  // Whether a function of the C has but one return; also if it is not understood, which is told where it is read.
  [[nodiscard]] bool returns_once(std::string_view name);

 private:
  template <class Says>
  [[nodiscard]] bool is_sure(const FunctionText& function, const Says& says, bool otherwise = false);

  const FileScope& scope_;
  const KeptPools& kept_;
  std::map<const FunctionText*, FunctionTree> trees_;
};

}  // namespace usmp::tvm_c
