// SPDX-License-Identifier: Apache-2.0
#include "git.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "usmp/process/process.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> lines_of(const std::string& output, char end) {
  std::vector<std::string> lines = split(output, end);
  std::erase_if(lines, [](const std::string& line) { return line.empty(); });
  return lines;
}

[[noreturn]] void fail_check(const std::string& why, std::vector<std::string> details) {
  for (std::string& line : details) std::ranges::replace(line, '\t', ' ');  // git indents with them
  constexpr std::size_t most_lines = 10;
  throw Error(ErrorKind::usage, {}, "git could not " + why + "; --force skips this check",
              first_lines(std::move(details), most_lines));
}

// Programs that a repository can name in its configuration, but filters: those for changes of files, hooks, pagers, and
// what fetches objects that a partial clone left out.
process::Result run_git(const std::string& directory, std::vector<std::string> arguments) {
  std::vector<std::string> all = {"--literal-pathspecs",  "--no-pager", "-c",
                                  "core.fsmonitor=false", "-c",         "core.hooksPath=/dev/null"};
  all.insert(all.end(), std::make_move_iterator(arguments.begin()), std::make_move_iterator(arguments.end()));
  const process::Command git{.program = "git",
                             .arguments = std::move(all),
                             .environment = {"LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_ALLOW_PROTOCOL=none"},
                             .directory = directory,
                             .joins_error = true};
  try {
    return process::run(git, {}, {.output = std::size_t{1} << 20, .time = std::chrono::minutes(1)});
  } catch (const Error& error) {
    fail_check("be run to look for uncommitted changes", {error.message()});
  }
}

// The options that switch off all filters. A file with a filter counts as changed where git would have to run it.
std::vector<std::string> without_filters(const std::string& directory) {
  constexpr int no_match = 1 << 8;
  const process::Result found =
      run_git(directory, {"config", "--null", "--name-only", "--get-regexp", R"(^filter\..*\.(clean|process)$)"});
  if (!found.succeeded() && !(found.end == process::End::exited && found.status == no_match)) {
    fail_check("list its filters", lines_of(found.output, '\n'));
  }
  std::set<std::string> filters;  // "filter.lfs"
  for (const std::string& key : lines_of(found.output, '\0')) filters.insert(key.substr(0, key.rfind('.')));
  std::vector<std::string> options;
  for (const std::string& filter : filters) {
    if (filter.find('=') != std::string::npos) fail_check("be kept from running a filter", {filter});
    for (const char* setting : {".clean=", ".process=", ".required=false"}) {
      options.emplace_back("-c");
      options.push_back(filter + setting);
    }
  }
  return options;
}

}  // namespace

bool is_in_git(const std::string& directory) {
  std::error_code error;
  for (fs::path at = fs::weakly_canonical(directory, error);; at = at.parent_path()) {
    if (fs::exists(at / ".git", error)) return true;
    if (at == at.parent_path()) return false;
  }
}

std::vector<std::string> uncommitted_changes(const std::string& directory, const std::vector<std::string>& names) {
  std::vector<std::string> arguments = without_filters(directory);
  for (const char* word : {"status", "--porcelain", "--untracked-files=all", "--ignore-submodules=all", "--"}) {
    arguments.emplace_back(word);
  }
  arguments.insert(arguments.end(), names.begin(), names.end());
  const process::Result result = run_git(directory, std::move(arguments));
  std::vector<std::string> lines = lines_of(result.output, '\n');
  if (!result.succeeded()) fail_check("list uncommitted changes", std::move(lines));
  return lines;
}

}  // namespace usmp::driver
