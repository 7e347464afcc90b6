// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/pool_params.hpp"

#include <algorithm>
#include <map>

#include "tvm_c/expressions.hpp"
#include "tvm_c/function_tokens.hpp"
#include "usmp/tir/ir.hpp"

namespace usmp::tvm_c {
namespace {

// Of parameters in their order: a name, if the parameter is a pool.
std::vector<std::optional<std::string_view>> pools_in(const std::vector<Token>& params) {
  std::vector<std::optional<std::string_view>> result;
  std::size_t depth = 0;
  bool is_bytes = false;
  Token last;
  for (const Token& token : params) {
    if (token.is("uint8_t")) is_bytes = true;
    if ((token.is(",") || token.is(")")) && depth == 0) {
      const bool is_pool = is_bytes && last.is_identifier() && pool_of_param(last.text);
      result.push_back(is_pool ? std::optional(last.text) : std::nullopt);
      is_bytes = false;
    }
    if (token.is("(")) ++depth;
    if (token.is(")") && depth > 0) --depth;
    last = token;
  }
  return result;
}

// Sizes of what the text names: {buffer, 1152}.
std::map<std::string_view, Bytes> said_sizes(const std::vector<Token>& body) {
  std::map<std::string_view, Bytes> sizes;
  for (std::size_t i = 0; i + 4 < body.size(); ++i) {
    if (!body[i].is("{") || !body[i + 1].is_identifier() || !body[i + 2].is(",") || !body[i + 4].is("}")) continue;
    const auto size = number_at(body, i + 3);
    if (!size) continue;
    const auto [known, is_new] = sizes.emplace(body[i + 1].text, *size);
    if (!is_new) known->second = std::max(known->second, *size);
  }
  return sizes;
}

class PoolUses {
 public:
  explicit PoolUses(const FunctionText& function)
      : body_(tokens_of(function.body)), names_(pools_in(tokens_of(function.params))), sizes_(said_sizes(body_)) {}

  std::vector<std::optional<PoolParam>> find() {
    std::vector<std::optional<PoolParam>> result;
    for (const auto& name : names_) {
      if (!name) {
        result.emplace_back();
        continue;
      }
      PoolParam param;
      param.pool = *pool_of_param(*name);
      bool is_sized = true;
      for (std::size_t i = 0; i < body_.size(); ++i) {
        if (body_[i].is(*name)) is_sized = add(param, i) && is_sized;
      }
      if (!is_sized) param.end.reset();
      result.push_back(std::move(param));
    }
    return result;
  }

 private:
  // Whether the size of what is taken there is known.
  bool add(PoolParam& param, std::size_t i) const {
    std::size_t front = i;
    while (front > 0 && body_[front - 1].is("(")) --front;
    const bool is_element =
        front > 0 && body_[front - 1].is("&") && i + 3 < body_.size() && body_[i + 1].is("[") && body_[i + 3].is("]");
    const auto offset = is_element ? number_at(body_, i + 2) : std::nullopt;
    if (!offset) fail_at(body_[i], "(&(pool[offset])) where a function whose C stays gets a pool that TVM has planned");
    const Token& number = body_[i + 2];
    param.offsets.push_back({number.offset, number.text.size(), *offset});
    param.begin = param.is_used ? std::min(param.begin, *offset) : *offset;
    param.is_used = true;
    // void* buffer = (&(pool[8]));
    --front;
    while (front > 0 && body_[front - 1].is("(")) --front;
    if (front < 2 || !body_[front - 1].is("=")) return false;
    const auto size = sizes_.find(body_[front - 2].text);
    if (size == sizes_.end()) return false;
    param.end = std::max(param.end.value_or(0), *offset + size->second);
    return true;
  }

  std::vector<Token> body_;
  std::vector<std::optional<std::string_view>> names_;
  std::map<std::string_view, Bytes> sizes_;
};

}  // namespace

std::vector<std::optional<PoolParam>> pool_params(const FunctionText& function) { return PoolUses(function).find(); }

std::vector<PoolEdit> edits_of(const std::vector<std::optional<PoolParam>>& params) {
  std::vector<PoolEdit> edits;
  for (const auto& param : params) {
    if (!param) continue;
    for (const PoolParam::Offset& offset : param->offsets) {
      if (param->begin > 0) edits.push_back({offset.at, offset.size, std::to_string(offset.value - param->begin)});
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
