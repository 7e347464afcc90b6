// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Builds the tree from yaml-cpp's events, and puts its messages in plain words.
#include "config/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <cassert>
#include <map>
#include <sstream>
#include <utility>

#include "config/text_check.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/line_and_column.hpp"

namespace usmp::config {
namespace {

Mark to_mark(const YAML::Mark& mark) {
  if (mark.is_null()) return {};
  return {static_cast<std::size_t>(mark.line) + 1, static_cast<std::size_t>(mark.column) + 1};
}

[[noreturn]] void fail_alias(const YAML::Mark& mark) {
  fail(to_mark(mark), "an alias ('*'): anchors and aliases are not supported, write the value out");
}

// Builds the tree from the parser's events. Works on events and not on YAML::Node because nodes have lost what must
// be refused: aliases are resolved there (so a small file can stand for a huge tree) and repeated keys are dropped.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {
    line_starts_.push_back(0);
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') line_starts_.push_back(i + 1);
    }
  }

  [[nodiscard]] YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) fail(to_mark(mark), "a second document: expected one document in the file");
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { leaf(mark, {}); }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t /*anchor*/) override { fail_alias(mark); }

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    fail(to_mark(mark), "the anchor " + shown("&" + name) +
                            ": anchors and aliases are not supported, write the value out where it is needed");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                const std::string& value) override {
    refuse_tag(mark, tag);
    check_quotes(to_mark(mark));
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.text = value;
    node.quoted = tag == "!";
    leaf(mark, std::move(node));
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::list);
  }
  void OnSequenceEnd() override { close(); }

  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(mark, YamlNode::Kind::map);
  }
  void OnMapEnd() override { close(); }

 private:
  // A list or map whose end has not come.
  struct Level {
    YamlNode node;
    bool has_key = false;  // of a map: `key` waits for its value
    Mark key_mark;
    std::string key;
    std::map<std::string, std::size_t> key_lines;
  };

  // yaml-cpp gives "?" to a plain node without a tag and "!" to a quoted one.
  static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    constexpr std::string_view standard = "tag:yaml.org,2002:";  // written "!!"
    const std::string written = tag.starts_with(standard) ? "!!" + tag.substr(standard.size()) : tag;
    fail(to_mark(mark), "the tag " + shown(written) + ": tags are not supported");
  }

  // The parser ends a quoted text at the end of the file without complaint.
  void check_quotes(Mark mark) const {
    if (mark.line > line_starts_.size()) return;
    std::size_t at = line_starts_[mark.line - 1] + mark.column - 1;
    if (at >= text_.size()) return;
    const char quote = text_[at];
    if (quote != '"' && quote != '\'') return;
    for (++at; at < text_.size(); ++at) {
      if (quote == '"' && text_[at] == '\\') {
        ++at;
      } else if (text_[at] == quote) {
        if (quote == '"' || !text_.substr(at).starts_with("''")) return;
        ++at;
      }
    }
    fail(mark, "a quote that is never closed");
  }

  [[nodiscard]] bool awaits_key() const {
    return !levels_.empty() && levels_.back().node.kind == YamlNode::Kind::map && !levels_.back().has_key;
  }

  void leaf(const YAML::Mark& mark, YamlNode node) {
    node.mark = to_mark(mark);
    if (awaits_key()) {
      take_key(node);
    } else {
      add(std::move(node));
    }
  }

  void take_key(const YamlNode& node) {
    if (node.kind == YamlNode::Kind::null) fail(node.mark, "an empty key: expected a name before ':'");
    if (node.text == "<<") fail(node.mark, "the merge key '<<': merging is not supported, write the keys out");
    Level& level = levels_.back();
    const auto [first, is_new] = level.key_lines.emplace(node.text, node.mark.line);
    if (!is_new) {
      fail(node.mark,
           "key " + shown(node.text) + " appears twice (first on line " + std::to_string(first->second) + ")");
    }
    level.key = node.text;
    level.key_mark = node.mark;
    level.has_key = true;
  }

  void open(const YAML::Mark& mark, YamlNode::Kind kind) {
    if (awaits_key()) {
      fail(to_mark(mark), kind == YamlNode::Kind::list ? "a list as a key: expected a name before ':'"
                                                       : "a map as a key: expected a name before ':'");
    }
    if (levels_.size() == max_depth) {
      fail(to_mark(mark), "nested deeper than " + std::to_string(max_depth) + " levels");
    }
    Level& level = levels_.emplace_back();
    level.node.kind = kind;
    level.node.mark = to_mark(mark);
  }

  void close() {
    assert(!levels_.empty());
    YamlNode node = std::move(levels_.back().node);
    levels_.pop_back();
    add(std::move(node));
  }

  void add(YamlNode node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& level = levels_.back();
    if (level.node.kind == YamlNode::Kind::list) {
      level.node.items.push_back(std::move(node));
      return;
    }
    // The parser puts an absent value where the next token stands, which may be lines below.
    if (node.kind == YamlNode::Kind::null) node.mark = level.key_mark;
    level.node.entries.push_back({level.key_mark, std::move(level.key), std::move(node)});
    level.has_key = false;
  }

  std::string_view text_;
  std::vector<std::size_t> line_starts_;  // offsets into text_
  std::size_t documents_ = 0;
  std::vector<Level> levels_;
  YamlNode root_;
};

// What the parser says in the words of its grammar, in those of somebody who writes the file.
std::string in_plain_words(const std::string& message) {
  namespace said = YAML::ErrorMsg;
  if (message == said::MAP_VALUE)
    return "found ':' inside a value, expected quotes around it, or a ':' behind the key above";
  if (message == said::END_OF_MAP || message == said::END_OF_SEQ || message == said::BLOCK_ENTRY ||
      message == said::MAP_KEY) {
    return "found an indentation or '-' that matches no line above, expected the indentation of the entries that the "
           "line belongs to";
  }
  return message;
}

}  // namespace

void fail(Mark mark, std::string message) {
  throw Error(ErrorKind::usage, Location{.file = {}, .member = {}, .place = line_and_column(mark.line, mark.column)},
              std::move(message));
}

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result = "'";
  std::size_t length = text.size();
  if (length > longest) {
    length = longest;
    while (length > 0 && is_utf8_continuation(text[length])) --length;
  }
  for (const char c : text.substr(0, length)) result += is_control(c) ? ' ' : c;
  if (length < text.size()) result += "…";
  return result + "'";
}

YamlNode read_yaml(std::string_view text) {
  check_text(text);
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  std::istringstream stream{std::string(text)};
  TreeBuilder builder(text);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    if (error.msg == YAML::ErrorMsg::UNKNOWN_ANCHOR) fail_alias(error.mark);
    fail(to_mark(error.mark), "not valid YAML: " + in_plain_words(error.msg));
  }
  return builder.take();
}

}  // namespace usmp::config
