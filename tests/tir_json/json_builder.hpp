// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Assembles save_json graphs for tests: every method adds a node and returns its index, the module comes out as JSON.
//
//   JsonBuilder b;
//   const auto x = b.handle("x", "int8");
//   const auto body = b.store(b.buffer(x, "int8", {b.integer(4)}), {b.integer(0)}, b.integer(1, "int8"));
//   const std::string json = b.module_of_body(body);
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace usmp::testing {

inline std::string base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text += i + k > bytes.size() ? '=' : alphabet[group >> (18U - 6U * k) & 0x3FU];
    }
  }
  return text;
}

// A text as save_json writes one that is not printable: its length in 8 bytes, little-endian, in front.
inline std::string base64_text(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < 8; ++i) bytes += static_cast<char>(std::uint64_t{text.size()} >> (8 * i) & 0xFFU);
  return base64(bytes.append(text));
}

// The fields of an NDArray blob; `byte_size` and `magic` can be made to lie.
struct NDArrayBlob {
  std::uint8_t type_code = 0;
  std::uint8_t bits = 8;
  std::vector<std::int64_t> shape;
  std::string bytes;
  std::int64_t byte_size = -1;  // -1: that of `bytes`
  std::uint64_t magic = 0xDD5E40F096B4A13F;

  [[nodiscard]] std::string encoded() const {
    std::string blob;
    const auto put = [&](std::uint64_t value, std::size_t size) {
      for (std::size_t i = 0; i < size; ++i) blob += static_cast<char>(value >> (8 * i) & 0xFFU);
    };
    put(magic, 8);
    put(0, 8);
    put(1, 4);
    put(0, 4);
    put(shape.size(), 4);
    put(type_code, 1);
    put(bits, 1);
    put(1, 2);
    for (const std::int64_t extent : shape) put(static_cast<std::uint64_t>(extent), 8);
    put(byte_size >= 0 ? static_cast<std::uint64_t>(byte_size) : bytes.size(), 8);
    return base64(blob + bytes);
  }
};

class JsonBuilder {
 public:
  using Node = std::size_t;
  using Nodes = std::vector<Node>;
  using Attributes = std::vector<std::pair<std::string, Node>>;

  JsonBuilder() { add(""); }

  // The general form: attributes as save_json writes them. Node indices are written with ref().
  Node add(const std::string& type_key, const std::map<std::string, std::string>& attributes = {}) {
    nlohmann::json node{{"type_key", type_key}};
    if (!attributes.empty()) node["attrs"] = attributes;
    nodes_.push_back(std::move(node));
    return nodes_.size() - 1;
  }
  static std::string ref(Node node) { return std::to_string(node); }
  // The JSON of a node, for tests that break it.
  nlohmann::json& at(Node node) { return nodes_[node]; }

  Node string(const std::string& text) {
    const Node node = add("runtime.String");
    const bool is_printable = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
    if (!is_printable) nodes_[node]["repr_b64"] = base64_text(text);
    if (is_printable && !text.empty()) nodes_[node]["repr_str"] = text;
    return node;
  }
  Node array(const Nodes& elements) {
    const Node node = add("Array");
    if (!elements.empty()) nodes_[node]["data"] = elements;
    return node;
  }
  Node node_map(const std::vector<std::pair<Node, Node>>& entries) {
    const Node node = add("Map");
    for (const auto& [key, value] : entries) {
      nodes_[node]["data"].push_back(key);
      nodes_[node]["data"].push_back(value);
    }
    return node;
  }
  Node map(const Attributes& entries) {
    const Node node = add("Map");
    for (const auto& [key, value] : entries) {
      nodes_[node]["keys"].push_back(key);
      nodes_[node]["data"].push_back(value);
    }
    return node;
  }
  Node dict_attrs(const Attributes& entries) { return add("DictAttrs", {{"__dict__", ref(map(entries))}}); }
  Node ndarray(const NDArrayBlob& blob) {
    const Node node = add("runtime.NDArray");
    nodes_[node]["repr_str"] = blob.encoded();
    return node;
  }
  Node op(const std::string& name) {
    const Node node = add("Op");
    nodes_[node]["repr_str"] = name;
    return node;
  }
  Node global_var(const std::string& name) { return add("GlobalVar", {{"name_hint", ref(string(name))}}); }

  // --- Expressions ---
  Node integer(std::int64_t value, const std::string& dtype = "int32") {
    return add("IntImm", {{"dtype", dtype}, {"value", std::to_string(value)}});
  }
  Node floating(const std::string& value, const std::string& dtype = "float32") {
    return add("FloatImm", {{"dtype", dtype}, {"value", value}});
  }
  Node string_imm(const std::string& text) {
    return add("tir.StringImm", {{"dtype", "handle"}, {"value", ref(string(text))}});
  }
  Node var(const std::string& name, const std::string& dtype = "int32") {
    const Node type = add("PrimType", {{"dtype", dtype}});
    return add("tir.Var", {{"dtype", dtype}, {"name", ref(string(name))}, {"type_annotation", ref(type)}});
  }
  // A pointer; without `element` TVM's untyped handle.
  Node handle(const std::string& name, const std::string& element = "", const std::string& scope = "") {
    if (element.empty()) return var(name, "handle");
    const Node type = add("PointerType", {{"element_type", ref(add("PrimType", {{"dtype", element}}))},
                                          {"storage_scope", ref(string(scope))}});
    return add("tir.Var", {{"dtype", "handle"}, {"name", ref(string(name))}, {"type_annotation", ref(type)}});
  }
  Node binary(const std::string& type_key, Node a, Node b, const std::string& dtype = "int32") {
    return add(type_key, {{"a", ref(a)}, {"b", ref(b)}, {"dtype", dtype}});
  }
  Node call(const std::string& name, const Nodes& args, const std::string& dtype = "int32") {
    return add("tir.Call", {{"op", ref(op(name))}, {"args", ref(array(args))}, {"dtype", dtype}});
  }
  Node call_extern(const std::string& callee, Nodes args) {
    args.insert(args.begin(), string_imm(callee));
    return call("tir.call_extern", args);
  }
  Node buffer(Node data, const std::string& dtype, const Nodes& shape, const Nodes& strides = {},
              Node elem_offset = 0) {
    return add("tir.Buffer", {{"data", ref(data)},
                              {"dtype", dtype},
                              {"shape", ref(array(shape))},
                              {"strides", ref(array(strides))},
                              {"elem_offset", ref(elem_offset != 0 ? elem_offset : integer(0))},
                              {"name", ref(string("buffer"))}});
  }
  Node load(Node source, const Nodes& indices, const std::string& dtype = "int32", Node predicate = 0) {
    return add(
        "tir.BufferLoad",
        {{"buffer", ref(source)}, {"indices", ref(array(indices))}, {"dtype", dtype}, {"predicate", ref(predicate)}});
  }

  // --- Statements ---
  Node store(Node target, const Nodes& indices, Node value, Node predicate = 0) {
    return add("tir.BufferStore", {{"buffer", ref(target)},
                                   {"indices", ref(array(indices))},
                                   {"value", ref(value)},
                                   {"predicate", ref(predicate)}});
  }
  Node allocate(Node buffer_var, const std::string& dtype, const Nodes& extents, Node body,
                const Attributes& annotations = {}) {
    return add("tir.Allocate", {{"buffer_var", ref(buffer_var)},
                                {"dtype", dtype},
                                {"extents", ref(array(extents))},
                                {"condition", ref(integer(1, "bool"))},
                                {"body", ref(body)},
                                {"annotations", ref(map(annotations))}});
  }
  // `data` 0: the constant is the module's number `storage_index`.
  Node allocate_const(Node buffer_var, const std::string& dtype, const Nodes& extents, Node data, Node body,
                      std::int64_t storage_index = -1) {
    const Node index = storage_index >= 0 ? integer(storage_index) : 0;
    return add("tir.AllocateConst", {{"buffer_var", ref(buffer_var)},
                                     {"dtype", dtype},
                                     {"extents", ref(array(extents))},
                                     {"data", ref(data)},
                                     {"irmod_storage_idx", ref(index)},
                                     {"body", ref(body)},
                                     {"annotations", ref(map({}))}});
  }
  Node for_loop(Node loop_var, Node min, Node extent, Node body, int kind = 0) {
    return add("tir.For", {{"loop_var", ref(loop_var)},
                           {"min", ref(min)},
                           {"extent", ref(extent)},
                           {"kind", std::to_string(kind)},
                           {"body", ref(body)}});
  }
  Node let_stmt(Node variable, Node value, Node body) {
    return add("tir.LetStmt", {{"var", ref(variable)}, {"value", ref(value)}, {"body", ref(body)}});
  }
  Node attr_stmt(Node node, const std::string& key, Node value, Node body) {
    return add("tir.AttrStmt",
               {{"node", ref(node)}, {"attr_key", ref(string(key))}, {"value", ref(value)}, {"body", ref(body)}});
  }
  Node if_then_else(Node condition, Node then_case, Node else_case = 0) {
    return add("tir.IfThenElse",
               {{"condition", ref(condition)}, {"then_case", ref(then_case)}, {"else_case", ref(else_case)}});
  }
  Node seq(const Nodes& statements) { return add("tir.SeqStmt", {{"seq", ref(array(statements))}}); }
  Node evaluate(Node value) { return add("tir.Evaluate", {{"value", ref(value)}}); }

  // --- Functions and modules ---
  struct Param {
    Node var;
    Node buffer = 0;  // its entry in buffer_map
  };
  Node function(const std::vector<Param>& params, Node body, const Attributes& attributes = {}) {
    Nodes vars;
    std::vector<std::pair<Node, Node>> buffers;
    for (const Param& param : params) {
      vars.push_back(param.var);
      if (param.buffer != 0) buffers.emplace_back(param.var, param.buffer);
    }
    return add("tir.PrimFunc", {{"params", ref(array(vars))},
                                {"body", ref(body)},
                                {"ret_type", "0"},
                                {"buffer_map", ref(node_map(buffers))},
                                {"attrs", ref(dict_attrs(attributes))}});
  }
  Node target(const std::string& kind) {
    const Node kind_node = add("TargetKind", {{"name", ref(string(kind))}});
    return add("Target", {{"kind", ref(kind_node)}, {"attrs", ref(map({}))}});
  }
  void add_blob(std::string encoded) { blobs_.push_back(std::move(encoded)); }
  void set_version(std::string version) { version_ = std::move(version); }

  // The JSON of a module of these functions (GlobalVar nodes or names to PrimFunc nodes).
  std::string module(const std::vector<std::pair<std::string, Node>>& functions, const Attributes& attributes = {}) {
    std::vector<std::pair<Node, Node>> entries;
    for (const auto& [name, node] : functions) entries.emplace_back(global_var(name), node);
    return module_of(entries, attributes);
  }
  std::string module_of(const std::vector<std::pair<Node, Node>>& functions, const Attributes& attributes = {}) {
    const Node root =
        add("IRModule", {{"functions", ref(node_map(functions))}, {"attrs", ref(dict_attrs(attributes))}});
    return dump(root);
  }
  // A module of one entry function called "main", whose parameters are the variables that the body does not declare.
  std::string module_of_body(Node body, const Attributes& attributes = {}) {
    return module({{"main", function(free_vars(body), body, {{"runner_function", integer(1)}})}}, attributes);
  }
  [[nodiscard]] std::string dump(Node root) const {
    std::string json = "{\"root\": " + std::to_string(root) + ", \"nodes\": [";
    for (const nlohmann::json& node : nodes_) json += (&node == nodes_.data() ? "" : ", ") + node.dump();
    const nlohmann::json rest{{"b64ndarrays", blobs_}, {"attrs", {{"tvm_version", version_}}}};
    return json + "], " + rest.dump().substr(1);
  }

 private:
  // Variables that attributes lead to from the body, in order of their nodes, without those that it declares.
  [[nodiscard]] std::vector<Param> free_vars(Node body) const {
    std::vector<bool> reached(nodes_.size());
    std::vector<bool> declared(nodes_.size());
    Nodes open{body};
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      if (node >= nodes_.size() || reached[node]) continue;
      reached[node] = true;
      for (const auto& child : nodes_[node].value("data", nlohmann::json::array())) {
        if (child.is_number_unsigned()) open.push_back(child.get<Node>());
      }
      const std::string type = nodes_[node].at("type_key").get<std::string>();
      if (type == "IntImm" || type == "FloatImm" || !nodes_[node].contains("attrs")) continue;
      for (const auto& [name, value] : nodes_[node].at("attrs").items()) {
        constexpr std::string_view numbers[] = {"lanes", "kind", "iter_type"};
        if (std::find(std::begin(numbers), std::end(numbers), name) != std::end(numbers)) continue;
        const std::string text = value.is_string() ? value.get<std::string>() : "";
        if (text.empty() || text.size() > 9 || text.find_first_not_of("0123456789") != std::string::npos) continue;
        const Node child = std::stoul(text);
        if (type != "tir.Load" && type != "tir.Store" && child < nodes_.size() &&
            (name == "buffer_var" || name == "var" || name == "loop_var")) {
          declared[child] = true;
        }
        open.push_back(child);
      }
    }
    std::vector<Param> vars;
    for (Node node = 0; node < nodes_.size(); ++node) {
      if (reached[node] && !declared[node] && nodes_[node].at("type_key") == "tir.Var") vars.push_back({node});
    }
    return vars;
  }

  std::vector<nlohmann::json> nodes_;
  std::vector<std::string> blobs_;
  std::string version_ = "0.12.0";
};

}  // namespace usmp::testing
