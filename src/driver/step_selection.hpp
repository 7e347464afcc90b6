// Which of the transformations that were asked for a module is planned with. Shared by the commands.
#pragma once

#include "model.hpp"
#include "settings.hpp"

namespace usmp::driver {

// Fills what follows from transformations, like analyse_module, with those of the model's that make the plan smaller:
// a step that only serves that (narrow, merge, reorder, inplace, and computing more than once) is left out if the plan
// is as small, or smaller, without it; fuse and constants also save time and flash, and stay. Steps left out are named
// in AnalysedModule::transformed.
//
// What counts is the plan's cost (docs/planning.md) in the settings' pools, with few search nodes; pins, the algorithm
// and limits of the user's do not, so the same archive, pools and steps are always one program. Transforms and plans
// at most six times. Throws as analyse_module and assemble do.
void analyse_with_useful_steps(AnalysedModule& analysed, const Model& model, const Settings& settings);

}  // namespace usmp::driver
