// Functions that the loop transformations look into, and who reads and writes what in them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "usmp/loops/accesses.hpp"
#include "usmp/tir/ir.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::transform {

// Which parameters of which function may reach the same bytes, from all calls in the module. The parameters to which a
// call passes one storage are a class; each class is kept once. O(arguments · log²).
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

// A function is simple if it consists of loops, branches without calls of functions, lets of numbers, and scalar loads
// and stores of storage that it declares or is passed, each with one element type, and if no variable is bound twice.
// So all accesses are in sight, and two storages share bytes only where ParamAliases says so.
[[nodiscard]] bool is_simple(const tir::Module& module, std::size_t function, const ParamAliases& aliases);

// The call by name that is all that a statement does: its result is dropped or compared with a constant, and its
// arguments call nothing. Nothing: the statement is anything else. Points into `stmt`.
[[nodiscard]] std::optional<tir::NamedCall> plain_call(const tir::Stmt& stmt);

// Names that calls in the module name.
[[nodiscard]] std::set<std::string> called_functions(const tir::Module& module);

// Of a function that is looked into; of expressions the nodes, as trees. Real ones have far less.
inline constexpr std::size_t max_statements = 2000;
inline constexpr std::size_t max_expressions = 50000;

}  // namespace usmp::transform
