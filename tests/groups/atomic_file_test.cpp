#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include "krohn/groups/base/atomic_file.h"
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
