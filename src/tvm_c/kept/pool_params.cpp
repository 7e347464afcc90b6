// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds which bytes of TVM's pools a kept function takes.
#include "tvm_c/kept/pool_params.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {
namespace {

class PoolUses {
 public:
  PoolUses(const FunctionText& function, const FunctionTree& read)
      : text_(function.file_text()),
        body_(function.body),
        function_(read),
        tree_(read.tree),
        parents_(tree_.exprs.size()),
        inits_(tree_.exprs.size()) {
    for (std::size_t i = 0; i < tree_.exprs.size(); ++i) {
      for (const c::ExprId operand : tree_.operands_of(c::ExprId(i))) parents_[operand.index()] = c::ExprId(i);
      if (tree_.exprs[i].kind == c::ExprKind::name) names_[tree_.exprs[i].decl].push_back(c::ExprId(i));
    }
    for (std::size_t i = 0; i < tree_.decls.size(); ++i) {
      if (tree_.decls[i].init.valid()) inits_[tree_.decls[i].init.index()] = c::DeclId(i);
    }
    find_said_sizes();
  }

  std::vector<std::optional<PoolParam>> find(const PoolMacros& macros) {
    std::vector<std::optional<PoolParam>> result;
    for (const c::DeclId param : function_.params()) {
      const std::string_view name = tree_[param].name;
      if (!is_pool(param)) {
        result.emplace_back();
        continue;
      }
      if (macros.pools.contains(name)) {
        throw SyntaxError{function_.offset_of(tree_[param].at),
                          "found pool " + in_quotes(name) +
                              ", which a macro of the file names, too, expected its name in the text of "
                              "the function, whose C stays: write there what the macro stands for"};
      }
      require_plain(macros.pasting);
      require_read(name);
      PoolParam use;
      use.pool = *pool_of_param(name);
      bool is_sized = true;
      for (const c::ExprId id : names_[param]) is_sized = add(use, id) && is_sized;
      if (!is_sized) use.end.reset();
      if (use.is_whole) use.begin = 0;
      result.push_back(std::move(use));
    }
    return result;
  }

 private:
  // TVM's Ethos-U has all of them as void*.
  [[nodiscard]] bool is_pool(c::DeclId param) {
    const c::Type& pointer = tree_[tree_[param].type];
    const bool is_pointer = pointer.kind == c::TypeKind::pointer || pointer.kind == c::TypeKind::array;
    if (!is_pointer || !pool_of_param(tree_[param].name)) return false;
    const c::Type& type = tree_[pointer.of];
    const auto is_taken = [this](c::ExprId id) { return is_taken_as_number(id); };
    if (type.kind == c::TypeKind::nothing) return std::ranges::all_of(names_[param], is_taken);
    return type.kind == c::TypeKind::integer && type.name == "uint8_t";
  }

  // (uintptr_t)(pool), as a device gets its address.
  [[nodiscard]] bool is_taken_as_number(c::ExprId name) const {
    const c::ExprId parent = parents_[name.index()];
    if (!parent.valid() || tree_[parent].kind != c::ExprKind::cast) return false;
    constexpr std::array<std::string_view, 4> types = {"uintptr_t", "uint64_t", "uint32_t", "intptr_t"};
    return std::ranges::find(types, tree_[tree_[parent].type].name) != types.end();
  }

  // No macro that makes names, which may be those of pools and buffers.
  void require_plain(const Names& pasting) const {
    for (const Token& token : body_) {
      if (!token.is_identifier() || !pasting.contains(token.text)) continue;
      throw SyntaxError{token.offset, "found " + in_quotes(token.text) +
                                          ", a macro that makes names, in a function that gets a pool of TVM's and "
                                          "whose C stays, expected names as they are: write there what the macro "
                                          "stands for"};
    }
  }

  // Each place where the name stands is an expression that is understood.
  void require_read(std::string_view name) const {
    for (const c::TokenRange& part : function_.opaque_parts()) {
      for (std::uint32_t i = part.begin; i < part.end; ++i) {
        if (function_.tokens[i].is(name)) fail(function_.tokens[i]);
      }
    }
  }

  [[noreturn]] static void fail(const Token& name) {
    fail_at(name, "(&(pool[offset])) where a function whose C stays gets a pool that TVM has planned");
  }

  [[nodiscard]] const Token& token(c::ExprId operand) const {
    return function_.tokens[token_of(function_.tokens, tree_[operand])];
  }

  // Whether the size of what is taken there is known.
  bool add(PoolParam& param, c::ExprId name) const {
    if (is_taken_as_number(name)) {
      add_name(param, token(name));
      param.is_used = true;
      param.is_whole = true;
      return false;
    }
    // void* buffer = ((pool));, as `cuts` leave it of a pointer that nothing reads.
    if (is_unread(inits_[name.index()])) return true;
    const c::ExprId element = parents_[name.index()];
    const bool is_element = element.valid() && tree_[element].kind == c::ExprKind::subscript;
    const c::ExprId address = is_element ? parents_[element.index()] : c::ExprId();
    const bool is_address = address.valid() && tree_[address].kind == c::ExprKind::prefix && tree_[address].text == "&";
    if (!is_address || tree_.operands_of(element)[0] != name) fail(token(name));
    const c::ExprId index = tree_.operands_of(element)[1];
    const c::TokenRange number = tree_[index].tokens;
    const auto offset = number.end == number.begin + 1 ? number_at(function_.tokens, number.begin) : std::nullopt;
    if (!offset) fail(token(name));
    const c::DeclId buffer = inits_[address.index()];
    if (is_unread(buffer)) {
      const std::size_t begin = function_.offset_of(number.begin - 1);
      param.cuts.push_back({token(address).offset, 1, {}});
      param.cuts.push_back({begin, function_.offset_of(number.end) + 1 - begin, {}});
      return true;
    }
    param.offsets.push_back({token(index).offset, token(index).text.size(), *offset});
    add_name(param, token(name));
    param.begin = param.offsets.size() > 1 ? std::min(param.begin, *offset) : *offset;
    param.last = std::max(param.last, *offset);
    param.is_used = true;
    const auto size = said_sizes_.find(buffer);
    if (size == said_sizes_.end()) return false;
    param.end = std::max(param.end.value_or(0), *offset + size->second);
    return true;
  }

  static void add_name(PoolParam& param, const Token& name) {
    param.names.push_back({name.offset, name.text.size(), "((uint8_t*)(uintptr_t)&" + param.pool + ")"});
  }

  // A pointer that is declared and never named again, by a macro of the file neither.
  [[nodiscard]] bool is_unread(c::DeclId buffer) const {
    if (!buffer.valid() || tree_[tree_[buffer].type].kind != c::TypeKind::pointer) return false;
    const std::size_t place = function_.offset_of(tree_[buffer].at);
    return text_.find(tree_[buffer].name) == place && text_.rfind(tree_[buffer].name) == place;
  }

  // Sizes of buffers that CMSIS-NN alone uses: cmsis_nn_context context= {buffer,1152}; of which &context is passed on.
  void find_said_sizes() {
    std::map<c::ExprId, Bytes> contexts;  // names of buffers in them, with the size there
    for (std::size_t i = 0; i < tree_.decls.size(); ++i) {
      const c::Decl& decl = tree_.decls[i];
      const bool is_context = decl.init.valid() && tree_[decl.init].kind == c::ExprKind::braces &&
                              tree_[decl.type].name == "cmsis_nn_context";
      const auto values = is_context ? tree_.operands_of(decl.init) : std::span<const c::ExprId>();
      if (values.size() != 2 || tree_[values[0]].kind != c::ExprKind::name) continue;
      const auto size = number_at(function_.tokens, tree_[values[1]].tokens.begin);
      if (size && are_passed(c::DeclId(i))) contexts.emplace(values[0], *size);
    }
    const auto is_said = [&](c::ExprId id) { return contexts.contains(id); };
    for (const auto& [name, size] : contexts) {
      const c::DeclId buffer = tree_[name].decl;
      if (!buffer.valid() || !std::ranges::all_of(names_[buffer], is_said)) continue;
      Bytes& said = said_sizes_[buffer];
      said = std::max(said, size);
    }
  }

  // &context, in each place where it is named.
  [[nodiscard]] bool are_passed(c::DeclId context) {
    return std::ranges::all_of(names_[context], [this](c::ExprId id) {
      const c::ExprId address = parents_[id.index()];
      const c::ExprId call = address.valid() ? parents_[address.index()] : c::ExprId();
      return call.valid() && tree_[address].kind == c::ExprKind::prefix && tree_[address].text == "&" &&
             tree_[call].kind == c::ExprKind::call;
    });
  }

  std::string_view text_;  // of the file
  std::span<const Token> body_;
  const FunctionTree& function_;
  const c::Tree& tree_;
  std::vector<c::ExprId> parents_;                     // by expression
  std::vector<c::DeclId> inits_;                       // by expression: whose value it is
  std::map<c::DeclId, std::vector<c::ExprId>> names_;  // where each variable is named, in order
  std::map<c::DeclId, Bytes> said_sizes_;
};

}  // namespace

std::vector<std::optional<PoolParam>> pool_params(const FunctionText& function, const PoolMacros& macros) {
  const auto read = function_tree(function);
  if (read) return PoolUses(function, *read).find(macros);
  for (const Token& token : function.params) {
    if (pool_of_param(token.text))
      fail_at(token, "parameters and statements that are understood beside a pool of TVM's");
  }
  return {};
}

PoolMacros pool_macros(std::span<const Code> files) {
  PoolMacros result;
  for (const Code& file : files) {
    for (const Directive& directive : directives_in(file)) {
      for_each_identifier(directive.rest, [&](std::string_view word) {
        if (word.ends_with("_var") && pool_of_param(word)) result.pools.emplace(word);
      });
    }
  }
  result.pasting = macros_with(macro_definitions(files), [](std::string_view definition) {
    return definition.find("##") != std::string_view::npos;
  });
  return result;
}

std::vector<PoolEdit> edits_of(const std::vector<std::optional<PoolParam>>& params) {
  std::vector<PoolEdit> edits;
  for (const auto& param : params) {
    if (!param) continue;
    edits.insert(edits.end(), param->cuts.begin(), param->cuts.end());
    if (param->is_named) edits.insert(edits.end(), param->names.begin(), param->names.end());
    if (param->is_named || param->begin == 0) continue;
    for (const PoolParam::Offset& offset : param->offsets) {
      edits.push_back({offset.at, offset.size, std::to_string(offset.value - param->begin)});
    }
  }
  std::ranges::sort(edits, {}, &PoolEdit::at);
  return edits;
}

std::string edited(std::string_view text, std::size_t begin, std::size_t end, const std::vector<PoolEdit>& edits) {
  std::string result;
  std::size_t from = begin;
  for (const PoolEdit& edit : edits) {
    if (edit.at < from || edit.at >= end) continue;
    result += text.substr(from, edit.at - from);
    result += edit.text;
    from = edit.at + edit.size;
  }
  result += text.substr(from, end - from);
  return result;
}

}  // namespace usmp::tvm_c
