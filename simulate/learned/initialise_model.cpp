#include "krohn/simulate/learned/initialise_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <optional>
#include <set>

#include "krohn/automata/dfa/alphabet.h"
#include "krohn/constructions/files/safetensors.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/stated_functions.h"
#include "krohn/simulate/learned/spectrum.h"
#include "krohn/simulate/models/bilinear_model.h"
#include "krohn/simulate/models/dense_model.h"
#include "krohn/simulate/models/stacked_model.h"
#include "krohn/simulate/models/token_layers.h"
#include "krohn/simulate/tasks/tasks.h"

namespace krohn {
namespace {

constexpr double kGap = 4;  ///< nats between the right answer and the next

/// The network's letter for every letter of the machine.
std::vector<Letter> matched_letters(const Network& network, const Dfa& machine) {
  std::vector<Letter> letters;
  const auto same = same_letters(machine.alphabet(), network.automaton.alphabet());
  for (Letter letter = 0; letter < machine.letters(); ++letter) {
    if (!same[letter])
      throw InputError(
          fmt::format("the construction has no letter \"{}\", which the task has; compile the task's own "
                      "language, as `krohn tasks --list` names it",
                      machine.alphabet().name(letter)));
    letters.push_back(*same[letter]);
  }
  return letters;
}

/// The task's label in every state of the network's automaton that a letter leads to.
std::vector<std::optional<TaskLabel>> labels_of_states(const Network& network, const Dfa& machine,
                                                       const std::vector<Letter>& letters) {
  std::vector<std::optional<TaskLabel>> labels(network.automaton.states());
  std::set<std::pair<State, State>> seen{{machine.initial(), network.automaton.initial()}};
  std::deque<std::pair<State, State>> queue(seen.begin(), seen.end());
  while (!queue.empty()) {
    const auto [own, other] = queue.front();
    queue.pop_front();
    for (Letter letter = 0; letter < machine.letters(); ++letter) {
      const std::pair<State, State> next{machine.next(own, letter), network.automaton.next(other, letters[letter])};
      const TaskLabel label = machine.output(next.first);
      std::optional<TaskLabel>& known = labels[next.second];
      if (known && *known != label)
        throw InputError(fmt::format(
            "in state {} of the construction the task has the answers \"{}\" and \"{}\"; it is "
            "of another language than the task",
            network.automaton.state_name(next.second), machine.output_names()[*known], machine.output_names()[label]));
      known = label;
      if (seen.insert(next).second) queue.push_back(next);
    }
  }
  return labels;
}

Eigen::VectorXd in_one_column(const Eigen::MatrixXd& h) { return h.reshaped(); }

/// diag(A, A, …), one for every column.
Eigen::MatrixXd for_columns(const Matrix& matrix, Eigen::Index columns) {
  const Eigen::MatrixXd a = to_dense(matrix).cast<double>();
  Eigen::MatrixXd all = Eigen::MatrixXd::Zero(a.rows() * columns, a.cols() * columns);
  for (Eigen::Index c = 0; c < columns; ++c) all.block(c * a.rows(), c * a.cols(), a.rows(), a.cols()) = a;
  return all;
}

struct Code {
  Eigen::VectorXd word;
  TaskLabel label;
};

/// The codewords of states that words reach.
std::vector<Code> codes_of(const Network& network, const std::vector<std::optional<TaskLabel>>& labels) {
  const Layer& layer = network.layers.front();
  std::set<std::uint32_t> books(layer.book_of_context.begin(), layer.book_of_context.end());
  if (books.size() > 1)
    throw InputError(
        fmt::format("the construction \"{}\" decodes by {} code books, of which a model has one; take "
                    "another --construction of `krohn compile --explain`",
                    network.provenance.construction, books.size()));
  const std::uint32_t book = books.empty() ? 0 : *books.begin();
  std::vector<Code> codes;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    if (codeword_book(layer, i) != book) continue;
    const Context state = network.readout.next.front()[codeword_label(layer, i)];
    if (state != kNoContext && labels[state]) codes.push_back({in_one_column(codeword(layer, i)), *labels[state]});
  }
  return codes;
}

/// The least gap between the logit of a code's own label and another's.
double least_gap(const LinearTarget& target, const std::vector<Code>& codes) {
  double least = INFINITY;
  for (const Code& code : codes) {
    const Eigen::VectorXd logits = target.readout * code.word + target.bias;
    for (Eigen::Index l = 0; l < logits.size(); ++l)
      if (l != static_cast<Eigen::Index>(code.label)) least = std::min(least, logits(code.label) - logits(l));
  }
  return least;
}

void set_nearest_readout(LinearTarget& target, const std::vector<Code>& codes) {
  double greatest = 0;
  for (const Code& code : codes) greatest = std::max(greatest, code.word.squaredNorm());
  target.bias.setConstant(-2 * greatest);  // of labels that no word has
  for (const Code& code : codes) {
    target.readout.row(code.label) = code.word.transpose();
    target.bias(code.label) = (greatest - code.word.squaredNorm()) / 2;
  }
  // Codes of one length need no bias, and then no label has one.
  const bool level = std::ranges::all_of(
      codes, [&](const Code& code) { return greatest - code.word.squaredNorm() <= 1e-9 * greatest; });
  if (level) target.bias.setZero();
}

void set_least_squares_readout(LinearTarget& target, const std::vector<Code>& codes) {
  const auto count = static_cast<Eigen::Index>(codes.size()), size = target.dimension();
  Eigen::MatrixXd words(count, size + 1), wanted = Eigen::MatrixXd::Zero(count, target.bias.size());
  for (Eigen::Index i = 0; i < count; ++i) {
    const Code& code = codes[static_cast<std::size_t>(i)];
    words.row(i) << code.word.transpose(), 1;
    wanted(i, code.label) = 1;
  }
  const Eigen::MatrixXd solved = least_squares(words, wanted);
  target.readout = solved.topRows(size).transpose();
  target.bias = solved.row(size).transpose();
}

void set_readout(LinearTarget& target, const std::vector<Code>& codes, const Task& task,
                 const std::string& construction) {
  const auto labels = static_cast<Eigen::Index>(task.labels().size());
  target.readout = Eigen::MatrixXd::Zero(labels, target.dimension());
  target.bias = Eigen::VectorXd::Zero(labels);
  std::set<TaskLabel> distinct;
  for (const Code& code : codes) distinct.insert(code.label);
  if (distinct.size() == codes.size())
    set_nearest_readout(target, codes);
  else
    set_least_squares_readout(target, codes);
  const double gap = least_gap(target, codes);
  if (!(gap > 1e-6))
    throw InputError(
        fmt::format("no linear read-out of the codes of the construction \"{}\" gives the labels of task "
                    "{}, some of which stand for several states; take --construction one-hot",
                    construction, task.info().name));
  target.readout *= kGap / gap;
  target.bias *= kGap / gap;
}

}  // namespace

bool LinearTarget::has_additions() const {
  return std::ranges::any_of(additions, [](const Eigen::VectorXd& b) { return !b.isZero(0); });
}

LinearTarget linear_target(const Network& network, const Task& task) {
  require_linear(network, "--init");
  if (network.layers.size() != 1)
    throw InputError(
        fmt::format("the construction \"{}\" has {} layers, a model's recurrence is one; take one of one "
                    "layer, with --construction of `krohn compile --explain`",
                    network.provenance.construction, network.layers.size()));
  const TaskAutomaton machine = input_machine(task);
  const std::vector<Letter> letters = matched_letters(network, machine.automaton);
  const Layer& layer = network.layers.front();
  const auto columns = static_cast<Eigen::Index>(layer.columns);
  LinearTarget target;
  target.initial = in_one_column(layer.initial);
  const Eigen::Index size = target.dimension();
  target.matrices.assign(task.alphabet().size(), Eigen::MatrixXd::Identity(size, size));
  target.additions.assign(task.alphabet().size(), Eigen::VectorXd::Zero(size));
  for (Letter letter = 0; letter < machine.automaton.letters(); ++letter) {
    const Transition& step = layer.transitions[layer.wiring.action_of[letters[letter]]];
    target.matrices[machine.inputs[letter]] = for_columns(step.a, columns);
    if (step.b.size() > 0) target.additions[machine.inputs[letter]] = in_one_column(step.b);
  }
  set_readout(target, codes_of(network, labels_of_states(network, machine.automaton, letters)), task,
              network.provenance.construction);
  return target;
}

LinearTarget with_constant(const LinearTarget& target) {
  const Eigen::Index size = target.dimension();
  LinearTarget wider = target;
  for (std::size_t letter = 0; letter < target.matrices.size(); ++letter) {
    wider.matrices[letter] = Eigen::MatrixXd::Identity(size + 1, size + 1);
    wider.matrices[letter].topLeftCorner(size, size) = target.matrices[letter];
    wider.matrices[letter].col(size).head(size) = target.additions[letter];
    wider.additions[letter] = Eigen::VectorXd::Zero(size + 1);
  }
  wider.initial.conservativeResize(size + 1);
  wider.initial(size) = 1;
  wider.readout.conservativeResize(Eigen::NoChange, size + 1);
  wider.readout.col(size) = target.bias;
  wider.bias.setZero();
  return wider;
}

std::vector<std::vector<Eigen::Index>> mixed_coordinates(const LinearTarget& target) {
  const Eigen::Index size = target.dimension();
  Eigen::MatrixXd weights = Eigen::MatrixXd::Zero(size, size);
  for (const Eigen::MatrixXd& matrix : target.matrices) weights += matrix.cwiseAbs() + matrix.cwiseAbs().transpose();
  std::vector<std::vector<Eigen::Index>> groups;
  std::vector<bool> seen(static_cast<std::size_t>(size), false);
  for (Eigen::Index first = 0; first < size; ++first) {
    if (seen[static_cast<std::size_t>(first)]) continue;
    std::vector<Eigen::Index> group{first};
    seen[static_cast<std::size_t>(first)] = true;
    for (std::size_t at = 0; at < group.size(); ++at)
      for (Eigen::Index other = 0; other < size; ++other)
        if (weights(group[at], other) != 0 && !seen[static_cast<std::size_t>(other)]) {
          seen[static_cast<std::size_t>(other)] = true;
          group.push_back(other);
        }
    std::ranges::sort(group);
    groups.push_back(std::move(group));
  }
  return groups;
}

namespace {

using Form = BilinearShape::Form;
using Places = std::vector<Eigen::Index>;  ///< coordinate of the target ↦ that of the model

[[noreturn]] void refuse(const SequenceModel<float>& model, std::string_view why) {
  throw InputError(fmt::format("the model {} {}", model.name(), why));
}

/// The first coordinates of blocks of `size`, into which groups are packed in order of their size.
Places packed(const SequenceModel<float>& model, const std::vector<std::vector<Eigen::Index>>& groups, std::size_t size,
              std::size_t hidden) {
  std::vector<std::size_t> order(groups.size()), used(hidden / size, 0);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return groups[a].size() > groups[b].size(); });
  std::size_t coordinates = 0;
  for (const auto& group : groups) coordinates += group.size();
  Places places(coordinates);
  for (const std::size_t i : order) {
    const auto& group = groups[i];
    if (group.size() > size)
      refuse(model, fmt::format("has blocks of {}, but the construction's letters mix {} coordinates; take larger "
                                "blocks, or a --construction that mixes fewer",
                                size, group.size()));
    const auto block = std::ranges::find_if(used, [&](std::size_t full) { return full + group.size() <= size; });
    if (block == used.end())
      refuse(model, fmt::format("has {} hidden units, too few for the construction's {} in blocks of {}", hidden,
                                coordinates, size));
    const auto first = static_cast<std::size_t>(block - used.begin()) * size;
    for (const Eigen::Index coordinate : group)
      places[static_cast<std::size_t>(coordinate)] = static_cast<Eigen::Index>(first + (*block)++);
  }
  return places;
}

/// Row `letter` of the embedding with 1 at its own place.
void write_one_hot(SequenceModel<float>& model, Eigen::Index width, std::string_view option) {
  const Eigen::Index letters = model.letters();
  if (width < letters)
    refuse(model, fmt::format("embeds {} in {}, where each needs one of its own; take {}={} or more",
                              counted(model.letters(), "letter"), counted(width, "number"), option, letters));
  tensor_of(model, "embedding", letters, width).setIdentity();
}

/// Writes the parts of a matrix within blocks of the model's coordinates over zeros: a row of its block for every
/// coordinate.
void write_blocks(float* first, Eigen::Index hidden, Eigen::Index block, const Places& places,
                  const Eigen::MatrixXd& matrix) {
  Eigen::Map<RowMajorFloats> rows(first, hidden, block);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = 0; j < places.size(); ++j)
      if (places[i] / block == places[j] / block)
        rows(places[i], places[j] % block) =
            static_cast<float>(matrix(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
}

// ── Bilinear ────────────────────────────────────────────────────────────────────────────────────────────────────────

class BilinearStart {
 public:
  BilinearStart(BilinearModel<float>& model, const LinearTarget& target)
      : model_(model), shape_(model.shape()), target_(target), hidden_(shape_.hidden), inputs_(shape_.inputs) {
    if (target_.has_bias() && shape_.scale_free)
      refuse(model_, "rotates only and has no bias, which the construction's read-out needs; leave out scale-free");
    if (target_.has_additions() && !shape_.input_bias)
      refuse(model_,
             "rotates only, and the construction adds; give the model input-bias, or take a --construction of "
             "permutations or rotations");
  }

  void write() {
    write_one_hot(model_, inputs_, "inputs");
    places_ = packed(model_, mixed_coordinates(target_), shape_.block_size(), shape_.hidden);
    if (shape_.form == Form::kFactored)
      write_factors();
    else if (shape_.form == Form::kRotations)
      write_angles();
    else
      write_matrices();
    if (shape_.bias) tensor_of(model_, "bias", hidden_, 1).setZero();
    if (shape_.input_bias) write_additions();
    place(tensor_of(model_, "initial", 1, hidden_), target_.initial.transpose());
    place(tensor_of(model_, "readout", model_.labels(), hidden_), target_.readout);
    if (!shape_.scale_free) tensor_of(model_, "readout_bias", model_.labels(), 1) = target_.bias.cast<float>();
  }

 private:
  /// The letters' rows, all 0.
  Eigen::Map<RowMajorFloats> cleared_weights() {
    auto weights = tensor_of(model_, "weights", inputs_, static_cast<Eigen::Index>(shape_.generated()));
    weights.topRows(model_.letters()).setZero();
    return weights;
  }

  /// Columns at the model's places, between zeros.
  void place(Eigen::Ref<RowMajorFloats> to, const Eigen::MatrixXd& columns) const {
    to.setZero();
    to(Eigen::all, places_) = columns.cast<float>();
  }

  void write_matrices() {
    auto weights = cleared_weights();
    for (Letter letter = 0; letter < model_.letters(); ++letter)
      write_blocks(&weights(letter, 0), hidden_, static_cast<Eigen::Index>(shape_.block_size()), places_,
                   target_.matrices[letter]);
  }

  void write_angles() {
    auto weights = cleared_weights();
    for (Letter letter = 0; letter < model_.letters(); ++letter) {
      for (const auto& group : mixed_coordinates(target_)) {
        const Eigen::MatrixXd& matrix = target_.matrices[letter];
        const Eigen::Index first = group.front(), last = group.back();
        const double c = matrix(first, first);
        const double s = group.size() == 1 ? 0 : matrix(last, first);
        const bool rotates = std::abs(c * c + s * s - 1) < 1e-9 &&
                             (group.size() == 1 ||
                              (std::abs(matrix(last, last) - c) < 1e-9 && std::abs(matrix(first, last) + s) < 1e-9));
        if (!rotates)
          refuse(model_,
                 "only rotates pairs of coordinates, which these letters do not; a model with block=2 can hold them, "
                 "and this one what --construction rotation compiles");
        weights(letter, places_[static_cast<std::size_t>(first)] / 2) = static_cast<float>(stated::atan2(s, c));
      }
    }
  }

  /// One factor e_i e_jᵀ for every entry that some letter has.
  void write_factors() {
    Eigen::MatrixXf used = Eigen::MatrixXf::Zero(target_.dimension(), target_.dimension());
    for (const Eigen::MatrixXd& matrix : target_.matrices) used += matrix.cast<float>().cwiseAbs();
    const auto entries = static_cast<Eigen::Index>((used.array() != 0).count());
    const auto rank = static_cast<Eigen::Index>(shape_.rank);
    if (entries > rank)
      refuse(model_, fmt::format("has {0} factors, the construction's matrices have {1} entries; take rank={1} or more",
                                 rank, entries));
    auto weights = cleared_weights(), left = tensor_of(model_, "left", hidden_, rank),
         right = tensor_of(model_, "right", hidden_, rank);
    left.setZero();
    right.setZero();
    Eigen::Index factor = 0;
    for (Eigen::Index i = 0; i < used.rows(); ++i)
      for (Eigen::Index j = 0; j < used.cols(); ++j) {
        if (used(i, j) == 0) continue;
        left(places_[static_cast<std::size_t>(i)], factor) = 1;
        right(places_[static_cast<std::size_t>(j)], factor) = 1;
        for (Letter letter = 0; letter < model_.letters(); ++letter)
          weights(letter, factor) = static_cast<float>(target_.matrices[letter](i, j));
        ++factor;
      }
  }

  void write_additions() {
    auto additions = tensor_of(model_, "input_bias", inputs_, hidden_);
    additions.setZero();
    for (Letter letter = 0; letter < model_.letters(); ++letter)
      place(additions.row(letter), target_.additions[letter].transpose());
  }

  BilinearModel<float>& model_;
  const BilinearShape& shape_;
  LinearTarget target_;
  Eigen::Index hidden_, inputs_;
  Places places_;
};

/// Additions that the model lacks, or a bias that rescaling a state would not leave alone, become a coordinate.
LinearTarget fitted_to(const BilinearShape& shape, const LinearTarget& target) {
  const bool can_hold_one = shape.form != Form::kRotations, adds = shape.input_bias;
  const bool needs_one = (target.has_additions() && !adds) || (target.has_bias() && !shape.bias && !adds);
  return can_hold_one && needs_one ? with_constant(target) : target;
}

// ── The full-matrix baseline ────────────────────────────────────────────────────────────────────────────────────────

/// Its state is the product of the letters' matrices, so that W h becomes ⟨W ⊗ h_0, H⟩, whatever H's length.
void start_dense(DenseModel<float>& model, const LinearTarget& given) {
  const LinearTarget target = given.has_additions() || given.has_bias() ? with_constant(given) : given;
  const auto size = static_cast<Eigen::Index>(model.shape().size), used = target.dimension();
  if (used > size)
    refuse(model,
           fmt::format("has matrices of {0}×{0}, the construction {1} coordinates; take size={1} or more", size, used));
  auto matrices = tensor_of(model, "matrices", model.letters() * size, size);
  for (Letter letter = 0; letter < model.letters(); ++letter) {
    auto matrix = matrices.middleRows(letter * size, size);
    matrix.setIdentity();
    matrix.topLeftCorner(used, used) = target.matrices[letter].cast<float>();
  }
  auto readout = tensor_of(model, "readout", size * size, model.labels());
  readout.setZero();
  for (Eigen::Index i = 0; i < used; ++i)
    for (Eigen::Index j = 0; j < used; ++j)
      readout.row(i * size + j) =
          (target.readout.col(i) * target.initial(j) * std::sqrt(static_cast<double>(size))).cast<float>();
  tensor_of(model, "readout_bias", model.labels(), 1).setZero();
}

// ── Fan et al.'s blocks ─────────────────────────────────────────────────────────────────────────────────────────────

void start_blocks(StackedModel<float>& model, const BlockShape& shape, const LinearTarget& target) {
  if (shape.generator > 0)
    refuse(model,
           "makes its blocks by a network of generator units, which no construction gives; leave generator= out");
  for (const Eigen::MatrixXd& matrix : target.matrices)
    for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
      const double norm = std::pow(matrix.col(column).cwiseAbs().array().pow(shape.norm).sum(), 1 / shape.norm);
      if (norm > 1 + 1e-9)
        refuse(model,
               fmt::format("divides columns by their {}-norm, which is {:.3g} in this construction, so its letters "
                           "would contract; take norm=2, or --construction permutation",
                           shape.norm, norm));
    }
  const Eigen::Index width = shape.width(), size = shape.size;
  write_one_hot(model, width, "blocks");
  const Places places = packed(model, mixed_coordinates(target), shape.size, shape.width());
  const std::string layer = "layer0.mixer.";
  auto blocks = tensor_of(model, layer + "generator_out", width, width * size);
  auto inputs = tensor_of(model, layer + "input", width, width);
  blocks.setZero();
  inputs.setZero();
  for (Letter letter = 0; letter < model.letters(); ++letter) {
    write_blocks(&blocks(letter, 0), width, size, places, target.matrices[letter].transpose());
    inputs.row(letter)(places) = target.additions[letter].cast<float>();
  }
  tensor_of(model, layer + "generator_bias", 1, width * size).setZero();
  auto start = tensor_of(model, layer + "start", 1, width),
       readout = tensor_of(model, "readout", width, model.labels());
  start.setZero();
  start.row(0)(places) = target.initial.cast<float>();
  readout.setZero();
  readout(places, Eigen::all) = target.readout.transpose().cast<float>();
  tensor_of(model, "readout_bias", model.labels(), 1) = target.bias.cast<float>();
}

}  // namespace

void write_linear(SequenceModel<float>& model, const LinearTarget& target) {
  const FloatEnvironment environment;
  if (auto* const stacked = dynamic_cast<StackedModel<float>*>(&model)) {
    const StackedShape& shape = stacked->shape();
    if (!shape.is_bare())
      refuse(model,
             "passes its recurrence's state through norms and gates, and so reads no construction's codes; take a "
             "bilinear, dense or one-layer fan model, or `krohn compile --target fla-deltanet` for the exact one");
    return start_blocks(*stacked, std::get<BlockShape>(shape.mixer), target);
  }
  if (auto* const dense = dynamic_cast<DenseModel<float>*>(&model)) return start_dense(*dense, target);
  auto* const bilinear = dynamic_cast<BilinearModel<float>*>(&model);
  if (!bilinear) refuse(model, "is of a family that cannot begin at a network; take a bilinear, dense or fan model");
  BilinearStart(*bilinear, target).write();
}

void initialise_from(SequenceModel<float>& model, const Network& network, const Task& task) {
  const LinearTarget target = linear_target(network, task);
  const auto* const bilinear = dynamic_cast<const BilinearModel<float>*>(&model);
  try {
    write_linear(model, bilinear != nullptr ? fitted_to(bilinear->shape(), target) : target);
  } catch (const InputError& error) {
    throw InputError("--init", error.what());
  }
}

void perturb(SequenceModel<float>& model, double share, std::uint64_t seed) {
  const FloatEnvironment environment;
  Random random(seed);
  for (const auto& [name, tensor] : model.tensors().tensors) {
    const std::span<float> numbers = model.tensor(name);
    std::vector<float> noise(numbers.size());
    double squares = 0;
    for (const float number : numbers) squares += double{number} * number;
    fill_normal<float>(noise, random, share * std::sqrt(squares / static_cast<double>(numbers.size())));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += noise[i];
  }
  model.restore_fixed();
}

}  // namespace krohn
