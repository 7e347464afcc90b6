// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Declares storage for what changes, and counters as variables of loops.
#include "tvm_c/body/variables.hpp"

#include <cstdint>
#include <utility>

#include "tvm_c/text/syntax.hpp"
#include "usmp/support/interval.hpp"
#include "usmp/tir/integer_types.hpp"
#include "usmp/tir/visit.hpp"

namespace usmp::tvm_c {

using tir::DataType;
using tir::Tree;
using tir::VarId;

namespace {

// Whether an end of this type that is converted to the counter's is what C compares the counter with. C compares
// shorter ones as int, in which a negative end stays negative.
bool holds_ends(DataType counter, DataType end) {
  if (!end.is_integer() || end.bits > counter.bits) return false;
  if (counter.bits >= 32 || end.is_uint() == counter.is_uint()) return true;
  return end.is_uint() && end.bits < counter.bits;
}

}  // namespace

Value Variables::declare(const Token& name, DataType type, bool is_open) {
  Value place = pointer_to(names_.new_var(name.text, tir::handle_type, type), type);
  body_.allocate(place.storage, type, {}, nullptr, {}, true);
  place.kind = Value::Kind::place;
  place.tree = {tir::make_int(0)};
  scalars_.insert(place.storage);
  if (is_open) open_scalars_.insert(place.storage);
  names_.declare(name, place);
  return place;
}

void Variables::declare_open(const Token& name, DataType type, const Tree& value) {
  const VarId var = names_.new_var(name.text, type, tir::void_type);
  body_.let(var, value.expr);
  note_counter(var, name, true);
  names_.declare(name, values_.variable(var));
}

std::optional<Value> Variables::used(std::optional<Value> value) {
  if (!value || !contains(*value)) return value;
  if (counted_.contains(value->storage) || open_scalars_.contains(value->storage)) {
    values_.fail("found a loop's counter outside of its loop, expected none");
  }
  touched_.insert(value->storage);
  return value;
}

Value Variables::open_loop(const LoopHeader& header) {
  const bool is_declared = header.type.has_value();
  const DataType counter = is_declared ? *header.type : counter_outside(header.name);
  const bool is_open =
      header.is_open || (!is_declared && open_scalars_.contains(names_.look_up(header.name.text)->storage));
  const Tree min = values_.converted(header.first, counter);
  const auto first = tir::as_int(*min.expr);
  const auto last = tir::as_int(*values_.rvalue(header.end).expr);
  const DataType compared = values_.rvalue(header.end).expr->type;
  const bool is_unsigned = compared.is_uint() && compared.bits >= 32 && counter.is_int();
  if (is_unsigned && first.value_or(-1) < 0) fail_at(header.compare, "two numbers with a sign");
  if (compared.is_uint() && last.value_or(0) < 0) fail_at(header.compare, "a loop that ends");  // above INT64_MAX
  const bool goes_up = header.step == 1 && (header.compare.is("<") || header.compare.is("<="));
  const bool is_plain = goes_up && counter.is_int() && counter.bits >= 32;
  std::optional<Value> value;
  if (first && last && !is_plain) {
    value = counted(header, counter, is_open, *first, *last);
  } else {
    if (!goes_up) fail_at(header.compare, "a loop from and to a number, or '<' and '++'");
    // Converted to the counter's type, another end would come of it; behind the type's last value there is none.
    const std::int64_t beyond = header.compare.is("<=") ? 1 : 0;
    const auto values = counter.bits < 64 ? tir::range_of_type(counter) : Interval{INT64_MIN, INT64_MAX};
    if (last && (*last < values->low || *last > values->high - beyond)) fail_at(header.compare, "a loop that ends");
    if (!last && !holds_ends(counter, compared)) fail_at(header.compare, "an end that the counter's type holds");
    Value end = header.end;
    if (beyond == 1) end = values_.binary("+", end, Values::number({tir::make_int(1)}));
    Tree extent = values_.converted(end, counter);
    if (first != 0) {
      extent = values_.converted(values_.binary("-", Values::number(extent), Values::number(min)), counter);
    }
    const VarId var = names_.new_var(header.name.text, counter, tir::void_type);
    note_counter(var, header.name, is_open);
    body_.open_loop(var, min.expr, extent.expr);
    value = values_.variable(var);
  }
  return *value;
}

// A counter that is declared in front of the loop, and that nothing uses but loops, which set it.
DataType Variables::counter_outside(const Token& name) {
  const auto known = names_.look_up(name.text);
  const bool is_one = known && known->kind == Value::Kind::place && scalars_.contains(known->storage) &&
                      known->type.is_integer() && !touched_.contains(known->storage);
  if (!is_one) fail_at(name, "a loop over an integer");
  counted_.insert(known->storage);
  return known->type;
}

// For count_in_int32. Signed ones stay as they are, as TVM has them.
void Variables::note_counter(VarId var, const Token& name, bool is_open) {
  const DataType type = values_.variable(var).type;
  if (is_open || (type.is_uint() && type.bits == 32)) result_.counters.insert(var);
  if (is_open && !result_.open_counter) result_.open_counter = name.offset;
}

// A loop of a known number of iterations: its counter's value.
Value Variables::counted(const LoopHeader& header, DataType counter, bool is_open, std::int64_t first,
                         std::int64_t end) {
  const std::int64_t count = iterations_of(header, counter, first, end);
  const DataType type = counter.bits < 32 ? tir::int32_type : counter;  // as C promotes it
  const VarId var = names_.new_var(header.name.text, type, tir::void_type);
  note_counter(var, header.name, is_open);
  const auto number = [&](std::int64_t value) { return Values::number({tir::make_int(value, type)}); };
  if (header.step == 1) {
    body_.open_loop(var, tir::make_int(first, type), tir::make_int(count, type));
    return values_.variable(var);
  }
  const bool is_up = header.step > 0;
  const std::int64_t by = is_up ? header.step : -header.step;
  body_.open_loop(var, tir::make_int(0, type), tir::make_int(count, type));
  Value moved = by == 1 ? values_.variable(var) : values_.binary("*", values_.variable(var), number(by));
  if (is_up && first == 0) return moved;
  return values_.binary(is_up ? "+" : "-", number(first), moved);
}

}  // namespace usmp::tvm_c
