#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "krohn/groups/base/atomic_file.h"
#include "krohn/groups/base/random.h"
#include "tests/testing.h"

using namespace krohn;
using krohn::test::Scratch;
namespace fs = std::filesystem;

namespace {

/// The names in a folder, hidden or not.
std::ptrdiff_t entries(const Scratch& scratch) {
  return std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator());
}

/// Runs `body` in a child process and returns its wait status, so that limits and signals hit only the child.
template <class Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("what is written is read back, whatever the bytes and the size") {
  const Scratch scratch("atomic_file_roundtrip");
  for (const std::size_t size : {0u, 1u, 65535u, 65536u, 65537u, 1000000u}) {
    CAPTURE(size);
    std::string bytes(size, '\0');
    for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * i + i / 256);
    write_file(scratch / "f", bytes);
    CHECK(read_file(scratch / "f") == bytes);
    AtomicFile pieces(scratch / "g");
    for (std::size_t at = 0; at < size; at += 777) pieces.write(std::string_view(bytes).substr(at, 777));
    pieces.commit();
    CHECK(read_file(scratch / "g") == bytes);
  }
  CHECK(entries(scratch) == 2);
}

TEST_CASE("without a commit the old file stays and nothing else is left") {
  const Scratch scratch("atomic_file_abandon");
  write_file(scratch / "f", "old");
  {
    AtomicFile file(scratch / "f");
    file.write(std::string(200000, 'x'));
    CHECK(entries(scratch) == 2);
  }
  CHECK(read_file(scratch / "f") == "old");
  CHECK(entries(scratch) == 1);
}

TEST_CASE("a disk that refuses the bytes leaves the old file and one clear message") {
  const Scratch scratch("atomic_file_full");
  write_file(scratch / "f", "old");
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100000, 100000};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      write_file(scratch / "f", std::string(300000, 'x'));
    } catch (const SystemError&) {
      _exit(42);
    }
  });
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 42);
  CHECK(read_file(scratch / "f") == "old");
  CHECK(entries(scratch) == 1);
  if (fs::exists("/dev/full"))
    CHECK_THROWS_WITH_AS(write_file("/dev/full", "x"), "/dev/full: cannot write: No space left on device", SystemError);
}

TEST_CASE("an interrupt in the middle of writing leaves nothing half-written") {
  const Scratch scratch("atomic_file_interrupt");
  write_file(scratch / "f", "old");
  const int status = in_child([&] {
    std::signal(SIGINT, [](int) {
      remove_pending_files();
      _exit(130);
    });
    AtomicFile first(scratch / "f"), second(scratch / "g");
    first.write(std::string(200000, 'x'));
    second.write("y");
    if (entries(scratch) == 3) std::raise(SIGINT);
  });
  CHECK(WEXITSTATUS(status) == 130);
  CHECK(read_file(scratch / "f") == "old");
  CHECK(entries(scratch) == 1);
}

TEST_CASE("a finished or abandoned file is no longer pending") {
  const Scratch scratch("atomic_file_registry");
  for (int i = 0; i < 600; ++i) write_file(scratch / "f", "whole");  // more than the registry has slots
  { AtomicFile abandoned(scratch / "g"); }
  remove_pending_files();
  CHECK(read_file(scratch / "f") == "whole");
  AtomicFile late(scratch / "h");
  CHECK(entries(scratch) == 2);
  remove_pending_files();
  CHECK(entries(scratch) == 1);
}

TEST_CASE("links are followed and permissions kept") {
  const Scratch scratch("atomic_file_links");
  write_file(scratch / "f", "old");
  chmod((scratch / "f").c_str(), 0600);
  fs::create_symlink("f", scratch / "link");
  write_file(scratch / "link", "new");
  CHECK(fs::is_symlink(scratch / "link"));
  CHECK(read_file(scratch / "f") == "new");
  struct stat status {};
  REQUIRE(stat((scratch / "f").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0600);
}

TEST_CASE("what cannot be read or written is refused with the reason") {
  const Scratch scratch("atomic_file_refused");
  CHECK_THROWS_WITH_AS(read_file("/nonexistent/f"), "/nonexistent/f: cannot read: No such file or directory",
                       SystemError);
  CHECK_THROWS_WITH_AS(write_file("/nonexistent/f", ""), "/nonexistent/f: cannot write: No such file or directory",
                       SystemError);
  CHECK_THROWS_AS(read_file("/"), SystemError);
  CHECK_THROWS_AS(write_file("/", ""), SystemError);
  CHECK_THROWS_AS(write_file("", ""), SystemError);
  write_file(scratch / "f", "12345");
  CHECK(read_file(scratch / "f", 5) == "12345");
  CHECK_THROWS_AS(read_file(scratch / "f", 4), LimitError);
  CHECK_THROWS_AS(read_file("/dev/zero", 1000000), LimitError);
  write_file(scratch / std::string(250, 'n'), "a long name needs no longer temporary name");
  CHECK(entries(scratch) == 2);
}

TEST_CASE("text is text, and reading can stop at what a file begins with") {
  using namespace std::string_literals;
  const Scratch scratch("atomic_file_text");
  write_file(scratch / "t", "plain\ntext\n");
  CHECK(read_text_file(scratch / "t") == "plain\ntext\n");
  CHECK(read_text_file(scratch / "t", 11) == "plain\ntext\n");
  CHECK_THROWS_AS(read_text_file(scratch / "t", 10), LimitError);
  write_file(scratch / "z", std::string(100'000, 'x') + "\0y"s);
  CHECK_THROWS_WITH_AS(read_text_file(scratch / "z"), doctest::Contains("byte 100000 is zero"), InputError);
  CHECK_THROWS_WITH_AS(read_text_file("/dev/zero"), "/dev/zero: not a text file: byte 0 is zero", InputError);
  struct Fact {
    std::string bytes;
    const char* kind;
  };
  for (const Fact& fact : {Fact{"PK\3\4rest", "ZIP"},
                           {"\x80\4\x95 pickle", "pickle"},
                           {"\x1F\x8B zip", "gzip"},
                           {"\x08\x08\x12\5krohn", "ONNX"},
                           {"\2\0\0\0\0\0\0\0{}"s, ".safetensors"}}) {
    CAPTURE(fact.kind);
    write_file(scratch / "b", fact.bytes);
    CHECK_THROWS_WITH_AS(read_text_file(scratch / "b"), doctest::Contains(fact.kind), InputError);
  }
  for (const char* text : {"", "P", "PK", "\x80", "digraph {}", "{\"a\": 1}", "8 8 a a\n", "@NFA-bits"})
    CHECK(kind_of_binary(text) == "");
  std::size_t looks = 0;
  CHECK(read_file(scratch / "z", kMaxBytes, [&](std::string_view text) { looks += text.size() > 0 ? 1 : 0; }).size() ==
        100'002);
  CHECK(looks == 2);
}

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
