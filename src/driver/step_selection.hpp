// Which of the transformations that were asked for a module is planned with. Shared by the commands.
#pragma once

#include "model.hpp"
#include "settings.hpp"

namespace usmp::driver {

// Fills what follows from transformations, like analyse_module, with those of the model's that make the plan smaller:
// a step that only serves that (narrow, merge, reorder, inplace) is left out if it is proved that no plan with it is
// better, in the order of Cost, than the one found without it, or if no plan with it is found. Computing more than once
// stays if the plan then needs less of some pool and no more of the others; the other steps are then those asked for.
// fuse and constants also save time and flash, and stay. Steps left out are named in AnalysedModule::transformed.
//
// What counts is the best plan in the settings' pools (docs/planning.md) that few search nodes find; pins, the
// algorithm and limits of the user's do not, so the same archive, pools and steps are always one program. Transforms
// and plans at most seven times, about a second each in large programs. Throws as analyse_module and assemble do.
void analyse_with_useful_steps(AnalysedModule& analysed, const Model& model, const Settings& settings);

}  // namespace usmp::driver
