// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises functions and variables that give the address or the size of a pool.
#include "tvm_c/kept/pool_access.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>
#include <vector>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/function_tree.hpp"
#include "tvm_c/text/lexer.hpp"
#include "usmp/c/parser.hpp"

namespace usmp::tvm_c {
namespace {

// Reads the tree of a function or variable, and cuts its text where a pool's name stands.
class Access {
 public:
  Access(const Item& item, std::string_view text, std::vector<Token> tokens, const Names& pools,
         const PoolAccessors& accessors)
      : item_(item),
        text_(text),
        tokens_(std::move(tokens)),
        tree_(c::parse(tokens_)),
        pools_(pools),
        accessors_(accessors) {
    found_.access.name = item.name;
  }

  std::optional<FoundPoolAccess> read() {
    if (tree_.items.size() != 1 || !are_attributes(tree_.unheeded)) return std::nullopt;
    const c::Stmt& whole = tree_[tree_.items[0]];
    if (whole.kind != c::StmtKind::declaration || whole.decls.size() != 1) return std::nullopt;
    const c::Decl& decl = tree_[whole.decls[0]];
    if (!has_plain_words(decl)) return std::nullopt;
    const bool is_one =
        decl.body.valid() ? is_function(decl) : is_plain(decl.type) && decl.init.valid() && is_value(decl.init);
    if (!is_one || found_.access.pool.empty()) return std::nullopt;
    cut();
    return std::move(found_);
  }

 private:
  // TVM_DLL says nothing here.
  bool has_plain_words(const c::Decl& decl) {
    for (const c::TokenRange words : decl.unknown) {
      if (!tokens_[words.begin].is("TVM_DLL") || words.end != words.begin + 1) return false;
      cuts_.emplace(tokens_[words.begin].offset, Cut{tokens_[words.begin].text.size(), false});
    }
    return are_attributes(decl.attributes);
  }

  // __attribute__((…)), which stay.
  [[nodiscard]] bool are_attributes(const std::vector<c::TokenRange>& all) const {
    return std::ranges::all_of(all, [&](c::TokenRange words) { return tokens_[words.begin].is("__attribute__"); });
  }

  // Whether the type is made of words of C and of the headers that planned C includes: it has no other types.
  [[nodiscard]] bool is_plain(c::TypeId id) const {
    while (tree_[id].kind == c::TypeKind::pointer) id = tree_[id].of;
    const c::Type& type = tree_[id];
    return type.kind == c::TypeKind::nothing ||
           (type.kind == c::TypeKind::integer && !type.is_bool && type.name != "ssize_t");
  }

  // uint8_t* f(void) { return &sram[0]; } or void f(uint8_t** begin, size_t* size) { *begin = sram; … }
  bool is_function(const c::Decl& decl) {
    const c::Type& type = tree_[decl.type];
    if (type.kind != c::TypeKind::function || type.is_variadic || !is_plain(type.of)) return false;
    for (const c::DeclId id : type.params) {
      const c::Decl& param = tree_[id];
      const bool is_pointer = tree_[param.type].kind == c::TypeKind::pointer && is_plain(param.type);
      if (!is_pointer || pools_.contains(param.name) || !has_plain_words(param)) return false;
    }
    const std::vector<c::StmtId>& statements = tree_[decl.body].body;
    for (const c::StmtId id : statements) {
      const c::Stmt& stmt = tree_[id];
      const bool is_last = id == statements.back();
      const bool returns = stmt.kind == c::StmtKind::return_to && stmt.expr.valid() && is_last;
      if (returns ? !is_value(stmt.expr) : !is_written(stmt)) return false;
    }
    return true;
  }

  // *size = sizeof(sram);
  bool is_written(const c::Stmt& stmt) {
    if (stmt.kind != c::StmtKind::expression || tree_[stmt.expr].kind != c::ExprKind::assign) return false;
    const c::ExprId target = tree_.operands_of(stmt.expr)[0];
    if (tree_[stmt.expr].text != "=" || tree_[target].kind != c::ExprKind::prefix || tree_[target].text != "*") {
      return false;
    }
    const c::Expr& pointer = tree_[tree_.operands_of(target)[0]];
    return pointer.kind == c::ExprKind::name && pointer.decl.valid() && is_value(tree_.operands_of(stmt.expr)[1]);
  }

  // An address or a size: `(uint32_t)&sram[0]`, `sizeof(sram)`, `sram + sizeof(sram)` or `f()`; nothing else that
  // computes with the address or looks at what is there.
  bool is_value(c::ExprId id) {
    while (tree_[id].kind == c::ExprKind::cast) {
      if (!is_plain(tree_[id].type)) return false;
      id = tree_.operands_of(id)[0];
    }
    const c::Expr& expr = tree_[id];
    const auto operands = tree_.operands_of(id);
    if (expr.kind == c::ExprKind::call) {
      const auto called = accessors_.find(called_function(tree_, id));
      if (operands.size() != 1 || called == accessors_.end() || !note(called->second)) return false;
      found_.calls.insert(called->first);
      return true;
    }
    if (expr.kind == c::ExprKind::binary && expr.text == "+") {
      return is_address(without_casts(tree_, operands[0])) && is_size(operands[1]);
    }
    return is_size(id) || is_address(id);
  }

  bool is_size(c::ExprId id) {
    const c::Expr& expr = tree_[id];
    return expr.kind == c::ExprKind::prefix && expr.text == "sizeof" && is_pool(tree_.operands_of(id)[0]);
  }

  // sram, &sram or &sram[0]
  bool is_address(c::ExprId id) {
    if (tree_[id].kind != c::ExprKind::prefix || tree_[id].text != "&") return is_pool(id);
    id = tree_.operands_of(id)[0];
    if (tree_[id].kind != c::ExprKind::subscript) return is_pool(id);
    return is_number(tree_, tree_.operands_of(id)[1], "0") && is_pool(tree_.operands_of(id)[0]);
  }

  bool is_pool(c::ExprId id) {
    const c::Expr& expr = tree_[id];
    if (expr.kind != c::ExprKind::name || !pools_.contains(expr.text) || !note(std::string(expr.text))) return false;
    cuts_.emplace(tokens_[token_of(tokens_, expr)].offset, Cut{expr.text.size(), true});
    return true;
  }

  bool note(const std::string& pool) {
    if (found_.access.pool.empty()) found_.access.pool = pool;
    return found_.access.pool == pool;
  }

  void cut() {
    std::size_t done = item_.begin;
    std::string front;
    for (const auto& [offset, one] : cuts_) {
      front += text_.substr(done, offset - done);
      done = offset + one.size;
      if (one.is_pool) found_.access.text.push_back(std::exchange(front, {}));
    }
    found_.access.text.push_back(front + std::string(text_.substr(done, item_.end - done)));
  }

  struct Cut {
    std::size_t size = 0;
    bool is_pool = false;  // else nothing stands there afterwards
  };

  const Item& item_;
  std::string_view text_;
  std::vector<Token> tokens_;
  c::Tree tree_;
  const Names& pools_;
  const PoolAccessors& accessors_;
  FoundPoolAccess found_;
  std::map<std::size_t, Cut> cuts_;  // by offset
};

}  // namespace

std::optional<FoundPoolAccess> pool_access_of(const Item& item, const Code& file, const Names& pools,
                                              const PoolAccessors& accessors) {
  if (item.has_several) return std::nullopt;
  if (item.kind != Item::Kind::function && item.kind != Item::Kind::data) return std::nullopt;
  auto tokens = tokens_of(item, file);
  if (!tokens) return std::nullopt;
  tokens->emplace_back();
  try {
    return Access(item, file.text, std::move(*tokens), pools, accessors).read();
  } catch (const c::SyntaxError&) {
    return std::nullopt;
  }
}

}  // namespace usmp::tvm_c
