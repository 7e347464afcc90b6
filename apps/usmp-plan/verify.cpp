// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// usmp-plan verify MODEL: check a plan, and what the emitted C computes.
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "options.hpp"

namespace usmp::apps {
namespace {

struct VerifyArguments {
  driver::VerifyOptions verify;
  bool quiet = false;
};

std::uint32_t rounds_of(const std::string& text) {
  constexpr const char* expected = "a whole number from 1 to 1000";
  constexpr std::uint64_t most = 1000;
  return static_cast<std::uint32_t>(number_of(text, {.least = 1, .most = most}, "--rounds", expected));
}

// Options that mean nothing beside the others are mistakes.
void check(const CLI::App& app, const driver::VerifyOptions& options) {
  for (const char* option : {"--cc", "--cflags", "--sanitize", "--rounds", "--timeout", "--keep"}) {
    if (!options.execute && app.count(option) > 0) throw CLI::ValidationError(std::string(option) + " needs --execute");
  }
}

}  // namespace

Command add_verify(CLI::App& program) {
  const auto options = std::make_shared<VerifyArguments>();
  driver::VerifyOptions& verify = options->verify;
  auto* app = program.add_subcommand("verify", "verify a plan and, with --execute, the generated C");
  add_models_options(*app, verify, true);
  add_planning_options(*app, verify);
  auto* plan = app->add_option("--plan", verify.plans, "verify this plan file instead of planning")
                   ->type_name("M.plan.json")
                   ->allow_extra_args(false);
  for (const char* option : {"--algorithm", "--minimize", "--pins", "--node-limit", "--time-limit"}) {
    plan->excludes(app->get_option(option));
  }
  auto* tvm_plan =
      app->add_flag("--tvm-plan", verify.tvm_plan, "verify TVM's own plan, read from the model's C")->excludes(plan);
  app->add_flag("--execute", verify.execute,
                "run the C and compare it with a build in which no buffers overlap; this runs code of the archive");
  tvm_plan->excludes(app->get_option("--execute"));
  app->add_option("--cc", verify.compiler, "C compiler (default: the first of cc, gcc and clang)")
      ->type_name("PROGRAM");
  app->add_option("--cflags", verify.compiler_flags, "additional compiler flags, as one argument")->type_name("FLAGS");
  app->add_flag("--sanitize", verify.sanitize, "compile with AddressSanitizer and UBSan");
  app->add_option_function<std::string>(
         "--rounds", [&verify](const std::string& text) { verify.rounds = rounds_of(text); },
         "runs per module, each with new inputs (default: 3)")
      ->type_name("N");
  app->add_option_function<std::string>(
         "--timeout", [&verify](const std::string& text) { verify.timeout = seconds_of(text, "--timeout"); },
         "limit per compilation and per run (default: 600)")
      ->type_name("SECONDS");
  app->add_option("--keep", verify.keep, "keep sources and programs in this new or empty directory")->type_name("DIR");
  auto* json = app->add_flag("--json", verify.model.json, "print JSON");
  app->add_flag("--quiet", options->quiet, "print only warnings on success")->excludes(json);
  return {app,
          [options, app] {
            check(*app, options->verify);
            options->verify.verbosity = options->quiet ? driver::Verbosity::quiet : driver::Verbosity::normal;
            options->verify.color = color_terminal();
            options->verify.progress = !options->quiet && progress_terminal();
            set_up_logging(options->verify.verbosity);
            return driver::verify(options->verify, std::cout, std::cerr);
          },
          {{"usmp-plan verify model.tar --pools pools.yaml --execute", "a self-test for CI"},
           {"usmp-plan verify model.tar --pools pools.yaml --plan kws.plan.json", "check a plan file"}},
          "",
          "MODEL... [--plan M.plan.json]... [--execute]"};
}

}  // namespace usmp::apps
