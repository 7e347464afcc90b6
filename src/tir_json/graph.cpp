// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Parses attributes when they are asked for, and names the node and the attribute that are wrong.
#include "tir_json/graph.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "tir_json/ndarray.hpp"

namespace usmp::tir_json {
namespace {

std::string node_place(NodeId node) { return "nodes[" + std::to_string(node) + "]"; }

std::optional<std::int64_t> parse_int(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

void fail(std::string place, std::string message) {
  throw Error(ErrorKind::archive, {.file = {}, .member = {}, .place = std::move(place)}, std::move(message));
}

void fail_at(NodeId node, std::string message) { fail(node_place(node), std::move(message)); }

void fail_at(NodeId node, std::string_view attribute, std::string message) {
  fail(node_place(node) + ".attrs." + std::string(attribute), std::move(message));
}

void Graph::reserve(std::size_t json_bytes, std::size_t max_bytes) {
  constexpr std::size_t a_node = 80;
  constexpr std::size_t an_attribute = 32;
  nodes_.reserve(std::min(json_bytes / a_node, max_bytes / sizeof(Node)) + 1);
  attributes_.reserve(std::min(json_bytes / an_attribute, max_bytes / sizeof(Attribute)));
}

std::string Graph::describe(NodeId node) const {
  if (node == 0 || type(node) == NodeType::null) return "null";
  return shown(type_name(node));
}

std::optional<std::string_view> Graph::find_attribute(NodeId node, std::string_view name) const {
  for (std::size_t i = nodes_[node].attributes; i < nodes_[node + 1].attributes; ++i) {
    const Attribute& attribute = attributes_[i];
    if (names_[attribute.name] == name) return attribute.view();
  }
  return std::nullopt;
}

std::string_view Graph::attribute(NodeId node, std::string_view name) const {
  const auto value = find_attribute(node, name);
  if (!value) {
    fail(node_place(node) + ".attrs", "attribute '" + std::string(name) + "' of " + describe(node) + " is missing");
  }
  return *value;
}

std::int64_t Graph::int_attribute(NodeId node, std::string_view name) const {
  const std::string_view text = attribute(node, name);
  const auto value = parse_int(text);
  if (!value) fail_at(node, name, "found " + shown(text) + ", expected an integer");
  return *value;
}

NodeId Graph::optional_node_attribute(NodeId node, std::string_view name) const {
  const auto text = find_attribute(node, name);
  if (!text) return 0;
  const auto value = parse_int(*text);
  if (!value) fail_at(node, name, "found " + shown(*text) + ", expected a node index");
  if (*value < 0 || static_cast<std::uint64_t>(*value) >= size()) {
    fail_at(node, name,
            "node index " + std::to_string(*value) + " is out of range, expected 0 to " + std::to_string(size() - 1));
  }
  return static_cast<NodeId>(*value);
}

NodeId Graph::node_attribute(NodeId node, std::string_view name) const {
  static_cast<void>(attribute(node, name));  // says so if it is missing
  const NodeId value = optional_node_attribute(node, name);
  if (value == 0) fail_at(node, name, "found null, expected a node");
  return value;
}

std::string Graph::string_attribute(NodeId node, std::string_view name) const {
  const NodeId value = node_attribute(node, name);
  if (type(value) != NodeType::string) {
    fail_at(node, name, "found " + describe(value) + ", expected a 'runtime.String'");
  }
  return text(value);
}

std::span<const std::uint32_t> Graph::array_attribute(NodeId node, std::string_view name) const {
  const NodeId value = optional_node_attribute(node, name);
  if (value == 0) return {};
  if (type(value) != NodeType::array) fail_at(node, name, "found " + describe(value) + ", expected an 'Array'");
  return data(value);
}

void Graph::expect(NodeId node, NodeType expected) const {
  if (type(node) == expected) return;
  fail_at(node, "found " + describe(node) + ", expected " + shown(node_type_info(expected).name));
}

std::span<const std::uint32_t> Graph::data(NodeId node) const {
  return std::span(data_).subspan(nodes_[node].data, nodes_[node + 1].data - nodes_[node].data);
}

std::span<const std::uint32_t> Graph::array(NodeId node) const {
  expect(node, NodeType::array);
  return data(node);
}

std::string Graph::text(NodeId node) const {
  const std::size_t index = nodes_[node].text;
  if (index == no_text) return {};
  const Text& text = texts_[index];
  given_text_ += text.view().size();
  if (given_text_ > most_text_) {
    fail_at(node, "names and other texts of more than " + std::to_string(most_text_) +
                      " bytes, counting shared ones at every use, which is the limit");
  }
  if (text.is_base64) return decode_text(text.view(), node_place(node) + ".repr_b64");
  return std::string(text.view());
}

std::string_view Graph::raw_text(NodeId node) const {
  const std::size_t index = nodes_[node].text;
  if (index == no_text) return {};
  if (texts_[index].is_base64) fail_at(node, "found repr_b64, expected repr_str");
  return texts_[index].view();
}

NodeId Graph::find_in_map(NodeId map, std::string_view key) const {
  expect(map, NodeType::map);
  const std::size_t key_count = nodes_[map + 1].keys - nodes_[map].keys;
  const auto values = data(map);
  if (key_count != 0) {
    if (key_count != values.size()) {
      fail_at(map, "a Map of " + std::to_string(key_count) + " keys and " + std::to_string(values.size()) + " values");
    }
    for (std::size_t i = 0; i < key_count; ++i) {
      if (keys_[nodes_[map].keys + i] == key) return values[i];
    }
    return 0;
  }
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) {
    if (type(values[i]) == NodeType::string && text(values[i]) == key) return values[i + 1];
  }
  return 0;
}

NodeId Graph::find_in_dict(NodeId dict_attrs, std::string_view key) const {
  if (dict_attrs == 0) return 0;
  expect(dict_attrs, NodeType::dict_attrs);
  const NodeId map = optional_node_attribute(dict_attrs, "__dict__");
  return map == 0 ? 0 : find_in_map(map, key);
}

}  // namespace usmp::tir_json
