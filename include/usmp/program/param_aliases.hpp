// Which parameters of a function may be one storage.
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "usmp/program/entry_calls.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::program {

// Which parameters of which function may reach the same bytes, from all calls in the module. The parameters to which a
// call passes one storage are a class; each class is kept once. O(size of the module + arguments · log²).
class ParamAliases {
 public:
  explicit ParamAliases(const tir::Module& module);

  // Whether every call passes whole variables, so that the parameters either are one storage or share nothing.
  [[nodiscard]] bool known(std::size_t function) const { return known_[function]; }
  // Of parameter variables of one function: whether some call passes one storage for both. A parameter of more than
  // `most_classes` classes may also be what any other is that is in one. O(most_classes²).
  [[nodiscard]] bool may_alias(tir::VarId a, tir::VarId b) const;
  static constexpr std::size_t most_classes = 16;

  [[nodiscard]] std::size_t classes() const { return classes_.size(); }

 private:
  void note_call(const tir::Function& called, const std::vector<tir::VarId>& arguments);
  void note_class(std::vector<tir::VarId> params);

  std::vector<bool> known_;
  std::map<std::vector<tir::VarId>, std::size_t> classes_;  // sorted variables, to numbers
  std::map<tir::VarId, std::vector<std::size_t>> classes_of_;
};

}  // namespace usmp::program
