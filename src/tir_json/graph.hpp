// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// A save_json graph in memory: a flat table of nodes, each a type, attributes as text, and indices of other nodes.
//
// Attribute values and data indices stay as the JSON has them; the accessors below check them when they are used, so
// that nodes which planning never reaches may hold anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tir_json/node_types.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tir_json {

// Index into the JSON's `nodes`. 0 is TVM's null.
using NodeId = std::size_t;

[[noreturn]] void fail(std::string place, std::string message);
[[noreturn]] void fail_at(NodeId node, std::string message);                              // place "nodes[17]"
[[noreturn]] void fail_at(NodeId node, std::string_view attribute, std::string message);  // "nodes[17].attrs.body"

class Graph {
 public:
  // The graph refers to the text of `json`. Throws Error with a byte offset for malformed JSON, with a JSON path for
  // anything else.
  [[nodiscard]] static Graph parse(std::string_view json, std::size_t max_bytes);

  [[nodiscard]] std::size_t size() const { return nodes_.size() - 1; }
  // Nodes, and what Arrays and Maps refer to.
  [[nodiscard]] std::size_t extent() const { return size() + data_.size(); }
  [[nodiscard]] NodeId root() const { return root_; }
  [[nodiscard]] const std::string& tvm_version() const { return tvm_version_; }
  [[nodiscard]] std::size_t blob_count() const { return blobs_.size(); }
  [[nodiscard]] std::string_view blob(std::size_t index) const { return blobs_[index].view(); }

  [[nodiscard]] const NodeTypeInfo& info(NodeId node) const { return *types_[nodes_[node].type].info; }
  [[nodiscard]] NodeType type(NodeId node) const { return info(node).type; }
  [[nodiscard]] const std::string& type_name(NodeId node) const { return types_[nodes_[node].type].name; }
  // "tir.For node", "null", for messages.
  [[nodiscard]] std::string describe(NodeId node) const;

  // The attribute's text; nothing if the node has no such attribute.
  [[nodiscard]] std::optional<std::string_view> find_attribute(NodeId node, std::string_view name) const;
  // Throw if the attribute is missing or is none of the kind.
  [[nodiscard]] std::string_view attribute(NodeId node, std::string_view name) const;
  [[nodiscard]] std::int64_t int_attribute(NodeId node, std::string_view name) const;
  [[nodiscard]] NodeId node_attribute(NodeId node, std::string_view name) const;  // never 0
  [[nodiscard]] std::string string_attribute(NodeId node, std::string_view name) const;
  // 0 if missing or null.
  [[nodiscard]] NodeId optional_node_attribute(NodeId node, std::string_view name) const;
  // The elements of the Array that the attribute points to; empty if missing or null.
  [[nodiscard]] std::span<const std::uint32_t> array_attribute(NodeId node, std::string_view name) const;

  // Throws unless the node is of the type.
  void expect(NodeId node, NodeType type) const;
  [[nodiscard]] std::span<const std::uint32_t> data(NodeId node) const;
  [[nodiscard]] std::span<const std::uint32_t> array(NodeId node) const;  // expects an Array
  // Content of a runtime.String (or another node kept by its repr). Throws if all the texts that were given out are
  // longer than the limit: many nodes may share one.
  [[nodiscard]] std::string text(NodeId node) const;
  void limit_texts(std::uint64_t bytes) { most_text_ = bytes; }
  // The same as it stands in the JSON, of a node that is not kept as repr_b64.
  [[nodiscard]] std::string_view raw_text(NodeId node) const;
  // The value at `key` of a Map with string keys; 0 if there is none.
  [[nodiscard]] NodeId find_in_map(NodeId map, std::string_view key) const;
  // The same in the Map of a DictAttrs; `dict_attrs` may be 0.
  [[nodiscard]] NodeId find_in_dict(NodeId dict_attrs, std::string_view key) const;

 private:
  friend class GraphSax;

  static constexpr std::size_t no_text = std::numeric_limits<std::size_t>::max();

  struct TypeName {
    std::string name;
    const NodeTypeInfo* info;
  };
  struct Attribute {
    std::uint32_t name;  // index into names_
    std::uint32_t length;
    const char* value;  // in the JSON text or in values_
    [[nodiscard]] std::string_view view() const { return {value, length}; }
  };
  struct Text {
    std::string copy;
    std::string_view in_json;  // used if not empty
    bool is_base64;
    [[nodiscard]] std::string_view view() const { return in_json.empty() ? std::string_view(copy) : in_json; }
  };
  // Ranges end where those of the next node begin; the table ends with a node that only says where.
  struct Node {
    std::uint32_t type = 0;      // index into types_
    std::size_t text = no_text;  // index into texts_
    std::size_t attributes = 0;  // begin in attributes_
    std::size_t data = 0;        // begin in data_
    std::size_t keys = 0;        // begin in keys_
  };

  void check_data() const;
  // For a module without constants of that many bytes; more costs nothing before it is used.
  void reserve(std::size_t json_bytes, std::size_t max_bytes);

  std::vector<Node> nodes_;
  std::vector<TypeName> types_;
  std::vector<std::string> names_;
  std::vector<Attribute> attributes_;
  std::deque<std::string> values_;  // that do not stand in the JSON text as they are
  std::vector<std::uint32_t> data_;
  std::vector<std::string> keys_;
  std::vector<Text> texts_;
  std::vector<Text> blobs_;
  std::string tvm_version_;
  NodeId root_ = 0;
  std::uint64_t most_text_ = std::numeric_limits<std::uint64_t>::max();
  mutable std::uint64_t given_text_ = 0;
};

}  // namespace usmp::tir_json
