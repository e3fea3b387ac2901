#include "krohn/constructions/registers/register_blocks.h"

#include <algorithm>
#include <unordered_map>

#include "krohn/groups/time_limit.h"

namespace krohn {

std::vector<std::pair<std::size_t, std::size_t>> RegisterStates::confusions(std::size_t most) const {
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  std::unordered_map<std::string, std::vector<std::size_t>> by_contents;
  for (std::size_t i = 0; i < labels.size() && pairs.size() < most; ++i) {
    auto& alike = by_contents[contents[i]];
    if (std::ranges::any_of(alike, [&](std::size_t other) { return labels[other] == labels[i]; })) continue;
    for (const std::size_t other : alike)
      if (pairs.size() < most) pairs.emplace_back(other, i);
    alike.push_back(i);
  }
  return pairs;
}

std::vector<Action> RegisterStates::word_to(std::size_t at) const {
  std::vector<Action> word;
  for (; at != 0; at = steps[at].before) word.push_back(steps[at].action);
  std::ranges::reverse(word);
  return word;
}

RegisterStates register_states(const TrackedStates& tracked, std::span<const RegisterBlock> blocks, std::size_t limit) {
  RegisterStates states;
  std::unordered_map<std::string, std::size_t> number;
  const auto add = [&](Label label, const std::string& contents, RegisterStates::Step step) {
    std::string key = contents;
    for (int byte = 0; byte < 4; ++byte) key.push_back(static_cast<char>(label >> (8 * byte) & 255));
    if (!number.emplace(std::move(key), states.labels.size()).second) return;
    states.labels.push_back(label);
    states.contents.push_back(contents);
    states.steps.push_back(step);
  };
  std::string contents;
  for (const RegisterBlock& block : blocks) contents += block.start;
  add(0, contents, {0, 0});
  for (std::size_t at = 0; at < states.labels.size(); ++at)
    for (Action action = 0; action < tracked.maps.size(); ++action) {
      if (states.labels.size() > limit) return states;
      TimeLimit::check();
      std::size_t first = 0;
      for (const RegisterBlock& block : blocks) {
        block.move(action, states.contents[at].data() + first, contents.data() + first);
        first += block.size();
      }
      add(tracked.maps[action][states.labels[at]], contents, {at, action});
    }
  states.is_complete = states.labels.size() <= limit;
  return states;
}

}  // namespace krohn
