// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads declarations of arrays, stores to them, and the arguments of calls.
#include "tvm_c/body/packed_statements.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "tvm_c/text/syntax.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

void take_packed_declaration(Lexer& tokens, const Token& name, BodyNames& names, PackedState& packed) {
  names.declare(name, packed.array());
  if (take(tokens, "[")) {
    skip_to_end(tokens, name.offset);
    return;
  }
  Lexer ahead = tokens;
  const auto type = take(ahead, ";") ? parse_type(ahead) : std::nullopt;
  const Token code = ahead.next();
  if (!type || type->stars > 0 || !type->element.is_int() || !code.is_identifier() || !ahead.peek().is(";")) return;
  tokens = std::move(ahead);
  names.declare(code, PackedState::other());
}

void take_packed_assignment(Lexer& tokens, const Value& place, bool may_not_happen, Values& values,
                            const LookUp& look_up, PackedState& packed) {
  const Token at = tokens.peek();
  expect(tokens, "=");
  if (PackedState::keeps(place)) {
    if (may_not_happen) fail_at(at, "arguments of a packed call outside of loops and branches");
    packed.store(place, parse_expression(tokens, values, look_up));
  } else if (place.record.part == Record::Part::offset) {
    const tir::Tree bytes = values.rvalue(parse_expression(tokens, values, look_up));
    if (tir::as_int(*bytes.expr) != 0) fail_at(at, "a tensor without an offset");
  } else {
    packed.overwrite(place);
    while (!tokens.peek().is(";")) {
      if (tokens.next().kind == TokenKind::end) fail_at(tokens.peek(), "';'");
    }
  }
  expect(tokens, ";");
}

std::vector<Value> take_packed_arguments(Lexer& tokens, const FunctionText& callee, const Token& at, Values& values,
                                         const LookUp& look_up, const PackedState& packed) {
  std::vector<Value> given;
  do {
    given.push_back(parse_expression(tokens, values, look_up));
  } while (take(tokens, ","));
  expect(tokens, ")");
  const auto count =
      given.size() >= 3 && given[2].kind == Value::Kind::number ? tir::as_int(*given[2].tree.expr) : std::nullopt;
  if (!count) fail_at(at, "the number of arguments of a packed call");
  // Some of TVM's calls pass one more than they count.
  const std::int64_t taken = packed_arguments(callee.body);
  return packed.passed(given[0], std::max(*count, taken), at.offset);
}

}  // namespace usmp::tvm_c
