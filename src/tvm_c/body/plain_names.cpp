// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Refuses names that may be macros, and takes tables that a group may declare otherwise out of the scope.
#include "tvm_c/body/plain_names.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/values.hpp"
#include "tvm_c/text/tvm_names.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {

namespace {

bool is_same(const tir::Constant& a, const tir::Constant& b) {
  return a.type == b.type && a.shape == b.shape && a.bytes == b.bytes;
}

bool is_same(const ConstantPool& a, const ConstantPool& b) {
  return !a.bytes && !b.bytes && std::ranges::equal(a.tables, b.tables, [](const auto& one, const auto& other) {
    return one.first == other.first && is_same(*one.second.data, *other.second.data);
  });
}

}  // namespace

void require_plain_names(const std::string& name, const FunctionText& text, const std::vector<AddedText>& added,
                         const FilesRead& read, FileScope& scope) {
  const auto group = [&](std::size_t begin) {
    return "a conditional group that is left out (" + read.places.at(text.file, begin) + ")";
  };
  if (const auto other = scope.left_out_group(name, text.file)) {
    throw SyntaxError{text.offset, "found " + in_quotes(name) + ", which " + group(*other) +
                                       " defines, too, expected one function of that name"};
  }
  for (const std::span<const Token> part : {text.params, text.body}) {
    for (const Token& token : part) {
      if (!token.is_identifier()) continue;
      const auto stays = [&](const AddedText& one) { return one.begin <= token.offset && token.offset < one.end; };
      if (std::any_of(added.begin(), added.end(), stays)) continue;
      const bool is_harmless = token.is("NULL") || token.is(allocate_function) || token.is(free_function);
      if (!is_harmless && read.included.is_macro(text.file, token.text)) {
        const auto number = read.included.number(text.file, token.text);
        if (!number) {
          throw SyntaxError{token.offset, "found " + in_quotes(token.text) +
                                              ", which is a macro here, expected a name or a macro for a number"};
        }
        scope.numbers[text.file].emplace(token.text, *number);
      } else if (const auto number = read.included.enumerator(text.file, token.text)) {
        scope.numbers[text.file].emplace(token.text, *number);
      }
      const bool is_function = scope.functions.contains(token.text);
      if (is_function && is_math_function(token.text)) {
        throw SyntaxError{token.offset, "found " + in_quotes(token.text) +
                                            ", which the C defines itself, expected the function of math.h"};
      }
      const auto doubt = scope.doubts.find(token.text);
      if (doubt != scope.doubts.end() && !is_function) {
        throw SyntaxError{token.offset,
                          "found " + in_quotes(token.text) + " " + doubt->second + ", expected one definition"};
      }
      const auto other = scope.left_out_group(token.text, text.file);
      if (other && !is_function) {
        throw SyntaxError{token.offset, "found " + in_quotes(token.text) + ", which " + group(*other) +
                                            " defines, expected one definition"};
      }
    }
  }
}

void read_included_tables(std::size_t file, const Included& included, FileScope& scope) {
  for (const std::size_t header : included.headers_of(file)) {
    FileScope own;
    try {
      read_file_scope(included.code(header), file, true, own, included.constants(file));
    } catch (const SyntaxError&) {  // what of it is needed is missing then
      continue;
    }
    // What stands where another header may be included, or where several have it, is not certain.
    const auto add = [&](const std::string& name, bool is_other) {
      if (is_other || !included.is_certain(file, header))
        scope.doubts.try_emplace(name, "in a header that may be another");
      return !own.left_out[file].contains(name);
    };
    for (auto& [name, tables] : own.tables) {
      const auto known = scope.tables.find(name);
      const bool is_other = known != scope.tables.end() && known->second.contains(file) &&
                            !is_same(*known->second.at(file).data, *tables.at(file).data);
      if (add(name, is_other)) scope.tables[name].merge(tables);
    }
    for (auto& [name, pool] : own.constant_pools) {
      const auto known = scope.constant_pools.find(name);
      const bool is_other = known != scope.constant_pools.end() && !is_same(known->second, pool);
      if (add(name, is_other)) scope.constant_pools.try_emplace(name, std::move(pool));
    }
  }
}

void forget_uncertain_tables(std::size_t file, const Included& included, FileScope& scope) {
  constexpr std::string_view types[] = {"int8_t",   "int16_t",  "int32_t", "int64_t", "uint8_t", "uint16_t",
                                        "uint32_t", "uint64_t", "int",     "float",   "double",  "bool"};
  const bool has_types = std::any_of(std::begin(types), std::end(types),
                                     [&](std::string_view type) { return included.is_macro(file, type); });
  for (auto& [name, tables] : scope.tables) {
    if (has_types || scope.left_out_group(name, file)) tables.erase(file);
  }
  std::erase_if(scope.constant_pools,
                [&](const auto& pool) { return has_types || scope.left_out_group(pool.first, file).has_value(); });
}

}  // namespace usmp::tvm_c
