// SPDX-License-Identifier: Apache-2.0
// SPDX-FileCopyrightText: 2026 usmp-plan contributors
// Putting results in place: what tests/e2e/faults.py does not see from outside.
#include "driver/output.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <csignal>
#include <map>
#include <vector>

#include "driver/directory.hpp"
#include "driver/replacement.hpp"
#include "driver/staging.hpp"
#include "driver/termination.hpp"
#include "files.hpp"
#include "usmp/support/error.hpp"

namespace usmp::driver::output_test {
namespace {

std::vector<OutputFile> files(const std::string& content) {
  std::vector<OutputFile> result;
  for (const char* path : {"a/b/one", "a/two", "three"}) {
    result.push_back({path, [content](TextSink& sink) { sink.write(content); }});
  }
  return result;
}

std::map<std::string, std::string> contents(const fs::path& directory) {
  std::map<std::string, std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(directory)) {
    if (entry.is_regular_file()) found[fs::relative(entry.path(), directory).string()] = read(entry.path());
  }
  return found;
}

ino_t inode(const fs::path& path) {
  struct stat status = {};
  REQUIRE(::stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

fs::path only_entry(const fs::path& directory) {
  const auto names = names_in(directory.string());
  REQUIRE(names.size() == 1);
  return directory / names.front();
}

}  // namespace

TEST_CASE("what others have is not touched, what they have no part in is exchanged whole") {
  const TemporaryDirectory temporary;
  const fs::path out = temporary.path / "out";
  write_directory(out.string(), files("old"), {});
  write(out / "mine", "mine");
  fs::create_directory(out / "empty");
  const ino_t mine = inode(out / "mine");
  const ino_t a = inode(out / "a");
  write_directory(out.string(), files("new"), {});
  CHECK(contents(out) ==
        std::map<std::string, std::string>{{"a/b/one", "new"}, {"a/two", "new"}, {"three", "new"}, {"mine", "mine"}});
  CHECK(inode(out / "mine") == mine);
  CHECK(inode(out / "a") != a);
  CHECK(fs::is_directory(out / "empty"));
  CHECK(only_entry(temporary.path) == out);
}

TEST_CASE("a directory keeps its access rights, also when it is exchanged") {
  const TemporaryDirectory temporary;
  const fs::path out = temporary.path / "out";
  write_directory(out.string(), files("old"), {});
  fs::permissions(out, fs::perms::owner_all);
  fs::permissions(out / "a/b", fs::perms::owner_all | fs::perms::group_read);
  write_directory(out.string(), files("new"), {});
  CHECK(read(out / "a/b/one") == "new");
  CHECK(fs::status(out).permissions() == fs::perms::owner_all);
  CHECK(fs::status(out / "a/b").permissions() == (fs::perms::owner_all | fs::perms::group_read));
}

TEST_CASE("dropped files go, with all that is taken back if something is in the way") {
  const TemporaryDirectory temporary;
  const fs::path out = temporary.path / "out";
  write_directory(out.string(), files("old"), {});
  write(out / "a/dropped", "old");
  write(out / "mine", "mine");
  SUBCASE("nothing in the way") {
    write_directory(out.string(), files("new"), {"a/dropped", "a/none", "mine/none"});
    CHECK(contents(out).size() == 4);
    CHECK_FALSE(fs::exists(out / "a/dropped"));
  }
  SUBCASE("a directory in the way of the last file") {
    fs::remove(out / "three");
    fs::create_directories(out / "three/mine");
    const auto before = contents(out);
    CHECK_THROWS_AS(write_directory(out.string(), files("new"), {"a/dropped"}), Error);
    CHECK(contents(out) == before);
    CHECK(fs::is_directory(out / "three/mine"));
  }
  CHECK(only_entry(temporary.path) == out);
}

TEST_CASE("nothing goes through links: neither new files nor the removal of dropped ones") {
  const TemporaryDirectory temporary;
  const fs::path out = temporary.path / "out";
  fs::create_directories(temporary.path / "victim");
  write(temporary.path / "victim/file", "victim");
  write_directory(out.string(), files("old"), {});
  fs::create_directory_symlink(temporary.path / "victim", out / "link");
  write_directory(out.string(), files("new"), {"link/file"});
  CHECK(read(temporary.path / "victim/file") == "victim");
  CHECK(fs::is_symlink(out / "link"));
  fs::remove_all(out / "a");
  fs::create_directory_symlink(temporary.path / "victim", out / "a");
  CHECK_THROWS_AS(write_directory(out.string(), files("newer"), {}), Error);
  CHECK(read(out / "three") == "new");
  CHECK(names_in(temporary.file("victim")) == std::vector<std::string>{"file"});
}

TEST_CASE("what fails leaves nothing, and neither does what is not accepted") {
  const TemporaryDirectory temporary;
  const fs::path out = temporary.path / "out";
  std::vector<OutputFile> failing = files("new");
  failing.push_back({"last", [](TextSink&) { throw Error(ErrorKind::output, {}, "no"); }});
  CHECK_THROWS_AS(write_directory(out.string(), failing, {}), Error);
  CHECK(names_in(temporary.path.string()).empty());
  const auto never = [](const std::string&) { throw Error(ErrorKind::usage, {}, "no"); };
  write_directory(out.string(), files("new"), {}, never);  // there was none to be looked at
  CHECK(contents(out).size() == 3);
  const auto before = contents(out);
  CHECK_THROWS_AS(write_directory(out.string(), files("newer"), {}, never), Error);
  CHECK(contents(out) == before);
  CHECK(names_in(temporary.path.string()) == std::vector<std::string>{"out"});
  CHECK_THROWS_AS(write_directory((temporary.path / "x/y").string(), files("new"), {}), Error);
  CHECK(names_in(temporary.path.string()) == std::vector<std::string>{"out"});
}

TEST_CASE(
    "temporary directories of runs that were killed are removed, those at work and what only looks like one are not") {
  const TemporaryDirectory temporary;
  const fs::path stale = temporary.path / ".usmp-plan-stale1";
  const fs::path working = temporary.path / ".usmp-plan-locked";
  const fs::path file = temporary.path / ".usmp-plan-a-file";
  const fs::path other = temporary.path / ".usmp-plan-longer-name";
  fs::create_directories(temporary.path / "victim");
  write(temporary.path / "victim/file", "victim");
  fs::create_directories(stale / "complete/deep");
  write(stale / "complete/deep/file", "x");
  fs::create_directory_symlink(temporary.path / "victim", stale / "link");
  fs::create_directory_symlink(temporary.path / "victim", temporary.path / ".usmp-plan-linked");
  const fs::path users = temporary.path / ".usmp-plan-users1";
  const fs::path empty = temporary.path / ".usmp-plan-empty1";
  const fs::path begun = temporary.path / ".usmp-plan-begun1";
  for (const fs::path& path : {working, other, users, empty, begun}) fs::create_directories(path);
  for (const fs::path& path : {working, other, stale}) write(path / ".written-by-usmp-plan", "");
  write(users / "work.c", "int mine;");
  fs::permissions(users, fs::perms::owner_all | fs::perms::sticky_bit);
  fs::permissions(empty, fs::perms::owner_all);
  fs::permissions(begun, fs::perms::owner_all | fs::perms::sticky_bit);  // killed when it was made
  write(file, "x");
  const Descriptor lock(::open(working.c_str(), O_RDONLY | O_DIRECTORY));
  REQUIRE(::flock(lock.get(), LOCK_EX) == 0);
  write_directory((temporary.path / "out").string(), files("new"), {});
  CHECK(names_in(temporary.path.string()) ==
        std::vector<std::string>{".usmp-plan-a-file", ".usmp-plan-empty1", ".usmp-plan-linked", ".usmp-plan-locked",
                                 ".usmp-plan-longer-name", ".usmp-plan-users1", "out", "victim"});
  CHECK(read(users / "work.c") == "int mine;");
  CHECK(read(temporary.path / "victim/file") == "victim");
}

TEST_CASE("a temporary directory is its owner's alone, and gone with it") {
  const TemporaryDirectory temporary;
  {
    const Staging staging(temporary.path);
    CHECK(fs::status(staging.path()).permissions() == (fs::perms::owner_all | fs::perms::sticky_bit));
    const Staging second(temporary.path);
    CHECK(names_in(temporary.path.string()).size() == 2);
    write(staging.path() / "file", "x");
  }
  CHECK(names_in(temporary.path.string()).empty());
}

TEST_CASE("a lock knows the directory that it is of") {
  const TemporaryDirectory temporary;
  const fs::path path = temporary.path / "out";
  fs::create_directory(path);
  const TerminationDeferred termination;
  const DirectoryLock lock(path.string(), termination);
  CHECK(lock.holds(path.string()));
  fs::rename(path, temporary.path / "moved");
  CHECK_FALSE(lock.holds(path.string()));
  fs::create_directory(path);
  CHECK_FALSE(lock.holds(path.string()));
}

TEST_CASE("signals wait while results are written, unless they are ignored") {
  const auto previous = std::signal(SIGTERM, SIG_IGN);
  {
    const TerminationDeferred termination;
    std::raise(SIGTERM);
    CHECK_NOTHROW(termination.check());
  }
  static volatile std::sig_atomic_t noted = 0;
  std::signal(SIGTERM, [](int) { noted = 1; });
  {
    const TerminationDeferred termination;
    CHECK_NOTHROW(termination.check());
    std::raise(SIGTERM);
    CHECK_THROWS_AS(termination.check(), Terminated);
    CHECK(noted == 0);
  }
  CHECK(noted == 1);
  std::signal(SIGTERM, previous);
}

}  // namespace usmp::driver::output_test
