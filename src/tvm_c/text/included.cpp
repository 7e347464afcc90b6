// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Follows #include between files, and joins what their macros stand for.
#include "tvm_c/text/included.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <utility>

#include "usmp/support/checked.hpp"
#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

// "model/sizes.h" of "model/sizes.h" or <model/sizes.h>
std::string_view included_name(std::string_view rest) {
  if (rest.empty() || (rest.front() != '"' && rest.front() != '<')) return {};
  const std::size_t end = rest.find(rest.front() == '"' ? '"' : '>', 1);
  return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
}

// All that edges lead to from there, with that.
std::set<std::size_t> reached(const std::vector<std::set<std::size_t>>& edges, std::size_t from) {
  std::set<std::size_t> seen = {from};
  for (std::deque<std::size_t> pending = {from}; !pending.empty(); pending.pop_front()) {
    for (const std::size_t next : edges[pending.front()]) {
      if (seen.insert(next).second) pending.push_back(next);
    }
  }
  return seen;
}

}  // namespace

Included::Included(std::span<const Source> files, std::span<const Source> headers) : count_(files.size()) {
  std::map<std::size_t, Error> faults;
  for (const std::span<const Source> both : {files, headers}) {
    for (const Source& source : both) {
      by_name_[std::string(leaf_of(source.name))].push_back(code_.size());
      names_.push_back(source.name);
      try {
        code_.push_back(split(source));
      } catch (const SyntaxError& error) {
        faults.emplace(code_.size(), located(source, error));
        code_.push_back(split(""));
      }
      own_.emplace_back(code_.back());
    }
  }
  std::vector<std::set<std::size_t>> direct(code_.size());
  std::vector<std::set<std::size_t>> certain(code_.size());
  for (std::size_t i = 0; i < code_.size(); ++i) {
    for (const Macros::Include& include : own_[i].includes()) {
      const auto found = by_name_.find(leaf_of(included_name(include.name)));
      if (found == by_name_.end()) continue;
      direct[i].insert(found->second.begin(), found->second.end());
      if (!include.is_conditional && found->second.size() == 1) certain[i].insert(found->second.front());
    }
  }
  for (std::size_t i = 0; i < count_; ++i) {
    std::set<std::size_t> seen = reached(direct, i);
    for (const std::size_t one : seen) {
      if (const auto fault = faults.find(one); fault != faults.end()) throw fault->second;
    }
    std::set<std::size_t> sure = reached(certain, i);
    std::map<std::string_view, std::optional<Macros::Enumerator>> enumerators;
    for (const std::size_t one : seen) {
      for (const auto& [name, enumerator] : own_[one].enumerators()) {
        const auto [known, is_new] = enumerators.try_emplace(name, enumerator);
        if (!is_new || !sure.contains(one)) known->second.reset();
      }
    }
    enumerators_.push_back(std::move(enumerators));
    closed_.push_back(std::move(seen));
    certain_.push_back(std::move(sure));
  }
}

std::optional<std::int64_t> Included::number(std::size_t file, std::string_view name) const {
  return constant_operand(name, constants(file));
}

std::optional<std::int64_t> Included::enumerator(std::size_t file, std::string_view name) const {
  const auto found = enumerators_[file].find(name);
  if (found == enumerators_[file].end() || !found->second || is_macro(file, name)) return std::nullopt;
  ConstantNames names = constants(file);
  names.enumerator = nullptr;
  const auto base = found->second->base.empty() ? 0 : constant_value(found->second->base, names);
  const auto value = base ? checked_add(*base, found->second->more) : std::nullopt;
  return value && *value >= INT32_MIN && *value <= INT32_MAX ? value : std::nullopt;
}

ConstantNames Included::constants(std::size_t file) const {
  return {.definition = [this, file](std::string_view name) { return definition(file, name); },
          .enumerator = [this, file](std::string_view name) { return enumerator(file, name); }};
}

std::vector<std::string_view> Included::c_files(std::size_t file) const {
  std::vector<std::string_view> result;
  for (const Macros::Include& include : own_[file].includes()) {
    const std::string_view name = included_name(include.name);
    if (ends_with_any(name, {".c", ".cc", ".cpp", ".cxx"})) result.push_back(name);
  }
  return result;
}

const Macros& Included::all_macros(std::size_t file) const {
  const auto [all, is_new] = all_.try_emplace(file);
  if (is_new) {
    for (const std::size_t one : closed_[file]) all->second.add(own_[one], is_certain(file, one));
  }
  return all->second;
}

std::optional<std::size_t> Included::only_source(std::string_view name) const {
  const auto found = by_name_.find(leaf_of(name));
  return found == by_name_.end() || found->second.size() != 1 ? std::nullopt : std::optional(found->second.front());
}

std::set<std::size_t> Included::files_of(std::size_t file) const {
  const std::set<std::size_t>& all = closed_[file];
  return {all.begin(), all.lower_bound(count_)};
}

std::vector<std::size_t> Included::headers_of(std::size_t file) const {
  const std::set<std::size_t>& all = closed_[file];
  return {all.lower_bound(count_), all.end()};
}

}  // namespace usmp::tvm_c
