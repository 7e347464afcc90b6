// SPDX-License-Identifier: Apache-2.0
#include "tvm_c/included.hpp"

#include <deque>
#include <utility>

#include "usmp/support/text.hpp"

namespace usmp::tvm_c {
namespace {

std::string_view leaf(std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); }

// "model/sizes.h" of "model/sizes.h" or <model/sizes.h>
std::string_view included_name(std::string_view rest) {
  if (rest.empty() || (rest.front() != '"' && rest.front() != '<')) return {};
  const std::size_t end = rest.find(rest.front() == '"' ? '"' : '>', 1);
  return end == std::string_view::npos ? std::string_view() : rest.substr(1, end - 1);
}

}  // namespace

Included::Included(std::span<const Source> files, std::span<const Source> headers) : count_(files.size()) {
  std::map<std::string_view, std::vector<std::size_t>> by_name;
  for (const std::span<const Source> both : {files, headers}) {
    for (const Source& source : both) {
      by_name[leaf(source.name)].push_back(sources_.size());
      sources_.push_back(&source);
      own_.emplace_back(source.text);
    }
  }
  std::vector<std::set<std::size_t>> direct(sources_.size());
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    for (const std::string_view include : own_[i].includes()) {
      const auto found = by_name.find(leaf(included_name(include)));
      if (found != by_name.end()) direct[i].insert(found->second.begin(), found->second.end());
    }
  }
  for (std::size_t i = 0; i < count_; ++i) {
    std::set<std::size_t> seen = {i};
    for (std::deque<std::size_t> pending = {i}; !pending.empty(); pending.pop_front()) {
      for (const std::size_t next : direct[pending.front()]) {
        if (seen.insert(next).second) pending.push_back(next);
      }
    }
    std::map<std::string_view, std::optional<std::int64_t>> macros;
    for (const std::size_t one : seen) {
      for (const std::string_view name : own_[one].names()) {
        const auto [known, is_new] = macros.try_emplace(name, own_[one].number(name));
        if (!is_new) known->second.reset();
      }
    }
    macros_.push_back(std::move(macros));
    closed_.push_back(std::move(seen));
  }
}

bool Included::is_macro(std::size_t file, std::string_view name) const { return macros_[file].contains(name); }

std::optional<std::int64_t> Included::number(std::size_t file, std::string_view name) const {
  const auto found = macros_[file].find(name);
  return found == macros_[file].end() ? std::nullopt : found->second;
}

std::map<std::string_view, std::string_view> Included::definitions(std::size_t file) const {
  std::map<std::string_view, std::string_view> result;
  std::set<std::string_view> seen;
  for (const std::size_t one : closed_[file]) {
    for (const std::string_view name : own_[one].names()) {
      const auto definition = own_[one].definition(name);
      if (!seen.insert(name).second || !definition) {
        result.erase(name);
      } else {
        result.emplace(name, *definition);
      }
    }
  }
  return result;
}

std::map<std::string_view, std::vector<std::string_view>, std::less<>> Included::all_definitions(
    std::size_t file) const {
  std::map<std::string_view, std::vector<std::string_view>, std::less<>> result;
  for (const std::size_t one : closed_[file]) {
    for (const std::string_view name : own_[one].names()) {
      const std::vector<std::string_view> more = own_[one].definitions(name);
      auto& all = result[name];
      all.insert(all.end(), more.begin(), more.end());
    }
  }
  return result;
}

Names Included::names(std::size_t file) const {
  Names result;
  for (const auto& [name, number] : macros_[file]) result.emplace(name);
  return result;
}

std::set<std::size_t> Included::files_of(std::size_t file) const {
  const std::set<std::size_t>& all = closed_[file];
  return {all.begin(), all.lower_bound(count_)};
}

std::vector<const Source*> Included::headers_of(std::size_t file) const {
  std::vector<const Source*> headers;
  for (auto at = closed_[file].lower_bound(count_); at != closed_[file].end(); ++at) headers.push_back(sources_[*at]);
  return headers;
}

}  // namespace usmp::tvm_c
