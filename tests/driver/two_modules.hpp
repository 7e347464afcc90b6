// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// An extracted archive of two modules, made of two of testdata that hold one each.
#pragma once

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "files.hpp"
#include "usmp/mlf/archive.hpp"

inline std::string renamed(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// `first` stays "default"; the module of `second` is called "second".
inline void write_two_modules(const fs::path& directory, const std::string& first, const std::string& second) {
  nlohmann::json metadata = nlohmann::json::object();
  for (const bool renames : {false, true}) {
    for (const usmp::mlf::Member& member :
         usmp::mlf::read_archive(testdata + "/" + (renames ? second : first)).members) {
      if (member.name == "metadata.json") {
        nlohmann::json own = nlohmann::json::parse(renames ? renamed(member.bytes, "default", "second") : member.bytes);
        own["modules"].update(metadata.value("modules", nlohmann::json::object()));
        metadata = own;
        continue;
      }
      const fs::path path = directory / (renames ? renamed(member.name, "default", "second") : member.name);
      fs::create_directories(path.parent_path());
      write(path, renames ? renamed(member.bytes, "tvmgen_default", "tvmgen_second") : member.bytes);
    }
  }
  REQUIRE(metadata["modules"].size() == 2);
  write(directory / "metadata.json", metadata.dump());
}
