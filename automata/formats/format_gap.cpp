#include "krohn/automata/formats/format_gap.h"

#include <fmt/format.h>

#include <algorithm>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"

namespace krohn {
namespace {

std::string gap_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (c == '\n')
      quoted += "\\n";
    else
      quoted += c;
  }
  return quoted + "\"";
}

/// Walks through the text, comments passed over.
class GapReader {
 public:
  GapReader(std::string_view text, std::string_view where) : text_(text), where_(where) {}

  Draft read() {
    while (at_ < text_.size()) {
      skip_blanks();
      const std::string_view word = take_word();
      if (word == "Transformation") {
        read_transformation();
      } else if (word == "letters" && take(":=")) {
        names_ = read_strings();
      } else if (word == "outputs" && take(":=")) {
        outputs_ = read_strings();
      } else if (word == "accepting" && take(":=")) {
        accepting_ = read_points();
      } else if (word == "initial" && take(":=")) {
        initial_ = read_number();
      } else if (word.empty() && at_ < text_.size()) {
        if (text_[at_] == '"')
          read_string();
        else
          ++at_;
      }
    }
    return finish();
  }

 private:
  static constexpr std::size_t kMostPoints = 1U << 20, kMostImages = 1U << 26;

  [[noreturn]] void fail(std::size_t at, std::string_view message) const {
    throw InputError(position_in(text_, at, where_), message);
  }

  void skip_blanks() {
    while (at_ < text_.size()) {
      if (text_[at_] == '#')
        at_ = std::min(text_.find('\n', at_), text_.size());
      else if (std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
        ++at_;
      else
        return;
    }
  }

  std::string_view take_word() {
    const std::size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    return text_.substr(start, at_ - start);
  }

  bool take(std::string_view sign) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }

  void expect(std::string_view sign) {
    if (!take(sign)) fail(at_, fmt::format("a {} is expected here", sign));
  }

  std::size_t read_number() {
    skip_blanks();
    const std::size_t start = at_;
    const auto number = parse_number(take_word());
    if (!number || *number == 0 || *number > kMostPoints)
      fail(start, fmt::format("a point from 1 to {} is expected here", kMostPoints));
    return *number;
  }

  /// Of a list of the points so far, the last of which `..` follows: `[first..last]` or `[first, second..last]`. GAP
  /// has ranges as whole lists only.
  void read_range(std::vector<std::size_t>& points) {
    const std::size_t start = at_;
    const auto last = static_cast<std::int64_t>(read_number()), first = static_cast<std::int64_t>(points.front());
    const std::int64_t step = points.size() == 1 ? 1 : static_cast<std::int64_t>(points[1]) - first;
    if (points.size() > 2 || step == 0 || (last - first) % step != 0)
      fail(start, "no range of GAP's: [first..last] or [first, second..last], a list of its own");
    points.clear();
    for (std::int64_t point = first; step > 0 ? point <= last : point >= last; point += step)
      points.push_back(static_cast<std::size_t>(point));
    expect("]");
  }

  std::vector<std::size_t> read_points() {
    std::vector<std::size_t> points;
    expect("[");
    while (!take("]")) {
      points.push_back(read_number());
      if (take("..")) return read_range(points), points;
      if (points.size() > kMostPoints) fail(at_, fmt::format("more than {} points", kMostPoints));
      skip_blanks();
      if (at_ < text_.size() && text_[at_] != ']') expect(",");
    }
    return points;
  }

  std::string read_string() {
    const std::size_t start = at_++;
    std::string text;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size())
        text += text_[++at_] == 'n' ? '\n' : text_[at_];
      else
        text += text_[at_];
    }
    if (at_ == text_.size()) fail(start, "this string is not closed");
    ++at_;
    return text;
  }

  std::vector<std::string> read_strings() {
    std::vector<std::string> strings;
    expect("[");
    while (!take("]")) {
      skip_blanks();
      if (at_ == text_.size() || text_[at_] != '"') fail(at_, "a string is expected here");
      strings.push_back(read_string());
      skip_blanks();
      if (at_ < text_.size() && text_[at_] != ']') expect(",");
    }
    return strings;
  }

  void read_transformation() {
    expect("(");
    maps_.push_back(read_points());
    expect(")");
    images_ += maps_.back().size();
    if (images_ > kMostImages)
      throw LimitError(fmt::format("{}: more than 2^26 images; the limit protects the memory", where_));
  }

  Draft finish() {
    if (maps_.empty()) throw InputError(where_, "no Transformation([…]) in it");
    std::size_t points = 1;
    for (const auto& map : maps_) {
      points = std::max(points, map.size());
      for (const std::size_t image : map) points = std::max(points, image);
    }
    if (points * maps_.size() > kMostImages)
      throw LimitError(fmt::format("{}: {} of {}; the limit is 2^26 images", where_,
                                   counted(maps_.size(), "transformation"), counted(points, "point")));
    if (names_.empty())
      for (std::size_t i = 0; i < maps_.size(); ++i)
        names_.push_back(i < 26 ? std::string(1, static_cast<char>('a' + i)) : fmt::format("x{}", i + 1));
    if (names_.size() != maps_.size())
      throw InputError(where_, fmt::format("{} in letters for {}", counted(names_.size(), "name"),
                                           counted(maps_.size(), "transformation")));
    Draft draft;
    draft.alphabet = alphabet_of_names(names_, where_);
    if (initial_ > points)
      throw InputError(where_, fmt::format("initial is {} of {}", initial_, counted(points, "point")));
    draft.initial = {static_cast<State>(initial_ - 1)};
    set_outputs(draft, points);
    for (std::size_t letter = 0; letter < maps_.size(); ++letter)
      for (std::size_t point = 0; point < points; ++point) {
        // GAP's transformations fix every point past their lists.
        const std::size_t image = point < maps_[letter].size() ? maps_[letter][point] - 1 : point;
        draft.arcs.push_back({static_cast<State>(point), static_cast<Letter>(letter), static_cast<State>(image)});
      }
    return draft;
  }

  void set_outputs(Draft& draft, std::size_t points) {
    draft.outputs.assign(points, 0);
    if (!outputs_.empty()) {
      if (outputs_.size() != points)
        throw InputError(where_,
                         fmt::format("{} for {}", counted(outputs_.size(), "output"), counted(points, "point")));
      NameTable names;
      for (std::size_t point = 0; point < points; ++point) draft.outputs[point] = names.intern(outputs_[point]);
      draft.output_names = names.names();
    } else if (!accepting_) {
      draft.output_names.clear();
      for (std::size_t point = 0; point < points; ++point) {
        draft.outputs[point] = static_cast<Output>(point);
        draft.output_names.push_back(std::to_string(point + 1));
      }
    } else {
      for (const std::size_t point : *accepting_) {
        if (point > points) throw InputError(where_, fmt::format("accepting has point {} of {}", point, points));
        draft.outputs[point - 1] = 1;
      }
    }
    for (std::size_t point = 0; point < points; ++point) draft.state_names.push_back(std::to_string(point + 1));
  }

  std::string_view text_, where_;
  std::size_t at_ = 0;
  std::vector<std::vector<std::size_t>> maps_;
  std::vector<std::string> names_, outputs_;
  std::optional<std::vector<std::size_t>> accepting_;
  std::size_t initial_ = 1, images_ = 0;
};

}  // namespace

std::string write_gap(const Dfa& dfa) {
  if (dfa.letters() == 0) throw InputError("GAP has no transformations of no letters; write JSON or DOT");
  std::vector<std::string> letters, maps;
  const bool permutes = dfa.is_permutation_automaton();
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    letters.push_back(gap_string(dfa.alphabet().name(letter)));
    std::vector<State> images;
    for (State state = 0; state < dfa.states(); ++state) images.push_back(dfa.next(state, letter) + 1);
    maps.push_back(fmt::format("Transformation([{}])", fmt::join(images, ", ")));
  }
  std::string text = fmt::format("letters := [{}];\ntransformations := [\n  {}\n];\n", fmt::join(letters, ", "),
                                 fmt::join(maps, ",\n  "));
  text += permutes ? "group := Group(List(transformations, AsPermutation));\n"
                   : "semigroup := Semigroup(transformations);\n";
  text += fmt::format("initial := {};\n", dfa.initial() + 1);
  std::vector<State> accepting;
  std::vector<std::string> outputs;
  for (State state = 0; state < dfa.states(); ++state) {
    if (dfa.is_acceptor() && dfa.accepts(state)) accepting.push_back(state + 1);
    outputs.push_back(gap_string(dfa.output_names()[dfa.output(state)]));
  }
  if (dfa.is_acceptor()) return text + fmt::format("accepting := [{}];\n", fmt::join(accepting, ", "));
  return text + fmt::format("outputs := [{}];\n", fmt::join(outputs, ", "));
}

Draft read_gap(std::string_view text, std::string_view where) {
  return GapReader(checked_text(text, where), where).read();
}

}  // namespace krohn
