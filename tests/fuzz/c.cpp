// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Any bytes as C: two files, with a form feed between them, of which the first may include the second as "h.h". With an
// odd first byte no name is defined elsewhere.
#include <string>

#include "fuzz.hpp"
#include "usmp/c/constants.hpp"
#include "usmp/c/parser.hpp"
#include "usmp/c/preprocessor.hpp"

using namespace usmp;
using namespace usmp::c;

namespace {

void check_range(const Tree& tree, const Unit& unit, TokenRange range) {
  (void)tree;
  fuzz::require(range.begin <= range.end && range.end < unit.tokens.size(), "a node has tokens that are not there");
}

void check(const Tree& tree, const Unit& unit) {
  for (std::size_t i = 0; i < tree.exprs.size(); ++i) {
    const ExprId id(i);
    check_range(tree, unit, tree[id].tokens);
    for (const ExprId operand : tree.operands_of(id)) {
      fuzz::require(operand < id, "an operand stands behind what uses it");
      const bool is_inside =
          tree[operand].tokens.begin >= tree[id].tokens.begin && tree[operand].tokens.end <= tree[id].tokens.end;
      fuzz::require(is_inside, "an operand has tokens that are not in what uses it");
    }
    (void)constant_value(tree, id);
  }
  for (const Stmt& stmt : tree.stmts) {
    check_range(tree, unit, stmt.tokens);
    for (const auto* parts : {&stmt.body, &stmt.other}) {
      for (const StmtId part : *parts) {
        const TokenRange inner = tree[part].tokens;
        fuzz::require(inner.begin >= stmt.tokens.begin && inner.end <= stmt.tokens.end,
                      "a statement has tokens that are not in what holds it");
      }
    }
  }
  std::uint32_t end = 0;
  for (const StmtId item : tree.items) {
    fuzz::require(tree[item].tokens.begin == end, "tokens of a file are in no item");
    end = tree[item].tokens.end;
  }
  fuzz::require(end + 1 == unit.tokens.size(), "the last tokens of a file are in no item");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  const std::size_t end = text.find('\f');
  Files files;
  const std::uint32_t main = files.add({"main.c", text.substr(0, end)});
  const std::uint32_t header =
      files.add({"h.h", end == std::string_view::npos ? std::string_view() : text.substr(end + 1)});
  Environment environment;
  environment.include = [&](std::string_view name, bool, std::uint32_t) {
    return name == "h.h" ? std::optional(header) : std::nullopt;
  };
  if (data[0] % 2 == 1) environment.is_undefined = [](std::string_view) { return true; };
  try {
    const Unit unit = preprocess(files, main, environment);
    for (const Token& token : unit.tokens)
      fuzz::require(token.file < files.size() && token.offset <= files[token.file].text.size(), "a token has no place");
    check(parse(unit.tokens), unit);
  } catch (const SyntaxError& error) {
    fuzz::require(error.file < files.size() && error.offset <= files[error.file].text.size(), "an error has no place");
    fuzz::require(!error.message.empty() && error.message.size() < 1000, "a message is empty or long");
  }
  return 0;
}
