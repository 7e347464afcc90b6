// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What names stand for while a file is read, also where several parts of a conditional group may be taken.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "usmp/c/preprocessor.hpp"

namespace usmp::c {

class MacroTable {
 public:
  explicit MacroTable(const Environment& environment) : environment_(environment) {}

  [[nodiscard]] const Environment& environment() const { return environment_; }

  enum class Defined : std::uint8_t { no, yes, unknown };
  [[nodiscard]] Defined defined(std::string_view name) const;

  // Null: no file defines the name.
  [[nodiscard]] const MacroState* find(std::string_view name) const {
    const auto found = states_.find(name);
    return found == states_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<std::string_view, MacroState>& all() const { return states_; }

  void define(const Macro& macro) { set(macro.name, {{&macro}, false, false}); }
  void undefine(std::string_view name) { set(name, {{}, true, false}); }
  void set_undefined_outside(std::string_view name) { undefined_outside_.insert(name); }

  // Around parts one of which may be taken, each from the state in front of the first. Of those that are not read,
  // nothing is defined: `one_is_taken` says that there is none such.
  void open_alternatives() { frames_.emplace_back(); }
  void next_alternative();
  void close_alternatives(bool one_is_taken);

 private:
  using States = std::map<std::string_view, MacroState>;
  struct Frame {
    States before;                       // of names that are changed inside
    std::vector<States> parts;           // what they were at the end of each part
    std::set<std::string_view> changed;  // in the part that is open
  };

  [[nodiscard]] MacroState state(std::string_view name) const;
  void set(std::string_view name, MacroState state);

  const Environment& environment_;
  States states_;
  std::set<std::string_view> undefined_outside_;
  std::vector<Frame> frames_;
};

}  // namespace usmp::c
