// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Finds which bytes of TVM's pools a kept function takes.
#include "tvm_c/kept/pool_params.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "tvm_c/text/function_tokens.hpp"
#include "tvm_c/text/macros.hpp"
#include "tvm_c/text/syntax.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {
namespace {

// The brackets in front of a token.
std::size_t front_of(std::span<const Token> tokens, std::size_t i) {
  while (i > 0 && tokens[i - 1].is("(")) --i;
  return i;
}

// (uintptr_t)(pool), as a device gets its address.
bool is_taken_as_number(std::span<const Token> body, std::size_t i) {
  const std::size_t front = front_of(body, i);
  if (front < 3 || !body[front - 1].is(")") || !body[front - 3].is("(")) return false;
  constexpr std::array<std::string_view, 4> types = {"uintptr_t", "uint64_t", "uint32_t", "intptr_t"};
  return std::any_of(types.begin(), types.end(), [&](std::string_view type) { return body[front - 2].is(type); });
}

// For parameters in their order: a name, if the parameter is a pool. TVM's Ethos-U has all of them as void*.
std::vector<std::optional<Token>> pools_in(std::span<const Token> params, std::span<const Token> body) {
  const auto is_pool = [&](std::string_view type, const Token& name) {
    if (type.empty() || !name.is_identifier() || !pool_of_param(name.text)) return false;
    if (type == "uint8_t") return true;
    for (std::size_t i = 0; i < body.size(); ++i) {
      if (body[i].is(name.text) && !is_taken_as_number(body, i)) return false;
    }
    return true;
  };
  std::vector<std::optional<Token>> result;
  std::size_t depth = 0;
  std::string_view type;
  Token last;
  for (const Token& token : params) {
    if (token.is("uint8_t") || token.is("void")) type = token.text;
    if ((token.is(",") || token.is(")")) && depth == 0) {
      result.push_back(is_pool(type, last) ? std::optional(last) : std::nullopt);
      type = {};
    }
    if (token.is("(")) ++depth;
    if (token.is(")") && depth > 0) --depth;
    last = token;
  }
  return result;
}

// Sizes of buffers that CMSIS-NN alone uses: cmsis_nn_context context= {buffer,1152}; of which &context is passed on.
std::map<std::string_view, Bytes> said_sizes(std::span<const Token> body) {
  std::map<std::string_view, Bytes> sizes;
  std::set<std::size_t> known;  // tokens
  std::map<std::string_view, std::string_view> contexts;
  for (std::size_t i = 3; i + 4 < body.size(); ++i) {
    const bool is_context = body[i].is("{") && body[i - 1].is("=") && body[i - 3].is("cmsis_nn_context") &&
                            body[i + 1].is_identifier() && body[i + 2].is(",") && body[i + 4].is("}");
    const auto size = is_context ? number_at(body, i + 3) : std::nullopt;
    if (!size) continue;
    const auto [said, is_new] = sizes.emplace(body[i + 1].text, *size);
    if (!is_new) said->second = std::max(said->second, *size);
    contexts.emplace(body[i - 2].text, body[i + 1].text);
    known.insert({i - 2, i + 1});
  }
  for (std::size_t i = 0; i + 1 < body.size(); ++i) {
    const auto context = contexts.find(body[i].text);
    const bool is_buffer = sizes.contains(body[i].text);
    if ((!is_buffer && context == contexts.end()) || known.contains(i)) continue;
    const bool is_plain = is_buffer ? i > 0 && body[i - 1].is("*") && body[i + 1].is("=")
                                    : i > 0 && body[i - 1].is("&") && (body[i + 1].is(",") || body[i + 1].is(")"));
    if (!is_plain) sizes.erase(is_buffer ? body[i].text : context->second);
  }
  return sizes;
}

class PoolUses {
 public:
  explicit PoolUses(const FunctionText& function)
      : text_(function.file_text()),
        params_(function.params),
        body_(function.body),
        names_(pools_in(params_, body_)),
        sizes_(said_sizes(body_)) {}

  std::vector<std::optional<PoolParam>> find(const PoolMacros& macros) {
    std::vector<std::optional<PoolParam>> result;
    for (const auto& name : names_) {
      if (!name) {
        result.emplace_back();
        continue;
      }
      if (macros.pools.contains(name->text)) {
        throw SyntaxError{name->offset, "found pool " + in_quotes(name->text) +
                                            ", which a macro of the file names, too, expected its name in the text of "
                                            "the function, whose C stays: write there what the macro stands for"};
      }
      require_plain(macros.pasting);
      PoolParam param;
      param.pool = *pool_of_param(name->text);
      bool is_sized = true;
      for (std::size_t i = 0; i < body_.size(); ++i) {
        if (body_[i].is(name->text)) is_sized = add(param, i) && is_sized;
      }
      if (!is_sized) param.end.reset();
      if (param.is_whole) param.begin = 0;
      result.push_back(std::move(param));
    }
    return result;
  }

 private:
  // No macro that makes names, which may be those of pools and buffers.
  void require_plain(const Names& pasting) const {
    for (const Token& token : body_) {
      if (!token.is_identifier() || !pasting.contains(token.text)) continue;
      throw SyntaxError{token.offset, "found " + in_quotes(token.text) +
                                          ", a macro that makes names, in a function that gets a pool of TVM's and "
                                          "whose C stays, expected names as they are: write there what the macro "
                                          "stands for"};
    }
  }

  // Whether the size of what is taken there is known.
  bool add(PoolParam& param, std::size_t i) const {
    if (is_taken_as_number(body_, i)) {
      add_name(param, body_[i]);
      param.is_used = true;
      param.is_whole = true;
      return false;
    }
    std::size_t front = front_of(body_, i);
    if (is_cut(i, front)) return true;
    const bool is_element =
        front > 0 && body_[front - 1].is("&") && i + 3 < body_.size() && body_[i + 1].is("[") && body_[i + 3].is("]");
    const auto offset = is_element ? number_at(body_, i + 2) : std::nullopt;
    if (!offset) fail_at(body_[i], "(&(pool[offset])) where a function whose C stays gets a pool that TVM has planned");
    // void* buffer = (&(pool[8]));
    const std::size_t address = --front;
    front = front_of(body_, front);
    const Token* const buffer = front >= 2 && body_[front - 1].is("=") ? &body_[front - 2] : nullptr;
    if (buffer != nullptr && front >= 4 && body_[front - 3].is("*") && is_unread(*buffer)) {
      const std::size_t begin = body_[i + 1].offset;
      param.cuts.push_back({body_[address].offset, 1, {}});
      param.cuts.push_back({begin, body_[i + 3].offset + 1 - begin, {}});
      return true;
    }
    const Token& number = body_[i + 2];
    param.offsets.push_back({number.offset, number.text.size(), *offset});
    add_name(param, body_[i]);
    param.begin = param.offsets.size() > 1 ? std::min(param.begin, *offset) : *offset;
    param.last = std::max(param.last, *offset);
    param.is_used = true;
    const auto size = buffer == nullptr ? sizes_.end() : sizes_.find(buffer->text);
    if (size == sizes_.end()) return false;
    param.end = std::max(param.end.value_or(0), *offset + size->second);
    return true;
  }

  static void add_name(PoolParam& param, const Token& name) {
    param.names.push_back({name.offset, name.text.size(), "((uint8_t*)(uintptr_t)&" + param.pool + ")"});
  }

  // void* buffer = ((pool));, as `cuts` leave it of a pointer that nothing reads.
  [[nodiscard]] bool is_cut(std::size_t i, std::size_t front) const {
    if (front < 3 || !body_[front - 1].is("=") || !body_[front - 3].is("*") || !is_unread(body_[front - 2]))
      return false;
    const std::size_t end = 2 * i + 1 - front;  // behind as many brackets as open in front
    for (std::size_t k = i + 1; k < end; ++k) {
      if (k >= body_.size() || !body_[k].is(")")) return false;
    }
    return end < body_.size() && body_[end].is(";");
  }

  // A pointer that is declared and never named again, by a macro of the file neither.
  [[nodiscard]] bool is_unread(const Token& buffer) const {
    return text_.find(buffer.text) == buffer.offset && text_.rfind(buffer.text) == buffer.offset;
  }

  std::string_view text_;  // of the file
  std::span<const Token> params_;
  std::span<const Token> body_;
  std::vector<std::optional<Token>> names_;
  std::map<std::string_view, Bytes> sizes_;
};

}  // namespace

std::vector<std::optional<PoolParam>> pool_params(const FunctionText& function, const PoolMacros& macros) {
  return PoolUses(function).find(macros);
}

PoolMacros pool_macros(const std::vector<std::string_view>& texts) {
  PoolMacros result;
  for (const std::string_view text : texts) {
    for (const Directive& directive : directives_or_none(text)) {
      for_each_identifier(directive.rest, [&](std::string_view word) {
        if (word.ends_with("_var") && pool_of_param(word)) result.pools.emplace(word);
      });
    }
  }
  result.pasting = macros_with(macro_definitions(texts), [](std::string_view definition) {
    return definition.find("##") != std::string_view::npos;
  });
  return result;
}

std::vector<PoolEdit> edits_of(const std::vector<std::optional<PoolParam>>& params) {
  std::vector<PoolEdit> edits;
  for (const auto& param : params) {
    if (!param) continue;
    edits.insert(edits.end(), param->cuts.begin(), param->cuts.end());
    if (param->is_named) edits.insert(edits.end(), param->names.begin(), param->names.end());
    if (param->is_named || param->begin == 0) continue;
    for (const PoolParam::Offset& offset : param->offsets) {
      edits.push_back({offset.at, offset.size, std::to_string(offset.value - param->begin)});
    }
  }
  std::sort(edits.begin(), edits.end(), [](const PoolEdit& a, const PoolEdit& b) { return a.at < b.at; });
  return edits;
}

std::string edited(std::string_view text, std::size_t begin, std::size_t end, const std::vector<PoolEdit>& edits) {
  std::string result;
  std::size_t from = begin;
  for (const PoolEdit& edit : edits) {
    if (edit.at < from || edit.at >= end) continue;
    result += text.substr(from, edit.at - from);
    result += edit.text;
    from = edit.at + edit.size;
  }
  result += text.substr(from, end - from);
  return result;
}

}  // namespace usmp::tvm_c
