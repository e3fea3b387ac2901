#include "krohn/simulate/many/ranked_check.h"

#include <vector>

#include "krohn/groups/error.h"

namespace krohn {

Recheck recheck_on_ranks(Ranks& ranks, const Certificate& certificate, const CheckedModel& model,
                         const RecheckOptions& options) {
  Recheck mine;
  together(ranks, [&] {
    if (options.shares != 1) throw InputError("the ranks share out a whole certificate");
    RecheckOptions own = options;
    own.share = ranks.rank();
    own.shares = ranks.size();
    mine = recheck(certificate, model, own);
  });
  // Everybody's finding: the first one that is against it is that of one process.
  std::vector<Ranks::Words> to(ranks.size()), from;
  for (Ranks::Words& words : to) {
    words.assign(mine.finding.begin(), mine.finding.end());
    words.push_back(mine.established ? 1 : 0);
  }
  ranks.exchange(to, from);
  Recheck found;
  for (const Ranks::Words& words : from) {
    found = {words.back() == 1, {}};
    for (std::size_t i = 0; i + 1 < words.size(); ++i) found.finding.push_back(static_cast<char>(words[i]));
    if (!found.established) return found;
  }
  return found;
}

}  // namespace krohn
