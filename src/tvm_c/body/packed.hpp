// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// TVM's packed calling convention: a function takes an array of TVMValue, of which each is the handle of a DLTensor; a
// call fills arrays of both on the stack, field by field. What a body says of them, so that functions and calls have
// plain arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tvm_c/body/values.hpp"
#include "usmp/c/tree.hpp"

namespace usmp::tvm_c {

// How many arguments the body of such a function unpacks: one more than the last of ((TVMValue*)args)[i].
[[nodiscard]] std::int64_t packed_arguments(const c::Tree& function);

class PackedState {
 public:
  // The arguments of the function itself, and arrays on the stack.
  [[nodiscard]] Value arguments() const { return record(0, Record::Part::element); }
  [[nodiscard]] Value array() { return record(++objects_, Record::Part::element); }
  // What is known to be of no account: type codes, shapes, devices.
  [[nodiscard]] static Value other() { return record(0, Record::Part::other); }
  // The position of the argument whose data this is; nothing if it is something else.
  [[nodiscard]] static std::optional<std::int64_t> argument_of(const Value& value);

  // place = value, where the place is one of a record: handles and data are kept until something else is stored over
  // them.
  [[nodiscard]] static bool keeps(const Value& place);
  void store(const Value& place, Value value);
  void overwrite(const Value& place);

  // The data of `count` tensors whose handles stand in the array from `values` on. Throws SyntaxError at `at`.
  [[nodiscard]] std::vector<Value> passed(const Value& values, std::int64_t count, std::size_t at) const;

  // Functions that are looked up by name: the variable, and the name.
  std::map<std::string, std::string, std::less<>> looked_up;

 private:
  static Value record(std::size_t object, Record::Part part);

  void forget(bool handles, bool data, std::size_t object);

  using Place = std::pair<std::size_t, std::int64_t>;  // object, index
  std::size_t objects_ = 0;
  std::map<Place, Value> handles_;
  std::map<Place, Value> data_;
};

}  // namespace usmp::tvm_c
