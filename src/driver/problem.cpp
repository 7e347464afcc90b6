// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan problem: the planning problem of a model as JSON.
#include <ostream>

#include "assembling.hpp"
#include "model.hpp"
#include "output.hpp"
#include "output_path.hpp"
#include "run.hpp"
#include "settings.hpp"
#include "usmp/instance/json.hpp"

namespace usmp::driver {
namespace {

int problem_or_throw(const ProblemOptions& options, std::ostream& out) {
  if (options.output) {
    check_output_path("-o", *options.output,
                      {options.model.model, options.pools_file.value_or(""), options.memory_file.value_or("")});
  }
  // An instance has no charges.
  const Settings settings = read_settings({options.pools_file, options.memory_file}, {}, options.workspace_io, "size");
  Model model = open_model(options.model);
  require_known_synchronous({&model, 1}, options.model.synchronous);
  if (model.metadata.modules.size() != 1) {
    throw Error(ErrorKind::usage, {options.model.model, {}, {}},
                one_module_text(module_names(model.metadata), "a problem describes one"));
  }
  const pipeline::AssembledModule module = assemble_module(model, model.metadata.modules.front(), settings, true);
  check_pins({&module}, settings);
  const std::string text = instance::problem_json(module.assembly.problem);
  write_output(options.output, text, out);
  return exit_ok;
}

}  // namespace

int problem(const ProblemOptions& options, std::ostream& out, std::ostream& err) {
  return run(err, [&] { return problem_or_throw(options, out); });
}

}  // namespace usmp::driver
