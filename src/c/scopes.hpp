// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Which declarations names and tags mean at a place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace usmp::c {

// Names of one kind, to what they mean. Opening and closing scopes costs no more than the names in them.
template <class Meaning>
class Scopes {
 public:
  // One scope more, for as long as it lives.
  class Opened {
   public:
    explicit Opened(Scopes& scopes) : scopes_(scopes) { scopes_.opened_.push_back(scopes_.declared_.size()); }
    Opened(const Opened&) = delete;
    Opened& operator=(const Opened&) = delete;
    ~Opened() { scopes_.close(); }

   private:
    Scopes& scopes_;
  };

  void declare(std::string_view name, Meaning meaning) {
    meanings_[name].push_back({opened_.size(), meaning});
    declared_.push_back(name);
  }
  [[nodiscard]] std::optional<Meaning> find(std::string_view name) const {
    const auto found = meanings_.find(name);
    return found == meanings_.end() || found->second.empty() ? std::nullopt
                                                             : std::optional(found->second.back().second);
  }
  // What it means by a declaration of the innermost scope.
  [[nodiscard]] std::optional<Meaning> find_here(std::string_view name) const {
    const auto found = meanings_.find(name);
    const bool is_here =
        found != meanings_.end() && !found->second.empty() && found->second.back().first == opened_.size();
    return is_here ? std::optional(found->second.back().second) : std::nullopt;
  }

 private:
  void close() {
    while (declared_.size() > opened_.back()) {
      meanings_[declared_.back()].pop_back();
      declared_.pop_back();
    }
    opened_.pop_back();
  }

  std::unordered_map<std::string_view, std::vector<std::pair<std::size_t, Meaning>>> meanings_;
  std::vector<std::string_view> declared_;
  std::vector<std::size_t> opened_;
};

}  // namespace usmp::c
