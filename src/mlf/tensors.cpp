// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Puts inputs and outputs into the header's order, and gives them its names.
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "mlf/c_text.hpp"
#include "mlf/modules.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

// The digits that start at `at`, leading zeros left out; `at` moves behind them.
std::string_view number_at(std::string_view text, std::size_t& at) {
  while (at < text.size() && text[at] == '0') ++at;
  const std::size_t begin = at;
  while (at < text.size() && is_digit(text[at])) ++at;
  return text.substr(begin, at - begin);
}

// The name as TVM makes a struct member of it: other characters than letters, digits and '_' become '_'.
std::string member_name(const std::string& name) {
  std::string sanitised = c_identifier(name);
  if (!name.empty() && is_digit(name[0])) sanitised.erase(0, 1);  // TVM puts nothing in front of a digit
  return sanitised;
}

// `known` is in natural order, which decides between names that sanitise alike.
std::vector<model::Tensor> in_header_order(std::vector<model::Tensor> known, const std::vector<std::string>& names,
                                           const std::map<std::string, Bytes, std::less<>>& macros,
                                           const std::string& prefix) {
  std::map<std::string, std::deque<std::size_t>> by_name;
  for (std::size_t i = 0; i < known.size(); ++i) by_name[member_name(known[i].name)].push_back(i);
  std::vector<bool> taken(known.size(), false);
  std::vector<model::Tensor> result;
  for (const std::string& name : names) {
    const auto at = by_name.find(name);
    if (at != by_name.end() && !at->second.empty()) {
      taken[at->second.front()] = true;
      result.push_back(known[at->second.front()]);
      at->second.pop_front();
    } else {
      const auto size = macros.find(prefix + upper_case(name) + "_SIZE");
      result.push_back({name, "", size == macros.end() ? std::nullopt : std::optional(size->second)});
    }
  }
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (!taken[i]) result.push_back(std::move(known[i]));
  }
  return result;
}

}  // namespace

bool natural_less(const std::string& a, const std::string& b) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (is_digit(a[i]) && is_digit(b[j])) {
      const std::string_view x = number_at(a, i);
      const std::string_view y = number_at(b, j);
      if (x.size() != y.size()) return x.size() < y.size();
      if (x != y) return x < y;
    } else {
      if (a[i] != b[j]) return static_cast<unsigned char>(a[i]) < static_cast<unsigned char>(b[j]);
      ++i;
      ++j;
    }
  }
  if (i == a.size() && j == b.size()) return a < b;  // "x1" and "x01"
  return i == a.size();
}

void order_tensors(const Archive& archive, model::Description& module) {
  const std::string prefix = "tvmgen_" + c_identifier(module.name);
  const Member* header = archive.find("codegen/host/include/" + prefix + ".h");
  if (header == nullptr) header = archive.find("codegen/host/include/tvmgen_" + module.name + ".h");
  for (const Member& member : archive.members) {
    if (header == nullptr && archive.is_checkout && mentions(member.bytes, prefix + "_inputs")) header = &member;
  }
  if (header == nullptr) return;
  const CText code(header->bytes);
  const auto macros = code.number_macros();
  const auto reorder = [&](std::vector<model::Tensor>& tensors, const std::string& struct_name) {
    const auto names = code.struct_members(struct_name);
    if (names) tensors = in_header_order(std::move(tensors), *names, macros, upper_case(prefix) + "_");
  };
  reorder(module.inputs, prefix + "_inputs");
  reorder(module.outputs, prefix + "_outputs");
}

}  // namespace usmp::mlf
