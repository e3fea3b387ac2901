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
using Places = std::vector<std::size_t>;  ///< coordinate of the target ↦ that of the model

/// A model's tensors, to be written entry by entry.
class Parameters {
 public:
  explicit Parameters(SequenceModel<float>& model) : model_(model), file_(model.tensors()) {}

  bool has(const std::string& name) const { return file_.tensors.contains(name); }
  std::vector<float> read(const std::string& name) const {
    const Tensor& tensor = file_.tensors.at(name);
    std::vector<float> numbers(tensor.bytes.size() / sizeof(float));
    std::memcpy(numbers.data(), tensor.bytes.data(), tensor.bytes.size());
    return numbers;
  }
  void write(const std::string& name, const std::vector<float>& numbers) {
    file_.tensors.at(name) = make_tensor(numbers, file_.tensors.at(name).shape);
  }
  std::vector<float> zeros(const std::string& name) const { return std::vector<float>(read(name).size(), 0); }
  void load() { model_.load(file_); }

 private:
  SequenceModel<float>& model_;
  TensorFile file_;
};

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
    for (const Eigen::Index coordinate : group) places[static_cast<std::size_t>(coordinate)] = first + (*block)++;
  }
  return places;
}

/// Row `letter` of an embedding with 1 at its own place, for `letters` letters.
void write_one_hot(Parameters& parameters, const SequenceModel<float>& model, std::size_t width,
                   std::string_view option) {
  if (width < model.letters())
    refuse(model, fmt::format("embeds {} in {}, where each needs one of its own; take {}={} or more",
                              counted(model.letters(), "letter"), counted(width, "number"), option, model.letters()));
  std::vector<float> embedding(model.letters() * width, 0);
  for (Letter letter = 0; letter < model.letters(); ++letter) embedding[letter * width + letter] = 1;
  parameters.write("embedding", embedding);
}

/// `part` with a vector at the model's places.
std::vector<float> placed(const Eigen::VectorXd& vector, const Places& places, std::size_t size) {
  std::vector<float> numbers(size, 0);
  for (std::size_t i = 0; i < places.size(); ++i)
    numbers[places[i]] = static_cast<float>(vector(static_cast<Eigen::Index>(i)));
  return numbers;
}

// ── Bilinear ────────────────────────────────────────────────────────────────────────────────────────────────────────

class BilinearStart {
 public:
  BilinearStart(BilinearModel<float>& model, const LinearTarget& target)
      : model_(model), shape_(model.shape()), target_(target), parameters_(model) {
    if (target_.has_bias() && shape_.scale_free)
      refuse(model_, "rotates only and has no bias, which the construction's read-out needs; leave out scale-free");
    if (target_.has_additions() && !shape_.input_bias)
      refuse(model_,
             "rotates only, and the construction adds; give the model input-bias, or take a --construction of "
             "permutations or rotations");
  }

  void write() {
    write_one_hot(parameters_, model_, shape_.inputs, "inputs");
    weights_ = parameters_.read("weights");
    places_ = packed(model_, mixed_coordinates(target_), shape_.block_size(), shape_.hidden);
    if (shape_.form == Form::kFactored)
      write_factors();
    else if (shape_.form == Form::kRotations)
      write_angles();
    else
      write_matrices();
    parameters_.write("weights", weights_);
    if (parameters_.has("bias")) parameters_.write("bias", parameters_.zeros("bias"));
    if (parameters_.has("input_bias")) write_additions();
    parameters_.write("initial", placed(target_.initial, places_, shape_.hidden));
    std::vector<float> readout;
    for (Eigen::Index label = 0; label < target_.readout.rows(); ++label)
      for (const float number : placed(target_.readout.row(label), places_, shape_.hidden)) readout.push_back(number);
    parameters_.write("readout", readout);
    if (parameters_.has("readout_bias")) parameters_.write("readout_bias", {target_.bias.begin(), target_.bias.end()});
    parameters_.load();
  }

 private:
  float* row(Letter letter) { return weights_.data() + letter * shape_.generated(); }
  void clear(Letter letter) { std::fill_n(row(letter), shape_.generated(), 0.f); }

  void write_matrices() {
    const std::size_t block = shape_.block_size();
    for (Letter letter = 0; letter < model_.letters(); ++letter) {
      clear(letter);
      for (std::size_t i = 0; i < places_.size(); ++i)
        for (std::size_t j = 0; j < places_.size(); ++j)
          if (places_[i] / block == places_[j] / block)
            row(letter)[places_[i] * block + places_[j] % block] = entry(letter, i, j);
    }
  }

  void write_angles() {
    for (Letter letter = 0; letter < model_.letters(); ++letter) {
      clear(letter);
      for (const auto& group : mixed_coordinates(target_)) {
        const auto first = static_cast<std::size_t>(group.front());
        const double c = target_.matrices[letter](group.front(), group.front());
        const double s = group.size() == 1 ? 0 : target_.matrices[letter](group.back(), group.front());
        const bool rotates =
            std::abs(c * c + s * s - 1) < 1e-9 &&
            (group.size() == 1 || (std::abs(target_.matrices[letter](group.back(), group.back()) - c) < 1e-9 &&
                                   std::abs(target_.matrices[letter](group.front(), group.back()) + s) < 1e-9));
        if (!rotates)
          refuse(model_,
                 "only rotates pairs of coordinates, which these letters do not; a model with block=2 can hold them, "
                 "and this one what --construction rotation compiles");
        row(letter)[places_[first] / 2] = static_cast<float>(stated::atan2(s, c));
      }
    }
  }

  /// One factor e_i e_jᵀ for every entry that some letter has.
  void write_factors() {
    std::vector<float> left = parameters_.zeros("left"), right = left;
    std::vector<std::pair<std::size_t, std::size_t>> entries;
    for (std::size_t i = 0; i < places_.size(); ++i)
      for (std::size_t j = 0; j < places_.size(); ++j) {
        bool used = false;
        for (Letter letter = 0; letter < model_.letters(); ++letter) used = used || entry(letter, i, j) != 0;
        if (used) entries.emplace_back(i, j);
      }
    if (entries.size() > shape_.rank)
      refuse(model_, fmt::format("has {0} factors, the construction's matrices have {1} entries; take rank={1} or more",
                                 shape_.rank, entries.size()));
    for (Letter letter = 0; letter < model_.letters(); ++letter) clear(letter);
    for (std::size_t r = 0; r < entries.size(); ++r) {
      left[places_[entries[r].first] * shape_.rank + r] = 1;
      right[places_[entries[r].second] * shape_.rank + r] = 1;
      for (Letter letter = 0; letter < model_.letters(); ++letter)
        row(letter)[r] = entry(letter, entries[r].first, entries[r].second);
    }
    parameters_.write("left", left);
    parameters_.write("right", right);
  }

  void write_additions() {
    std::vector<float> additions = parameters_.zeros("input_bias");
    for (Letter letter = 0; letter < model_.letters(); ++letter)
      std::ranges::copy(placed(target_.additions[letter], places_, shape_.hidden),
                        additions.begin() + static_cast<std::ptrdiff_t>(std::size_t{letter} * shape_.hidden));
    parameters_.write("input_bias", additions);
  }

  float entry(Letter letter, std::size_t i, std::size_t j) const {
    return static_cast<float>(target_.matrices[letter](static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
  }

  BilinearModel<float>& model_;
  const BilinearShape& shape_;
  LinearTarget target_;
  Parameters parameters_;
  Places places_;
  std::vector<float> weights_;
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
  const std::size_t size = model.shape().size, used = static_cast<std::size_t>(target.dimension());
  if (used > size)
    refuse(model,
           fmt::format("has matrices of {0}×{0}, the construction {1} coordinates; take size={1} or more", size, used));
  Parameters parameters(model);
  std::vector<float> matrices = parameters.zeros("matrices"), readout = parameters.zeros("readout");
  for (Letter letter = 0; letter < model.letters(); ++letter)
    for (std::size_t i = 0; i < size; ++i)
      for (std::size_t j = 0; j < size; ++j)
        matrices[(letter * size + i) * size + j] =
            i < used && j < used ? static_cast<float>(target.matrices[letter](static_cast<Eigen::Index>(i),
                                                                              static_cast<Eigen::Index>(j)))
                                 : static_cast<float>(i == j);
  for (std::size_t i = 0; i < used; ++i)
    for (std::size_t j = 0; j < used; ++j)
      for (std::size_t label = 0; label < model.labels(); ++label)
        readout[(i * size + j) * model.labels() + label] =
            static_cast<float>(target.readout(static_cast<Eigen::Index>(label), static_cast<Eigen::Index>(i)) *
                               target.initial(static_cast<Eigen::Index>(j)) * std::sqrt(static_cast<double>(size)));
  parameters.write("matrices", matrices);
  parameters.write("readout", readout);
  parameters.write("readout_bias", parameters.zeros("readout_bias"));
  parameters.load();
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
  Parameters parameters(model);
  const std::size_t width = shape.width(), size = shape.size, numbers = width * size;
  write_one_hot(parameters, model, width, "blocks");
  const Places places = packed(model, mixed_coordinates(target), size, width);
  const std::string layer = "layer0.mixer.";
  std::vector<float> blocks = parameters.zeros(layer + "generator_out"), inputs = parameters.zeros(layer + "input");
  for (Letter letter = 0; letter < model.letters(); ++letter) {
    for (std::size_t i = 0; i < places.size(); ++i)
      for (std::size_t j = 0; j < places.size(); ++j)
        if (places[i] / size == places[j] / size)
          blocks[letter * numbers + places[j] * size + places[i] % size] =
              static_cast<float>(target.matrices[letter](static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)));
    std::ranges::copy(placed(target.additions[letter], places, width),
                      inputs.begin() + static_cast<std::ptrdiff_t>(letter * width));
  }
  parameters.write(layer + "generator_out", blocks);
  parameters.write(layer + "generator_bias", parameters.zeros(layer + "generator_bias"));
  parameters.write(layer + "input", inputs);
  parameters.write(layer + "start", placed(target.initial, places, width));
  std::vector<float> readout = parameters.zeros("readout");
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t label = 0; label < model.labels(); ++label)
      readout[places[i] * model.labels() + label] =
          static_cast<float>(target.readout(static_cast<Eigen::Index>(label), static_cast<Eigen::Index>(i)));
  parameters.write("readout", readout);
  parameters.write("readout_bias", {target.bias.begin(), target.bias.end()});
  parameters.load();
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
  Parameters parameters(model);
  Random random(seed);
  for (const auto& [name, tensor] : model.tensors().tensors) {
    std::vector<float> numbers = parameters.read(name), noise(numbers.size());
    double squares = 0;
    for (const float number : numbers) squares += double{number} * number;
    fill_normal<float>(noise, random, share * std::sqrt(squares / static_cast<double>(numbers.size())));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] += noise[i];
    parameters.write(name, numbers);
  }
  parameters.load();
}

}  // namespace krohn
