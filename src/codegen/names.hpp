// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// C identifiers that are unique in their scope and neither keywords nor names of the headers in use.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace usmp::codegen {

// Keywords of C and C++, names that the headers of the emitted file define, predefined macros of compilers.
[[nodiscard]] bool is_reserved_name(std::string_view name);

// Throws Error of kind archive: C, which is written so, has one of the macros of the model's header, or a name that
// begins with usmp_ and `is_taken`.
void require_own_names(std::string_view text, const std::set<std::string>& macros,
                       const std::function<bool(const std::string& name)>& is_taken);

// Gives out names. A table with a parent avoids the parent's names as well; the parent must outlive it.
class NameTable {
 public:
  explicit NameTable(const NameTable* parent = nullptr) : parent_(parent) {}

  // Takes the name as it is. False if it is taken or reserved.
  bool take(const std::string& name);

  // A free name made of TVM's: sanitised, with "_1", "_2", … if taken. A leading '_' gets a 'v' in front, since such
  // names belong to compilers; so do the prefixes of the emitted file's own helpers.
  std::string unique(std::string_view tvm_name);

  // Marks names that may not be given out, whether they are in use or not.
  void forbid(const std::string& name) { taken_.insert(name); }

 private:
  [[nodiscard]] bool is_free(const std::string& name) const;

  const NameTable* parent_;
  std::set<std::string> taken_;
  std::unordered_map<std::string, std::size_t> next_suffix_;
};

}  // namespace usmp::codegen
