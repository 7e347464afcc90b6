// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the preprocessor makes of names: the macros of C files, and of the headers that they include.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/constant_expression.hpp"
#include "tvm_c/text/macros.hpp"
#include "usmp/tvm_c/reader.hpp"

namespace usmp::tvm_c {

// A header is the one of that name, in whatever directory; of several with the name, all are.
class Included {
 public:
  // Throws Error: a file, or a header that one includes, cannot be split into tokens. Others mean nothing here.
  Included(std::span<const Source> files, std::span<const Source> headers);

  // Whether the file, or what it includes, defines a macro of that name, whatever conditions say.
  [[nodiscard]] bool is_macro(std::size_t file, std::string_view name) const { return all_macros(file).contains(name); }

  // What stands behind the name of a macro wherever the file is compiled: it is defined once, outside of conditional
  // groups but the one around a header, also no group includes it, and nowhere undefined.
  [[nodiscard]] std::optional<std::string_view> definition(std::size_t file, std::string_view name) const {
    return all_macros(file).definition(name);
  }

  // What such a name is in any expression, a number; and one of an enumeration.
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t file, std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> enumerator(std::size_t file, std::string_view name) const;
  [[nodiscard]] ConstantNames constants(std::size_t file) const;

  // What stands behind the names of all its macros in each of their definitions, whatever conditions say.
  [[nodiscard]] const AllDefinitions& all_definitions(std::size_t file) const { return all_macros(file).definitions(); }

  // Whether the file includes the header whatever conditions and search paths say: the only one of its name.
  [[nodiscard]] bool is_certain(std::size_t file, std::size_t header) const { return certain_[file].contains(header); }

  // Names of C files, not headers, that the file includes.
  [[nodiscard]] std::vector<std::string_view> c_files(std::size_t file) const;

  // Which of `files` the file includes, and which of `headers`.
  [[nodiscard]] std::set<std::size_t> files_of(std::size_t file) const;
  [[nodiscard]] std::vector<std::size_t> headers_of(std::size_t file) const;

  [[nodiscard]] const std::string& name(std::size_t source) const { return names_[source]; }
  [[nodiscard]] std::size_t count() const { return code_.size(); }  // of files and headers
  // The file with what it includes.
  [[nodiscard]] const std::set<std::size_t>& closed(std::size_t file) const { return closed_[file]; }
  // The one that #include means; nothing: there is none of that name, or several.
  [[nodiscard]] std::optional<std::size_t> only_source(std::string_view name) const;
  // The tokens of a file, or of a header: of one that cannot be split, and that none of the files includes, none.
  [[nodiscard]] const Code& code(std::size_t source) const { return code_[source]; }
  [[nodiscard]] std::span<const Code> codes() const { return code_; }
  [[nodiscard]] const Macros& macros(std::size_t source) const { return own_[source]; }
  // Those of the file, and of what it includes.
  [[nodiscard]] const Macros& all_macros(std::size_t file) const;
  // Macros::names_in() of the file, with these.
  [[nodiscard]] Names names_in(std::size_t file, std::size_t begin, std::size_t end) const {
    return all_macros(file).names_in(code_[file], begin, end);
  }

 private:
  std::size_t count_;                                                     // of files; behind them, headers
  std::map<std::string, std::vector<std::size_t>, std::less<>> by_name_;  // of both
  std::vector<std::string> names_;                                        // of both
  std::vector<Code> code_;                                                // of both; empty: it cannot be split
  std::vector<Macros> own_;                                               // likewise
  mutable std::map<std::size_t, Macros> all_;                             // those that were asked for
  std::vector<std::set<std::size_t>> closed_;                             // of each file: itself, and what it includes
  std::vector<std::set<std::size_t>> certain_;                            // of these, what it includes in any case
  std::vector<std::map<std::string_view, std::optional<Macros::Enumerator>>> enumerators_;
};

}  // namespace usmp::tvm_c
