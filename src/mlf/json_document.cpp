// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses JSON and checks each value that is asked for.
#include "mlf/json_document.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "mlf/intake.hpp"
#include "usmp/support/json_text.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

constexpr std::size_t max_json_depth = 64;  // metadata.json of TVM is eight deep
constexpr std::size_t max_bytes = most_metadata_bytes;
constexpr std::size_t max_shown = 6;  // members named in a message

Error missing(const Archive& archive) {
  const std::string nested = "/" + std::string(metadata_member);
  std::string message = "missing; the archive contains ";
  for (std::size_t i = 0; i < std::min(archive.members.size(), max_shown); ++i) {
    message += (i == 0 ? "'" : ", '") + archive.members[i].name + "'";
  }
  if (archive.members.empty()) message += "no files";
  if (archive.members.size() > max_shown) {
    message += " and " + std::to_string(archive.members.size() - max_shown) + " more";
  }
  message += ", expected a Model Library Format archive with metadata.json, codegen/ and src/ at its top";
  for (const Member& member : archive.members) {
    if (!member.name.ends_with(nested)) continue;
    message += " (there is '" + member.name + "': was the archive packed from outside its directory?)";
    break;
  }
  return {ErrorKind::archive, {archive.path, std::string(metadata_member), ""}, message};
}

}  // namespace

Error JsonPlace::fault(std::string message) const {
  return {ErrorKind::archive, {archive_->path, std::string(metadata_member), path_}, std::move(message)};
}

Error JsonPlace::wrong_type(std::string_view expected) const {
  constexpr std::size_t shown = 40;
  std::string found = value_->is_structured() ? std::string("a JSON ") + value_->type_name()
                                              : value_->dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (found.size() > shown) found.replace(shown, std::string::npos, "...");
  return fault("found " + found + ", expected " + std::string(expected));
}

std::optional<JsonPlace> JsonPlace::member(const std::string& key) const {
  const auto& fields = object();
  const auto at = fields.find(key);
  if (at == fields.end() || at->second.is_null()) return std::nullopt;
  return JsonPlace(*archive_, at->second, path_.empty() ? key : path_ + "." + key);
}

std::optional<JsonPlace> JsonPlace::element(std::size_t index) const {
  if (index >= elements()) return std::nullopt;
  return JsonPlace(*archive_, (*value_)[index], path_ + "[" + std::to_string(index) + "]");
}

std::size_t JsonPlace::elements() const {
  if (!value_->is_array()) throw wrong_type("an array");
  return value_->size();
}

const nlohmann::json::object_t& JsonPlace::object() const {
  if (!value_->is_object()) throw wrong_type("an object");
  return value_->get_ref<const nlohmann::json::object_t&>();
}

const std::string& JsonPlace::string() const {
  if (!value_->is_string()) throw wrong_type("a string");
  return value_->get_ref<const std::string&>();
}

Bytes JsonPlace::bytes() const {
  const bool fits =
      value_->is_number_unsigned() && value_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<Bytes>::max()};
  if (!fits) throw wrong_type("a number of bytes (an integer from 0 to 9223372036854775807)");
  return value_->get<Bytes>();
}

std::int64_t JsonPlace::integer() const {
  const bool is_large = value_->is_number_unsigned() &&
                        value_->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (!value_->is_number_integer() || is_large) throw wrong_type("an integer of 64 bits");
  return value_->get<std::int64_t>();
}

std::int64_t JsonPlace::extent() const {
  const std::int64_t value = integer();
  if (value < 0) throw wrong_type("an integer of at least 0");
  return value;
}

double JsonPlace::number() const {
  if (!value_->is_number()) throw wrong_type("a number");
  return value_->get<double>();
}

nlohmann::json parse_metadata(const Archive& archive) {
  const Member* member = archive.find(metadata_member);
  if (member == nullptr) throw missing(archive);
  const auto fault = [&](std::string place, std::string message) {
    return Error(ErrorKind::archive, {archive.path, member->name, std::move(place)}, std::move(message));
  };
  if (member->bytes.size() > max_bytes) {
    throw fault(
        "", "has " + std::to_string(member->bytes.size()) + " bytes, expected at most " + std::to_string(max_bytes));
  }
  if (json_depth(member->bytes) > max_json_depth)
    throw fault("", "nested more than " + std::to_string(max_json_depth) + " levels deep");
  try {
    nlohmann::json metadata = nlohmann::json::parse(member->bytes);
    if (const auto twice = repeated_key(member->bytes)) {
      throw fault(line_and_column(member->bytes, twice->byte), "the key " + in_quotes(twice->key) + " appears twice");
    }
    return metadata;
  } catch (const nlohmann::json::parse_error& error) {
    throw fault(line_and_column(member->bytes, error.byte), "malformed JSON: " + json_fault(error.what()));
  } catch (const nlohmann::json::exception& error) {  // a number beyond every type
    throw fault("", std::string("malformed JSON: ") + error.what());
  }
}

}  // namespace usmp::mlf
