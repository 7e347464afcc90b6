// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// From a module of an archive to its planning problem, pins included. Shared by the commands.
#pragma once

#include <vector>

#include "model.hpp"
#include "settings.hpp"
#include "usmp/pipeline/program.hpp"

namespace usmp::driver {

// Reads a module and brings it to its problem (pipeline::assemble_module), watched as given. `release_tir`: see
// read_module. Throws Error with the file set.
pipeline::AssembledModule assemble_module(Model& model, const model::Description& info, const Settings& settings,
                                          bool release_tir, const pipeline::Watch& watch = {});

// Every pin of the pools file has to be of a buffer of some module, every earlier plan of one of the modules. Throws
// Error of kind usage.
void check_pins(const std::vector<const pipeline::AssembledModule*>& modules, const Settings& settings);

}  // namespace usmp::driver
