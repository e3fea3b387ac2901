// docs/results/reproduction.md: its commands run, its figures stand in the results, and every claim has a verdict.

#include <regex>

#include "tests/tools/shell.h"

using namespace krohn::test;

namespace {

const std::string kDocs = KROHN_ROOT "/docs/";

std::vector<std::string> split(const std::string& whole) {
  std::vector<std::string> lines;
  std::istringstream text(whole);
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> lines_of(const std::string& path) { return split(contents(path)); }

/// The cells of a row of a table; none where the line is none, or the rule under its head.
std::vector<std::string> cells_of(const std::string& line) {
  if (!line.starts_with("| ")) return {};
  std::vector<std::string> cells;
  std::string cell;
  for (std::size_t i = 1; i < line.size(); ++i) {
    if (line[i] == '\\' && i + 1 < line.size())
      cell += line[++i];
    else if (line[i] == '|')
      cells.push_back(std::exchange(cell, ""));
    else
      cell += line[i];
  }
  for (std::string& text : cells) {
    text.erase(0, text.find_first_not_of(' '));
    text.erase(text.find_last_not_of(' ') + 1);
  }
  return cells;
}

std::vector<std::vector<std::string>> matches(const std::string& text, const char* pattern) {
  const std::regex expression(pattern);
  std::vector<std::vector<std::string>> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    found.emplace_back(match->begin(), match->end());
  return found;
}

/// All results pages of a kind, one after another.
std::string pages(const std::string& kind) {
  std::vector<std::filesystem::path> paths;
  for (const auto& page : std::filesystem::directory_iterator(kDocs + "results"))
    if (page.path().filename().string().starts_with(kind + "-2")) paths.push_back(page.path());
  std::ranges::sort(paths);
  std::string all;
  for (const auto& path : paths) all += contents(path.string()) + "\n";
  return all;
}

std::string with_single_blanks(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

/// The lines of a results page under "$ COMMAND", or under "earlier: COMMAND" where the command is no more, line by
/// line.
std::vector<std::string> printed_under(const std::vector<std::string>& page, const std::string& command) {
  std::vector<std::string> printed;
  auto line = std::ranges::find_if(
      page, [&](const std::string& text) { return text == "$ " + command || text == "earlier: " + command; });
  for (; line != page.end() && *line != "```" && *line != ""; ++line) printed.push_back(*line);
  return printed;
}

/// "4/5 0.83" for every cell of the printed rows from `row` on.
std::vector<std::string> figures_from(const std::vector<std::string>& printed, const std::string& row) {
  std::vector<std::string> figures;
  bool is_met = false;
  for (const std::string& line : printed) {
    const auto found = matches(line, R"((\d+/\d+), (-?\d\.\d\d) ±)");
    is_met = is_met || (!found.empty() && contains(line, row));
    if (is_met && !found.empty()) figures.push_back(found[0][1] + " " + found[0][2]);
  }
  return figures;
}

/// "LABEL: FIGURE, N of M" for every cell that one of the page's tables has of a model, or one "FIGURE, N of M", each
/// as it stands there: at the longer length. Gives how many.
int compare_with_rivals(const std::string& page, const std::string& model, const std::string& ours) {
  const auto said = matches(ours, R"((?:([^:·|]+): )?(-?\d\.\d{3} ± \d\.\d{3}), (\d+ of \d+))");
  if (said.empty()) return 0;
  bool is_table_quoted = false;
  std::size_t there = 0, right = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("<!-- ")) {
      is_table_quoted |= there == said.size() && right == said.size();
      there = right = 0;
    }
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 5 || (cells[0] != model && cells[1] != model)) continue;
    ++there;
    const std::string& label = cells[0] == model ? cells[1] : cells[0];
    for (const auto& figure : said) {
      const std::string wanted = std::regex_replace(figure[1], std::regex("^ +"), "");
      right += (wanted.empty() || wanted == label) && cells[3].starts_with(figure[2] + " at ") && cells[4] == figure[3];
    }
  }
  CHECK(is_table_quoted);
  return static_cast<int>(said.size());
}

constexpr char kFigure[] = R"((\d+/\d+ -?\d\.\d\d))";

}  // namespace

TEST_CASE("every claim has a verdict, and what is missing has its reason") {
  int claims = 0;
  std::size_t columns = 0;
  for (const std::string& line : lines_of(kDocs + "results/reproduction.md")) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.empty()) continue;
    CAPTURE(line);
    const std::string verdict = cells.back();
    if (verdict == "verdict") {
      columns = cells.size();
      continue;
    }
    CHECK(cells.size() == columns);
    CHECK(std::regex_search(
        verdict, std::regex("^(proved|reproduced|not reproduced, because .|not run, needs .|out of scope: .)")));
    ++claims;
  }
  CHECK(claims > 100);
}

TEST_CASE("every page that the claims name exists, and results are in the index and say what made them") {
  int links = 0;
  for (const auto& link : matches(contents(kDocs + "results/reproduction.md"), R"(\]\(([^)#:]+)\))")) {
    CHECK_MESSAGE(std::filesystem::exists(kDocs + "results/" + link[1]), link[1]);
    ++links;
  }
  CHECK(links > 20);
  const std::string index = contents(kDocs + "results/README.md");
  CHECK(contains(index, "(reproduction.md)"));
  for (const auto& page : std::filesystem::directory_iterator(kDocs + "results")) {
    const std::string name = page.path().filename().string();
    if (page.is_directory() || !contains(name, "-20")) continue;  // the material of a page, or a page about all of them
    CHECK_MESSAGE(contains(index, "`" + name.substr(0, name.find('-') + 1)), name);
    std::string top;  // names the command that makes the page again
    for (const std::string& line : lines_of(page.path()))
      if (top.size() < 1500) top += line + "\n";
    const std::regex made_by("tools/again docs/results/" + name +
                             "|`tools/bench/|krohn smallest --table|krohn table|krohn.rivals");
    CHECK_MESSAGE(std::regex_search(top, made_by), name);
  }
}

TEST_CASE("the figures of the claims are those of the results") {
  const std::vector<std::string> tables = split(pages("tables"));
  const std::string learned = pages("learned"), rivals = pages("rivals");
  std::string command;
  int compared = 0, rivals_compared = 0;
  for (const std::string& line : lines_of(kDocs + "results/reproduction.md")) {
    CAPTURE(line);
    const std::vector<std::string> cells = cells_of(line);
    if (line.starts_with("#")) command.clear();
    const auto named = matches(line, "(?:`|“earlier: )(krohn table [^`”]* -o cells)[`”]");
    if (!named.empty()) command = named.back()[1];
    if (cells.empty() || cells.back() == "verdict") continue;
    const std::string ours = cells[cells.size() - 2];
    rivals_compared += compare_with_rivals(rivals, cells[0], ours);
    for (const auto& time : matches(ours, R"((\d+\.\d\d) ms)"))
      CHECK_MESSAGE(contains(rivals, time[1] + " |"), time[1]);
    for (const auto& turn : matches(ours, R"(0\.\d{5})")) CHECK_MESSAGE(contains(learned, "±" + turn[0]), turn[0]);
    const auto figures = matches(ours, kFigure);
    if (figures.empty()) continue;
    std::string of_row = command;
    if (const std::size_t place = of_row.find("ROW"); place != std::string::npos) of_row.replace(place, 3, cells[0]);
    const std::vector<std::string> printed = printed_under(tables, of_row);
    REQUIRE_MESSAGE(printed.size() > 3, of_row);
    const bool is_of_table = named.empty() && of_row == command;  // one block for several rows of ours
    const std::vector<std::string> right = figures_from(printed, is_of_table ? cells[0] : "");
    REQUIRE(right.size() >= figures.size());
    for (std::size_t i = 0; i < figures.size(); ++i, ++compared) CHECK(figures[i][1] == right[i]);
  }
  CHECK(compared > 100);
  CHECK(rivals_compared > 15);
  for (const char* count : {"38/200", "52/200", "48/200", "72/200", "76/200"}) CHECK(contains(learned, count));
}

TEST_CASE("so many figures of Tables 1 and 3, both halves, are within 0.15 of the papers' as is said") {
  const std::vector<std::string> tables = split(pages("tables"));
  const std::string page = contents(kDocs + "results/reproduction.md");
  const auto check = [&](const std::vector<std::string>& commands, const std::string& place) {
    int figures = 0, near_as_trained = 0, near_at_500 = 0;
    for (const std::string& command : commands)
      for (const std::string& line : printed_under(tables, command))
        for (const auto& row :
             matches(line, R"(m = \d+ +(\S+) +(-?\d\.\d\d)(?: ± \d\.\d\d)? +(\S+) +500 +(-?\d\.\d\d))")) {
          const auto is_near = [&](int paper, int ours) {
            return std::abs(std::stod(row[paper]) - std::stod(row[ours])) < 0.155;
          };
          ++figures;
          near_as_trained += is_near(1, 2);
          near_at_500 += is_near(3, 4);
        }
    CHECK(contains(page, place + std::to_string(figures) + " figures |"));
    CHECK(contains(page, ": " + std::to_string(near_as_trained) + " within 0.15 of the paper's, and " +
                             std::to_string(near_at_500) + " at 500 letters"));
  };
  std::vector<std::string> commands;
  for (const char* task : {"modular addition", "state machine", "modular arithmetic"})
    for (const char* model :
         {"full", "factored", "rotations", "blocks of 1", "blocks of 2", "blocks of 8", "blocks of 64"})
      commands.push_back(std::string("krohn table ebrahimi1 --only '") + task + ", " + model + "' -o cells");
  check(commands, "at 2 to 10 letters: ");
  commands.clear();
  for (const char* factors : {"1,", "2,", "4,", "8,", "16,", "64,", "128,", "256"})
    commands.push_back(std::string("krohn table ebrahimi3 --only 'R = ") + factors + "' -o cells");
  check(commands, "at 2 to 10 letters, R = 1 to 256: ");
}

TEST_CASE("the commands of the claims do what is said") {
  const Workplace place("reproduction");
  const std::string page = contents(kDocs + "results/reproduction.md");
  const std::string tables = pages("tables"), learned = pages("learned");
  std::map<std::string, std::string> printed;
  int said = 0;
  for (const auto& found : matches(page, "`(krohn [a-z]+ [^`]+)`( prints “([^”]*)”)?")) {
    const std::string& command = found[1];
    CAPTURE(command);
    if (contains(command, "ROW") || contains(command, "…")) continue;
    if (command.starts_with(
            "krohn table ")) {  // trained by hand, and kept; or still to be: then it must be a table's cell
      if (contains(tables, "\n$ " + command + "\n") || contains(tables, "\nearlier: " + command + "\n") ||
          contains(learned, "\n$ " + command + "\n"))
        continue;
      place.expect(0, command + " --slurm");
      continue;
    }
    if (command.starts_with("krohn compare ")) continue;  // wants a trained run: learned_test
    if (!printed.contains(command)) {
      const Outcome outcome = place.shell(command);
      CHECK_MESSAGE(outcome.status == 0, outcome.err);
      printed[command] = with_single_blanks(outcome.out);
    }
    if (found[3].empty()) continue;
    CHECK_MESSAGE(contains(printed[command], found[3]), printed[command]);
    ++said;
  }
  CHECK(said >= 20);
}

TEST_CASE("three Householders with eigenvalues in [0, 1] turn: Grazzi et al., Prop. 1.3, ends at two") {
  using Matrix = std::array<std::array<int, 2>, 2>;
  const auto times = [](const Matrix& a, const Matrix& b) {
    Matrix product{};
    for (int i = 0; i < 2; ++i)
      for (int j = 0; j < 2; ++j) product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j];
    return product;
  };
  // 20·(I − ¾ k kᵀ/‖k‖²), in whole numbers, for k = (1, 0), (1, 2), (1, −2).
  const auto householder = [](int x, int y) {
    const int square = x * x + y * y;
    return Matrix{{{20 - 15 * x * x / square, -15 * x * y / square}, {-15 * x * y / square, 20 - 15 * y * y / square}}};
  };
  const Matrix a = householder(1, 0), b = householder(1, 2), c = householder(1, -2);
  const auto discriminant = [](const Matrix& m) {
    const int trace = m[0][0] + m[1][1], determinant = m[0][0] * m[1][1] - m[0][1] * m[1][0];
    return trace * trace - 4 * determinant;
  };
  for (const Matrix& one : {a, b, c}) CHECK(discriminant(one) == 15 * 15);  // eigenvalues 5 and 20 twentieths
  for (const Matrix& two : {times(a, b), times(a, c), times(b, c)}) CHECK(discriminant(two) >= 0);
  const Matrix three = times(times(a, b), c);
  CHECK((three[0][0] + three[1][1]) * 320 == 73 * 20 * 20 * 20);
  CHECK((three[0][0] * three[1][1] - three[0][1] * three[1][0]) == 1'000'000);  // a 64th of 20^6
  CHECK(discriminant(three) < 0);
}

// tools/again: the page that it is given, before and after.

TEST_CASE("a results page is made again by its own commands, or left as it was") {
  const Workplace place("again");
  const std::string again = "KROHN='" KROHN_COMMAND "' '" KROHN_ROOT "/tools/again' page.md cells";
  const auto page = [](const std::string& first, const std::string& second, const std::string& third) {
    return "Text\n\n```\n$ krohn equal 'regex:a*' \\\n    'regex:(a)*'\n" + first +
           "```\nmore text\n\n$ krohn compile name:parity -o parity.safetensors >/dev/null\n" +
           "$ ls parity.safetensors; krohn equal 'regex:a' 'regex:b'\n" + second + "\n$ " + third + "\nEnd\n";
  };
  place.write("page.md", page("stale\nlines\n", "other\n", "true\nlast\n"));
  place.expect(0, again);
  const std::string made = contents(place / "page.md");
  CHECK(contains(made, "'regex:(a)*'\nequal: the same words\n```\nmore text\n"));
  CHECK(contains(made, "'regex:b'\nparity.safetensors\n"));
  CHECK(contains(made, "not equal"));
  CHECK(made.ends_with("\n\n$ true\n\nEnd\n"));
  CHECK(!contains(made, "stale"));
  place.expect(0, again);
  CHECK(contents(place / "page.md") == made);

  const std::string bad = page("stale\n", "other\n", "krohn frobnicate\n");
  place.write("page.md", bad);
  place.expect(2, again, {"tools/again: status 2 of: krohn frobnicate"});
  CHECK(contents(place / "page.md") == bad);
  // An empty line ends what a command printed: behind one in the middle or at the end the next time would find text.
  for (const char* printed : {"printf 'a\\n\\nb\\n'", "printf 'a\\n\\n'", "echo"}) {
    CAPTURE(printed);
    const std::string empty = page("stale\n", "other\n", std::string(printed) + "\n");
    place.write("page.md", empty);
    place.expect(2, again, {"empty line", printed});
    CHECK(contents(place / "page.md") == empty);
  }
  CHECK(place.files() == std::vector<std::string>{"cells", "page.md"});
  place.expect(2, "'" KROHN_ROOT "/tools/again' nowhere.md");
}
