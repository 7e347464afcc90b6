// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Refuses outputs that would replace what is read, or something else.
#include "output_path.hpp"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "directory.hpp"
#include "file_kind.hpp"
#include "output.hpp"
#include "usmp/codegen/codegen.hpp"
#include "usmp/mlf/checkout.hpp"
#include "usmp/plan_file/plan_json.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/text.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view plan_ending = ".plan.json";
constexpr std::size_t most_name_bytes = 255;  // of file systems

fs::path directory_of(const std::string& path) {
  fs::path normal = fs::path(path).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  return normal.has_parent_path() ? normal.parent_path() : fs::path(".");
}

// A file in a source tree that no model is read from.
bool lies_apart(const fs::path& path, const std::string& tree) {
  return !mlf::is_extracted_archive(tree) && !is_output_directory(tree) && path.filename() != "metadata.json" &&
         path.filename() != "graph.json" &&
         !ends_with_any(path.string(), {".c", ".cc", ".cpp", ".cxx", ".h", ".hpp", ".S", ".s", ".asm", ".inc", ".bin"});
}

// Whether writing `path` changes `input`: they are the same, by whatever links, or it lies in the directory.
bool would_change(const fs::path& path, const fs::path& input) {
  std::error_code error;
  if (fs::equivalent(path, input, error)) return fs::is_regular_file(input, error) || fs::is_directory(input, error);
  const auto id = fs::is_directory(input, error) ? id_of(input.string()) : std::nullopt;
  return id && directories_from(directory_of(path.string()).string()).contains(*id);
}

// "out_2": a name that is free.
std::string another_directory(const std::string& directory) {
  fs::path normal = fs::path(directory).lexically_normal();
  if (!normal.has_filename()) normal = normal.parent_path();
  const std::string name = normal.filename().string();
  const bool names_itself = name.empty() || name == "." || name == "..";
  for (std::size_t number = 2;; ++number) {
    const fs::path path = (names_itself ? normal / "planned" : normal).string() + "_" + std::to_string(number);
    std::error_code error;
    if (fs::symlink_status(path, error).type() == fs::file_type::not_found) return path.string();
  }
}

[[noreturn]] void fail_other_model(const std::string& directory, const std::string& file,
                                   const plan_file::PlanHead& head, const std::vector<std::string>& models) {
  throw Error(ErrorKind::usage, {directory, {}, {}},
              "holds the plan of " + head.archive + " (" + file + "), expected another directory for " +
                  joined(models) + ", such as " + another_directory(directory));
}

bool is_of(const plan_file::PlanHead& head, const std::string& model) {
  return is_same_model(head.archive, name_of_model(model));
}

}  // namespace

std::string name_of_model(const std::string& path) {
  std::string name = file_name_of(path);
  if (names_open_file(path) && std::ranges::all_of(name, is_digit)) {
    return name == "0" ? "stdin" : "pipe";
  }
  if (name != "." && name != ".." && !name.empty()) return name;
  std::error_code error;
  const fs::path place = fs::canonical(path, error);
  return error || !place.has_filename() ? name : place.filename().string();
}

void check_output_path(const std::string& option, const std::string& path, const std::vector<std::string>& inputs,
                       OutputKind kind) {
  if (path.empty()) throw Error(ErrorKind::usage, {}, option + ": the name is empty");
  if (path == "-") {
    throw Error(ErrorKind::usage, {}, option + ": '-' names no file, expected a name such as ./-");
  }
  if (names_open_file(path)) return;
  const fs::path above = directory_of(path);
  std::error_code error;
  const std::size_t length = fs::path(path).lexically_normal().filename().string().size();
  if (length > most_name_bytes) {
    throw Error(ErrorKind::usage, {path, {}, {}},
                "the name has " + std::to_string(length) + " bytes, expected at most " +
                    std::to_string(most_name_bytes) +
                    (kind == OutputKind::planned ? " (-o DIR gives another one)" : ""));
  }
  if (fs::status(above, error).type() == fs::file_type::not_found) {
    throw Error(ErrorKind::usage, {path, {}, {}}, "there is no directory " + above.string() + " to write it in");
  }
  for (const std::string& input : inputs) {
    if (!would_change(path, input)) continue;
    if (!fs::equivalent(path, input, error) && fs::is_directory(input, error)) {
      const bool may_lie_in_tree = kind == OutputKind::file || kind == OutputKind::plans;
      if (may_lie_in_tree && lies_apart(path, input)) continue;
      const std::string beside = option + " " + (fs::path("..") / fs::path(path).filename()).string();
      throw Error(ErrorKind::usage, {path, {}, {}},
                  "lies inside the input " + input + ", expected another place" + (input == "." ? ": " + beside : "") +
                      (input == "." && kind == OutputKind::planned ? " or --in-place" : ""));
    }
    throw Error(ErrorKind::usage, {path, {}, {}}, "would overwrite the input " + input + ", expected another place");
  }
  require_writable(path);
  if (kind == OutputKind::file && fs::is_directory(path, error)) {
    throw Error(ErrorKind::usage, {path, {}, {}}, "is a directory, expected a file");
  }
}

void require_different_outputs(const std::string& option, const std::string& path, const std::string& other_option,
                               const std::string& other) {
  std::error_code error;
  const auto place = [&](const std::string& name) {
    const fs::path whole = fs::weakly_canonical(fs::absolute(name), error);
    return whole.has_filename() ? whole : whole.parent_path();
  };
  if (is_written_through(path) || place(path) != place(other)) return;
  throw Error(ErrorKind::usage, {path, {}, {}},
              "is written by " + option + " and by " + other_option + ", expected two files");
}

void require_same_model(const std::string& directory, const std::string& file, const std::string& model) {
  const std::optional<plan_file::PlanHead> head = plan_file::head_of_plan(front_of_file(directory + "/" + file));
  if (head && !is_of(*head, model)) fail_other_model(directory, file, *head, {model});
}

std::vector<PlanInDirectory> plans_in(const std::string& directory) {
  std::vector<PlanInDirectory> plans;
  std::error_code error;
  if (!fs::is_directory(directory, error)) return plans;
  for (std::string& name : names_in(directory)) {
    if (!name.ends_with(plan_ending)) continue;
    std::optional<plan_file::PlanHead> head = plan_file::head_of_plan(front_of_file(directory + "/" + name));
    if (!head || name != head->module + std::string(plan_ending)) continue;
    plans.push_back({std::move(name), std::move(*head)});
  }
  return plans;
}

bool is_output_directory(const std::string& directory) {
  std::error_code error;
  return fs::exists(fs::path(directory) / codegen::metadata_header_path, error) &&
         !mlf::is_extracted_archive(directory) && !plans_in(directory).empty();
}

void require_same_models(const std::string& directory, const std::vector<std::string>& models,
                         const std::vector<std::string>& modules) {
  for (const auto& [name, head] : plans_in(directory)) {
    const bool is_known = std::any_of(models.begin(), models.end(),
                                      [&head = head](const std::string& model) { return is_of(head, model); });
    if (!is_known) fail_other_model(directory, name, head, models);
    if (modules.empty() || std::find(modules.begin(), modules.end(), head.module) != modules.end()) continue;
    throw Error(ErrorKind::usage, {directory, {}, {}},
                "holds the plan of module '" + head.module + "' (" + name +
                    "), which is not planned now: metadata.h and the pools that modules share would be without it; "
                    "expected all modules, or another directory, such as " +
                    another_directory(directory));
  }
}

}  // namespace usmp::driver
