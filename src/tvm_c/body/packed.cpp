// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Keeps what has been stored to the arrays, and gives it back where it is passed.
#include "tvm_c/body/packed.hpp"

#include <algorithm>

#include "tvm_c/text/function_tree.hpp"
#include "usmp/c/constants.hpp"

namespace usmp::tvm_c {

std::int64_t packed_arguments(const c::Tree& function) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < function.exprs.size(); ++i) {
    if (function.exprs[i].kind != c::ExprKind::subscript) continue;
    const c::ExprId array = without_casts(function, function.operands_of(c::ExprId(i))[0]);
    const auto index = c::integer_literal(function[function.operands_of(c::ExprId(i))[1]].text);
    const bool is_argument = function[array].kind == c::ExprKind::name && function[array].text == "args";
    if (is_argument && index && index->value < INT32_MAX) count = std::max(count, *index->as_int64() + 1);
  }
  return count;
}

Value PackedState::record(std::size_t object, Record::Part part) {
  Value value;
  value.kind = Value::Kind::record;
  value.record = {object, 0, part};
  return value;
}

std::optional<std::int64_t> PackedState::argument_of(const Value& value) {
  const bool is_data = value.kind == Value::Kind::record && value.record.part == Record::Part::data;
  return is_data && value.record.object == 0 ? std::optional(value.record.index) : std::nullopt;
}

bool PackedState::keeps(const Value& place) {
  return place.record.part == Record::Part::handle || place.record.part == Record::Part::data;
}

void PackedState::store(const Value& place, Value value) {
  const bool is_handle = place.record.part == Record::Part::handle;
  forget(!is_handle, is_handle, place.record.object);  // it is an array of the other ones no more
  auto& places = is_handle ? handles_ : data_;
  places[{place.record.object, place.record.index}] = std::move(value);
}

void PackedState::overwrite(const Value& place) {
  if (place.record.part == Record::Part::element) forget(true, true, place.record.object);
}

void PackedState::forget(bool handles, bool data, std::size_t object) {
  const auto forget_in = [&](std::map<Place, Value>& places) {
    places.erase(places.lower_bound({object, INT64_MIN}), places.upper_bound({object, INT64_MAX}));
  };
  if (handles) forget_in(handles_);
  if (data) forget_in(data_);
}

std::vector<Value> PackedState::passed(const Value& values, std::int64_t count, std::size_t at) const {
  const auto fail = [&](std::int64_t argument, const char* expected) {
    throw SyntaxError{at, "argument " + std::to_string(argument) + " of the packed call: expected " + expected};
  };
  if (values.kind != Value::Kind::record || values.record.part != Record::Part::element) {
    fail(0, "an array of TVMValue on the stack");
  }
  std::vector<Value> data;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto handle = handles_.find({values.record.object, values.record.index + i});
    if (handle == handles_.end()) fail(i, "a handle that is stored in front of the call");
    const Value& tensor = handle->second;
    if (tensor.kind == Value::Kind::record && tensor.record.part == Record::Part::element) {
      const auto found = data_.find({tensor.record.object, tensor.record.index});
      if (found == data_.end()) fail(i, "a DLTensor whose data is stored in front of the call");
      data.push_back(found->second);
    } else {
      fail(i, "the address of a DLTensor");
    }
  }
  return data;
}

}  // namespace usmp::tvm_c
