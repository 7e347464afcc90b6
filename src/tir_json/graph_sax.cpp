// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// JSON events → Graph. The reader is a small state machine: the stack of what is open is at most five deep, members
// that save_json does not write are skipped by counting brackets, and nothing recurses.
#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <unordered_map>
#include <utility>

#include "tir_json/graph.hpp"
#include "tir_json/json_source.hpp"
#include "usmp/support/json_text.hpp"

namespace usmp::tir_json {
namespace {

// save_json itself nests four deep; unknown members may nest a little more.
constexpr std::size_t max_nesting = 64;

}  // namespace

class GraphSax {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  GraphSax(Graph& graph, JsonSource& source, std::size_t max_bytes)
      : graph_(graph), source_(source), max_bytes_(max_bytes) {}

  void finish() {
    if (!has_root_) fail("root", "the member is missing, expected the index of the module's node");
    if (!has_nodes_) fail("nodes", "the member is missing, expected the list of nodes");
    end_of_ranges();
    if (root_ >= graph_.size()) fail("root", out_of_range(std::to_string(root_)));
    graph_.root_ = static_cast<NodeId>(root_);
    if (!large_index_place_.empty()) fail(large_index_place_, out_of_range(large_index_));
    graph_.check_data();
  }

  // The parser's interface (nlohmann::json_sax).
  bool null() { return scalar("null", Scalar::other); }
  bool boolean(bool value) { return scalar(value ? "1" : "0", Scalar::other); }
  bool number_integer(number_integer_t value) { return scalar(std::to_string(value), Scalar::integer); }
  bool number_unsigned(number_unsigned_t value) { return scalar(std::to_string(value), Scalar::integer); }
  bool number_float(number_float_t /*value*/, const string_t& text) { return scalar(text, Scalar::number); }
  bool string(string_t& value) {
    left_out_ = source_.take_left_out();
    return scalar(left_out_.empty() ? std::string_view(value) : left_out_, Scalar::string);
  }
  bool binary(binary_t& /*value*/) { return false; }
  bool start_object(std::size_t /*size*/) { return start(true); }
  bool start_array(std::size_t /*size*/) { return start(false); }
  bool end_object() { return end(); }
  bool end_array() { return end(); }
  bool key(string_t& text);
  bool parse_error(std::size_t position, const std::string& last_token, const nlohmann::json::exception& error);

 private:
  enum class Member : std::uint8_t { none, root, nodes, blobs, graph_attrs, version };
  enum class NodeMember : std::uint8_t { none, type_key, attrs, repr_str, repr_b64, keys, data };
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  using Interned = std::unordered_map<std::string, std::uint32_t, StringHash, std::equal_to<>>;

  enum class Scalar : std::uint8_t { string, integer, number, other };

  bool start(bool is_object);
  bool end();
  bool scalar(std::string_view text, Scalar kind);
  void node_scalar(std::string_view text, Scalar kind);
  void data_element(std::string_view text, Scalar kind);
  [[nodiscard]] Graph::Text new_text(std::string_view text, bool is_base64) {
    claim(sizeof(Graph::Text));
    if (!left_out_.empty()) return {{}, left_out_, is_base64};
    claim(text.size());
    return {std::string(text), {}, is_base64};
  }
  void claim(std::size_t bytes);
  void begin_node();
  void end_of_ranges();
  void node_key(std::string_view name);
  std::uint32_t attribute_of(std::string_view name);
  [[nodiscard]] bool opens_known(bool is_object) const;
  [[nodiscard]] std::string place() const;
  [[noreturn]] void wrong(std::string_view found, std::string_view expected) const;
  [[nodiscard]] std::string out_of_range(std::string_view index) const {
    return "node index " + std::string(index) + " is out of range, expected 0 to " +
           std::to_string(std::max<std::size_t>(graph_.size(), 1) - 1);
  }
  [[nodiscard]] Graph::Node& node() { return graph_.nodes_.back(); }
  [[nodiscard]] std::size_t node_index() const { return graph_.nodes_.size() - 1; }
  // A name is kept twice, here and where its number leads.
  std::uint32_t intern(Interned& table, std::string_view text) {
    const auto found = table.find(text);
    if (found != table.end()) return found->second;
    claim(2 * (sizeof(std::string) + text.size()));
    return table.emplace(std::string(text), static_cast<std::uint32_t>(table.size())).first->second;
  }

  // Depth of what is open: 1 the graph, 2 a member of it, 3 a node, 4 a member of a node.
  std::size_t depth_ = 0;
  std::size_t skip_from_ = 0;  // depth at which a skipped value began; 0: none
  Member member_ = Member::none;
  NodeMember node_member_ = NodeMember::none;
  std::uint8_t seen_ = 0;  // bit set of the node's members so far
  bool has_type_ = false;
  std::uint32_t attribute_ = 0;
  std::vector<std::uint32_t> behind_;  // by attribute: the one that came next the last time

  Graph& graph_;
  JsonSource& source_;
  std::string_view left_out_;  // the last string, if it stands in the JSON text for good
  std::size_t max_bytes_;      // of the graph
  std::size_t bytes_ = 0;
  Interned type_ids_;
  Interned name_ids_;
  bool has_root_ = false;
  bool has_nodes_ = false;
  bool has_blobs_ = false;
  std::uint64_t root_ = 0;
  std::string large_index_;
  std::string large_index_place_;
};

std::string GraphSax::place() const {
  if (depth_ == 0) return "";
  switch (member_) {
    case Member::none:
      return "";
    case Member::root:
      return "root";
    case Member::blobs:
      return depth_ == 1 ? "b64ndarrays" : "b64ndarrays[" + std::to_string(graph_.blobs_.size()) + "]";
    case Member::graph_attrs:
      return "attrs";
    case Member::version:
      return "attrs.tvm_version";
    case Member::nodes:
      break;
  }
  if (depth_ == 1) return "nodes";
  if (depth_ == 2) return "nodes[" + std::to_string(graph_.nodes_.size()) + "]";
  std::string base = "nodes[" + std::to_string(node_index()) + "]";
  const auto element = [&](std::size_t index) { return depth_ == 4 ? "[" + std::to_string(index) + "]" : ""; };
  switch (node_member_) {
    case NodeMember::none:
      return base;
    case NodeMember::type_key:
      return base + ".type_key";
    case NodeMember::attrs:
      return base + ".attrs" + (depth_ == 4 ? "." + graph_.names_[attribute_] : "");
    case NodeMember::repr_str:
      return base + ".repr_str";
    case NodeMember::repr_b64:
      return base + ".repr_b64";
    case NodeMember::keys:
      return base + ".keys" + element(graph_.keys_.size() - graph_.nodes_.back().keys);
    case NodeMember::data:
      return base + ".data" + element(graph_.data_.size() - graph_.nodes_.back().data);
  }
  return base;
}

void GraphSax::wrong(std::string_view found, std::string_view expected) const {
  fail(place(), "found " + std::string(found) + ", expected " + std::string(expected));
}

bool GraphSax::opens_known(bool is_object) const {
  switch (depth_) {
    case 0:
      return is_object;
    case 1:
      return is_object ? member_ == Member::graph_attrs : member_ == Member::nodes || member_ == Member::blobs;
    case 2:
      return is_object && member_ == Member::nodes;
    case 3:
      if (member_ != Member::nodes) return false;
      return is_object ? node_member_ == NodeMember::attrs
                       : node_member_ == NodeMember::keys || node_member_ == NodeMember::data;
    default:
      return false;
  }
}

bool GraphSax::start(bool is_object) {
  if (depth_ >= max_nesting) {
    fail(place(), "arrays and objects nest deeper than " + std::to_string(max_nesting) + " levels");
  }
  if (skip_from_ == 0) {
    const bool skippable = (depth_ == 1 && member_ == Member::none) ||
                           (depth_ == 2 && member_ == Member::graph_attrs) ||
                           (depth_ == 3 && member_ == Member::nodes && node_member_ == NodeMember::none);
    if (skippable) {
      skip_from_ = depth_ + 1;
    } else if (!opens_known(is_object)) {
      wrong(is_object ? "an object" : "an array", depth_ == 0 ? "an object" : "what save_json writes here");
    }
  }
  ++depth_;
  if (skip_from_ == 0 && depth_ == 3) begin_node();
  return true;
}

bool GraphSax::end() {
  if (skip_from_ == depth_) skip_from_ = 0;
  if (skip_from_ == 0 && depth_ == 3 && member_ == Member::nodes && !has_type_) {
    fail("nodes[" + std::to_string(node_index()) + "]", "the member 'type_key' is missing");
  }
  --depth_;
  return true;
}

void GraphSax::end_of_ranges() {
  graph_.nodes_.push_back({.type = 0,
                           .text = Graph::no_text,
                           .attributes = graph_.attributes_.size(),
                           .data = graph_.data_.size(),
                           .keys = graph_.keys_.size()});
}

// Before memory is taken.
void GraphSax::claim(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > max_bytes_) {
    fail(place(), "nodes, attributes and texts up to here take more than " + std::to_string(max_bytes_) +
                      " bytes of memory, which is the limit");
  }
}

void GraphSax::begin_node() {
  claim(sizeof(Graph::Node));
  end_of_ranges();
  seen_ = 0;
  has_type_ = false;
  node_member_ = NodeMember::none;
}

bool GraphSax::key(string_t& text) {
  const std::string_view in_json = source_.take_left_out();
  const std::string_view name = in_json.empty() ? std::string_view(text) : in_json;
  if (skip_from_ != 0) return true;
  if (depth_ == 1) {
    member_ = name == "root"          ? Member::root
              : name == "nodes"       ? Member::nodes
              : name == "b64ndarrays" ? Member::blobs
              : name == "attrs"       ? Member::graph_attrs
                                      : Member::none;
    if ((member_ == Member::nodes && std::exchange(has_nodes_, true)) ||
        (member_ == Member::root && std::exchange(has_root_, true)) ||
        (member_ == Member::blobs && std::exchange(has_blobs_, true))) {
      fail(std::string(name), "the member occurs twice");
    }
  } else if (depth_ == 2) {
    member_ = name == "tvm_version" ? Member::version : Member::graph_attrs;
  } else if (depth_ == 3) {
    node_key(name);
  } else {
    attribute_ = attribute_of(name);
  }
  return true;
}

// Nodes of a type have their attributes in one order: mostly it is the one that came behind the last one before.
std::uint32_t GraphSax::attribute_of(std::string_view name) {
  std::uint32_t* const guess = attribute_ < behind_.size() ? &behind_[attribute_] : nullptr;
  if (guess != nullptr && graph_.names_[*guess] == name) return *guess;
  const std::uint32_t attribute = intern(name_ids_, name);
  if (guess != nullptr) *guess = attribute;
  if (attribute == graph_.names_.size()) {
    graph_.names_.emplace_back(name);
    behind_.push_back(attribute);
  }
  return attribute;
}

void GraphSax::node_key(std::string_view name) {
  constexpr std::pair<std::string_view, NodeMember> members[] = {
      {"type_key", NodeMember::type_key}, {"attrs", NodeMember::attrs}, {"repr_str", NodeMember::repr_str},
      {"repr_b64", NodeMember::repr_b64}, {"keys", NodeMember::keys},   {"data", NodeMember::data}};
  const auto* const found =
      std::find_if(std::begin(members), std::end(members), [&](const auto& member) { return member.first == name; });
  node_member_ = found == std::end(members) ? NodeMember::none : found->second;
  if (node_member_ == NodeMember::none) return;
  const auto bit = static_cast<std::uint8_t>(1U << static_cast<unsigned>(node_member_));
  if ((seen_ & bit) != 0) fail(place(), "the member occurs twice");
  seen_ = static_cast<std::uint8_t>(seen_ | bit);
}

bool GraphSax::scalar(std::string_view text, Scalar kind) {
  if (skip_from_ != 0) return true;
  if (depth_ == 0) fail("", "found " + shown(text) + ", expected an object");
  if (depth_ >= 3) {
    node_scalar(text, kind);
    return true;
  }
  switch (member_) {
    case Member::none:
    case Member::graph_attrs:
      if (depth_ == 1 && member_ == Member::graph_attrs) wrong(shown(text), "an object");
      break;
    case Member::root: {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), root_);
      if (kind != Scalar::integer || error != std::errc() || end != text.data() + text.size()) {
        wrong(shown(text), "a node index");
      }
      break;
    }
    case Member::version:
      if (kind != Scalar::string) wrong(shown(text), "a string");
      claim(text.size());
      graph_.tvm_version_ = text;
      member_ = Member::graph_attrs;
      break;
    case Member::blobs:
      if (depth_ != 2 || kind != Scalar::string) wrong(shown(text), depth_ == 2 ? "a string" : "an array");
      graph_.blobs_.push_back(new_text(text, false));
      break;
    case Member::nodes:
      wrong(shown(text), depth_ == 2 ? "an object" : "an array");
  }
  return true;
}

void GraphSax::node_scalar(std::string_view text, Scalar kind) {
  const auto expect_string = [&] {
    if (kind != Scalar::string) wrong(shown(text), "a string");
  };
  const bool is_element = depth_ == 4;
  switch (node_member_) {
    case NodeMember::none:
      break;
    case NodeMember::type_key: {
      expect_string();
      const std::uint32_t type = intern(type_ids_, text);
      if (type == graph_.types_.size()) {
        graph_.types_.push_back({std::string(text), &find_node_type(text)});
      }
      node().type = type;
      has_type_ = true;
      break;
    }
    case NodeMember::attrs:
      if (!is_element) wrong(shown(text), "an object");
      if (kind == Scalar::other && text == "null") wrong("null", "a string or a number");
      claim(sizeof(Graph::Attribute));
      if (kind != Scalar::string || left_out_.empty()) {
        claim(sizeof(std::string) + text.size());
        text = graph_.values_.emplace_back(text);
      }
      graph_.attributes_.push_back(
          {attribute_, static_cast<std::uint32_t>(std::min<std::size_t>(text.size(), UINT32_MAX)), text.data()});
      break;
    case NodeMember::repr_str:
    case NodeMember::repr_b64:
      expect_string();
      if (node().text != Graph::no_text) wrong("a second text", "either repr_str or repr_b64");
      node().text = graph_.texts_.size();
      graph_.texts_.push_back(new_text(text, node_member_ == NodeMember::repr_b64));
      break;
    case NodeMember::keys:
      if (!is_element) wrong(shown(text), "an array");
      expect_string();
      claim(sizeof(std::string) + text.size());
      graph_.keys_.emplace_back(text);
      break;
    case NodeMember::data:
      if (!is_element) wrong(shown(text), "an array");
      data_element(text, kind);
      break;
  }
}

void GraphSax::data_element(std::string_view text, Scalar kind) {
  std::uint32_t index = 0;
  if (kind != Scalar::integer) wrong(shown(text), "a node index");
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size()) {
    // Said at the end, when the number of nodes is known.
    if (large_index_place_.empty()) {
      large_index_place_ = place();
      large_index_ = text;
    }
    index = 0;
  }
  claim(sizeof index);
  graph_.data_.push_back(index);
}

bool GraphSax::parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                           const nlohmann::json::exception& error) {
  fail("byte " + std::to_string(source_.position()), "malformed JSON: " + json_fault(error.what()));
}

Graph Graph::parse(std::string_view json, std::size_t max_bytes) {
  Graph graph;
  graph.reserve(json.size(), max_bytes);
  JsonSource source(json);
  GraphSax sax(graph, source, max_bytes);
  nlohmann::json::sax_parse(source.begin(), JsonSource::end(), &sax);
  sax.finish();
  return graph;
}

void Graph::check_data() const {
  for (std::size_t node = 0; node < size(); ++node) {
    for (std::size_t i = nodes_[node].data; i < nodes_[node + 1].data; ++i) {
      if (data_[i] < size()) continue;
      fail("nodes[" + std::to_string(node) + "].data[" + std::to_string(i - nodes_[node].data) + "]",
           "node index " + std::to_string(data_[i]) + " is out of range, expected 0 to " + std::to_string(size() - 1));
    }
  }
}

}  // namespace usmp::tir_json
