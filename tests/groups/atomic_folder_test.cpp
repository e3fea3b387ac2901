#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/random.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::Scratch;
namespace fs = std::filesystem;

namespace {

using Files = std::vector<std::pair<std::string, std::string>>;

std::set<std::string> names_in(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

using Names = std::set<std::string>;

/// A process that is certainly gone.
pid_t dead_process() {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  return child;
}

}  // namespace

TEST_CASE("a folder is made, with the folders above it, and replaced") {
  const Scratch scratch("atomic_folder_replace");
  write_folder(scratch / "a/b/new", Files{{"config", "1"}, {"weights", "one"}});
  CHECK(names_in(scratch / "a/b") == Names{"new"});
  CHECK(read_file(scratch / "a/b/new/weights") == "one");
  write_folder(scratch / "a/b/new/", Files{{"config", "2"}, {"weights", std::string(1'000'000, 'w')}});
  CHECK(names_in(scratch / "a/b") == Names{"new"});
  CHECK(names_in(scratch / "a/b/new") == Names{"config", "weights"});
  CHECK(read_file(scratch / "a/b/new/weights").size() == 1'000'000);
}

TEST_CASE("what others put into the folder stays, what is outdated goes") {
  const Scratch scratch("atomic_folder_keep");
  write_folder(scratch / "f", Files{{"config", "1"}, {"old weights", "x"}});
  chmod((scratch / "f").c_str(), 0750);
  write_file(scratch / "f/notes", "mine");
  fs::create_directories(scratch / "f/deep/er");
  write_file(scratch / "f/deep/er/file", "deep");
  fs::create_symlink("notes", scratch / "f/link");
  write_folder(scratch / "f", Files{{"config", "2"}}, {"old weights", "never there"});
  CHECK(names_in(scratch / "f") == Names{"config", "deep", "link", "notes"});
  CHECK(read_file(scratch / "f/config") == "2");
  CHECK(read_file(scratch / "f/notes") == "mine");
  CHECK(read_file(scratch / "f/deep/er/file") == "deep");
  CHECK(fs::is_symlink(scratch / "f/link"));
  struct stat status {};
  REQUIRE(stat((scratch / "f").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0750);
  CHECK(names_in(scratch / "") == Names{"f"});
}

TEST_CASE("a link to a folder is followed") {
  const Scratch scratch("atomic_folder_link");
  write_folder(scratch / "f", Files{{"a", "1"}});
  fs::create_directory_symlink("f", scratch / "link");
  write_folder(scratch / "link", Files{{"a", "2"}});
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(read_file(scratch / "f/a") == "2");
  CHECK(names_in(scratch / "") == Names{"f", "link"});
}

TEST_CASE("what cannot be replaced is refused, and nothing changes") {
  const Scratch scratch("atomic_folder_refuse");
  write_file(scratch / "file", "x");
  CHECK_THROWS_AS(write_folder(scratch / "file", Files{{"a", "1"}}), SystemError);
  CHECK_THROWS_AS(write_folder("", Files{{"a", "1"}}), SystemError);
  CHECK_THROWS_AS(write_folder("/proc/nowhere", Files{{"a", "1"}}), SystemError);
  CHECK_THROWS_AS(write_folder(".", Files{{"a", "1"}}), SystemError);  // the folder of this process, and those above it
  CHECK_THROWS_AS(write_folder("..", Files{{"a", "1"}}), SystemError);
  CHECK_THROWS_AS(write_folder(scratch / "new", Files{{"no/such", "1"}}), SystemError);
  CHECK(names_in(scratch / "") == Names{"file"});
}

TEST_CASE("killed at any moment, the folder is the old one or the new one, and the next run tidies up") {
  const Scratch scratch("atomic_folder_kill");
  Random rng(11);
  const auto version = [](int number) {
    Files files;
    for (const char* name : {"config", "weights", "tokens", "automaton"})
      files.emplace_back(name, std::to_string(number) + std::string(200'000, 'x'));
    return files;
  };
  write_folder(scratch / "f", version(0));
  write_file(scratch / "f/notes", "mine");
  int interrupted = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const pid_t writer = fork();
    if (writer == 0) {
      for (int number = 1;; ++number) write_folder(scratch / "f", version(number));
    }
    usleep(static_cast<useconds_t>(rng.below(20'000)));
    kill(writer, SIGKILL);
    waitpid(writer, nullptr, 0);
    interrupted += names_in(scratch / "").size() > 1 ? 1 : 0;
    REQUIRE(names_in(scratch / "f") == Names{"automaton", "config", "notes", "tokens", "weights"});
    const std::string config = read_file(scratch / "f/config");
    for (const char* name : {"weights", "tokens", "automaton"})
      REQUIRE(read_file(scratch / ("f/" + std::string(name))) == config);
    REQUIRE(read_file(scratch / "f/notes") == "mine");
  }
  CHECK(interrupted > 0);                   // or the moments were too early or too late to try anything
  write_file(scratch / "./g", "whatever");  // by another name: a process looks into a directory once, and has
  CHECK(names_in(scratch / "") == Names{"f", "g"});
}

TEST_CASE("only what the dead left is removed") {
  const Scratch scratch("atomic_folder_leftovers");
  const std::string dead = std::to_string(dead_process());
  const Names kept = {"." + dead + "-0.krohn-tmp.bak",
                      "." + dead + ".krohn-tmp",
                      dead + "-0.krohn-tmp",
                      ".1-0.krohn-tmp",
                      "." + std::to_string(getpid()) + "-999999.krohn-tmp",
                      ".x-0.krohn-tmp",
                      "." + dead + "-x.krohn-tmp",
                      ".-1-0.krohn-tmp"};
  for (const std::string& name : kept) fs::create_directory(scratch / name);
  for (const std::string name : {"-0", "-17"}) {
    fs::create_directories(scratch / ("." + dead + name + ".krohn-tmp") / "sub");
  }
  fs::create_directory(scratch / "target");
  fs::create_directory_symlink("target", scratch / ("." + dead + "-5.krohn-tmp"));
  write_file(scratch / "f", "x");
  Names expected = kept;
  expected.insert({"f", "target", "." + dead + "-5.krohn-tmp"});
  CHECK(names_in(scratch / "") == expected);
}
