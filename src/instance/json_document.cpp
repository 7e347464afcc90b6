// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// JSON events → values of the root's members. Nothing recurses; what is open stands on a stack of bounded depth.
#include "instance/json_document.hpp"

#include <algorithm>
#include <utility>

#include "instance/excerpt.hpp"
#include "usmp/instance/limits.hpp"
#include "usmp/support/json_text.hpp"
#include "usmp/support/line_and_column.hpp"
#include "usmp/support/printable.hpp"
#include "usmp/support/text.hpp"

namespace usmp::instance {
namespace {

using Json = nlohmann::json;

constexpr std::size_t max_depth = 16;  // the deepest value that is right is five deep: an end of a live range

Error fault_at(std::string place, std::string message) {
  return {ErrorKind::usage, {{}, {}, std::move(place)}, std::move(message)};
}

std::string found(const Json& value) {
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  if (value.is_string()) return excerpt(value.get_ref<const std::string&>());
  return value.dump();
}

class DocumentSax {
 public:
  using number_integer_t = Json::number_integer_t;
  using number_unsigned_t = Json::number_unsigned_t;
  using number_float_t = Json::number_float_t;
  using string_t = Json::string_t;
  using binary_t = Json::binary_t;

  DocumentSax(std::string_view text, const std::vector<RootMember>& members)
      : text_(text), members_(members), seen_(members.size(), false) {}

  std::vector<bool> finish() {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      if (members_[i].required && !seen_[i]) throw fault_at({}, "no key '" + std::string(members_[i].key) + "'");
    }
    return std::move(seen_);
  }

  // The parser's interface (nlohmann::json_sax).
  bool null() { return scalar(nullptr); }
  bool boolean(bool value) { return scalar(value); }
  bool number_integer(number_integer_t value) { return scalar(value); }
  bool number_unsigned(number_unsigned_t value) { return scalar(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) { return scalar(value); }
  bool string(string_t& value) { return scalar(std::move(value)); }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return start(Json::object()); }
  bool start_array(std::size_t /*size*/) { return start(Json::array()); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }

  bool key(string_t& name) {
    if (open_.empty()) return root_key(name);
    if (open_.back()->contains(name)) throw fault_at(place(), "key " + excerpt(name) + " appears twice");
    keys_.back() = std::move(name);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/, const nlohmann::json::exception& error) {
    if (error.id == 406) throw fault_at(place(), "a number is too large");  // out_of_range
    throw fault_at(line_and_column(text_, position), "malformed JSON: " + json_fault(error.what()));
  }

 private:
  [[nodiscard]] const RootMember& member() const { return members_[member_]; }

  bool root_key(const std::string& name) {
    const auto at = std::find_if(members_.begin(), members_.end(), [&](const auto& m) { return m.key == name; });
    if (at == members_.end()) {
      std::vector<std::string> names;
      for (const RootMember& known : members_) names.emplace_back(known.key);
      throw fault_at({}, "unknown key " + excerpt(name) + did_you_mean(name, names));
    }
    member_ = static_cast<std::size_t>(at - members_.begin());
    if (seen_[member_]) throw fault_at({}, "key '" + name + "' appears twice");
    seen_[member_] = true;
    return true;
  }

  // Whether the next value is the root, or the list of a member that is read an element at a time.
  [[nodiscard]] bool expects_root() const { return open_.empty() && !in_root_; }
  [[nodiscard]] bool expects_list() const {
    return open_.empty() && in_root_ && !in_list_ && member().kind == RootMember::Kind::list;
  }

  bool scalar(Json value) {
    require_container(value);
    if (open_.empty()) {
      deliver(value);
    } else {
      add(std::move(value));
    }
    return true;
  }

  bool start(Json value) {
    require_container(value);
    if (expects_root()) {
      in_root_ = true;
    } else if (expects_list()) {
      in_list_ = true;
      index_ = 0;
    } else {
      if (open_.size() == max_depth) {
        throw fault_at(place(), "nested deeper than " + std::to_string(max_depth) + " levels");
      }
      open_.push_back(open_.empty() ? &(value_ = std::move(value)) : add(std::move(value)));
      keys_.emplace_back();
    }
    return true;
  }

  bool end() {
    if (!open_.empty()) {
      open_.pop_back();
      keys_.pop_back();
      if (open_.empty()) deliver(value_);
    } else if (in_list_) {
      in_list_ = false;
    }
    return true;
  }

  void require_container(const Json& value) const {
    if (expects_root() && !value.is_object()) throw fault_at({}, "found " + found(value) + ", expected an object");
    if (expects_list() && !value.is_array()) {
      throw fault_at(member().key, "found " + found(value) + ", expected a list");
    }
  }

  Json* add(Json value) {
    if (++values_ > max_element_values) {
      throw fault_at(place(), "found more than " + std::to_string(max_element_values) + " values");
    }
    Json& parent = *open_.back();
    if (!parent.is_array()) return &(parent[keys_.back()] = std::move(value));
    parent.push_back(std::move(value));
    return &parent.back();
  }

  void deliver(const Json& value) {
    member().read(JsonValue(value, root_place()));
    ++index_;
    values_ = 0;
  }

  [[nodiscard]] std::string root_place() const {
    if (!in_root_) return {};
    return std::string(member().key) + (in_list_ ? "[" + std::to_string(index_) + "]" : std::string());
  }

  // Where the innermost open value stands.
  [[nodiscard]] std::string place() const {
    std::string text = root_place();
    for (std::size_t i = 0; i + 1 < open_.size(); ++i) {
      text += open_[i]->is_array() ? "[" + std::to_string(open_[i]->size() - 1) + "]" : "." + keys_[i];
    }
    return text;
  }

  std::string_view text_;
  const std::vector<RootMember>& members_;
  std::vector<bool> seen_;
  bool in_root_ = false;
  bool in_list_ = false;
  std::size_t member_ = 0;
  std::size_t index_ = 0;          // of the element of the list
  std::size_t values_ = 0;         // in it
  Json value_;                     // that is being built
  std::vector<Json*> open_;        // in it
  std::vector<std::string> keys_;  // of what is open: the last one, if it is an object
};

}  // namespace

std::string JsonValue::path() const {
  std::string below;
  const JsonValue* value = this;
  for (; value->parent_ != nullptr; value = value->parent_) {
    const std::string key =
        value->key_.empty() ? "[" + std::to_string(value->index_) + "]" : "." + std::string(value->key_);
    below.insert(0, key);
  }
  return value->place_ + below;
}

Error JsonValue::fault(std::string message) const { return fault_at(path(), std::move(message)); }

Error JsonValue::wrong_type(std::string_view expected) const {
  return fault("found " + found(*value_) + ", expected " + std::string(expected));
}

const std::string& JsonValue::string() const {
  if (!value_->is_string()) throw wrong_type("text");
  return value_->get_ref<const std::string&>();
}

std::int64_t JsonValue::integer(std::int64_t least, std::int64_t most) const {
  const bool fits = value_->is_number_unsigned() ? value_->get<std::uint64_t>() <= static_cast<std::uint64_t>(most)
                                                 : value_->is_number_integer();
  const std::int64_t value = fits ? value_->get<std::int64_t>() : 0;
  if (!fits || value < least) {
    throw wrong_type("an integer from " + std::to_string(least) + " to " + std::to_string(most));
  }
  return value;
}

std::size_t JsonValue::size() const {
  if (!value_->is_array()) throw wrong_type("a list");
  return value_->size();
}

void JsonValue::check_keys(std::initializer_list<const char*> required,
                           std::initializer_list<const char*> optional) const {
  if (!value_->is_object()) throw wrong_type("an object");
  for (const char* key : required) {
    if (!value_->contains(key)) throw fault("no key '" + std::string(key) + "'");
  }
  const auto is_in = [](std::initializer_list<const char*> keys, const std::string& key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
  };
  for (const auto& [key, value] : value_->get_ref<const Json::object_t&>()) {
    if (is_in(required, key) || is_in(optional, key)) continue;
    std::vector<std::string> known(required.begin(), required.end());
    known.insert(known.end(), optional.begin(), optional.end());
    throw fault("unknown key " + excerpt(key) + did_you_mean(key, known));
  }
}

std::optional<JsonValue> JsonValue::find(const char* key) const {
  const auto at = value_->find(key);
  if (at == value_->end()) return std::nullopt;
  return JsonValue(*at, *this, key, 0);
}

std::vector<bool> read_document(std::string_view text, const std::vector<RootMember>& members) {
  if (text.size() > max_text_bytes) throw fault_at({}, "larger than " + std::to_string(max_text_bytes) + " bytes");
  DocumentSax sax(text, members);
  Json::sax_parse(text, &sax);
  return sax.finish();
}

std::string json_text(const std::string& value) {
  const bool plain = std::all_of(value.begin(), value.end(), [](char character) {
    return character >= ' ' && character <= '~' && character != '"' && character != '\\';
  });
  if (plain) return '"' + value + '"';
  std::string text = Json(value).dump(-1, ' ', false, Json::error_handler_t::replace);
  if (printable(text) == text) return text;
  return Json(value).dump(-1, ' ', true, Json::error_handler_t::replace);  // it says nothing to a terminal
}

}  // namespace usmp::instance
