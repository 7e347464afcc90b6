// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// What the pools file and the command line say together.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "documents.hpp"
#include "usmp/pipeline/algorithm.hpp"
#include "usmp/pipeline/program.hpp"

namespace usmp::driver {

inline constexpr std::size_t most_plan_bytes = std::size_t{64} << 20;  // more is not even read

struct Settings {
  std::optional<std::string> pools_file;
  pipeline::ChosenAlgorithm algorithm;
  pipeline::Request request;
  std::vector<std::string> earlier_files;  // of request.earlier
};

struct PoolsFiles {
  std::optional<std::string> pools;
  std::optional<std::string> memory;  // a linker script that gives pools their sizes; only with `pools`
};

// Reads the pools file, if there is one. `algorithm` and `objective` win over the file's. Throws Error of kind usage.
Settings read_settings(const PoolsFiles& files, const std::optional<std::string>& algorithm, bool workspace_io,
                       const std::optional<std::string>& objective = {});

// Reads M.plan.json files, at most one of each module. Throws Error of kind usage.
void read_earlier_plans(Settings& settings, const std::vector<std::string>& files, Check check = Check::done);

}  // namespace usmp::driver
