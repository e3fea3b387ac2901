#include "krohn/simulate/many/ranked_words.h"

#include <optional>
#include <vector>

namespace krohn {

State run_on_ranks(Ranks& ranks, const Runner& runner, const RandomWord& word, std::uint64_t first,
                   std::uint64_t length, State from) {
  /// Letters below which a share costs more than it gains.
  constexpr std::uint64_t kSmallestShare = std::uint64_t{1} << 16;
  std::optional<std::vector<State>> effect;
  const bool is_cut = ranks.size() > 1 && length / ranks.size() >= kSmallestShare;
  if (is_cut)
    together(ranks, [&] {
      const Share share = share_of(first, first + length, ranks.rank(), ranks.size());
      effect = runner.effect(word, share.begin, share.end - share.begin);
    });
  const std::uint64_t has_effect[] = {effect.has_value()};
  bool all_have = is_cut;
  if (is_cut)
    for (const std::uint64_t has : ranks.gather(has_effect)) all_have = all_have && has != 0;
  std::uint64_t end[] = {0};
  if (all_have) {
    const std::vector<State> before = ranks.compose_before(*effect);
    end[0] = (*effect)[before[from]];
    return static_cast<State>(ranks.gather(end).back());
  }
  together(ranks, [&] {
    if (ranks.rank() == 0) end[0] = runner.run(word, first, length, from);
  });
  return static_cast<State>(ranks.gather(end).front());
}

}  // namespace krohn
