// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Recognises files by their first bytes.
#include "file_kind.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <string_view>

#include "usmp/support/descriptor.hpp"
#include "usmp/support/error.hpp"
#include "usmp/support/input_file.hpp"
#include "usmp/support/text.hpp"
#include "usmp/tflite/reader.hpp"

namespace usmp::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t front_bytes = std::size_t{1} << 16;
constexpr std::size_t tar_magic_at = 257;
constexpr std::string_view blanks = " \t\r\n";

bool looks_like_archive(std::string_view front) {
  return front.starts_with("\x1F\x8B") ||
         front.starts_with(
             "\xFD"
             "7zXZ") ||
         front.starts_with("\x28\xB5\x2F\xFD") ||
         (front.size() > tar_magic_at && front.substr(tar_magic_at).starts_with("ustar"));
}

FileKind kind_of_json(std::string_view front) {
  if (front.find("\"usmp-plan/plan\"") != std::string_view::npos) return FileKind::plan;
  if (front.find("\"usmp-plan/problem\"") != std::string_view::npos) return FileKind::problem;
  if (front.find("\"type_key\"") != std::string_view::npos) return FileKind::module;
  return FileKind::unknown;
}

bool looks_like_csv(std::string_view front) {
  const std::string_view header = first_line(front);
  return header.starts_with("id,") && header.find("lower") != std::string_view::npos;
}

bool looks_like_pools(std::string_view front) {
  const std::string lines = "\n" + std::string(front);
  return lines.find("\nworkspace_pools:") != std::string::npos || lines.find("\nparameter_pools:") != std::string::npos;
}

// What a pipe holds just now, once it holds something: copied, so that it can still be read. At its end: nothing.
std::string peek(const std::string& pipe) {
  const Descriptor source(::open(pipe.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<int, 2> ends = {-1, -1};
  if (!source.is_open() || ::pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const Descriptor read_end(ends[0]);
  const Descriptor write_end(ends[1]);
  if (::tee(source.get(), write_end.get(), front_bytes, 0) <= 0) return {};
  std::string front(front_bytes, '\0');
  const ssize_t count = ::read(read_end.get(), front.data(), front.size());
  front.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return front;
}

[[noreturn]] void refuse(const std::string& path, const std::string& message) {
  throw Error(ErrorKind::usage, {path, {}, {}}, message);
}

FileKind kind_of(const std::string& path, const std::string& front) {
  std::error_code error;
  if (fs::is_regular_file(fs::path(path) / "metadata.json", error)) return FileKind::archive;
  if (looks_like_archive(front)) return FileKind::archive;
  if (looks_like_csv(front)) return FileKind::instance;
  const std::size_t first = front.find_first_not_of(blanks);
  return first != std::string::npos && front[first] == '{' ? kind_of_json(front) : FileKind::unknown;
}

// Where the nodes begin need not be seen in a long file.
bool may_be_tir(std::string_view front) {
  return front.empty() || front.size() == front_bytes || front.find("\"nodes\"") != std::string_view::npos;
}

// What people take for a model.
void refuse_other_models(const std::string& path, std::string_view front) {
  const auto refuse_model = [&](const std::string& what) {
    refuse(path,
           "is " + what + "; expected an archive of it: tvmc compile … --output-format mlf, or apps/export_tir.py");
  };
  if (path.ends_with(".onnx") && !front.empty() && !looks_like_archive(front)) refuse_model("an ONNX model");
  std::error_code error;
  const bool is_file = !front.empty() || fs::is_regular_file(path, error);
  if (path.ends_with(".tflite") && is_file && !tflite::is_model(front) && !looks_like_archive(front)) {
    throw Error(ErrorKind::archive, {path, {}, {}},
                "is no TensorFlow Lite model: expected the identifier TFL3 in its bytes 4 to 8");
  }
  if (looks_like_pools(front) && !path.ends_with(".c")) {
    refuse(path, "looks like a pools file, expected a model: MODEL --pools " + path);
  }
}

}  // namespace

std::string front_of_file(const std::string& path) {
  InputFile file(path, InputFile::Noted::no);
  if (!file.is_open() || !file.is_regular()) return {};
  std::string front(front_bytes, '\0');
  std::size_t size = 0;
  while (const auto count = file.read(front.data() + size, front.size() - size)) {
    size += *count;
    if (*count == 0 || size == front.size()) break;
  }
  front.resize(size);
  return front;
}

namespace {

// Also of a pipe, as bash gives for <(…): what it holds by now.
std::string front_of_input(const std::string& path) { return is_open_pipe(path) ? peek(path) : front_of_file(path); }

}  // namespace

bool is_tflite(const std::string& path) { return tflite::is_model(front_of_input(path)); }

FileKind kind_of_file(const std::string& path) { return kind_of(path, front_of_file(path)); }

bool is_open_pipe(const std::string& path) {
  std::error_code error;
  return names_open_file(path) && fs::is_fifo(path, error);
}

bool is_json_in_pipe(const std::string& path) {
  if (!is_open_pipe(path)) return false;
  const std::string front = peek(path);
  const std::size_t first = front.find_first_not_of(blanks);
  return first != std::string::npos && front[first] == '{';
}

void require_model(const std::string& path) {
  const std::string front = front_of_input(path);
  refuse_other_models(path, front);
  switch (kind_of(path, front)) {
    case FileKind::plan:
      refuse(path, "is a plan, expected a model; usmp-plan report shows a plan");
    case FileKind::problem:
      refuse(path, "is a planning problem, expected a model; usmp-plan solve plans it");
    case FileKind::instance:
      refuse(path, "is an instance in CSV, expected a model; usmp-plan solve plans it");
    case FileKind::archive:
    case FileKind::module:
      return;
    case FileKind::unknown:
      if (!path.ends_with(".json") || may_be_tir(front)) return;
      refuse(path,
             "is neither TIR (no \"nodes\") nor a plan or problem of usmp-plan; expected an archive or TIR as JSON");
  }
}

void require_pools_file(const std::string& path) {
  if (kind_of_file(path) == FileKind::archive) refuse(path, "looks like an archive, expected a pools file");
}

void require_instance(const std::string& path) {
  const std::string front = front_of_input(path);
  if (looks_like_pools(front)) {
    refuse(path, "looks like a pools file, expected an instance in CSV or a problem in JSON");
  }
  switch (kind_of(path, front)) {
    case FileKind::archive:
      refuse(path, "is an archive, expected an instance in CSV or a problem in JSON; usmp-plan MODEL plans an archive");
    case FileKind::module:
      refuse(path,
             "is a TIR module, expected an instance in CSV or a problem in JSON; usmp-plan problem makes one of it");
    case FileKind::plan:
      refuse(path, "is a plan, expected an instance in CSV or a problem in JSON; usmp-plan report shows a plan");
    case FileKind::problem:
    case FileKind::instance:
    case FileKind::unknown:
      return;
  }
}

}  // namespace usmp::driver
