// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Reads the regular files of a directory as members of an archive.
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "mlf/c_text.hpp"
#include "mlf/intake.hpp"
#include "usmp/support/input_file.hpp"

namespace usmp::mlf {
namespace {

namespace fs = std::filesystem;

// Bounds the loops that symbolic links can make. An MLF archive is four directories deep.
constexpr std::size_t max_directory_depth = 64;

class DirectoryReader {
 public:
  DirectoryReader(const std::string& path, const Limits& limits) : root_(path), intake_(path, limits) {}

  Archive read() && {
    std::error_code fault;
    if (!fs::exists(root_ / "metadata.json", fault)) {
      if (fault) throw intake_.fault("metadata.json", "cannot be read: " + fault.message());
      throw intake_.fault("metadata.json", "not in this directory, expected an extracted Model Library Format archive");
    }
    canonical_root_ = fs::canonical(root_, fault);
    if (fault) throw intake_.fault("", "cannot be read: " + fault.message());
    pending_.push_back({"", 0});
    while (!pending_.empty()) {
      const Pending next = std::move(pending_.back());
      pending_.pop_back();
      list(next);
    }
    std::sort(files_.begin(), files_.end());
    for (const std::string& name : files_) take(name);
    Archive archive = std::move(intake_).finish();
    archive.is_directory = true;
    return archive;
  }

 private:
  struct Pending {
    std::string name;
    std::size_t depth;
  };

  void list(const Pending& directory) {
    if (directory.depth > max_directory_depth) {
      throw intake_.fault(directory.name, "more than " + std::to_string(max_directory_depth) +
                                              " directories deep: is there a loop of symbolic links?");
    }
    std::error_code fault;
    for (fs::directory_iterator at(root_ / directory.name, fault); !fault && at != fs::directory_iterator();
         at.increment(fault)) {
      const std::string leaf = at->path().filename().string();
      classify(directory.name.empty() ? leaf : directory.name + "/" + leaf, directory.depth);
    }
    if (fault) throw intake_.fault(directory.name, "cannot be read: " + fault.message());
  }

  void classify(const std::string& name, std::size_t depth) {
    const fs::path path = root_ / name;
    std::error_code fault;
    if (fs::is_symlink(fs::symlink_status(path, fault))) check_link(name);
    const fs::file_status status = fs::status(path, fault);
    if (fault) throw intake_.fault(name, "cannot be read: " + fault.message());
    if (fs::is_directory(status)) {
      intake_.count(name, 0);
      pending_.push_back({name, depth + 1});
    } else if (fs::is_regular_file(status)) {
      const std::uintmax_t size = fs::file_size(path, fault);
      if (fault) throw intake_.fault(name, "cannot be read: " + fault.message());
      intake_.count(name, size);
      files_.push_back(name);
    } else {
      throw intake_.fault(name, "a device, pipe or socket, expected a regular file or a directory");
    }
  }

  // A link out of the directory could hand any file of the machine on into the output.
  void check_link(const std::string& name) {
    std::error_code fault;
    const fs::path target = fs::canonical(root_ / name, fault);
    if (fault) throw intake_.fault(name, "a symbolic link that cannot be followed: " + fault.message());
    const auto [end, rest] =
        std::mismatch(canonical_root_.begin(), canonical_root_.end(), target.begin(), target.end());
    if (end != canonical_root_.end()) throw intake_.fault(name, "a symbolic link that leads out of the archive");
  }

  void take(const std::string& name) {
    const fs::path path = root_ / name;
    std::error_code fault;
    const std::uintmax_t size = fs::file_size(path, fault);
    const auto mode = static_cast<std::uint32_t>(fs::status(path, fault).permissions()) & 0777U;
    Member member{.name = name, .bytes = {}, .mode = mode};
    intake_.read(path.string(), size, member);
    intake_.add(std::move(member));
  }

  fs::path root_;
  fs::path canonical_root_;
  Intake intake_;
  std::vector<Pending> pending_;
  std::vector<std::string> files_;
};

}  // namespace

std::string Intake::read(const std::string& path, const std::string& name, std::uint64_t size) const {
  std::string bytes;
  require_memory(name, size);
  InputFile file(path);
  if (!file.is_open()) throw fault(name, "cannot be read: " + file.fault());
  std::array<char, 1 << 16> chunk{};
  for (;;) {
    const auto read = file.read(chunk.data(), chunk.size());
    if (!read) throw fault(name, "cannot be read to its end: " + file.fault());
    const std::size_t count = *read;
    if (count == 0) return bytes;
    if (count > limits_.member_bytes - bytes.size()) {
      throw fault(name, "grows beyond the limit of " + std::to_string(limits_.member_bytes) +
                            " bytes for a member while it is read");
    }
    reserve_ahead(bytes, std::max<std::uint64_t>(size, bytes.size() + count));
    bytes.append(chunk.data(), count);
  }
}

void Intake::read(const std::string& path, std::uint64_t size, Member& member) const {
  const std::string& name = member.shown_name();
  const bool may_be_part = is_c_source(name) && size >= MappedFile::fewest_bytes;
  if (auto file = may_be_part ? MappedFile::open(path) : nullptr) {
    const std::string_view whole = file->bytes();
    if (whole.size() <= limits_.member_bytes) return take_part(std::move(file), whole, member);
  }
  member.bytes = read(path, name, size);
}

void Intake::take_part(std::shared_ptr<const MappedFile> file, std::string_view part, Member& member) const {
  const std::uint64_t most = limits_.code_bytes - std::min(limits_.code_bytes, code_bytes_);
  auto outline = without_tables(part, *file, static_cast<std::size_t>(most));
  if (!outline) {
    throw fault(member.shown_name(), "the large C files have more than " + std::to_string(limits_.code_bytes) +
                                         " bytes besides long lists of numbers, which is the limit");
  }
  member.outline = std::move(*outline);
  member.part = part;
  member.file = std::move(file);
}

Archive read_directory(const std::string& path, const Limits& limits) { return DirectoryReader(path, limits).read(); }

}  // namespace usmp::mlf
