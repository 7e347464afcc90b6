// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What names in a function's body stand for: variables, pools of TVM's and what it has planned into them, tables of
// constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "tvm_c/body/expressions.hpp"
#include "tvm_c/body/read_function.hpp"
#include "tvm_c/body/values.hpp"
#include "tvm_c/kept/pool_params.hpp"
#include "tvm_c/text/file_scope.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/tir/builder.hpp"

namespace usmp::tvm_c {

[[nodiscard]] Value pointer_to(tir::VarId storage, tir::DataType element);

// Constants that a function of TIR uses; insert_tables() declares them.
struct UsedConstants {
  std::map<std::pair<std::size_t, std::string>, tir::VarId> tables;   // by file and name
  std::map<std::string, std::pair<tir::VarId, const Table*>> placed;  // in pools of the C's own
  std::map<std::string, tir::VarId> pool_constants;                   // and of the application's
};

class BodyNames {
 public:
  // For a function in the file. What it declares goes to the module, the function, `body` and `constants`.
  BodyNames(std::size_t file, const FileScope& scope, tir::Module& module, ReadFunction& result, Values& values,
            tir::BodyBuilder& body, UsedConstants& constants)
      : file_(file),
        scope_(scope),
        module_(module),
        result_(result),
        values_(values),
        body_(body),
        constants_(constants) {}

  void open_block() { blocks_.emplace_back(); }
  void close_block();
  // In the innermost block.
  void declare(const Token& name, Value value);
  // A parameter that is one of TVM's pools.
  void declare_pool(const Token& name, std::string pool);
  [[nodiscard]] std::optional<Value> look_up(std::string_view name);
  // The same of what the function itself declares.
  [[nodiscard]] std::optional<Value> look_up_own(std::string_view name) const;
  // What the name stands for, which has been declared.
  [[nodiscard]] Value& declared(const Token& name) { return names_.at(std::string(name.text)).back(); }

  tir::VarId new_var(std::string_view name, tir::DataType type, tir::DataType element);
  tir::VarId allocated(const Token& name, tir::DataType element, std::int64_t elements, bool is_on_stack = false,
                       std::uint16_t alignment = 1);

  // An argument that TVM has put at the start of the pool, with memory up to the pool's end: it is the whole pool, too.
  [[nodiscard]] std::optional<Value> start_of(const std::string& pool, std::span<const Value> given);
  // What a function whose C stays takes of the pool that it gets.
  [[nodiscard]] Value scratch(const std::string& pool, const PoolParam& used);
  // (&(sram_3_var[160])), or sram_3_var + 160: TVM has planned the buffer. Its place is forgotten, and its size is what
  // is accessed. Declares the name; false: it is something else.
  bool planned(const Expressions& code, c::ExprId value, const Token& name);

  // In front of everything, as TVM has them; when all is read.
  void insert_tables();

 private:
  [[nodiscard]] std::optional<std::int64_t> number_of_macro(std::string_view name) const;
  void planned_constant(const Token& name, const Token& plain,
                        const std::pair<const std::string, ConstantPool>& named_pool, const Token& offset,
                        std::int64_t at);

  std::size_t file_;
  const FileScope& scope_;
  tir::Module& module_;
  ReadFunction& result_;
  Values& values_;
  tir::BodyBuilder& body_;
  UsedConstants& constants_;
  std::vector<std::vector<std::string>> blocks_;               // names declared in them
  std::unordered_map<std::string, std::vector<Value>> names_;  // the innermost last
  std::unordered_map<std::string, std::string> pools_;         // by parameter: the pool's name
};

}  // namespace usmp::tvm_c
