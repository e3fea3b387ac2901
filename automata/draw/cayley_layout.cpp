#include "krohn/automata/draw/draw_views.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <random>

#include "krohn/automata/dfa/visible_text.h"
#include "krohn/groups/base/decompositions.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr State kMax = 400;

/// Points are rows; the columns are x, y and, of solids, the direction to the viewer.
double least_distance(const MatrixXd& points) {
  double least = 4;
  for (Index i = 0; i < points.rows(); ++i)
    for (Index j = 0; j < i; ++j)
      least = std::min(least, std::hypot(points(i, 0) - points(j, 0), points(i, 1) - points(j, 1)));
  return least;
}

/// The least distance of a point from the line of an arrow that is not its own.
double least_clearance(const MatrixXd& points, const Dfa& dfa) {
  double least = 4;
  for (State from = 0; from < dfa.states(); ++from)
    for (const State to : dfa.row(from)) {
      const double x = points(from, 0), y = points(from, 1), dx = points(to, 0) - x, dy = points(to, 1) - y;
      const double square = dx * dx + dy * dy;
      for (State state = 0; state < dfa.states() && square > 0; ++state) {
        if (state == from || state == to) continue;
        const double px = points(state, 0) - x, py = points(state, 1) - y;
        const double along = std::clamp((px * dx + py * dy) / square, 0.0, 1.0);
        least = std::min(least, std::hypot(px - along * dx, py - along * dy));
      }
    }
  return least;
}

MatrixXd scaled_to_disc(MatrixXd points) {
  const double radius = points.leftCols(2).rowwise().norm().maxCoeff();
  return radius > 0 ? MatrixXd(points / radius) : points;
}

/// From a finite distance: what is near is larger.
MatrixXd in_perspective(const MatrixXd& points) {
  constexpr double kDistance = 2.6;  // of the viewer, in radii
  const double radius = points.rowwise().norm().maxCoeff();
  MatrixXd seen = points / radius;
  for (Index i = 0; i < seen.rows(); ++i) seen.row(i).head(2) *= kDistance / (kDistance - seen(i, 2));
  seen.leftCols(2) = scaled_to_disc(seen).leftCols(2);
  return seen;
}

class Dice {
 public:
  double normal() {  // Box and Muller's, the same everywhere
    const double u = (static_cast<double>(engine_() >> 11) + 0.5) * 0x1p-53;
    const double v = static_cast<double>(engine_() >> 11) * 0x1p-53;
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
  }
  /// Orthonormal columns.
  MatrixXd frame(Index dimension, Index columns) {
    MatrixXd frame(dimension, columns);
    for (Index j = 0; j < columns; ++j) {
      VectorXd column = VectorXd::NullaryExpr(dimension, [&](Index) { return normal(); });
      for (Index i = 0; i < j; ++i) column -= frame.col(i).dot(column) * frame.col(i);
      frame.col(j) = column.normalized();
    }
    return frame;
  }

 private:
  std::mt19937_64 engine_{1};
};

struct Candidate {
  MatrixXd points;
  double distance = -1;
  bool is_solid = false;
};

/// Planes that a translation rotates, as pairs of orthonormal columns in the coordinates of `basis`.
std::vector<MatrixXd> rotated_planes(const MatrixXd& basis, const std::vector<State>& translation, Dice& dice) {
  MatrixXd moved(basis.rows(), basis.cols());
  for (Index i = 0; i < basis.rows(); ++i)
    moved.row(static_cast<Index>(translation[static_cast<std::size_t>(i)])) = basis.row(i);
  const MatrixXd turn = basis.transpose() * moved;
  const auto eigen = symmetric_eigen((turn + turn.transpose()) / 2);
  std::vector<MatrixXd> planes;
  if (!eigen) return planes;
  constexpr double kSame = 1e-9;
  for (Index first = 0; first < eigen->values.size();) {
    Index end = first + 1;
    while (end < eigen->values.size() && eigen->values[end] - eigen->values[first] < kSame) ++end;
    const bool rotates = std::fabs(eigen->values[first]) < 1 - kSame;
    if (rotates && end - first >= 2) {
      const MatrixXd space = eigen->vectors.middleCols(first, end - first);
      const VectorXd one = space * dice.frame(end - first, 1);
      const VectorXd other = turn * one - one.dot(turn * one) * one;  // U² = 2 cos U − 1 here: the plane is closed
      MatrixXd plane(one.size(), 2);
      plane << one, other.normalized();
      planes.push_back(plane);
    }
    first = end;
  }
  return planes;
}

std::size_t order_of(const std::vector<State>& permutation) {
  std::vector<State> power = permutation;
  std::size_t order = 1;
  const auto is_identity = [&] {
    for (State i = 0; i < power.size(); ++i)
      if (power[i] != i) return false;
    return true;
  };
  while (!is_identity()) {
    for (State& image : power) image = permutation[image];
    ++order;
  }
  return order;
}

class Placer {
 public:
  Placer(const Dfa& dfa, const std::optional<std::vector<std::vector<State>>>& translations) : dfa_(dfa) {
    if (!translations) return;
    // One of each order, the greatest first: a translation of order k shows a picture of k-fold symmetry.
    std::vector<std::pair<std::size_t, State>> orders;
    for (State state = 0; state < dfa.states(); ++state) orders.emplace_back(order_of((*translations)[state]), state);
    std::sort(orders.begin(), orders.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    for (const auto& [order, state] : orders)
      if (order > 2 && (turns_.empty() || order != last_order_)) {
        turns_.push_back((*translations)[state]);
        last_order_ = order;
      }
  }

  Candidate best(const MatrixXd& basis) {
    if (basis.cols() == 2) return candidate(scaled_to_disc(basis), false, 1);
    Candidate best;
    const auto offer = [&](Candidate other) {
      if (other.distance > best.distance) best = std::move(other);
    };
    constexpr int kTries = 200;
    constexpr double kSymmetry = 3;  // worth points that are that much closer
    if (basis.cols() == 3) {
      constexpr Index kPrisms = 16;  // seen along their axis: one polygon in the other
      for (std::size_t i = 0; i < turns_.size() && basis.rows() <= kPrisms; ++i)
        for (const MatrixXd& plane : rotated_planes(basis, turns_[i], dice_)) {
          MatrixXd frame(3, 3);
          frame << plane, normal_of(plane);
          offer(candidate(in_perspective(basis * frame), true, kSymmetry));
        }
      for (int i = 0; i < kTries; ++i) offer(candidate(in_perspective(basis * dice_.frame(3, 3)), true, 1));
      return best;
    }
    for (const std::vector<State>& turn : turns_)
      for (const MatrixXd& plane : rotated_planes(basis, turn, dice_))
        offer(candidate(scaled_to_disc(basis * plane), false, kSymmetry));
    for (int i = 0; i < kTries; ++i) offer(candidate(scaled_to_disc(basis * dice_.frame(basis.cols(), 2)), false, 1));
    return best;
  }

 private:
  static VectorXd normal_of(const MatrixXd& plane) {
    VectorXd normal(3);
    for (Index i = 0; i < 3; ++i) {
      const Index j = (i + 1) % 3, k = (i + 2) % 3;
      normal[i] = plane(j, 0) * plane(k, 1) - plane(k, 0) * plane(j, 1);
    }
    return normal;
  }

  /// In small pictures lines keep clear of points, too: half as far as points are apart.
  Candidate candidate(const MatrixXd& points, bool is_solid, double worth) const {
    constexpr State kSmall = 60;
    double distance = least_distance(points);
    if (dfa_.states() <= kSmall && distance > 0) distance = std::min(distance, 2 * least_clearance(points, dfa_));
    return {points, worth * distance, is_solid};
  }

  const Dfa& dfa_;
  Dice dice_;
  std::vector<std::vector<State>> turns_;
  std::size_t last_order_ = 0;
};

/// The initial state on top, and the first letter that moves it to the right.
void turn_upright(MatrixXd& points, const Dfa& dfa) {
  const auto at = static_cast<Index>(dfa.initial());
  const double radius = std::hypot(points(at, 0), points(at, 1));
  if (radius < 1e-9) return;
  const double cosine = points(at, 1) / radius, sine = points(at, 0) / radius;
  for (Index i = 0; i < points.rows(); ++i) {
    const double x = points(i, 0), y = points(i, 1);
    points(i, 0) = cosine * x - sine * y;
    points(i, 1) = sine * x + cosine * y;
  }
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const double x = points(static_cast<Index>(dfa.next(dfa.initial(), letter)), 0);
    if (std::fabs(x) < 1e-9) continue;
    if (x < 0) points.col(0) = -points.col(0);
    return;
  }
}

/// The polygon along the first letter that leads through all states, the initial one on top; nothing without one.
std::optional<GraphLayout> polygon(const Dfa& dfa) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    GraphLayout layout;
    layout.points.resize(dfa.states());
    State state = dfa.initial(), steps = 0;
    do {
      const double turn = 2 * std::numbers::pi * steps / dfa.states();
      layout.points[state] = {std::sin(turn), std::cos(turn), 0};
      state = dfa.next(state, letter);
    } while (++steps < dfa.states() && state != dfa.initial());
    if (steps < dfa.states()) continue;
    layout.least_distance = 2 * std::sin(std::numbers::pi / dfa.states());
    return layout;
  }
  return std::nullopt;
}

}  // namespace

bool is_transitive_permutation_automaton(const Dfa& dfa) {
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    std::vector<bool> hit(dfa.states(), false);
    for (State state = 0; state < dfa.states(); ++state) {
      if (hit[dfa.next(state, letter)]) return false;
      hit[dfa.next(state, letter)] = true;
    }
  }
  std::vector<bool> seen(dfa.states(), false);
  std::vector<State> queue{dfa.initial()};
  seen[dfa.initial()] = true;
  for (std::size_t i = 0; i < queue.size(); ++i)
    for (const State target : dfa.row(queue[i]))
      if (!seen[target]) {
        seen[target] = true;
        queue.push_back(target);
      }
  return queue.size() == dfa.states();
}

std::optional<std::vector<std::vector<State>>> translations(const Dfa& dfa) {
  constexpr State kUnset = UINT32_MAX;
  std::vector<std::vector<State>> all;
  for (State start = 0; start < dfa.states(); ++start) {
    std::vector<State> image(dfa.states(), kUnset), queue{dfa.initial()};
    image[dfa.initial()] = start;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (Letter letter = 0; letter < dfa.letters(); ++letter) {
        const State target = dfa.next(queue[i], letter), wanted = dfa.next(image[queue[i]], letter);
        if (image[target] == kUnset) {
          image[target] = wanted;
          queue.push_back(target);
        } else if (image[target] != wanted) {
          return std::nullopt;
        }
      }
    if (queue.size() != dfa.states()) return std::nullopt;
    all.push_back(std::move(image));
  }
  return all;
}

std::optional<GraphLayout> cayley_layout(const Dfa& dfa) {
  const State states = dfa.states();
  if (states < 3 || states > kMax || !is_transitive_permutation_automaton(dfa)) return std::nullopt;
  constexpr State kPolygon = 5;  // more sides leave lines across them too close
  if (states <= kPolygon)
    if (std::optional<GraphLayout> layout = polygon(dfa)) return layout;
  MatrixXd adjacency = MatrixXd::Zero(states, states);
  for (State state = 0; state < states; ++state)
    for (const State target : dfa.row(state)) {
      adjacency(state, target) += 1;
      adjacency(target, state) += 1;
    }
  const auto eigen = symmetric_eigen(adjacency);
  if (!eigen) return std::nullopt;

  Placer placer(dfa, translations(dfa));
  Candidate best;
  constexpr double kSame = 1e-7, kApart = 0.5;
  constexpr int kSpaces = 6;
  // The greatest eigenvalue belongs to the vector of ones. Each of the next spaces is tried alone, where it has two
  // dimensions, and together with those before it.
  const double enough = kApart / std::sqrt(static_cast<double>(states));
  const Index all = states - 1;
  Index end = all;
  for (int space = 0; space < kSpaces && end > 0 && best.distance < enough; ++space) {
    Index first = end - 1;
    while (first > 0 && eigen->values[end - 1] - eigen->values[first - 1] < kSame) --first;
    for (const Index last : {end, all}) {
      if (last - first < 2 || best.distance >= enough) continue;
      Candidate found = placer.best(eigen->vectors.middleCols(first, last - first));
      if (found.distance > best.distance) best = std::move(found);
      if (end == all) break;
    }
    end = first;
  }
  if (best.points.rows() == 0) return std::nullopt;
  turn_upright(best.points, dfa);
  GraphLayout layout;
  layout.is_solid = best.is_solid;
  layout.least_distance = least_distance(best.points);
  for (Index i = 0; i < best.points.rows(); ++i)
    layout.points.push_back({best.points(i, 0), best.points(i, 1), best.is_solid ? best.points(i, 2) : 0.0});
  return layout;
}

namespace {

/// Okabe and Ito's colours, apart for all common kinds of colour blindness; a second round is dashed.
constexpr std::array<std::string_view, 7> kLineColours{"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                       "#E69F00", "#56B4E9", "#000000"};

std::string line_style(std::size_t index) { return index < kLineColours.size() ? "solid" : "dashed"; }

constexpr double kPointsAnInch = 72;

class CayleyView {
 public:
  CayleyView(const Drawing& drawing, const std::vector<GeneratorLines>& lines, const GraphLayout& layout)
      : drawing_(drawing), dfa_(drawing.dfa), lines_(lines), layout_(layout) {
    constexpr State kBoxes = 12, kNamed = 60;
    style_ = dfa_.states() <= kBoxes ? Style::kBoxes : dfa_.states() <= kNamed ? Style::kNamed : Style::kDots;
    const double wanted = style_ == Style::kBoxes ? 1.3 : style_ == Style::kNamed ? 0.6 : 0.25;  // inches apart
    scale_ = std::clamp(wanted / std::max(layout.least_distance, 1e-3), 2.0, 6.0);
  }

  std::string text() const {
    std::string text = "// Every node has its place: lay it out with \"neato -n\".\n" + dot_header(drawing_.options);
    text += "  graph [splines=line, outputorder=edgesfirst, labelloc=b];\n";
    text += legend();
    std::vector<State> order(dfa_.states());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](State a, State b) { return layout_.points[a].depth < layout_.points[b].depth; });
    for (const State state : order) text += node(state);
    for (std::size_t line = 0; line < lines_.size(); ++line)
      for (State state = 0; state < dfa_.states(); ++state) text += edge(line, state);
    return text + "}\n";
  }

 private:
  enum class Style { kBoxes, kNamed, kDots };

  /// Two hexadecimal digits of opacity, for something at that depth, fading away from the viewer.
  std::string opacity(double depth) const {
    return layout_.is_solid ? fmt::format("{:02X}", std::lround(255 * (0.35 + 0.65 * (depth + 1) / 2))) : "";
  }

  std::string place(double x, double y) const {
    return fmt::format("{:.1f},{:.1f}!", x * scale_ * kPointsAnInch, y * scale_ * kPointsAnInch);
  }

  std::string node(State state) const {
    const GraphLayout::Point& at = layout_.points[state];
    const std::string name = state_label(dfa_, state);
    const bool is_start = dfa_.has_start() && state == dfa_.initial(),
               accepts = dfa_.is_acceptor() && dfa_.accepts(state);
    const std::string fill = is_start ? "#222255" : accepts ? "#EEEEBB" : "#BBCCEE";
    constexpr std::size_t kInCircle = 3;
    if (style_ == Style::kBoxes)
      return fmt::format("  {} [pos=\"{}\", label={}, {}, fillcolor=\"{}\", color=\"#222255\", fontcolor=\"{}\"{}];\n",
                         state, place(at.x, at.y), dot_quoted(name),
                         decode_utf8(name).size() <= kInCircle
                             ? "shape=circle, width=0.45, fixedsize=true"
                             : "shape=box, style=\"rounded,filled\", height=0.35, width=0.5, margin=\"0.08,0.04\"",
                         fill, is_start ? "#FFFFFF" : "#000000", accepts ? ", peripheries=2" : "");
    const double size = (style_ == Style::kNamed ? 0.16 : 0.1) * (1 + 0.25 * at.depth) * (is_start ? 1.5 : 1);
    std::string text = fmt::format(
        "  {} [pos=\"{}\", label=\"\", tooltip={}, shape=circle, width={:.3f}, fixedsize=true, fillcolor=\"{}\", "
        "color=\"#222255\", penwidth=0.8{}];\n",
        state, place(at.x, at.y), dot_quoted(name), size, fill, accepts ? ", peripheries=2" : "");
    if (style_ == Style::kNamed) {
      const double radius = std::max(std::hypot(at.x, at.y), 1e-9), out = (is_start ? 0.24 : 0.17) / scale_;
      const double width = 0.045 * static_cast<double>(decode_utf8(name).size()) / scale_;
      text += fmt::format(
          "  name{} [pos=\"{}\", label={}, class=bare, shape=plaintext, style=\"\", margin=0, width=0, height=0, "
          "fontsize=9, "
          "fontcolor=\"#222222{}\"];\n",
          state, place(at.x + at.x / radius * (out + width), at.y + at.y / radius * out), dot_quoted(name),
          opacity(at.depth));
    }
    return text;
  }

  std::string edge(std::size_t line, State state) const {
    const GeneratorLines& generator = lines_[line];
    const State target = dfa_.next(state, generator.forward.front());
    if (target == state || (generator.is_involution && target < state)) return "";
    const double depth = (layout_.points[state].depth + layout_.points[target].depth) / 2;
    return fmt::format("  {} -> {} [color=\"{}{}\", style={}, penwidth={:.2f}{}];\n", state, target,
                       kLineColours[line % kLineColours.size()], opacity(depth), line_style(line),
                       layout_.is_solid ? 1.3 + 0.5 * depth : 1.3,
                       generator.is_involution ? ", dir=none" : ", arrowsize=0.6");
  }

  std::string names(const std::vector<Letter>& letters) const { return letters_label(dfa_.alphabet(), letters); }

  /// A line of its colour for every generator.
  std::string legend() const {
    std::string rows;
    double lowest = 0;
    for (const GraphLayout::Point& point : layout_.points) lowest = std::min(lowest, point.y);
    for (std::size_t line = 0; line < lines_.size(); ++line) {
      const GeneratorLines& generator = lines_[line];
      std::string name = names(generator.forward);
      if (!generator.backward.empty()) name += ", against the arrow " + names(generator.backward);
      const bool is_identity = generator.is_identity;
      const std::string_view mark = is_identity               ? "○"
                                    : generator.is_involution ? (line_style(line) == "solid" ? "━━" : "╌╌")
                                                              : (line_style(line) == "solid" ? "━▶" : "╌▶");
      rows += fmt::format("<TD><FONT COLOR=\"{}\">{}</FONT></TD><TD ALIGN=\"LEFT\">{}{}</TD>",
                          is_identity ? "#888888" : kLineColours[line % kLineColours.size()], mark, html(name),
                          is_identity ? " (moves nothing)" : "");
      if (line % 4 == 3 && line + 1 < lines_.size()) rows += "</TR><TR>";
    }
    return fmt::format(
        "  legend [class=bare, shape=plain, style=\"\", pos=\"{}\", fontsize=12, label=<<TABLE BORDER=\"0\" "
        "CELLSPACING=\"4\">"
        "<TR>{}</TR></TABLE>>];\n",
        place(0, lowest - 0.5 / scale_), rows);
  }

  const Drawing& drawing_;
  const Dfa& dfa_;
  const std::vector<GeneratorLines>& lines_;
  const GraphLayout& layout_;
  Style style_;
  double scale_;
};

}  // namespace

std::vector<GeneratorLines> generator_lines(const Dfa& dfa) {
  const auto is_inverse = [&](Letter a, Letter b) {
    for (State state = 0; state < dfa.states(); ++state)
      if (dfa.next(dfa.next(state, a), b) != state) return false;
    return true;
  };
  const auto is_same = [&](Letter a, Letter b) { return dfa.letter_map(a) == dfa.letter_map(b); };
  std::vector<GeneratorLines> lines;
  for (Letter letter = 0; letter < dfa.letters(); ++letter) {
    const auto home = std::find_if(lines.begin(), lines.end(), [&](const GeneratorLines& line) {
      return is_same(line.forward.front(), letter) || is_inverse(line.forward.front(), letter);
    });
    if (home == lines.end())
      lines.push_back({{letter}, {}, is_inverse(letter, letter), dfa.letter_map(letter).is_identity()});
    else if (is_same(home->forward.front(), letter))
      home->forward.push_back(letter);
    else
      home->backward.push_back(letter);
  }
  return lines;
}

std::string cayley_view(const Drawing& drawing, const GraphLayout& layout) {
  return CayleyView(drawing, generator_lines(drawing.dfa), layout).text();
}

}  // namespace krohn
