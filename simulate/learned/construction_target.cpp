#include "krohn/simulate/learned/construction_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <optional>
#include <set>

#include "krohn/automata/dfa/same_letters.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/learned/linear_systems.h"
#include "krohn/simulate/tasks/task_automaton.h"

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

}  // namespace krohn
