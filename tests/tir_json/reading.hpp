// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the tests of the reader share: bodies as printed text, and the error of a module that must be refused.
#pragma once

#include <doctest/doctest.h>

#include <optional>
#include <sstream>
#include <string>

#include "tir_json/json_builder.hpp"
#include "usmp/tir/printer.hpp"
#include "usmp/tir_json/reader.hpp"

namespace usmp::testing {

using Node = JsonBuilder::Node;

inline tir::Module read(const std::string& json) { return tir_json::read_module(json); }

// The statements of the entry function as the printer shows them, without its first and last line and indentation.
inline std::string entry_text(const tir::Module& module) {
  std::istringstream lines(tir::print(module, module.functions[module.entry]));
  std::string text;
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line) && line != "}") text += line.substr(2) + "\n";
  return text;
}

// A module of one function with this body.
inline std::string body_text(JsonBuilder& builder, Node body, const JsonBuilder::Attributes& attributes = {}) {
  return entry_text(read(builder.module_of_body(body, attributes)));
}

// One expression, evaluated for nothing.
inline std::string expr_text(JsonBuilder& builder, Node expr) {
  std::string text = body_text(builder, builder.evaluate(builder.call("tir.sink", {expr})));
  const std::string front = "tir.sink(";
  REQUIRE(text.starts_with(front));
  return text.substr(front.size(), text.size() - front.size() - 2);
}

inline Error refused(const std::string& json, const tir_json::Limits& limits = {}) {
  try {
    static_cast<void>(tir_json::read_module(json, limits));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::archive);
    return error;
  }
  FAIL("the module was accepted");
  return {ErrorKind::usage, {}, ""};
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::string place(Node node, const std::string& attribute = "") {
  return "nodes[" + std::to_string(node) + "]" + (attribute.empty() ? "" : ".attrs." + attribute);
}

}  // namespace usmp::testing
