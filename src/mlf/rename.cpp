// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Replaces the module's name in paths, metadata, TIR and C.
#include "usmp/mlf/rename.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

// Identifiers that are `from`, or begin with it and '_', begin with `to`.
void replace_symbol(std::string& text, std::string_view from, std::string_view to) {
  std::string result;
  std::size_t copied = 0;
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + 1)) {
    const std::size_t end = at + from.size();
    const bool begins = at == 0 || !is_identifier_char(text[at - 1]);
    const bool ends = end == text.size() || text[end] == '_' || !is_identifier_char(text[end]);
    if (!begins || !ends) continue;
    result.append(text, copied, at - copied).append(to);
    copied = end;
  }
  if (copied == 0) return;
  text = result.append(text, copied);
}

class Renamer {
 public:
  Renamer(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}

  void rename_text(std::string& text) const {
    const std::string symbol = "tvmgen_" + c_identifier(from_);
    const std::string renamed = "tvmgen_" + to_;
    replace_symbol(text, symbol, renamed);
    replace_symbol(text, upper_case(symbol), upper_case(renamed));
  }

  // "codegen/host/src/M_lib2.c", "M.plan.json".
  void rename_path(std::string& path) const {
    const std::string library = "codegen/host/src/" + from_ + "_lib";
    if (path.starts_with(library)) path.replace(library.size() - from_.size() - 4, from_.size(), to_);
    if (path == from_ + ".plan.json") path = to_ + ".plan.json";
  }

 private:
  std::string from_;
  std::string to_;
};

}  // namespace

void rename_module(Archive& archive, model::Description& info, const std::string& name) {
  const Renamer renamer(info.name, name);
  std::set<std::string> texts(info.c_members.begin(), info.c_members.end());
  texts.insert(info.foreign_members.begin(), info.foreign_members.end());
  texts.insert(info.tir_member);
  for (Member& member : archive.members) {
    if (texts.contains(member.name)) renamer.rename_text(member.own_bytes());
    renamer.rename_path(member.name);
  }
  for (auto* names : {&info.c_members, &info.foreign_members}) {
    for (std::string& path : *names) renamer.rename_path(path);
  }
  for (model::ForeignFunction& function : info.foreign_functions) {
    renamer.rename_text(function.name);
    renamer.rename_text(function.prototype);
    renamer.rename_path(function.member);
  }
  info.name = name;
}

}  // namespace usmp::mlf
