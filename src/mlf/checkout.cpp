// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Searches a tree for directories with an entry of TVM's, and collects the files of the model.
#include "usmp/mlf/checkout.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "mlf/c_text.hpp"
#include "mlf/intake.hpp"
#include "mlf/library_name.hpp"
#include "mlf/modules.hpp"
#include "usmp/mlf/interface.hpp"
#include "usmp/support/characters.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/text.hpp"

namespace usmp::mlf {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_depth = 64;
constexpr std::string_view tvm_prefix = "tvmgen_";
constexpr std::string_view entry_endings[] = {"___tvm_main__", "_run_model"};

bool is_header_file(std::string_view name) { return ends_with_any(name, {".h", ".hpp"}); }
bool is_included_file(std::string_view name) {
  return is_header_file(name) || ends_with_any(name, {".inc", ".ino", ".hh"});
}
bool is_object(std::string_view name) { return ends_with_any(name, {".o", ".obj", ".a", ".lib", ".so"}); }

// Whether TVM may have written the file: it defines one of its functions or constants.
bool is_of_tvm(std::string_view text) {
  if (text.find("// tvm target:") != std::string_view::npos || text.find(".rodata.tvm") != std::string_view::npos ||
      text.find("kTvmgenMetadata") != std::string_view::npos ||
      (text.find("TVMSystemLibEntryPoint") != std::string_view::npos && holds_registry(text))) {
    return true;
  }
  if (text.find(tvm_prefix) == std::string_view::npos) return false;
  const auto functions = functions_of_file(text);
  return std::any_of(functions.begin(), functions.end(),
                     [](const CFunction& function) { return function.name.starts_with(tvm_prefix); });
}

// Around the sources of a model: its headers may stand beside their directory.
fs::path model_directory(const fs::path& sources) {
  const std::string leaf = lower_case(sources.filename().string());
  return leaf == "src" || leaf == "source" || leaf == "sources" ? sources.parent_path() : sources;
}

// At most `most` bytes of it.
std::string text_of(const fs::path& path, std::size_t most) {
  InputFile file(path.string(), InputFile::Noted::no);
  std::string text;
  std::array<char, 1 << 16> block{};
  while (file.is_open() && text.size() < most) {
    const auto count = file.read(block.data(), std::min(block.size(), most - text.size()));
    if (count.value_or(0) == 0) break;
    text.append(block.data(), *count);
  }
  return text;
}

// The text of the file; large C without long lists of numbers.
std::string code_of(const fs::path& path) {
  if (const auto file = MappedFile::open(path.string())) {
    return without_tables(file->bytes(), *file, Limits().code_bytes).value_or("");  // more is refused later
  }
  return text_of(path, MappedFile::fewest_bytes);
}

// Whether a string of the JSON is the name of one of these modules.
bool names_any(std::string_view json, const std::set<std::string>& modules) {
  for (std::size_t at = json.find('"'); at != std::string_view::npos; at = json.find('"', at)) {
    const std::size_t end = std::min(json.find('"', at + 1), json.size());
    if (modules.contains(c_identifier(json.substr(at + 1, end - at - 1)))) return true;
    at = end;  // which may begin the next
  }
  return false;
}

// Arrays that are declared extern, or that are defined with values, by names in front of a bracket.
std::vector<std::string> arrays_in(std::string_view text, bool is_extern) {
  std::vector<std::string> names;
  if (is_extern && text.find("extern") == std::string_view::npos) return names;
  const CText scanned(text);
  const std::vector<c::Token>& code = scanned.code();
  std::size_t begin = 0;  // of a declaration
  for (std::size_t end = 0; end < code.size(); ++end) {
    if (!code[end].is(";") && !code[end].is("{")) continue;
    const auto declaration = std::span(code).subspan(begin, end - begin);
    begin = end + 1;
    const auto first = [&](std::string_view spelling) {
      return std::ranges::find_if(declaration, [&](const c::Token& token) { return token.is(spelling); });
    };
    const auto bracket = first("[");
    const bool has_values = code[end].is("{") && first("=") != declaration.end();
    if (bracket == declaration.end() || bracket == declaration.begin() || first("(") < bracket) continue;
    if (is_extern ? first("extern") == declaration.end() || has_values : !has_values) continue;
    names.emplace_back(std::prev(bracket)->text);
  }
  return names;
}

// Whether the file has one of these arrays and nothing that is called.
bool holds_constants(std::string_view text, const std::set<std::string>& arrays) {
  if (arrays.empty() || !functions_of_file(text).empty()) return false;
  const std::vector<std::string> own = arrays_in(text, false);
  return std::any_of(own.begin(), own.end(), [&](const std::string& name) { return arrays.contains(name); });
}

struct Listed {
  fs::path path;
  std::uint64_t size = 0;
};

class TreeReader {
 public:
  TreeReader(const std::string& path, const Limits& limits) : given_(path), limits_(limits), scan_(path, limits) {}

  Archive read() && {
    const bool is_file = !fs::is_directory(given_);
    const fs::path whole = fs::absolute(given_).lexically_normal();
    const fs::path start = whole.has_filename() ? whole : whole.parent_path();
    if (is_file) {
      look_at({start, fs::file_size(start)});
    } else {
      for (const Listed& file : files_below(start, scan_, max_depth)) {
        look_at(file);
        const std::string name = file.path.filename().string();
        if (is_header_file(name)) headers_[name].push_back(file);
        if (is_included_file(name)) included_.push_back(file.path);
        if (is_c_source(name)) sources_.push_back(file.path);
      }
    }
    if (models_.empty()) {  // what they were planned from says more
      models_ = std::move(our_models_);
      reads_ours_ = true;
    }
    if (models_.empty()) throw nothing_found();
    for (const fs::path& own : {start, model_directory(start)}) {
      if (models_.size() > 1 && models_.contains(own)) models_ = {{own, models_.at(own)}};
    }
    if (models_.size() > 1) throw several_found();
    return is_file ? read_file(start) : read_model(models_.begin()->first);
  }

 private:
  // Sorted by path.
  static std::vector<Listed> files_below(const fs::path& root, Intake& intake, std::size_t depth) {
    std::vector<Listed> files;
    std::vector<std::pair<fs::path, std::size_t>> pending = {{root, 0}};
    std::error_code fault;
    const auto below = [&](const fs::path& path) {  // what messages name: `intake` names the root
      return path == root ? std::string() : path.lexically_relative(root).string();
    };
    while (!pending.empty()) {
      const auto [directory, at_depth] = std::move(pending.back());
      pending.pop_back();
      for (fs::directory_iterator at(directory, fault); !fault && at != fs::directory_iterator(); at.increment(fault)) {
        const fs::path path = at->path();
        const std::string name = path.filename().string();
        const fs::file_status status = fs::symlink_status(path, fault);
        if (fault) break;
        if (fs::is_directory(status) && !name.starts_with('.') && at_depth < depth) {
          intake.count(below(path), 0);
          pending.emplace_back(path, at_depth + 1);
        } else if (fs::is_regular_file(status)) {
          const std::uintmax_t size = fs::file_size(path, fault);
          if (fault) break;
          const bool is_read = is_c_source(name) || is_header_file(name);
          intake.count(below(path), is_read ? size : 0);
          files.push_back({path, size});
        }
      }
      if (fault) throw intake.fault(below(directory), "cannot be read: " + fault.message());
    }
    std::sort(files.begin(), files.end(), [](const Listed& a, const Listed& b) { return a.path < b.path; });
    return files;
  }

  // What there is: models, and what explains that there is none.
  void look_at(const Listed& file) {
    const std::string name = file.path.filename().string();
    const auto note = [&](std::string& first) {
      if (first.empty()) first = shown(file.path);
    };
    if (is_object(name)) return note(object_);
    if (names_archive(name) || name.ends_with(".tflite")) archives_.push_back(shown(file.path));
    if (name.ends_with(".graph") || name == "graph.json") return note(graph_);
    if (!is_c_source(name)) return;
    Member member;
    member.found_as = shown(file.path);
    scan_.read(file.path.string(), file.size, member);
    const std::string_view text = member.code();
    if (text.find(tvm_prefix) == std::string_view::npos) return;
    const bool is_ours = is_planned_c(text);
    const std::vector<std::string> modules = entries_in(text);
    if (modules.empty() && !is_ours && is_of_tvm(text)) {
      note(text.find("___tvm_main__(") == std::string::npos ? operators_ : entry_caller_);
    }
    for (const std::string& module : modules) {
      const fs::path directory = model_directory(file.path.parent_path());
      const auto [first, is_new] = (is_ours ? our_models_ : models_)[directory].emplace(module, file.path);
      if (!is_new && first->second != file.path) twice_.try_emplace(directory, first->second, file.path);
    }
  }

  // As the user would type it.
  [[nodiscard]] std::string shown(const fs::path& path) const {
    const fs::path base = fs::absolute(given_).lexically_normal();
    const fs::path below = path.lexically_relative(base);
    if (below.empty() || *below.begin() == "..") return path.lexically_proximate(fs::current_path()).string();
    return (below == "." ? fs::path(given_) : fs::path(given_) / below).lexically_normal().string();
  }

  [[nodiscard]] Error nothing_found() const {
    const auto error = [&](const std::string& message) { return Error(ErrorKind::archive, {given_, {}, {}}, message); };
    for (const fs::path& path : included_) {
      if (!entries_in(code_of(path)).empty()) {
        return error("found the model in " + shown(path) +
                     ", expected it in C files: rename the file to .c, and compile it instead of including it");
      }
    }
    if (!entry_caller_.empty()) {
      return error("found tvmgen_M_run (" + entry_caller_ +
                   ") but not tvmgen_M___tvm_main__, which it calls: expected the directory with all of TVM's C");
    }
    if (!operators_.empty()) {
      const std::string graph = graph_.empty() ? "" : " and a graph (" + graph_ + ")";
      return error("found operators of TVM (" + operators_ + ")" + graph +
                   " but no entry function tvmgen_M___tvm_main__: the graph executor plans memory at run time; compile "
                   "with --executor=aot");
    }
    if (!archives_.empty()) {
      std::vector<std::string> commands;
      for (const std::string& archive : archives_) commands.push_back("usmp-plan " + archive);
      return {ErrorKind::usage,
              {given_, {}, {}},
              "found no C that TVM wrote, but " + counted(archives_.size(), "model") + "; type one of:",
              commands};
    }
    if (!graph_.empty()) {
      return error("found a graph (" + graph_ +
                   ") but no C from TVM: the graph executor plans memory at run time; compile with --executor=aot and "
                   "--target=c");
    }
    if (!object_.empty()) {
      return error("found objects (" + object_ +
                   ") but no C from TVM: machine code cannot be planned again; compile with --target=c");
    }
    return error(
        "found no C that TVM wrote, expected an extracted Model Library Format archive or a "
        "source tree with TVM's C (a function tvmgen_M___tvm_main__)");
  }

  [[nodiscard]] SeveralModels several_found() const {
    std::vector<SeveralModels::Found> found;
    for (const auto& [directory, modules] : models_) {
      found.push_back({shown(directory), {}});
      for (const auto& [name, file] : modules) found.back().modules.push_back(name);
    }
    return {given_, std::move(found)};
  }

  // A model that is one file, with the header of its directory.
  Archive read_file(const fs::path& file) {
    const fs::path directory = model_directory(file.parent_path());
    return read_members(directory, [&](const fs::path& path) { return path == file; });
  }

  Archive read_model(const fs::path& directory) {
    if (const auto twice = twice_.find(directory); twice != twice_.end()) {
      throw Error(ErrorKind::usage, {given_, {}, {}}, "two files define the same module; type one of:",
                  {"usmp-plan " + shown(twice->second.first), "usmp-plan " + shown(twice->second.second)});
    }
    return read_members(directory,
                        [&](const fs::path& path) { return model_directory(path.parent_path()) == directory; });
  }

  // `is_chosen`: of C files.
  template <class Choice>
  Archive read_members(const fs::path& directory, const Choice& is_chosen) {
    Intake intake(shown(directory), limits_);
    std::set<std::string> names;
    std::vector<Member> headers;
    std::vector<Member> others;  // C files
    std::set<fs::path> source_directories;
    std::map<fs::path, std::vector<Listed>> other_sources;  // by directory: C files that are not chosen
    std::set<std::string> arrays;                           // extern in the model's files
    std::set<fs::path> taken;                               // headers
    std::vector<std::string> included;
    for (const Listed& file : files_below(directory, intake, 1)) {
      const std::string name = file.path.filename().string();
      const bool is_source = is_c_source(name);
      if (is_source && !is_chosen(file.path)) other_sources[file.path.parent_path()].push_back(file);
      if (is_source ? !is_chosen(file.path) : !is_header_file(name)) continue;
      Member member;
      member.found_as = file.path.lexically_relative(directory).generic_string();
      intake.read(file.path.string(), file.size, member);
      member.mode = static_cast<std::uint32_t>(fs::status(file.path).permissions()) & 0777U;
      if (is_header_file(name)) {
        headers.push_back(std::move(member));
      } else if (is_of_tvm(member.code()) && (reads_ours_ || !is_planned_c(member.code()))) {
        source_directories.insert(file.path.parent_path());
        note_includes(member.code(), included);
        for (std::string& name_of_array : arrays_in(member.code(), true)) arrays.insert(std::move(name_of_array));
        add(intake, "codegen/host/src/", std::move(member), names);
      } else if (member.code().find("const") != std::string::npos) {
        others.push_back(std::move(member));
      }
    }
    for (const Member& header : headers) {
      if (std::find(included.begin(), included.end(), file_name_of(header.found_as)) == included.end()) continue;
      for (std::string& name : arrays_in(header.bytes, true)) arrays.insert(std::move(name));
    }
    for (Member& other : others) {
      if (holds_constants(other.code(), arrays)) add(intake, "codegen/host/src/", std::move(other), names);
    }
    const auto stands_beside = [&](const Member& header) {
      return source_directories.contains((directory / header.found_as).parent_path());
    };
    std::set<std::string> beside;  // names of headers beside the sources
    for (const Member& header : headers) {
      if (stands_beside(header)) beside.insert(file_name_of(header.found_as));
    }
    std::map<std::string, std::pair<std::string, std::string>> of_model;  // paths and texts
    std::vector<std::string> passed_over;
    std::vector<std::string> of_others;  // or beside C that somebody wrote around the model
    for (Member& header : headers) {
      const bool is_beside = stands_beside(header);
      const std::string name = file_name_of(header.found_as);
      const bool is_of_model = header.bytes.find(tvm_prefix) != std::string::npos ||
                               header.bytes.find(upper_case(tvm_prefix)) != std::string::npos;
      if (!is_beside && !is_of_model) continue;
      const auto others_beside = other_sources.find((directory / header.found_as).parent_path());
      const bool is_of_other = !is_beside && others_beside != other_sources.end() && hold_model(others_beside->second);
      if (is_of_other) of_others.push_back(header.found_as);
      if (is_of_other) continue;
      if (!is_beside && beside.contains(name)) {  // an older one
        passed_over.push_back(header.found_as);
        continue;
      }
      if (is_of_model) {
        const auto [other, is_new] = of_model.emplace(name, std::pair(header.found_as, header.bytes));
        if (!is_new && other->second.second == header.bytes) {
          passed_over.push_back(header.found_as);
          continue;
        }
        if (!is_new) {
          throw Error(ErrorKind::usage, {shown(directory), {}, {}},
                      "found headers " + in_quotes(other->second.first) + " and " + in_quotes(header.found_as) +
                          ", which differ, expected one of the name, or one beside the C files");
        }
      }
      taken.insert((directory / header.found_as).lexically_normal());
      note_includes(header.bytes, included);
      add(intake, "codegen/host/include/", std::move(header), names);
    }
    for (std::string& header : of_others) {
      if (!of_model.contains(file_name_of(header))) passed_over.push_back(std::move(header));
    }
    add_included(intake, directory, std::move(included), taken, names);
    add_metadata(intake, directory);
    Archive archive = std::move(intake).finish();
    archive.is_directory = true;
    archive.is_checkout = true;
    archive.passed_over = std::move(passed_over);
    std::set<fs::path> read;
    for (const Member& member : archive.members) read.insert((directory / member.found_as).lexically_normal());
    for (const fs::path& source : sources_) {
      if (!read.contains(source.lexically_normal())) archive.other_sources.push_back(source.string());
    }
    return archive;
  }

  [[nodiscard]] bool hold_model(const std::vector<Listed>& files) {
    return std::any_of(files.begin(), files.end(), [&](const Listed& file) {
      Member member;
      scan_.read(file.path.string(), file.size, member);
      return is_of_tvm(member.code());
    });
  }

  // By the last part of the path, which is enough for all but odd trees.
  static void add(Intake& intake, const std::string& directory, Member member, std::set<std::string>& names) {
    member.name = directory + file_name_of(member.found_as);
    std::string below = member.found_as;  // which may be the last part of one further down
    while (!names.insert(member.name).second) {
      member.name = directory + below;
      below = "other/" + below;
    }
    intake.add(std::move(member));
  }

  // Notes the last part of #include "model/sizes.h"; a tree may have a C library of its own, which changes no names.
  static void note_includes(std::string_view text, std::vector<std::string>& names) {
    constexpr std::string_view of_library[] = {
        "assert.h", "ctype.h",   "errno.h",  "fenv.h",   "float.h", "inttypes.h", "limits.h", "math.h",
        "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdio.h", "stdlib.h",   "string.h", "time.h"};
    for (const std::string& name : included_headers(text)) {
      const bool is_of_library = std::find(std::begin(of_library), std::end(of_library), name) != std::end(of_library);
      if (!is_of_library) names.push_back(fs::path(name).filename().string());
    }
  }

  // Headers of the tree, wherever they are, that files of the model include, directly or not: they may define macros
  // that the C uses. They are no part of the model.
  void add_included(Intake& intake, const fs::path& directory, std::vector<std::string> included,
                    std::set<fs::path>& taken, std::set<std::string>& names) {
    for (std::size_t i = 0; i < included.size(); ++i) {
      const auto found = headers_.find(included[i]);
      if (found == headers_.end()) continue;
      for (const Listed& header : found->second) {
        if (!taken.insert(header.path).second) continue;
        Member member;
        member.found_as = header.path.lexically_relative(directory).generic_string();
        member.bytes = intake.read(header.path.string(), member.found_as, header.size);
        note_includes(member.bytes, included);
        const std::string number = std::to_string(taken.size());
        member.name = "headers/" + number + "/" + file_name_of(member.found_as);
        names.insert(member.name);
        intake.add(std::move(member));
      }
    }
  }

  void add_metadata(Intake& intake, const fs::path& directory) {
    fs::path place = directory;
    std::error_code fault;
    for (int i = 0; i < 3; ++i, place = place.parent_path()) {
      const fs::path path = place / "metadata.json";
      if (!fs::is_regular_file(fs::symlink_status(path, fault))) continue;
      Member member{.name = "metadata.json", .bytes = intake.read(path.string(), "metadata.json", fs::file_size(path))};
      const auto& modules = models_.begin()->second;
      const bool names_one = std::any_of(modules.begin(), modules.end(), [&](const auto& module) {
        return member.bytes.find("\"" + module.first + "\"") != std::string::npos;
      });
      if (!names_one || member.bytes.find("\"memory\"") == std::string::npos) return;
      member.found_as = path.lexically_relative(directory).generic_string();
      return intake.add(std::move(member));
    }
  }

  std::string given_;
  Limits limits_;
  Intake scan_;
  std::map<std::string, std::vector<Listed>> headers_;              // of the tree, by the last part of their paths
  std::map<fs::path, std::map<std::string, fs::path>> models_;      // by directory: the entry's file of each module
  std::map<fs::path, std::pair<fs::path, fs::path>> twice_;         // by directory: two files of the same module
  std::map<fs::path, std::map<std::string, fs::path>> our_models_;  // the same, in C that usmp-plan wrote
  bool reads_ours_ = false;
  std::string operators_;
  std::string entry_caller_;
  std::string graph_;
  std::string object_;
  std::vector<fs::path> included_;  // headers and the like
  std::vector<fs::path> sources_;   // C files of the tree
  std::vector<std::string> archives_;
};

std::vector<std::string> commands_for(const std::vector<SeveralModels::Found>& found) {
  std::vector<std::string> commands(found.size());
  std::ranges::transform(found, commands.begin(), command_for);
  return commands;
}

}  // namespace

SeveralModels::SeveralModels(const std::string& path, std::vector<Found> found)
    : Error(ErrorKind::usage, {path, {}, {}},
            "holds models in " + std::to_string(found.size()) + " directories, expected one; type one of:",
            commands_for(found)),
      found_(std::move(found)) {}

std::string command_for(const SeveralModels::Found& found) {
  return "usmp-plan " + found.directory + "  (" + joined(found.modules) + ")";
}

bool is_planned_c(std::string_view text) {
  return text.substr(0, 4096).find("by usmp-plan; do not edit") != std::string_view::npos;
}

bool is_extracted_archive(const std::string& directory) {
  std::error_code fault;
  const fs::path root(directory);
  if (!fs::exists(root / "metadata.json", fault)) return false;
  for (fs::directory_iterator at(root / "src", fault); !fault && at != fs::directory_iterator(); at.increment(fault)) {
    if (at->path().string().ends_with(".tir.json")) return true;
  }
  if (!fs::is_directory(root / "codegen" / "host", fault)) return false;
  const fs::path sources = root / "codegen" / "host" / "src";
  std::set<std::string> modules;
  for (fs::directory_iterator at(sources, fault); !fault && at != fs::directory_iterator(); at.increment(fault)) {
    const std::string name = at->path().filename().string();
    if (!is_c_source(name)) continue;
    const std::string text = code_of(at->path());
    for (std::string& module : entries_in(text)) modules.insert(std::move(module));
    if (library_name(name)) continue;
    if (is_planned_c(text) ? !entries_in(text).empty() : is_of_tvm(text)) return false;
  }
  return modules.empty() || names_any(text_of(root / "metadata.json", most_metadata_bytes), modules);
}

Archive read_checkout(const std::string& path, const Limits& limits) {
  try {
    return TreeReader(path, limits).read();
  } catch (const fs::filesystem_error& error) {
    if (error.code() == std::errc::not_enough_memory) throw std::bad_alloc();
    throw Error(ErrorKind::usage, {path, {}, {}}, "cannot be read: " + error.code().message());
  }
}

MentionedNames mentioned_elsewhere(const Archive& archive, const std::set<std::string>& own,
                                   const std::set<std::string, std::less<>>& names) {
  MentionedNames result;
  const auto look_at = [&](std::string_view text, const std::string& file) {
    const bool may_have = std::ranges::any_of(names, [&](const std::string& name) {
      return !result.contains(name) && text.find(name) != std::string_view::npos;
    });
    if (!may_have) return;
    const CText scanned(text);
    for (const c::Token& token : scanned.tokens()) {
      if (token.is_identifier() && names.contains(token.text)) result.emplace(token.text, file);
    }
  };
  for (const Member& member : archive.members) {
    if (is_c_source(member.name) && !own.contains(member.name)) look_at(member.code(), member.shown_name());
  }
  for (const std::string& path : archive.other_sources) {
    look_at(code_of(path), fs::path(path).lexically_proximate(fs::absolute(archive.path)).string());
  }
  return result;
}

std::vector<std::string> entries_in(std::string_view text) {
  std::vector<std::string> modules;
  const bool has_any = std::any_of(std::begin(entry_endings), std::end(entry_endings),
                                   [&](std::string_view ending) { return defines_ending_in(text, ending); });
  if (!has_any) return modules;
  for (const CFunction& function : functions_of_file(text)) {
    for (const std::string_view ending : entry_endings) {
      const std::string_view name = function.name;
      if (!name.starts_with(tvm_prefix) || !name.ends_with(ending) || name.size() <= tvm_prefix.size() + ending.size())
        continue;
      std::string module(name.substr(tvm_prefix.size(), name.size() - tvm_prefix.size() - ending.size()));
      if (std::find(modules.begin(), modules.end(), module) == modules.end()) modules.push_back(std::move(module));
    }
  }
  return modules;
}

std::vector<std::string> modules_in(const Archive& checkout) {
  std::set<std::string> names;
  for (const Member& member : checkout.members) {
    if (!is_c_source(member.name)) continue;
    for (std::string& name : entries_in(member.code())) names.insert(std::move(name));
  }
  return {names.begin(), names.end()};
}

model::Description module_without_metadata(const Archive& checkout, const std::string& name) {
  model::Description module;
  module.name = name;
  order_tensors(checkout, module);
  for (const Member& member : checkout.members) {
    if (!is_header_file(member.name)) continue;
    const auto macros = CText(member.bytes).number_macros();
    const auto size = macros.find("TVMGEN_" + upper_case(name) + "_WORKSPACE_SIZE");
    if (size != macros.end()) module.workspace_bytes = size->second;
  }
  return module;
}

}  // namespace usmp::mlf
