// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What C files declare at file scope: functions, by the text of their bodies, and tables of constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tvm_c/text/constant_expression.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/c/tree.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {

using Names = std::set<std::string, std::less<>>;

// What a C compiler takes of a file.
struct FileTree {
  Code code;
  std::shared_ptr<const Conditions> conditions;  // that are known; perhaps null
  std::vector<Token> tokens;                     // as the text has them; `end` is the last
  c::Tree tree;                                  // without bodies of functions
};

struct FunctionText {
  std::size_t file = 0;  // that defines it
  std::size_t offset = 0;
  std::shared_ptr<const FileTree> source = {};
  std::span<const Token> params = {};  // behind the bracket that opens them, with the one that closes them
  std::span<const Token> body = {};    // behind the brace, with the one that closes it
  std::string_view body_text = {};     // the same
  bool is_local = false;               // static or inline

  [[nodiscard]] std::string_view file_text() const { return source->code.text; }
  [[nodiscard]] std::size_t body_begin() const {
    return static_cast<std::size_t>(body_text.data() - file_text().data());
  }
};

struct Table {
  std::size_t file = 0;
  std::shared_ptr<const tir::Constant> data;
  bool is_local = false;  // static
};

// Memory that TVM has planned constants into: what stands where.
struct ConstantPool {
  std::map<std::int64_t, Table> tables;      // by offset in bytes
  std::shared_ptr<const std::string> bytes;  // of a pool that the application owns: all of it, without types
};

// What stands between two others at file scope, by its text.
struct Item {
  enum class Kind : std::uint8_t { function, data, prototype, other };
  Kind kind = Kind::other;
  std::size_t file = 0;
  std::size_t begin = 0;     // of its first token
  std::size_t end = 0;       // behind its last
  std::string_view text;     // between them
  std::string_view name;     // of a type: none
  bool has_several = false;  // int a = 1, b;
  bool is_local = false;     // static or inline: nothing outside of the file uses it
  bool is_variable = false;  // it has memory, or is something like a call, of which nothing is known
  c::DeclId decl;            // the first that it declares; none: it declares none, or nothing is known of it
};

struct FilePlace {
  std::size_t file = 0;
  std::size_t offset = 0;
};

struct FileScope {
  std::map<std::string, FunctionText, std::less<>> functions;
  // Functions and data of which something else may be compiled or linked: where or how, "in another file, too".
  std::map<std::string, std::string, std::less<>> doubts;
  std::map<std::string, FunctionText, std::less<>> foreign;  // others' functions, by their prototypes: without bodies
  // Const arrays of numbers with their values, by name and file: most are static.
  std::map<std::string, std::map<std::size_t, Table>, std::less<>> tables;
  std::map<std::string, ConstantPool, std::less<>> constant_pools;  // by name; of the application's in lower case
  std::map<std::string, std::int64_t, std::less<>> arrays;          // of bytes, without values, and pools: how many
  // Those of `arrays` that the C itself has: the linker section that an attribute names.
  std::map<std::string, std::string, std::less<>> owned;
  std::map<std::string, FilePlace, std::less<>> not_static;  // of `owned`: those that other files may use
  // Arrays of bytes without values whose size is not known: where the size stands.
  std::map<std::string, FilePlace, std::less<>> unsized;
  std::set<std::string> constant_sections;  // that attributes of tables, or of structs of them, name
  // Arrays of bytes: what an attribute says, and where one stands whose number is not known.
  std::map<std::string, std::int64_t, std::less<>> alignments;
  std::map<std::string, FilePlace, std::less<>> unknown_alignments;

  std::map<std::size_t, std::shared_ptr<const FileTree>> files;  // by file

  std::vector<Item> items;                                     // in the order of files and of their text
  std::map<std::string, std::size_t, std::less<>> prototypes;  // by name: the last of `items`

  // By file, the names that conditional groups define which are left out here, where a compiler may take them, and
  // where the group begins. Of a group that is no whole text, all names in it.
  std::map<std::size_t, std::map<std::string, std::size_t, std::less<>>> left_out;
  std::map<std::size_t, std::set<std::size_t>> included;  // by file: others of them, and itself
  std::map<std::size_t, std::map<std::string, std::int64_t, std::less<>>> numbers;  // by file: macros for numbers

  [[nodiscard]] const Code& code(std::size_t file) const { return files.at(file)->code; }

  // Where such a group begins that defines the name in the file.
  [[nodiscard]] std::optional<std::size_t> left_out_group(std::string_view name, std::size_t file) const;

  // What the name means in the file: its own table, or the only one of another that it can see; null: none.
  [[nodiscard]] const Table* table(std::string_view name, std::size_t file) const;
};

// "sram" of the parameter "sram_3_var"; nothing: not a pool's name.
[[nodiscard]] std::optional<std::string> pool_of_param(std::string_view name);

// Adds what the file declares; what stands there already stays. What is neither is passed over; `passes_over`: groups,
// too, whose condition is not understood, and what of constants they hold. Throws SyntaxError: not C's tokens, brackets
// that do not match, a table that is no list of numbers of its type. Without `reads_tables`, their values are passed
// over. O(bytes · log names).
void read_file_scope(const Code& code, std::size_t file, bool passes_over, FileScope& scope,
                     const ConstantNames& names = {}, const std::shared_ptr<const Conditions>& conditions = nullptr,
                     bool reads_tables = true);

// "NAME" of "#define TVMGEN_MODULE_NAME value", and what stands behind it.
struct ModuleMacro {
  std::string_view name;
  std::string_view value;
};
[[nodiscard]] std::vector<ModuleMacro> module_macros(const Code& code, std::string_view module);

// What a module's header says in macros of pools that the application owns: constants, sizes of workspaces. O(bytes).
void read_pool_macros(const Code& code, std::string_view module, FileScope& scope, const ConstantNames& names = {});

}  // namespace usmp::tvm_c
