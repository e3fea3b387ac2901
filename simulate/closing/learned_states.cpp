#include "krohn/simulate/closing/learned_states.h"

#include <set>
#include <tuple>

#include "krohn/simulate/closing/point_moves.h"
#include "krohn/simulate/run/tracked_words.h"
#include "krohn/simulate/tasks/task_automaton.h"

namespace krohn {

LearnedStates learned_states(const TrainedReader& machine, const Task& task, const TrackedAutomaton& tracked) {
  constexpr std::uint32_t kNone = UINT32_MAX;
  const Dfa& automaton = tracked.automaton;
  // A group of which one move is not known is none.
  const WordsOfMoves size = words_of_moves(automaton);
  const std::vector<StateVisit> visits =
      state_visits(machine, task, automaton, {.words = size.words, .length = size.length, .seed = 1});
  LearnedStates seen;
  std::vector<std::uint32_t> point_of(automaton.states(), kNone);
  const auto point = [&](State state) {
    if (point_of[state] == kNone) {
      point_of[state] = static_cast<std::uint32_t>(seen.states.size());
      seen.states.push_back(state);
      seen.wanted.push_back(tracked.wanted[state]);
      seen.is_asked.push_back(false);
    }
    return point_of[state];
  };
  seen.initial = point(automaton.initial());
  for (const StateVisit& visit : visits)
    if (const std::uint32_t at = point(visit.state); visit.is_asked) seen.is_asked[at] = true;
  std::vector<double> counts(seen.states.size(), 0);
  std::set<std::tuple<std::uint32_t, Letter, std::uint32_t>> moves;
  const auto add = [&](std::uint32_t at, const std::vector<double>& numbers) {
    seen.means.col(at) += Eigen::Map<const Eigen::VectorXd>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
    counts[at] += 1;
  };
  const std::vector<double> start = machine.states(machine.start()).front();
  seen.means =
      Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(start.size()), static_cast<Eigen::Index>(seen.states.size()));
  for (const StateVisit& visit : visits) {
    add(point_of[visit.state], visit.parts.front());
    moves.emplace(point_of[visit.from], visit.letter, point_of[visit.state]);
  }
  if (counts[0] == 0) add(0, start);  // nothing leads back to the initial state
  for (std::size_t i = 0; i < counts.size(); ++i) seen.means.col(static_cast<Eigen::Index>(i)) /= counts[i];
  for (const auto& [from, letter, to] : moves) seen.moves.push_back({Eigen::Index{from}, letter, Eigen::Index{to}});
  const PointMoves by = point_moves(seen.moves, automaton.letters(), seen.states.size());
  for (std::size_t i = 0; i < seen.states.size(); ++i)
    if (by.is_repeated(i) && !tracked.is_asked(seen.states[i]))
      seen.means.col(static_cast<Eigen::Index>(i)) = seen.means.col(by.like[i]);
  return seen;
}

}  // namespace krohn
