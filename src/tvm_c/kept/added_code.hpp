// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Code that somebody added to C files of TVM's, whose text stays when planned C takes the place of these files.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/kept/added_statements.hpp"
#include "tvm_c/kept/kept_text.hpp"
#include "tvm_c/kept/pool_access.hpp"
#include "tvm_c/text/files_read.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

class AddedCode {
 public:
  // `rewritten`: names of the files that planned C takes the place of.
  AddedCode(const FilesRead& read, const std::set<std::string>& rewritten)
      : read_(read), scope_(read.scope), files_(read.files), included_(read.included), rewritten_(rewritten) {}

  // What statements of the entry that stay use of their file stays, too. The functions among it.
  const Names& note(const std::vector<AddedText>& statements, std::size_t file);

  // Whether there may be any.
  [[nodiscard]] bool may_be() const { return !rewritten_.empty() || !with_code_.empty(); }

  // Adds what others may use of the files that planned C takes the place of: functions and variables. Returns functions
  // that stay for it; Error if one needs what planned C does not have, `gone`. `in_statements`: functions that only
  // statements of the entry use; `kept`: functions that stay already, `for_operators` those of them that operators
  // call.
  Names keep(const Names& in_statements, const Names& gone, const Names& stops, const Names& kept,
             const Names& for_operators);

  // Functions and variables that others may use and that planned C elsewhere lacks, by items. `stays`: items in its
  // text; `stops`: as above.
  [[nodiscard]] std::vector<std::size_t> left_out(const Names& stops, const std::vector<bool>& stays) const;

  // Variables and constants that files declare extern and none defines.
  [[nodiscard]] Names defined_elsewhere() const;

  // The function that the firmware calls is written anew: what it does but to call the entry.
  [[nodiscard]] std::optional<Error> edited_run() const;

  // Functions of the packed interface that do nothing but to pass their arguments on to the entry, by items: they are
  // written anew, too. TVM 0.18 has one, __tvm_main__.
  [[nodiscard]] const std::vector<std::size_t>& forwarders() const { return forwarders_; }

  // Names of pools, with the item of each.
  [[nodiscard]] const std::vector<std::pair<std::size_t, PoolAccess>>& pool_accesses() const { return pool_accesses_; }

  // Error if one of these items, whose text stays, or a variable that stays with its file, has one of the names in it.
  void require_none_of(const Names& gone, const std::vector<bool>& stays, const std::set<std::size_t>& files);

  [[nodiscard]] const UsedNames& names() const { return names_; }
  [[nodiscard]] const std::set<std::size_t>& files() const { return with_code_; }

 private:
  // By items, those of static functions included.
  using Accessors = std::map<std::size_t, FoundPoolAccess>;
  [[nodiscard]] Accessors accessors_to(const Names& pools) const;
  // With those that it calls.
  void keep_access(std::size_t item, Accessors& accessors);
  // Whether an item is no part of what planned C has otherwise, `stops`, and other files may use it.
  [[nodiscard]] bool is_for_others(const Item& item, const Names& stops) const;
  [[nodiscard]] bool forwards_packed(const std::string& name) const;
  void check_hidden(std::size_t file, std::size_t begin, std::size_t end, const Names& gone);
  // What prototypes say of functions, by file and name.
  struct Declared {
    std::set<std::pair<std::size_t, std::string_view>> looked_for;  // by whom does not name them
    std::set<std::pair<std::size_t, std::string_view>> external;
  };
  [[nodiscard]] const Declared& declared() const;
  [[noreturn]] void fail_gone(const std::string& name, std::size_t file, std::size_t at) const;
  // Those of these names that are in the text.
  void require_none(std::size_t file, std::size_t begin, std::size_t end, const Names& gone);

  const FilesRead& read_;
  const FileScope& scope_;
  const std::span<const Source> files_;
  const Included& included_;
  const std::set<std::string>& rewritten_;
  UsedNames names_;  // in statements of the entry that stay as text, and variables that somebody added
  Names mentioned_;
  std::set<std::size_t> with_code_;
  std::vector<std::size_t> forwarders_;
  std::vector<std::pair<std::size_t, PoolAccess>> pool_accesses_;
  mutable std::optional<Declared> declared_;
};

// A macro may be of the compiler's, so that what a condition leaves out is not known. TVM's generator writes none. Of
// an operator, conditions that its files decide may stand there.
void require_plain_text(const FunctionText& text, const std::vector<AddedText>& added, bool is_entry = true);

}  // namespace usmp::tvm_c
