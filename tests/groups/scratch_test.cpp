#include <sys/wait.h>

#include "tests/testing.h"

namespace krohn::test {

TEST_CASE("a folder of the same name in another program is another folder") {
  const Scratch mine("same-name");
  mine.write("kept", "mine");
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    bool alone = false;
    {
      const Scratch other("same-name");
      alone = std::filesystem::is_empty(other.path()) && other.path() != mine.path();
      other.write("kept", "other");
    }
    _exit(alone ? 0 : 1);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(contents(mine / "kept") == "mine");
}

TEST_CASE("nothing of a folder stays") {
  std::filesystem::path path;
  {
    const Scratch scratch("goes");
    scratch.write("file", "");
    path = scratch.path();
  }
  CHECK(!std::filesystem::exists(path));
  CHECK(!std::filesystem::exists(path.parent_path()));
}

}  // namespace krohn::test
