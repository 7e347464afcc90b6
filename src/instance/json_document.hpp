// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A JSON text as a table of the members of its root object. Lists of the root are read an element at a time, so that a
// million buffers never stand in memory as JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "usmp/support/error.hpp"

namespace usmp::instance {

// A value and where it stands. It refers to its JSON and to the value that holds it: both outlive it.
class JsonValue {
 public:
  JsonValue(const nlohmann::json& value, std::string place) : value_(&value), place_(std::move(place)) {}

  [[nodiscard]] std::string path() const;  // "buffers[17].size"
  [[nodiscard]] Error fault(std::string message) const;
  [[nodiscard]] Error wrong_type(std::string_view expected) const;

  [[nodiscard]] bool is_null() const { return value_->is_null(); }
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] std::int64_t integer(std::int64_t least,
                                     std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] std::size_t size() const;  // of a list
  [[nodiscard]] JsonValue at(std::size_t index) const { return {(*value_)[index], *this, {}, index}; }

  // The members of an object; every one of `required` is there, and nothing that is in neither list.
  void check_keys(std::initializer_list<const char*> required, std::initializer_list<const char*> optional) const;
  [[nodiscard]] std::optional<JsonValue> find(const char* key) const;
  [[nodiscard]] JsonValue member(const char* key) const { return *find(key); }  // a required one

 private:
  JsonValue(const nlohmann::json& value, const JsonValue& parent, std::string_view key, std::size_t index)
      : value_(&value), parent_(&parent), key_(key), index_(index) {}

  const nlohmann::json* value_;
  std::string place_;  // of a value without parent
  const JsonValue* parent_ = nullptr;
  std::string_view key_;  // empty: an element of a list
  std::size_t index_ = 0;
};

struct RootMember {
  enum class Kind : std::uint8_t { value, list };
  const char* key;
  Kind kind;
  bool required;
  std::function<void(const JsonValue&)> read;  // of a list, once an element
};

// Reads the text. Throws Error of kind usage for malformed JSON, too deep nesting, keys that are unknown, repeated or
// missing, and what the readers throw. Returns the keys that were there, in the table's order.
std::vector<bool> read_document(std::string_view text, const std::vector<RootMember>& members);

// The same text for equal values, and always valid JSON: what is not UTF-8 becomes U+FFFD.
[[nodiscard]] std::string json_text(const std::string& value);

}  // namespace usmp::instance
