// The plan of the house, read from the includes: every folder of sources is a room whose README, or the one above,
// names its entry point, and the arrows between rooms make no circle.

#include <regex>

#include "tests/testing.h"

namespace fs = std::filesystem;

namespace {

using Rooms = std::map<std::string, std::set<std::string>>;

const char* const kFloors[] = {"groups", "automata", "constructions", "simulate", "gpu"};

bool is_source(const fs::path& file) {
  const std::string ending = file.extension().string();
  return ending == ".h" || ending == ".cpp" || ending == ".cuh" || ending == ".cu";
}

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

/// The paths behind `#include "krohn/`, as they stand in the tree.
std::set<std::string> includes(const fs::path& file) {
  const std::string text = text_of(file), mark = "#include \"krohn/";
  std::set<std::string> found;
  for (std::size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const std::size_t begin = at + mark.size();
    found.insert(text.substr(begin, text.find('"', begin) - begin));
  }
  return found;
}

/// Room ↦ the rooms that its files include.
Rooms arrows() {
  Rooms rooms;
  for (const char* floor : kFloors)
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(KROHN_ROOT) / floor)) {
      if (!is_source(entry.path())) continue;
      const std::string room = fs::relative(entry.path().parent_path(), KROHN_ROOT).string();
      std::set<std::string>& leans_on = rooms[room];
      for (const std::string& included : includes(entry.path()))
        if (const std::string other = fs::path(included).parent_path().string(); other != room) leans_on.insert(other);
    }
  return rooms;
}

int floor_of(const std::string& room) {
  for (int i = 0; i < 5; ++i)
    if (room == kFloors[i] || room.starts_with(std::string(kFloors[i]) + "/")) return i;
  return -1;
}

}  // namespace

TEST_CASE("every room has a README, or a line in the one above, with an entry point") {
  for (const auto& [room, others] : arrows()) {
    CAPTURE(room);
    const fs::path folder = fs::path(KROHN_ROOT) / room;
    fs::path home = folder;
    while (home != KROHN_ROOT && !fs::exists(home / "README.md")) home = home.parent_path();
    REQUIRE(home != KROHN_ROOT);
    const std::string text = text_of(home / "README.md");
    const std::string before_list = text.substr(0, text.find("\n- `"));
    CHECK(std::count(before_list.begin(), before_list.end(), '\n') <= 15);
    const std::string room_in_list = "\n- `" + fs::relative(folder, home).string() + "/`:";
    const std::string mark = home == folder ? "\nEntry point: `" : room_in_list;
    std::size_t at = text.find(mark);
    REQUIRE(at != std::string::npos);
    at = text.find("Entry point: `", at) + std::strlen("Entry point: `");
    const std::string entry = text.substr(at, text.find('`', at) - at);
    CAPTURE(entry);
    CHECK(fs::is_regular_file(home / entry));
    CHECK((home == folder || (home / entry).parent_path() == folder));
  }
}

TEST_CASE("the pages name files and tests that are there") {
  std::set<std::string> files, names;
  for (const char* folder : {"groups", "automata", "constructions", "simulate", "gpu", "tools", "tests", "docs"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(KROHN_ROOT) / folder)) {
      files.insert(fs::relative(entry.path(), KROHN_ROOT).string());
      names.insert(entry.path().filename().string());
    }
  int named = 0;
  for (const char* pages : {"docs", "docs/reference"})
    for (const auto& page : fs::directory_iterator(fs::path(KROHN_ROOT) / pages)) {
      if (page.path().extension() != ".md") continue;
      const std::string text = text_of(page.path());
      const std::regex in_code("`([a-z_0-9/]+(?:_test|\\.h|\\.cpp|\\.cuh|\\.cu))`");
      for (std::sregex_iterator at(text.begin(), text.end(), in_code), end; at != end; ++at) {
        std::string name = (*at)[1];
        if (name == "llama.cpp") continue;
        if (name.ends_with("_test")) name += ".cpp";
        CAPTURE(page.path().string());
        CAPTURE(name);
        CHECK((files.contains(name) || names.contains(name) || names.contains(fs::path(name).filename().string())));
        ++named;
      }
    }
  CHECK(named > 100);
}

TEST_CASE("no room is a warehouse: at most 15 files, or at most 6,000 lines") {
  struct Size {
    int files = 0;
    std::ptrdiff_t lines = 0;
  };
  std::map<std::string, Size> rooms;
  for (const char* floor : {"groups", "automata", "constructions", "simulate", "gpu", "tools", "tests"})
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(KROHN_ROOT) / floor)) {
      if (!is_source(entry.path())) continue;
      const std::string text = text_of(entry.path());
      Size& room = rooms[entry.path().parent_path().string()];
      ++room.files;
      room.lines += std::count(text.begin(), text.end(), '\n');
    }
  for (const auto& [folder, size] : rooms) {
    CAPTURE(folder);
    CAPTURE(size.files);
    CAPTURE(size.lines);
    CHECK((size.files <= 15 || size.lines <= 6000));
  }
}

TEST_CASE("arrows between rooms point down the floors and make no circle") {
  const Rooms rooms = arrows();
  CHECK(rooms.size() > 30);
  enum class Mark { kNone, kOpen, kDone };
  std::map<std::string, Mark> marks;
  const std::function<bool(const std::string&)> is_circle_free = [&](const std::string& room) {
    Mark& mark = marks[room];
    if (mark != Mark::kNone) return mark == Mark::kDone;
    mark = Mark::kOpen;
    for (const std::string& other : rooms.at(room)) {
      CAPTURE(room);
      CAPTURE(other);
      CHECK(floor_of(other) <= floor_of(room));
      if (!is_circle_free(other)) return false;
    }
    marks[room] = Mark::kDone;
    return true;
  };
  for (const auto& [room, leans_on] : rooms) {
    CAPTURE(room);
    CHECK(is_circle_free(room));
  }
}

TEST_CASE("the re-checker sees the certificate and networks, and nothing that makes certificates") {
  const std::set<std::string> allowed{"simulate/arithmetic/arithmetic_name.h", "simulate/arithmetic/order.h",
                                      "simulate/prove/claims/certificate.h", "simulate/prove/claims/operations.h"};
  for (const auto& entry : fs::directory_iterator(fs::path(KROHN_ROOT) / "simulate/check"))
    if (is_source(entry.path()))
      for (const std::string& included : includes(entry.path())) {
        CAPTURE(entry.path().string());
        CAPTURE(included);
        CHECK((!included.starts_with("simulate/") || included.starts_with("simulate/check/") ||
               allowed.contains(included)));
      }
}
