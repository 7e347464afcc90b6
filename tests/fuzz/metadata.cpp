// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// metadata.json, headers and C libraries of an archive, without a tar around them.
//
// The input is metadata.json, and behind each line "=== NAME" the bytes of a further member.
#include "usmp/mlf/metadata.hpp"

#include <set>
#include <utility>

#include "fuzz.hpp"

using namespace usmp;

namespace {

mlf::Archive archive_of(std::string_view input) {
  constexpr std::string_view mark = "\n=== ";
  mlf::Archive archive;
  archive.path = "model.tar";
  std::set<std::string> names;
  std::string name = "metadata.json";
  while (true) {
    const std::size_t end = std::min(input.find(mark), input.size());
    if (!name.empty() && names.insert(name).second) {
      archive.members.push_back({.name = name, .bytes = std::string(input.substr(0, end))});
    }
    if (end == input.size()) return archive;
    input.remove_prefix(end + mark.size());
    const std::size_t line = std::min(input.find('\n'), input.size());
    name = input.substr(0, line);
    input.remove_prefix(std::min(line + 1, input.size()));
  }
}

void check_module(const model::Description& info, const mlf::Archive& archive) {
  fuzz::require(info.name.find('/') == std::string::npos, "a module's name that is no part of a file name");
  fuzz::require(info.tir_member.empty() || archive.find(info.tir_member) != nullptr,
                "a TIR member that does not exist");
  for (const std::string& member : info.foreign_members) {
    fuzz::require(archive.find(member) != nullptr, "a library that does not exist");
  }
  for (const model::ForeignFunction& function : info.foreign_functions) {
    fuzz::require(function.prototype.find_first_of("\n\r;{}") == std::string::npos, "more than a prototype");
    fuzz::require(function.prototype.find(function.name) != std::string::npos, "a prototype of another function");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mlf::Archive archive = archive_of(fuzz::text_of(data, size));
  mlf::Metadata metadata;
  const auto read = [&] {
    metadata = mlf::read_metadata(archive);
    for (const model::Description& info : metadata.modules) check_module(info, archive);
  };
  if (!fuzz::accepts({ErrorKind::archive}, read)) return 0;
  constexpr Bytes workspace = 123456;
  std::vector<mlf::MemoryFigures> figures;
  for (const model::Description& info : metadata.modules) figures.push_back({info.name, workspace, 0});
  // What is written over a re-planned archive's metadata can be read again, and says the figures wherever it did.
  const auto update = [&] { archive.members.front().bytes = mlf::updated_metadata(archive, figures); };
  if (!fuzz::accepts({ErrorKind::archive}, update)) return 0;
  const mlf::Metadata again = mlf::read_metadata(archive);
  fuzz::require(again.modules.size() == metadata.modules.size(), "the updated metadata has other modules");
  for (std::size_t i = 0; i < again.modules.size(); ++i) {
    const auto& figure = again.modules[i].workspace_bytes;
    fuzz::require(!metadata.modules[i].workspace_bytes || figure == workspace,
                  "the updated metadata has other figures");
  }
  return 0;
}
