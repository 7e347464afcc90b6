// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// The constants that functions declare, and who reads them: those that kernels may store in another way.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "usmp/tir/ir.hpp"

namespace usmp::kernels {

using ConstantData = std::shared_ptr<const tir::Constant>;

class DeclaredConstants {
 public:
  // Adds those of one more function, which alone uses them. False: it declares none. O(nodes · log).
  bool add(const tir::Block& body);

  // What one load reads, and nothing else; null: it is no such constant.
  [[nodiscard]] ConstantData read_once(tir::VarId var) const;
  // How many declarations have these data, of all that were added.
  [[nodiscard]] std::size_t sharers(const tir::Constant* data) const { return sharers_.at(data); }
  // Adds up the data of all, each counted once.
  [[nodiscard]] std::int64_t bytes() const;

 private:
  struct Declared {
    ConstantData data;
    std::size_t declarations = 0;
    std::size_t uses = 0;
  };
  std::map<tir::VarId, Declared> declared_;
  std::map<const tir::Constant*, std::size_t> sharers_;
};

struct NewConstant {
  tir::VarId var;
  ConstantData data;
};
// In the place of each declaration one or several others, of the type of their data. O(statements · log).
void replace_constants(tir::Module& module, const std::map<tir::VarId, std::vector<NewConstant>>& after);

}  // namespace usmp::kernels
