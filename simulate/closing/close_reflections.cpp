#include "krohn/simulate/closing/close_reflections.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "krohn/automata/classes/state_pairs.h"
#include "krohn/automata/dfa/shown_word.h"
#include "krohn/automata/monoid/crossing_idempotents.h"
#include "krohn/constructions/files/tensor_values.h"
#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/groups/float_environment.h"
#include "krohn/groups/linear/decompositions.h"
#include "krohn/simulate/closing/dyadic_roots.h"
#include "krohn/simulate/closing/reflection_heads.h"
#include "krohn/simulate/closing/simplex_heads.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/models/models.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;
using Eigen::VectorXd;

constexpr double kAngle = 0.2;     ///< inner products of keys may be so far from a multiple of ½
constexpr double kNear = 0.25;     ///< β farther from 0, 1 and 2 take no part
constexpr double kGridBits = 4;    ///< of the greatest value
constexpr float kLarge = 1 << 20;  ///< of a key before its norm: its square hides the norm's ε in fp32 and in fp64
constexpr float kShut = -200;      ///< the gate's input at which β is 0: e^200 is no float
constexpr float kOpen = 64;        ///< at which the sigmoid is 1

VectorXd vector_of(const float* first, std::size_t count) {
  return Eigen::Map<const Eigen::VectorXf>(first, static_cast<Index>(count)).cast<double>();
}

class Rounding {
 public:
  Rounding(const ReflectionShape& shape, const TaskAutomaton& input) : shape_(shape), input_(input) {}

  /// Nothing where no roots have the angles of the keys.
  std::optional<Head> round(const Head& learned) {
    Head rounded = learned;
    note(silence_idle(rounded, input_));
    std::vector<HeadReflection*> parts;
    for (const Letter letter : input_.inputs)
      for (HeadReflection& part : rounded.letters[letter].reflections) {
        if (part.beta == 0) continue;
        const double beta = rounded_beta(part.beta);
        note(beta - part.beta);
        part.beta = beta;
        if (beta > 0) parts.push_back(&part);
      }
    align_turns(rounded, input_.inputs);
    if (parts.empty()) return std::nullopt;
    const auto keys = static_cast<Index>(shape_.keys), count = static_cast<Index>(parts.size());
    MatrixXd trained(keys, count);
    for (Index i = 0; i < count; ++i) trained.col(i) = parts[static_cast<std::size_t>(i)]->key;
    const std::optional<MatrixXd> roots = nearest_roots(trained, kAngle);
    if (!roots) return std::nullopt;
    const MatrixXd turn = rotation(trained, *roots);
    note((turn * trained - *roots).cwiseAbs().maxCoeff());
    for (Index i = 0; i < count; ++i) parts[static_cast<std::size_t>(i)]->key = roots->col(i);
    for (LetterOfHead& letter : rounded.letters) letter.query = turn * letter.query;
    round_values(parts, *roots);
    round_beginning(rounded, learned, turn);
    for (const Letter letter : input_.after)
      for (HeadReflection& part : rounded.letters[letter].reflections) part.beta = 0;
    return rounded;
  }

  double moved() const { return moved_; }

 private:
  void note(double move) { moved_ = std::max(moved_, std::abs(move)); }

  double rounded_beta(double beta) const {
    const double nearest = std::clamp(std::round(beta), 0.0, shape_.negative ? 2.0 : 1.0);
    return std::abs(beta - nearest) <= kNear ? nearest : 0;
  }

  /// The orthogonal matrix that takes the first vectors nearest to the second (Schönemann 1966).
  static MatrixXd rotation(const MatrixXd& from, const MatrixXd& to) {
    const SingularValues svd = singular_value_decomposition(to * from.transpose());
    return svd.left * svd.right.transpose();
  }

  double on_grid(double x) const { return std::round(x / grid_) * grid_; }

  /// Reflections in hyperplanes generate a finite group only where these meet: kᵀS = v for one state S.
  void round_values(const std::vector<HeadReflection*>& parts, const MatrixXd& roots) {
    const auto values = static_cast<Index>(shape_.values);
    std::vector<Index> turning;
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (parts[i]->beta == 2) turning.push_back(static_cast<Index>(i));
    MatrixXd normals(static_cast<Index>(turning.size()), roots.rows()), offsets(normals.rows(), values);
    for (std::size_t i = 0; i < turning.size(); ++i) {
      normals.row(static_cast<Index>(i)) = roots.col(turning[i]).transpose();
      offsets.row(static_cast<Index>(i)) = parts[static_cast<std::size_t>(turning[i])]->value.transpose();
    }
    double greatest = 0;
    for (const HeadReflection* part : parts) greatest = std::max(greatest, part->value.cwiseAbs().maxCoeff());
    grid_ = std::exp2(std::floor(std::log2(std::max(greatest, 1e-3))) - kGridBits);
    MatrixXd fixed = MatrixXd::Zero(roots.rows(), values);
    if (!turning.empty()) fixed = least_squares(normals, offsets);
    for (double& x : fixed.reshaped()) x = on_grid(x);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      VectorXd value = parts[i]->value;
      if (parts[i]->beta == 2)
        value = fixed.transpose() * roots.col(static_cast<Index>(i));
      else
        for (double& x : value) x = on_grid(x);
      note((value - parts[i]->value).cwiseAbs().maxCoeff() / std::max(greatest, 1e-3));
      parts[i]->value = value;
    }
  }

  /// What a token before the word leaves behind, one product of a key and a value.
  void round_beginning(Head& rounded, const Head& learned, const MatrixXd& turn) {
    if (input_.before.empty()) return;
    const LetterOfHead& from = learned.letters[input_.before.front()];
    MatrixXd state = MatrixXd::Zero(turn.rows(), static_cast<Index>(shape_.values));
    for (const HeadReflection& part : from.reflections)
      state += part.beta * part.key * (part.value - state.transpose() * part.key).transpose();
    const SingularValues svd = singular_value_decomposition(turn * state);
    LetterOfHead& to = rounded.letters[input_.before.front()];
    for (HeadReflection& part : to.reflections) part.beta = 0;
    HeadReflection& first = to.reflections.front();
    first.beta = 1;
    first.key = nearest_dyadic_unit(svd.left.col(0));
    first.value = (turn * state).transpose() * first.key;
    for (double& x : first.value) x = on_grid(x);
    const double greatest = std::max(state.cwiseAbs().maxCoeff(), 1e-3);
    note((first.key * first.value.transpose() - turn * state).cwiseAbs().maxCoeff() / greatest);
  }

  const ReflectionShape& shape_;
  const TaskAutomaton& input_;
  double moved_ = 0, grid_ = 1;
};

/// The model's tensors as floats, by name.
class Tensors {
 public:
  explicit Tensors(const SequenceModel<float>& model) : file_(model.tensors()) {}
  std::vector<float> read(const std::string& name) const {
    TensorReader reader(file_);
    return reader.values<float>(name, reader.shape(name));
  }
  void write(const std::string& name, const std::vector<float>& numbers) {
    file_.tensors.at(name) = make_tensor(numbers, file_.tensors.at(name).shape);
  }
  const TensorFile& file() const { return file_; }

 private:
  TensorFile file_;
};

constexpr char kEmbedding[] = "embedding", kNorm[] = "layer0.norm", kIn[] = "layer0.mixer.in",
               kReadNorm[] = "layer0.mixer.norm", kOut[] = "layer0.mixer.out";

/// What the model's norm divides by, as fp32 computes it (simulate/learned/model_operations.cpp).
float norm_of(const float* x, std::size_t width) {
  float sum = 0;
  for (std::size_t i = 0; i < width; ++i) sum += x[i] * x[i];
  return std::sqrt(sum / static_cast<float>(width) + 1e-5f);
}

std::vector<Head> learned_heads(const ReflectionShape& shape, const Tensors& tensors, Letter letters) {
  const std::vector<float> embedding = tensors.read(kEmbedding), gain = tensors.read(kNorm), in = tensors.read(kIn);
  std::vector<Head> heads(shape.heads, Head{std::vector<LetterOfHead>(letters)});
  const auto values = static_cast<Index>(shape.values), width = static_cast<Index>(shape.width);
  const std::vector<float> read_gain = tensors.read(kReadNorm), out = tensors.read(kOut);
  for (std::size_t head = 0; head < heads.size(); ++head)
    heads[head].out =
        vector_of(out.data() + head * shape.values * shape.width, shape.values * shape.width).reshaped(width, values) *
        vector_of(read_gain.data(), shape.values).asDiagonal();
  for (Letter letter = 0; letter < letters; ++letter) {
    const float* const x = embedding.data() + std::size_t{letter} * shape.width;
    const float norm = norm_of(x, shape.width);
    std::vector<float> row(shape.columns(), 0);
    for (std::size_t i = 0; i < shape.width; ++i)
      for (std::size_t j = 0; j < row.size(); ++j) row[j] += x[i] * gain[i] / norm * in[i * row.size() + j];
    if (!shape.plain)
      for (std::size_t j = 0; j < shape.beta_column(); ++j) row[j] /= 1 + std::exp(-row[j]);
    for (std::size_t head = 0; head < shape.heads; ++head) {
      LetterOfHead& own = heads[head].letters[letter];
      own.query = vector_of(row.data() + shape.q_column(head), shape.keys).normalized();
      for (std::size_t j = 0; j < shape.reflections; ++j)
        own.reflections.push_back(
            {vector_of(row.data() + shape.k_column(head) + j * shape.keys, shape.keys).normalized(),
             vector_of(row.data() + shape.v_column(head) + j * shape.values, shape.values),
             (shape.negative ? 2.0 : 1.0) / (1 + std::exp(-double{row[shape.beta_column(head) + j]}))});
    }
  }
  return heads;
}

float gate_input(double beta, bool negative) {
  if (beta == 0) return kShut;
  return negative && beta == 1 ? 0.f : kOpen;
}

/// The row of a letter before activations: its numbers as the recurrence is to read them.
void write_row(const ReflectionShape& shape, std::size_t head, const LetterOfHead& letter, float* row) {
  const auto put = [&](std::size_t column, const VectorXd& numbers, double scale) {
    for (Index i = 0; i < numbers.size(); ++i)
      row[column + static_cast<std::size_t>(i)] = static_cast<float>(scale * numbers(i));
  };
  put(shape.q_column(head), letter.query, 1);
  for (std::size_t j = 0; j < shape.reflections; ++j) {
    const HeadReflection& part = letter.reflections[j];
    put(shape.k_column(head) + j * shape.keys, part.key, double{kLarge});
    put(shape.v_column(head) + j * shape.values, part.value, 1);
    row[shape.beta_column(head) + j] = gate_input(part.beta, shape.negative);
  }
}

/// Coordinates of the embedding in which the letters' rows have least energy: those to give up.
std::vector<std::size_t> places_of(const std::vector<float>& embedding, std::size_t width, std::size_t count) {
  std::vector<double> energy(width, 0);
  for (std::size_t i = 0; i < embedding.size(); ++i) energy[i % width] += double{embedding[i]} * embedding[i];
  std::vector<std::size_t> places(width);
  std::iota(places.begin(), places.end(), 0);
  std::ranges::stable_sort(places, {}, [&](std::size_t i) { return energy[i]; });
  places.resize(count);
  return places;
}

void write_heads(const ReflectionShape& shape, const std::vector<std::optional<Head>>& heads, Letter letters,
                 Tensors& tensors) {
  std::vector<float> embedding = tensors.read(kEmbedding), gain = tensors.read(kNorm),
                     in(tensors.read(kIn).size(), 0.f);
  const std::vector<std::size_t> places = places_of(embedding, shape.width, letters);
  for (Letter letter = 0; letter < letters; ++letter) {
    float* const x = embedding.data() + std::size_t{letter} * shape.width;
    for (std::size_t i = 0; i < places.size(); ++i) x[places[i]] = i == letter ? 1.f : 0.f;
    gain[places[letter]] = norm_of(x, shape.width);  // 1 · norm / norm
    float* const row = in.data() + places[letter] * shape.columns();
    for (std::size_t head = 0; head < shape.heads; ++head)
      if (heads[head])
        write_row(shape, head, heads[head]->letters[letter], row);
      else
        for (std::size_t j = 0; j < shape.reflections; ++j) row[shape.beta_column(head) + j] = kShut;
  }
  tensors.write(kEmbedding, embedding);
  tensors.write(kNorm, gain);
  tensors.write(kIn, in);
}

/// All but the embedding, the first norm, and what makes keys, values and β.
std::vector<bool> free_parameters(const SequenceModel<float>& model, const ReflectionShape& shape) {
  std::vector<bool> is_free;
  for (const ParameterPart& part : model.tensor_parts()) {
    std::size_t count = 1;
    for (const std::uint64_t extent : part.shape) count *= extent;
    const bool is_held = part.name == kEmbedding || part.name == kNorm;
    for (std::size_t i = 0; i < count; ++i)
      is_free.push_back(part.name == kIn ? i % shape.columns() < shape.k_column(0) : !is_held);
  }
  return is_free;
}

/// By p · states + q: some word behind them, the empty one included, is asked about and answered differently. O(n²
/// · letters).
std::vector<bool> told_apart(const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const State states = automaton.states();
  std::vector<std::vector<State>> before(std::size_t{states} * automaton.letters());
  for (State p = 0; p < states; ++p)
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      before[std::size_t{automaton.next(p, letter)} * automaton.letters() + letter].push_back(p);
  std::vector<bool> apart(std::size_t{states} * states);
  std::vector<std::pair<State, State>> found;
  const auto add = [&](State p, State q) {
    if (apart[std::size_t{p} * states + q]) return;
    apart[std::size_t{p} * states + q] = true;
    found.emplace_back(p, q);
  };
  for (State p = 0; p < states; ++p)
    for (State q = 0; q < states; ++q)
      if (tracked.is_asked(p) && tracked.is_asked(q) && tracked.wanted[p] != tracked.wanted[q]) add(p, q);
  while (!found.empty()) {
    const auto [to_p, to_q] = found.back();
    found.pop_back();
    for (Letter letter = 0; letter < automaton.letters(); ++letter)
      for (const State p : before[std::size_t{to_p} * automaton.letters() + letter])
        for (const State q : before[std::size_t{to_q} * automaton.letters() + letter]) add(p, q);
  }
  return apart;
}

}  // namespace

std::string why_no_layer_of_contractions(const TrackedAutomaton& tracked) {
  constexpr State kMostStates = 2000;
  constexpr std::uint64_t kMostElements = 5000;
  const Dfa& automaton = tracked.automaton;
  if (automaton.states() > kMostStates) return {};
  ToldApart apart;
  apart.pairs = told_apart(tracked);
  for (const Output wanted : tracked.wanted) apart.is_dead.push_back(wanted == TrackedAutomaton::kNoSuchWord);
  const CrossingSearch search = crossing_idempotents(automaton, kMostElements, apart);
  if (!search.found) return {};
  const Word before = word_between(automaton, automaton.initial(), search.found->from);
  return fmt::format(
      "in exact arithmetic no layer of contractions, such as reflections, holds it with finitely many values: e = {} "
      "and f = {} act as idempotents, and after {} efe and fe go on otherwise (docs/MATH.md §4){}; only rounding could",
      quoted_letters(automaton.alphabet(), search.found->e), quoted_letters(automaton.alphabet(), search.found->f),
      quoted_letters(automaton.alphabet(), before),
      search.found->bars_margins ? ", nor with bounded values and a margin between answers" : "");
}

std::string why_no_reflections_round(const SequenceModel<float>& model, const Task& task) {
  const StackedShape shape = parse_stacked_shape(model.name());
  const auto& mixer = std::get<ReflectionShape>(shape.mixer);
  if (shape.layers != 1) return "only one layer is rounded: those above read numbers that the one below rounds";
  if (mixer.taps > 0) return "a convolution mixes tokens before the recurrence; leave conv= out";
  if (!mixer.plain)
    return "SiLU leaves keys no exact negative entry, so that few angles between them are exact; take the model with "
           "`plain`";
  if (model.letters() >= mixer.width)
    return fmt::format("each of {} needs a coordinate of its own, and the width is {}; take a larger width=",
                       counted(model.letters(), "letter"), mixer.width);
  if (input_machine(task).before.size() > 1) return "more than one token stands before every word";
  return {};
}

Closing close_reflections(const SequenceModel<float>& model, const Task& task, bool only_simplices,
                          std::vector<bool>& is_free) {
  const FloatEnvironment environment;
  const TaskAutomaton input = input_machine(task);
  Closing closing;
  closing.what = why_no_reflections_round(model, task);
  if (!closing.what.empty()) return closing;
  const auto shape = std::get<ReflectionShape>(parse_stacked_shape(model.name()).mixer);
  Tensors tensors(model);
  const std::vector<Head> learned = learned_heads(shape, tensors, model.letters());
  const TrackedAutomaton tracked = tracked_automaton(task, input.automaton);
  std::vector<std::optional<Head>> heads;
  std::vector<double> moved;
  for (const Head& head : learned) {
    Rounding rounding(shape, input);
    heads.push_back(only_simplices ? std::nullopt : rounding.round(head));
    moved.push_back(rounding.moved());
  }
  OnSimplices on_simplices{std::vector<std::optional<double>>(heads.size()), 0};
  // A swap of vertices takes β = 2.
  if (!silence_strays(heads, input, tracked) && shape.negative)
    on_simplices = hold_on_simplices(heads, learned, input, tracked);
  for (std::size_t i = 0; i < heads.size(); ++i) {
    ++(heads[i] ? closing.kept : closing.dropped);
    if (!heads[i]) continue;
    if (on_simplices.shares[i])
      ++closing.by_states, closing.share = std::max(closing.share, *on_simplices.shares[i]);
    else
      closing.moved = std::max(closing.moved, moved[i]);
  }
  if (closing.kept == 0) {
    closing.what =
        "the angles between the keys of no head are those of exact roots: their cosines are farther than 0.2 from "
        "0, ½ and 1, or there is too little room for them; ";
    if (on_simplices.reflections > 0)
      closing.what += fmt::format(
          "but heads hold classes of states that tell all answers apart and that letters permute by {}, "
          "where there are {}: take reflections={}",
          counted(on_simplices.reflections, "reflection"), shape.reflections, on_simplices.reflections);
    else if (shape.negative)
      closing.what +=
          "and no heads were found to hold classes of states that letters permute and that tell all answers apart";
    else
      closing.what += "and without `signed` letters permute states only by leaving them";
    return closing;
  }
  write_heads(shape, heads, model.letters(), tensors);
  closing.model = make_model<float>(model.name(), task, /*seed=*/0);
  closing.model->load(tensors.file());
  closing.what =
      fmt::format("keys to exact roots, β to 0, 1 or 2, in {} of {}", closing.kept, counted(shape.heads, "head"));
  if (closing.by_states > 0)
    closing.what += fmt::format(
        ", {} of them on a simplex of the states that it tells apart, which trained letters miss by at most {:.2g} of "
        "the way to the next",
        closing.by_states, closing.share);
  is_free = free_parameters(model, shape);
  return closing;
}

}  // namespace krohn
