#include "krohn/simulate/prove/orders/ordered_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>

#include "krohn/groups/counted.h"
#include "krohn/groups/error.h"
#include "krohn/simulate/prove/orders/chunk_search.h"
#include "krohn/simulate/prove/orders/drift_search.h"
#include "krohn/simulate/prove/orders/length_search.h"

namespace krohn {
namespace {

/// States closed under maps, without regard to length, until one is wrong.
class ReachedStates {
 public:
  ReachedStates(OrderSystem& system, const MapSets& maps, SearchBudget& budget)
      : system_(system), maps_(maps), budget_(budget), states_(system.state_words()), record_(system.state_words()) {
    system_.start(record_.data());
    states_.insert(record_);
  }

  /// Adds all that `set` makes of the states so far, and, with `repeatedly`, of those that it makes.
  void apply(const MapSet& set, bool repeatedly) {
    const RecordSet::Index now = states_.size();
    for (RecordSet::Index state = 0; state < (repeatedly ? states_.size() : now) && right_; ++state)
      for (const MadeMap& map : set) {
        budget_.spend(maps_.bytes() + states_.bytes());
        system_.apply(maps_.record(map), states_[state].data(), record_.data());
        const auto reached = states_.insert(record_);
        // H_0 came with its label. A word that leads back to it is decoded like any other.
        if (reached.fresh || reached.index == 0) right_ = right_ && system_.is_right(record_.data());
      }
  }

  bool right() const { return right_; }
  std::uint64_t size() const { return states_.size(); }

 private:
  OrderSystem& system_;
  const MapSets& maps_;
  SearchBudget& budget_;
  RecordSet states_;
  std::vector<std::uint32_t> record_;
  bool right_ = true;
};

/// All searches of one network, strongest claim first.
class OrderSearch {
 public:
  OrderSearch(const Dfa& automaton, OrderSystem& system, const CertifyOptions& options)
      : automaton_(automaton), system_(system), options_(options), budget_(options) {}

  Certificate run() {
    if (!system_.starts_right()) return refuted(Word{});
    if (automaton_.letters() == 0) return proved("the empty word is read rightly, and there is no other");
    if (!system_.has_maps()) return by_chunks();
    maps_.emplace(system_, automaton_.letters(), budget_);
    if (auto proof = closed_under_composition()) return *proof;
    totals_.emplace(*maps_, budget_);
    if (options_.order.block == 0)
      if (auto proof = closed_totals()) return *proof;
    return by_length();
  }

 private:
  /// The most maps whose products are all tried.
  static constexpr std::size_t kMostClosedMaps = 2048;

  template <class Phase>
  std::invoke_result_t<Phase> phase(Phase&& body) {
    budget_.renew();
    try {
      return body();
    } catch (const LimitError&) {
      return std::nullopt;  // the next phase may still do
    }
  }

  /// Every product of two maps is one of the maps: whatever the association, nothing else is ever made.
  std::optional<Certificate> closed_under_composition() {
    return phase([&]() -> std::optional<Certificate> {
      const std::optional<MapSet> all = maps_->closure(kMostClosedMaps);
      if (!all) return std::nullopt;
      ReachedStates states(system_, *maps_, budget_);
      states.apply(*all, true);
      if (!states.right()) return std::nullopt;
      Certificate certificate =
          proved(fmt::format("words make {} of the letters' stored matrices, closed under composition in every "
                             "association, and these reach {}, all read correctly",
                             counted(all->size(), "map"), counted(states.size(), "state")));
      certificate.claim = Proved{.every_association = true};
      return certificate;
    });
  }

  /// The totals of 2^k letters repeat from some k on.
  std::optional<Certificate> closed_totals() {
    return phase([&]() -> std::optional<Certificate> {
      totals_->find_period();
      const std::uint64_t states = options_.order.kind == Order::Kind::kScan ? scanned_states() : doubled_states();
      wrong_ = states == 0;
      if (wrong_) return std::nullopt;
      return proved(fmt::format(
          "the totals of 2^k letters are {} in {} sets that repeat from k = {} on, and they "
          "reach {} in this order, all read rightly",
          counted(maps_->size(), "map"), totals_->levels(), *totals_->first_repeated(), counted(states, "state")));
    });
  }

  /// From the highest bit down: any number of totals of the repeating levels, then at most one of each level below.
  std::uint64_t scanned_states() {
    ReachedStates states(system_, *maps_, budget_);
    MapSet repeating;
    const std::size_t first = *totals_->first_repeated();
    for (std::size_t k = first; k < totals_->levels(); ++k) repeating = maps_->join(repeating, (*totals_)[k]);
    states.apply(repeating, true);
    for (std::size_t k = first; k-- > 0;) states.apply((*totals_)[k], false);
    return states.right() ? states.size() : 0;
  }

  /// Level by level: W_k = all maps of t − 2^k under t with highest bit k, Z_k = the states at position 2^k − 1; until
  /// all three of B_k, W_k and Z_k are what they were a period before.
  std::uint64_t doubled_states() {
    const std::size_t first = *totals_->first_repeated(), period = totals_->levels() - first;
    std::vector<MapSet> w{maps_->letters()};
    std::vector<std::vector<std::uint32_t>> z;
    RecordSet all(system_.state_words()), ends(system_.state_words());
    std::vector<std::uint32_t> record(system_.state_words());
    system_.start(record.data());
    z.push_back({ends.insert(record).index});
    for (std::size_t k = 0;; ++k) {
      for (const std::uint32_t end : z[k])
        for (const MadeMap& map : w[k]) {
          budget_.spend(maps_->bytes() + all.bytes() + ends.bytes());
          system_.apply(maps_->record(map), ends[end].data(), record.data());
          if (all.insert(record).fresh && !system_.is_right(record.data())) return 0;
        }
      if (k >= first + period && maps_->same(w[k], w[k - period]) && z[k] == z[k - period]) return all.size();
      std::vector<std::uint32_t>& next = z.emplace_back();
      for (std::size_t i = 0; i < z[k].size(); ++i)
        for (const MadeMap& map : (*totals_)[k]) {
          budget_.spend(maps_->bytes() + all.bytes() + ends.bytes());
          system_.apply(maps_->record(map), ends[z[k][i]].data(), record.data());
          next.push_back(ends.insert(record).index);
        }
      std::sort(next.begin(), next.end());
      next.erase(std::unique(next.begin(), next.end()), next.end());
      w.push_back(maps_->join(w[k], maps_->compose(w[k], (*totals_)[k])));
    }
  }

  Certificate by_length() {
    budget_.renew();
    const std::uint64_t block = options_.order.block == 0 ? UINT64_MAX : options_.order.block;
    const std::unique_ptr<BlockPlan> plan = make_block_plan(options_.order.kind, *maps_, *totals_);
    LengthSearch search(system_, *maps_, budget_, *plan, block);
    search.run();
    if (search.failing()) return refuted(*search.failing());
    if (search.limit()) {
      if (auto word = phase([&] { return find_by_drift(system_, automaton_.letters(), options_.order, budget_); }))
        return refuted_by_drift(*std::move(word), search.right_up_to());
      return proved_up_to(search.right_up_to(),
                          wrong_ ? *search.limit() + "; some longer word is read wrongly" : *search.limit());
    }
    return proved(
        fmt::format("blocks of {} start from {}, and all words of one block from each of them "
                    "are read rightly; they make {}",
                    counted(block, "letter"), counted(search.starts(), "state"), counted(maps_->size(), "map")));
  }

  Certificate by_chunks() {
    ChunkSearch search(system_, automaton_.letters(), options_.order.block, budget_);
    search.run();
    if (search.failing()) return refuted(*search.failing());
    if (search.limit()) return proved_up_to(search.right_up_to(), *search.limit());
    return proved(
        fmt::format("chunks of {} start from {}, and all words of one chunk from each of them "
                    "are read rightly",
                    counted(options_.order.block, "letter"), counted(search.starts(), "state")));
  }

  Certificate begin(Claim claim) const {
    Certificate certificate;
    certificate.claim = std::move(claim);
    certificate.arithmetic = options_.arithmetic;
    certificate.form = options_.form;
    certificate.order = options_.order;
    certificate.method = "closed maps";
    certificate.pairs = budget_.total();
    return certificate;
  }

  Certificate proved(std::string evidence) const {
    Certificate certificate = begin(Proved{});
    certificate.evidence = std::move(evidence);
    return certificate;
  }

  Certificate refuted(Word word) const {
    Certificate certificate = begin(Refuted{});
    certificate.evidence =
        fmt::format("all words were tried in this order, length by length; the first that is read wrongly has {}",
                    counted(word.size(), "letter"));
    certificate.claim = Refuted{std::move(word), /*shortest=*/true};
    return certificate;
  }

  Certificate refuted_by_drift(Word word, std::uint64_t right_up_to) const {
    Certificate certificate = refuted(std::move(word));
    std::get<Refuted>(certificate.claim).shortest = false;
    certificate.evidence = fmt::format(
        "words were put together of those that drift most in this order; one of {} is read wrongly, and none "
        "of "
        "up to {} is",
        counted(certificate.failing_word()->size(), "letter"), counted(right_up_to, "letter"));
    return certificate;
  }

  Certificate proved_up_to(std::uint64_t length, std::string limit) const {
    Certificate certificate = begin(ProvedUpTo{length});
    certificate.evidence =
        fmt::format("the network is right on all words of up to {} in this order", counted(length, "letter"));
    certificate.limit = std::move(limit);
    return certificate;
  }

  const Dfa& automaton_;
  OrderSystem& system_;
  const CertifyOptions& options_;
  SearchBudget budget_;
  std::optional<MapSets> maps_;
  std::optional<Totals> totals_;
  bool wrong_ = false;  ///< some word is read wrongly in this order, however long
};

}  // namespace

Certificate search_order(const Dfa& automaton, OrderSystem& system, const CertifyOptions& options) {
  return OrderSearch(automaton, system, options).run();
}

}  // namespace krohn
