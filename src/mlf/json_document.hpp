// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// metadata.json as a checked JSON document: every wrong type is an Error that names the JSON path.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "usmp/mlf/archive.hpp"
#include "usmp/support/checked.hpp"

namespace usmp::mlf {

inline constexpr std::string_view metadata_member = "metadata.json";

// A value of the document with its path ("modules.default.memory"). Refers to the document; never outlives it.
class JsonPlace {
 public:
  JsonPlace(const Archive& archive, const nlohmann::json& value, std::string path)
      : archive_(&archive), value_(&value), path_(std::move(path)) {}

  // The member or element; nothing if there is none (or null). Throws if this is not an object or array.
  [[nodiscard]] std::optional<JsonPlace> member(const std::string& key) const;
  [[nodiscard]] std::optional<JsonPlace> element(std::size_t index) const;
  [[nodiscard]] std::size_t elements() const;

  // The value as such a type. Throws if it is of another, or out of range.
  [[nodiscard]] const nlohmann::json::object_t& object() const;
  [[nodiscard]] const std::string& string() const;
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] std::int64_t extent() const;  // of a tensor: not negative
  [[nodiscard]] double number() const;

  [[nodiscard]] const nlohmann::json& value() const { return *value_; }
  [[nodiscard]] Error fault(std::string message) const;

 private:
  [[nodiscard]] Error wrong_type(std::string_view expected) const;

  const Archive* archive_;
  const nlohmann::json* value_;
  std::string path_;
};

// Parses the archive's metadata.json. Throws if it is missing, malformed or nested too deep.
[[nodiscard]] nlohmann::json parse_metadata(const Archive& archive);

}  // namespace usmp::mlf
