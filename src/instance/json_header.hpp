// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the JSON formats share: name and version in front, lists with an element a line.
#pragma once

#include <cstddef>
#include <string>

#include "instance/json_document.hpp"

namespace usmp::instance {

[[nodiscard]] inline RootMember header_format(const char* name, bool required) {
  return {"format", RootMember::Kind::value, required, [name](const JsonValue& value) {
            if (value.string() != name) throw value.wrong_type("'" + std::string(name) + "'");
          }};
}

[[nodiscard]] inline RootMember header_version(int version, bool required) {
  return {"version", RootMember::Kind::value, required, [version](const JsonValue& value) {
            if (value.integer(0) != version) throw value.wrong_type(std::to_string(version));
          }};
}

// The start of an object; the next member's comma is the caller's.
[[nodiscard]] inline std::string header_text(const char* format, int version) {
  return "{\n \"format\": \"" + std::string(format) + "\",\n \"version\": " + std::to_string(version);
}

template <class Element>
[[nodiscard]] std::string list_text(std::size_t size, const Element& element) {
  if (size == 0) return "[]";
  std::string text = "[";
  for (std::size_t i = 0; i < size; ++i) {
    text += i == 0 ? "\n  " : ",\n  ";
    text += element(i);
  }
  return text + "\n ]";
}

}  // namespace usmp::instance
