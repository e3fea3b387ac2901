#include "krohn/simulate/check/recheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <set>

#include "krohn/constructions/network/network.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/recheck_arithmetic.h"
#include "krohn/simulate/check/recheck_network.h"

namespace krohn {

// The re-checker's part for claims that hold in any order, in exact arithmetic.

/// Establishes that nothing can round, for tables of codewords that were established before
/// (docs/reference/certificate-file.md, "exact in any order"), or throws NotEstablished. Returns what was found, as a
/// sentence.
std::string check_any_order(const AnyOrder& proof, const Network& network, const RecheckedNetwork& plain);

namespace {

using Moment = RecheckedReader::Moment;

/// The truth of the answers, and their source.
struct Held {
  const TrackedAutomaton& tracked;
  const RecheckedReader& reader;
  const std::vector<Output>* outputs;  ///< of a network beside a language: by state, what it says there

  std::optional<std::uint32_t> answer(const Moment& moment) const {
    const auto read = reader.read(moment);
    return read && outputs != nullptr ? std::optional((*outputs)[*read]) : read;
  }
  bool is_right(State state, const Moment& moment) const {
    return !tracked.is_asked(state) || answer(moment) == tracked.wanted[state];
  }
  bool may_stand(State next) const { return tracked.wanted[next] != TrackedAutomaton::kNoSuchWord; }
};

/// The items of a share, out of so many.
struct CheckedRange {
  std::uint64_t begin, end;
};
CheckedRange share_of(std::uint64_t count, const RecheckOptions& options) {
  const std::uint64_t each = count / options.shares, left = count % options.shares;
  const auto start = [&](std::uint64_t share) { return share * each + std::min(share, left); };
  return {start(options.share), start(options.share + 1)};
}

// ---- Closed reachable set

/// True if what the network remembers is what the pair says (−0 is +0, and a number that is not finite is none).
bool is_memory_of(const ReachedPair& pair, const Moment& moment) {
  return moment.phase == pair.phase && moment.numbers == pair.numbers &&
         std::equal(moment.labels.begin(), moment.labels.end(), pair.labels.begin(), pair.labels.end());
}

Moment memory_of(const ReachedPair& pair) {
  return {pair.numbers, {pair.labels.begin(), pair.labels.end()}, pair.phase};
}

/// Every pair is right, and the next letter leads to a listed pair; or, where `letters` are claimed, it is right as far
/// as they go. By induction over the letters of a word.
void check_pairs(const std::vector<ReachedPair>& pairs, std::optional<std::uint64_t> letters, const Held& held,
                 const RecheckOptions& options) {
  const Dfa& automaton = held.tracked.automaton;
  const Moment start = held.reader.start();
  require(
      !pairs.empty() && pairs[0].depth == 0 && pairs[0].state == automaton.initial() && is_memory_of(pairs[0], start),
      "the first pair is not the start");
  require(held.is_right(automaton.initial(), start), "the empty word is read wrongly");
  const auto [first, end] = share_of(pairs.size(), options);
  for (std::uint64_t i = first; i < end; ++i) {
    Interruption::check();
    TimeLimit::check();
    const ReachedPair& pair = pairs[i];
    const auto at = [i](const char* what) { return [=] { return fmt::format("pair {}: {}", i, what); }; };
    if (letters == 0) {
      require(pair.next.empty() && i == 0, at("no letter is claimed"));
      continue;
    }
    const bool is_last = letters && pair.depth + 1 == *letters;
    require(!letters || pair.depth < *letters, at("deeper than the length claimed"));
    require(pair.next.size() == (is_last ? 0 : automaton.letters()), at("not one next pair for each letter"));
    require(pair.state < automaton.states() && held.may_stand(pair.state), at("no such state"));
    const Moment memory = memory_of(pair);
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State right = automaton.next(pair.state, letter);
      if (!held.may_stand(right)) {
        require(is_last || pair.next[letter] == UINT32_MAX, at("a letter that cannot stand leads on"));
        continue;
      }
      const Moment after = held.reader.step(memory, letter);
      require(held.is_right(right, after), at("a letter is read wrongly"));
      if (is_last) continue;
      require(pair.next[letter] < pairs.size(), at("no such next pair"));
      const ReachedPair& next = pairs[pair.next[letter]];
      require(next.state == right && is_memory_of(next, after), at("a letter leads to another pair"));
      require(next.depth <= pair.depth + (letters ? 1 : 0), at("a letter leads to a pair that is too deep"));
    }
  }
}

std::string check(const ReachedPairs& proof, const Certificate& certificate, const Held& held,
                  const RecheckOptions& options) {
  const bool is_closed = certificate.is<Proved>();
  require(is_closed || certificate.length() > 0, "no letter is claimed");
  check_pairs(proof.list, is_closed ? std::nullopt : std::optional(certificate.length()), held, options);
  return fmt::format("{} with what follows each, evaluated again", counted(proof.list.size(), "pair"));
}

// ---- Closed regions

bool is_inside(const Moment& box, const ClosedRegions::Region& region) {
  for (std::size_t i = 0; i < region.lower.size(); ++i)
    if (!(box.numbers[0][i] >= region.lower[i] && box.numbers[1][i] <= region.upper[i])) return false;
  return true;
}

/// Every word's box lies in a region again, from the start and from every region, and what is answered on the way is
/// right. By induction over the words that lead from region to region.
std::string check(const ClosedRegions& proof, const Certificate&, const Held& held, const RecheckOptions& options) {
  struct Reached {
    State state;
    Moment box;
  };
  const Dfa& automaton = held.tracked.automaton;
  std::uint64_t letters = 0;
  const auto is_closed = [&](const Reached& reached) {
    return std::ranges::any_of(proof.list, [&](const ClosedRegions::Region& region) {
      return region.state == reached.state && is_inside(reached.box, region);
    });
  };
  const auto follow = [&](std::vector<Reached> boxes, std::uint32_t most, const std::string& from) {
    for (std::uint32_t depth = 0; !boxes.empty(); ++depth) {
      require(depth < most,
              fmt::format("{}: after {} some word's memory lies in no region", from, counted(depth, "letter")));
      std::vector<Reached> next;
      for (const Reached& before : boxes)
        for (Letter letter = 0; letter < automaton.letters(); ++letter) {
          const State state = automaton.next(before.state, letter);
          if (!held.may_stand(state)) continue;
          Interruption::check();
          TimeLimit::check();
          if (++letters > options.max_letters)
            throw LimitError(fmt::format("more than {} letters; {}", options.max_letters, options.advice));
          Reached after{state, held.reader.step(before.box, letter)};
          require(held.is_right(state, after.box), fmt::format("{}: a letter may be read wrongly", from));
          if (!is_closed(after)) next.push_back(std::move(after));
        }
      boxes = std::move(next);
    }
  };
  Reached start{automaton.initial(), held.reader.start()};
  require(held.is_right(start.state, start.box), "the empty word may be read wrongly");
  for (std::size_t i = 0; i < proof.list.size(); ++i) {
    const ClosedRegions::Region& region = proof.list[i];
    const std::string from = fmt::format("region {}", i);
    require(region.state < automaton.states() && held.may_stand(region.state), from + ": no such state");
    require(region.lower.size() == start.box.numbers[0].size() && region.upper.size() == region.lower.size(),
            from + ": not as many numbers as are remembered");
    for (std::size_t k = 0; k < region.lower.size(); ++k)
      require(region.lower[k] <= region.upper[k], from + ": a lower end above the upper one");
    follow({{region.state, {{region.lower, region.upper}, {}, 0}}}, proof.letters, from);
  }
  if (!is_closed(start)) follow({std::move(start)}, proof.start, "the start");
  return fmt::format("{}, from which every letter leads into one again, in {}", counted(proof.list.size(), "region"),
                     counted(letters, "step"));
}

// ---- Closed codewords

/// The machine of labels that the tables describe, once every entry was evaluated.
class LabelTables {
 public:
  LabelTables(const ClosedCodewords& proof, const Network& network, const RecheckedNetwork& plain,
              const Certificate& certificate)
      : proof_(proof), network_(network), form_(certificate.form), is_exact_(certificate.arithmetic.is_exact()) {
    require(proof.layers.size() == network.layers.size(), "the tables are not one for each layer");
    for (std::size_t k = 0; k < proof.layers.size(); ++k) {
      check_shape(k);
      check_codewords(k, plain);
    }
  }

  /// Every tuple of labels that the readout decodes steps to one that it decodes, to the right state (docs/MATH.md §3).
  void induct() {
    require(initial_state() == network_.automaton.initial(), "the initial labels are read wrongly");
    for (Letter letter = 0; letter < network_.automaton.letters(); ++letter) {
      visited_.clear();
      for (std::size_t k = 0; k < proof_.layers.size(); ++k) visited_.emplace_back(3);
      descend(letter, 0, letter, 0, 0);
    }
  }

  /// The same for the tuples that words reach, each listed with the next ones.
  void check_tuples(const RecheckOptions& options) const {
    const Dfa& automaton = network_.automaton;
    const std::vector<LabelTuple>& tuples = proof_.tuples;
    require(!tuples.empty() && tuples[0].state == automaton.initial() &&
                tuples[0].places == std::vector<std::uint32_t>(proof_.layers.size(), 0),
            "the first tuple is not the start");
    const auto [first, end] = share_of(tuples.size(), options);
    for (std::uint64_t i = first; i < end; ++i) {
      const LabelTuple& tuple = tuples[i];
      const auto at = [i](const char* what) { return [=] { return fmt::format("tuple {}: {}", i, what); }; };
      require(tuple.places.size() == proof_.layers.size(), at("not one place for each layer"));
      require(tuple.next.size() == automaton.letters(), at("not one next tuple for each letter"));
      Context node = 0;
      for (std::size_t k = 0; k < tuple.places.size(); ++k) {
        require(tuple.places[k] < proof_.layers[k].codewords.size(), at("no such place"));
        node = read(k, node, tuple.places[k]);
        require(node != kNoContext, at("the readout has no entry"));
      }
      require(node == tuple.state, at("read as another state"));
      for (Letter letter = 0; letter < automaton.letters(); ++letter) {
        require(tuple.next[letter] < tuples.size(), at("no such next tuple"));
        const LabelTuple& after = tuples[tuple.next[letter]];
        require(after.state == automaton.next(tuple.state, letter), at("a letter leads to a wrong state"));
        Context context = letter;
        for (std::size_t k = 0; k < tuple.places.size(); ++k) {
          require(context != kNoContext, at("the wiring has no entry"));
          require(after.places.size() == tuple.places.size() && after.places[k] == next(k, context, tuple.places[k]),
                  at("a letter leads to another tuple"));
          context = above(k, context, tuple.places[k]);
        }
      }
    }
  }

 private:
  Label label(std::size_t k, std::uint32_t i) const {
    return codeword_label(network_.layers[k], proof_.layers[k].codewords[i]);
  }
  std::uint32_t next(std::size_t k, Context context, std::uint32_t i) const {
    return proof_.layers[k].next[move_of_[k][context]][i];
  }
  Context above(std::size_t k, Context context, std::uint32_t i) const {
    if (k + 1 == proof_.layers.size()) return 0;
    return network_.layers[k].wiring.next[std::size_t{context} * network_.layers[k].labels + label(k, i)];
  }
  Context read(std::size_t k, Context node, std::uint32_t i) const {
    return network_.readout.next[k][std::size_t{node} * network_.layers[k].labels + label(k, i)];
  }
  Context initial_state() const {
    Context node = 0;
    for (std::size_t k = 0; k < proof_.layers.size() && node != kNoContext; ++k) node = read(k, node, 0);
    return node;
  }

  /// All indices fit, and every context has its move.
  void check_shape(std::size_t k) {
    const ClosedTable& table = proof_.layers[k];
    const Layer& layer = network_.layers[k];
    const std::string bad = fmt::format("the table of layer {} does not fit the layer", k);
    require(!table.codewords.empty() && table.next.size() == table.moves.size(), bad);
    for (const std::uint32_t codeword : table.codewords) require(codeword < codeword_count(layer), bad);
    std::map<std::pair<Action, std::uint32_t>, std::size_t> moves;
    for (std::size_t m = 0; m < table.moves.size(); ++m) {
      require(table.moves[m].action < layer.transitions.size() && table.next[m].size() == table.codewords.size(), bad);
      for (const std::uint32_t to : table.next[m]) require(to < table.codewords.size(), bad);
      moves[{table.moves[m].action, table.moves[m].book}] = m;
    }
    require(moves.size() == table.moves.size(), bad);
    auto& move_of = move_of_.emplace_back();
    for (std::size_t context = 0; context < layer.wiring.action_of.size(); ++context) {
      const auto found = moves.find(
          {layer.wiring.action_of[context], layer.book_of_context.empty() ? 0 : layer.book_of_context[context]});
      require(found != moves.end(), bad);
      move_of.push_back(found->second);
    }
  }

  /// True if a 0/1 map takes one one-hot codeword to another. Every 1 goes its own way, in any arithmetic: a sum of
  /// zeros and one 1 is 1. The numbers are then a unit codeword, which is nearer to itself than to any other. False
  /// also where the layer or the action is of another kind.
  bool moves_ones(const Layer& layer, const ClosedTable::Move& move, std::uint32_t from, std::uint32_t to) const {
    const Transition& transition = layer.transitions[move.action];
    const auto* a = std::get_if<MapMatrix>(&transition.a);
    if (layer.decoder.unit_copies == 0 || a == nullptr || transition.b.size() != 0) return false;
    if (form_ != Form::kStructured || move.book != 0) return false;
    std::set<std::size_t> reached, expected;
    for (std::size_t copy = 0; copy < layer.decoder.unit_copies; ++copy) {
      reached.insert(a->map[static_cast<Point>(copy * layer.labels + from)]);
      expected.insert(copy * layer.labels + to);
    }
    return reached == expected;
  }

  /// H_0 is the first codeword, and every move takes every codeword to the one that the table names, bit for bit, which
  /// the move's book reads as its label.
  void check_codewords(std::size_t k, const RecheckedNetwork& plain) const {
    const ClosedTable& table = proof_.layers[k];
    const Layer& layer = network_.layers[k];
    require(plain.rounded(layer.initial) == plain.codeword_numbers(k, table.codewords[0]) &&
                label(k, 0) == layer.initial_label,
            fmt::format("H_0 of layer {} is not the codeword {}", k, table.codewords[0]));
    std::set<std::pair<std::uint32_t, std::uint32_t>> decoded;
    for (std::uint32_t i = 0; i < table.codewords.size(); ++i) {
      RecheckedNumbers from;
      for (std::size_t m = 0; m < table.moves.size(); ++m) {
        const std::uint32_t to = table.next[m][i];
        if (moves_ones(layer, table.moves[m], table.codewords[i], table.codewords[to])) continue;
        if (from.empty()) from = plain.codeword_numbers(k, table.codewords[i]);
        const RecheckedNumbers aim = plain.codeword_numbers(k, table.codewords[to]);
        const RecheckedNumbers reached = is_exact_ ? aim : plain.move(k, table.moves[m].action, from);
        const auto where = [&](const char* what) {
          return [=, &table] {
            return fmt::format("layer {}, action {} on codeword {} {}", k, table.moves[m].action, table.codewords[i],
                               what);
          };
        };
        require(is_exact_ ? moves_exactly(layer, table.moves[m].action, from, aim) : reached == aim,
                where("does not give the next codeword"));
        if (!decoded.emplace(to, table.moves[m].book).second) continue;
        require(plain.decode(k, table.moves[m].book, reached) == label(k, to), where("is decoded as another label"));
        if (network_.snap_every > 0)  // then it snaps to itself
          require(plain.codeword_numbers(k, *plain.nearest(k, table.moves[m].book, reached)) == reached,
                  where("would snap to another codeword"));
      }
    }
  }

  void descend(Letter letter, std::size_t k, Context context, Context before, Context after) {
    const std::uint32_t triple[] = {context, before, after};
    if (!visited_[k].insert(triple).fresh) return;
    for (std::uint32_t i = 0; i < proof_.layers[k].codewords.size(); ++i) {
      const Context decoded = read(k, before, i);
      if (decoded == kNoContext) continue;
      const Context reached = read(k, after, next(k, context, i)), higher = above(k, context, i);
      require(reached != kNoContext && higher != kNoContext, "labels that decode step to labels that do not");
      if (k + 1 < proof_.layers.size())
        descend(letter, k + 1, higher, decoded, reached);
      else
        require(reached == network_.automaton.next(decoded, letter), "labels that decode step to a wrong state");
    }
  }

  const ClosedCodewords& proof_;
  const Network& network_;
  Form form_;
  bool is_exact_;
  std::vector<std::vector<std::size_t>> move_of_;  ///< by layer and context
  std::vector<RecordSet> visited_;                 ///< by layer: context, node before, node after
};

std::string check_closed(const ClosedCodewords& proof, const Network& network, const RecheckedNetwork& plain,
                         const Certificate& certificate, const RecheckOptions& options) {
  LabelTables tables(proof, network, plain, certificate);
  if (!proof.by_induction) {
    tables.check_tuples(options);
    return fmt::format("every table entry and {} tuples of labels, evaluated again", proof.tuples.size());
  }
  tables.induct();
  return "every table entry, evaluated again, and the induction over labels";
}

// ---- Words

/// The letters of docs/reference/certificate-file.md, one after another.
class RandomLetters {
 public:
  RandomLetters(Letter letters, std::uint64_t seed, std::uint64_t stream)
      : letters_(letters), key_(mixed(seed + kStep * mixed(stream + kStep))) {
    const std::uint64_t base = letters < 2 ? 2 : letters, most = std::uint64_t{1} << (letters > 256 ? 32 : 8);
    std::uint64_t power = 1;
    for (; power * base <= most; power *= base) ++digits_;
    if (letters > 256) return;
    digits_ *= power == most ? 8 : 4;
    dropped_ = power == most ? 0 : 0xff;
  }
  Letter next() {
    if (read_ % digits_ == 0) fraction_ = mixed(key_ + kStep * (read_ / digits_ + 1)) & ~dropped_;
    ++read_;
    __extension__ typedef unsigned __int128 Wide;
    const Wide product = Wide{fraction_} * letters_;
    fraction_ = static_cast<std::uint64_t>(product);
    return static_cast<Letter>(product >> 64);
  }

 private:
  static constexpr std::uint64_t kStep = 0x9e3779b97f4a7c15;
  static std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
  }
  Letter letters_;
  std::uint64_t key_, fraction_ = 0, read_ = 0, digits_ = 0, dropped_ = 0;
};

std::string check(const FailingRun& run, const Certificate& certificate, const Held& held,
                  const RecheckOptions& options) {
  const Dfa& automaton = held.tracked.automaton;
  const std::uint64_t length = run.random ? run.random->letters : certificate.failing_word()->size();
  if (length > options.max_letters)
    throw LimitError(
        fmt::format("a word of {}, more than {}; {}", counted(length, "letter"), options.max_letters, options.advice));
  require(!run.random || automaton.letters() > 0, "there are no random words over no letters");
  RandomLetters random(automaton.letters(), run.random ? run.random->seed : 0, run.random ? run.random->stream : 0);
  State state = automaton.initial();
  Moment moment = held.reader.start();
  for (std::uint64_t t = 0; t < length; ++t) {
    const Letter letter = run.random ? random.next() : (*certificate.failing_word())[t];
    state = automaton.next(state, letter);
    require(held.may_stand(state), "a letter of the word cannot stand there");
    moment = held.reader.step(moment, letter);
  }
  require(!held.is_right(state, moment), "the word is read rightly");
  require(run.expected == state, fmt::format("the word leads to state {}, not {}", state, run.expected));
  require(held.answer(moment) == run.given, "the model gives another answer than the one that is stated");
  if (!certificate.is_shortest())
    return fmt::format("a word of {}, read again, is read wrongly", counted(length, "letter"));
  require(!run.random, "a random word is not shown to be a shortest one");
  if (length > 0) check_pairs(run.shorter, length - 1, held, options);
  return fmt::format("a word of {}, read again, is read wrongly, and no shorter one is", counted(length, "letter"));
}

std::string check(const SampledWords& proof, const Certificate&, const Held& held, const RecheckOptions& options) {
  const Dfa& automaton = held.tracked.automaton;
  require(automaton.letters() > 0 && proof.words > 0 && proof.length > 0, "no letter is sampled");
  if (proof.length > options.max_letters / proof.words)
    throw LimitError(fmt::format("more than {} letters; {}", options.max_letters, options.advice));
  const auto [first, end] = share_of(proof.words, options);
  for (std::uint64_t word = first; word < end; ++word) {
    RandomLetters random(automaton.letters(), proof.seed, word);
    State state = automaton.initial();
    Moment moment = held.reader.start();
    for (std::uint64_t t = 1; t <= proof.length; ++t) {
      const Letter letter = random.next();
      state = automaton.next(state, letter);
      require(held.may_stand(state), fmt::format("letter {} of random word {} cannot stand there", t, word));
      moment = held.reader.step(moment, letter);
      require(held.is_right(state, moment), fmt::format("random word {} is read wrongly at letter {}", word, t));
    }
  }
  return fmt::format("{} random words of {}, read again, are read rightly; not a proof", proof.words,
                     counted(proof.length, "letter"));
}

// ---- Methods that are of networks alone

std::string check(const ClosedCodewords& proof, const Certificate& certificate, const Network& network,
                  const RecheckedNetwork& plain, const RecheckOptions& options) {
  return check_closed(proof, network, plain, certificate, options);
}

std::string check(const AnyOrder& proof, const Certificate& certificate, const Network& network,
                  const RecheckedNetwork& plain, const RecheckOptions&) {
  const std::string found = check_closed(proof.codewords, network, plain, certificate, {});
  return found + "; " + check_any_order(proof, network, plain);
}

std::string check(const LinearHorizon& proof, const Certificate& certificate, const Network& network,
                  const RecheckedNetwork& plain, const RecheckOptions&) {
  require(certificate.length() == proof.length, "the length is not that of the horizon");
  require(network.snap_every == 0, "the network snaps to its codewords, and the proof ignores that");
  return check_horizon(proof, network, plain);
}

/// True if a proof of this kind can give this claim.
bool suits(const Certificate& certificate) {
  const Proof& proof = certificate.proof;
  if (certificate.holds_in_any_order() && !certificate.arithmetic.is_integer())
    return std::holds_alternative<AnyOrder>(proof) || std::holds_alternative<ClosedRegions>(proof);
  if (certificate.is<Proved>())
    return std::holds_alternative<ClosedCodewords>(proof) || std::holds_alternative<ReachedPairs>(proof);
  if (certificate.is<ProvedUpTo>())
    return std::holds_alternative<ReachedPairs>(proof) || std::holds_alternative<LinearHorizon>(proof);
  return certificate.is<Refuted>() ? std::holds_alternative<FailingRun>(proof)
                                   : std::holds_alternative<SampledWords>(proof);
}

}  // namespace

bool has_shares(const Certificate& certificate) {
  const auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
  const auto* run = std::get_if<FailingRun>(&certificate.proof);
  return std::holds_alternative<ReachedPairs>(certificate.proof) ||
         std::holds_alternative<SampledWords>(certificate.proof) || (closed != nullptr && !closed->by_induction) ||
         (run != nullptr && certificate.is_shortest());
}

Recheck recheck(const Certificate& certificate, const CheckedModel& model, const RecheckOptions& options) try {
  if (options.share >= options.shares) throw InputError("a certificate is checked by share 0, 1, … of some shares");
  const FloatEnvironment environment;
  require(certificate.order.is_sequential() &&
              (certificate.holds_in_any_order() || !certificate.holds_in_every_association()),
          fmt::format("the order \"{}\" is not known", to_string(certificate.order)));
  require(!std::holds_alternative<std::monostate>(certificate.proof), "the certificate has no proof");
  require(suits(certificate), "the proof is none of this claim");
  require((model.network == nullptr) == (certificate.operations != nullptr),
          "the certificate is of another kind of model");
  std::unique_ptr<RecheckedReader> reader;
  std::optional<TrackedAutomaton> own;
  std::vector<Output> outputs;
  if (model.network == nullptr) {
    require(certificate.language.has_value(), "the certificate states no language");
    require(certificate.operations->tokens.size() == certificate.language->automaton.letters(),
            "not a token for each letter");
    reader =
        std::holds_alternative<ClosedRegions>(certificate.proof)
            ? enclosed_operations(*certificate.operations, *model.tensors, certificate.arithmetic.storage())
            : rechecked_operations(*certificate.operations, *model.tensors);
  } else {
    const Network& network = *model.network;
    const bool is_exact = certificate.arithmetic.is_exact();
    require(!is_exact || (std::holds_alternative<ClosedCodewords>(certificate.proof) && network.snap_every == 0 &&
                          certificate.form == Form::kStructured),
            "in exact arithmetic codewords have to close, of structured weights and without snaps");
    auto plain = std::make_unique<RecheckedNetwork>(network, is_exact ? "fp64" : to_string(certificate.arithmetic),
                                                    certificate.form);
    const auto check_network = [&](const auto& proof) -> std::optional<std::string> {
      if constexpr (requires { check(proof, certificate, network, *plain, options); })
        return check(proof, certificate, network, *plain, options);
      else
        return std::nullopt;
    };
    if (const auto found = std::visit(check_network, certificate.proof)) {
      require(!certificate.language, "this proof is about the network's own automaton");
      return {true, *found};
    }
    outputs.assign(network.automaton.outputs().begin(), network.automaton.outputs().end());
    if (!certificate.language) {
      std::vector<Output> states(network.automaton.states());
      std::iota(states.begin(), states.end(), Output{0});
      own = TrackedAutomaton{network.automaton, std::move(states)};
    }
    reader = std::move(plain);
  }
  const Held held{own ? *own : *certificate.language, *reader,
                  model.network != nullptr && certificate.language ? &outputs : nullptr};
  const auto check_reader = [&](const auto& proof) -> std::string {
    if constexpr (requires { check(proof, certificate, held, options); })
      return check(proof, certificate, held, options);
    else
      throw NotEstablished{"this proof is of networks"};
  };
  return {true, std::visit(check_reader, certificate.proof)};
} catch (const NotEstablished& found) {
  return {false, found.reason};
}

namespace {

using Format = DeterministicArithmetic::Format;

/// A set of numbers: the greatest power of two that divides them all, and the greatest of them.
struct Extent {
  std::optional<int> grain;
  RecheckedDyadic most;

  void add(const RecheckedDyadic& number) {
    if (number.is_zero()) return;
    grain = grain ? std::min(*grain, number.grain()) : number.grain();
    most = std::max(most, number.absolute());
  }
};

std::optional<int> product(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional(*a + *b) : std::nullopt;
}

std::optional<int> common(const std::optional<int>& a, const std::optional<int>& b) {
  return a && b ? std::optional(std::min(*a, *b)) : a ? a : b;
}

/// Sums of multiples of 2^grain whose absolute values come to at most `most` are numbers of the format, all of them.
void require_fit(const Format& format, const std::optional<int>& grain, const RecheckedDyadic& most,
                 const std::string& what) {
  if (!grain || most.is_zero()) return;
  require(*grain >= format.least - format.digits + 1, what + " may underflow");
  require(most <= RecheckedDyadic::power_of_two(*grain + format.digits), what + " may round");
  require(most < RecheckedDyadic::power_of_two(format.greatest + 1), what + " may overflow");
}

using Column = std::map<std::uint32_t, RecheckedDyadic>;  ///< rows that are not 0

void add_to(Column& column, std::uint32_t row, const RecheckedDyadic& number) {
  RecheckedDyadic& entry = column[row];
  entry = entry + number;
  if (entry.is_zero()) column.erase(row);
}

/// Bounds over matrices, or over vectors (n×d numbers, column after column).
struct Sums {
  Extent entries;
  RecheckedDyadic row, column;
};

class LayerCheck {
 public:
  LayerCheck(const LayerMaps& maps, const ClosedTable& table, const Network& network, const RecheckedNetwork& plain,
             std::size_t k)
      : maps_(maps), table_(table), layer_(network.layers[k]), plain_(plain), k_(k), n_(layer_.dimension) {
    const auto format = plain.arithmetic().only_format();
    require(format.has_value(), "this arithmetic rounds to several formats");
    format_ = *format;
    for (Action action = 0; action < layer_.transitions.size(); ++action) {
      letters_.push_back(columns_of(action));
      adds_ = adds_ || !plain_.addition(k_, action).empty();
    }
    for (std::size_t i = 0; i < table.codewords.size(); ++i)
      widen_vector(states_, exact(plain.codeword_numbers(k, table.codewords[i])));
  }

  void check() {
    if (maps_.only_moves)
      check_moves();
    else
      check_maps();
    for (Action action = 0; action < layer_.transitions.size(); ++action)
      if (const auto& factors = plain_.matrix(k_, action).reflections; !factors.empty()) check_factors(factors);
  }

 private:
  using Numbers = std::vector<RecheckedDyadic>;

  static Numbers exact(const std::vector<double>& numbers) {
    Numbers result;
    for (const double number : numbers) result.emplace_back(number);
    return result;
  }

  /// The exact matrix of an action, as what it makes of unit vectors.
  std::vector<Column> columns_of(Action action) const {
    const RecheckedNetwork::RecheckedMatrix& matrix = plain_.matrix(k_, action);
    std::vector<Column> columns(n_);
    if (matrix.is_rows) {
      for (std::uint32_t i = 0; i < matrix.rows.size(); ++i)
        for (const auto& entry : matrix.rows[i]) add_to(columns[entry.column], i, RecheckedDyadic(entry.weight));
      return columns;
    }
    for (const auto& [outputs, inputs] : matrix.terms)
      for (const std::uint32_t j : inputs)
        for (const std::uint32_t i : outputs) add_to(columns[j], i, RecheckedDyadic(1.0));
    if (!matrix.rows.empty()) return columns;  // terms, which start from 0
    for (std::uint32_t j = 0; j < n_; ++j) {
      columns[j][j] = RecheckedDyadic(1.0);
      for (const auto& [key, beta] : matrix.reflections) {
        RecheckedDyadic along;
        for (const auto& entry : key)
          if (const auto at = columns[j].find(entry.column); at != columns[j].end())
            along = along + RecheckedDyadic(entry.weight) * at->second;
        if (along.is_zero()) continue;
        const RecheckedDyadic scaled = RecheckedDyadic(beta) * along;
        for (const auto& entry : key) add_to(columns[j], entry.column, -(RecheckedDyadic(entry.weight) * scaled));
      }
    }
    return columns;
  }

  void widen_vector(Sums& sums, const Numbers& numbers) const {
    for (std::size_t at = 0; at < numbers.size(); at += n_) {
      RecheckedDyadic column;
      for (std::size_t i = 0; i < n_; ++i) {
        if (numbers[at + i].is_zero()) continue;
        sums.entries.add(numbers[at + i]);
        column = column + numbers[at + i].absolute();
      }
      sums.column = std::max(sums.column, column);
    }
  }

  void widen_matrix(Sums& sums, const Numbers& rows) const {
    Numbers columns(n_);
    for (std::size_t i = 0; i < n_; ++i) {
      RecheckedDyadic row;
      for (std::size_t j = 0; j < n_; ++j) {
        const RecheckedDyadic entry = rows[i * n_ + j].absolute();
        if (entry.is_zero()) continue;
        sums.entries.add(entry);
        row = row + entry;
        columns[j] = columns[j] + entry;
      }
      sums.row = std::max(sums.row, row);
    }
    for (const RecheckedDyadic& column : columns) sums.column = std::max(sums.column, column);
  }

  Numbers addition(Action action) const {
    const std::vector<double>& b = plain_.addition(k_, action);
    return b.empty() ? Numbers(adds_ ? n_ * layer_.columns : 0) : exact(b);
  }

  /// A x, for d columns or row by row.
  Numbers times(const std::vector<Column>& a, const Numbers& x) const {
    Numbers y(x.size());
    for (std::size_t at = 0; at < x.size(); at += n_)
      for (std::size_t j = 0; j < n_; ++j)
        if (!x[at + j].is_zero())
          for (const auto& [i, entry] : a[j]) y[at + i] = y[at + i] + entry * x[at + j];
    return y;
  }

  static Numbers sum(Numbers a, const Numbers& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = a[i] + b[i];
    return a;
  }

  std::string where(const char* what) const { return fmt::format("layer {}: {}", k_, what); }

  void fit(const std::optional<int>& grain, const RecheckedDyadic& most, const char* what) const {
    require_fit(format_, grain, most, where(what));
  }

  void check_maps() {
    const std::size_t letters = layer_.transitions.size(), size = adds_ ? n_ * layer_.columns : 0;
    require(maps_.letters.size() == letters, where("not one map for each action"));
    std::vector<Numbers> a, b;  // A column after column, which products go along
    Sums matrices, additions;
    for (const LayerMaps::Map& map : maps_.maps) {
      require(map.a.size() == n_ * n_ && map.b.size() == size && map.next.size() == letters,
              where("a map of another size"));
      for (const std::uint32_t next : map.next) require(next < maps_.maps.size(), where("no such map"));
      const Numbers rows = exact(map.a);
      widen_matrix(matrices, rows);
      a.emplace_back(n_ * n_);
      for (std::size_t i = 0; i < n_; ++i)
        for (std::size_t j = 0; j < n_; ++j) a.back()[j * n_ + i] = rows[i * n_ + j];
      b.push_back(exact(map.b));
      widen_vector(additions, b.back());
    }
    for (Action action = 0; action < letters; ++action)  // terms are added one by one, each entry being 1
      for (const auto& [outputs, inputs] : plain_.matrix(k_, action).terms)
        if (!outputs.empty() && !inputs.empty()) matrices.entries.add(RecheckedDyadic(1.0));
    for (Action action = 0; action < letters; ++action) {
      const std::uint32_t own = maps_.letters[action];
      require(own < a.size(), where("no such map"));
      Numbers columns(n_ * n_);
      for (std::size_t j = 0; j < n_; ++j)
        for (const auto& [i, entry] : letters_[action][j]) columns[j * n_ + i] = entry;
      require(a[own] == columns && b[own] == addition(action), where("the map of an action is another one"));
      for (std::size_t map = 0; map < a.size(); ++map) {
        const std::uint32_t next = maps_.maps[map].next[action];
        require(a[next] == times(letters_[action], a[map]) &&
                    b[next] == sum(times(letters_[action], b[map]), addition(action)),
                where("an action makes another map of a map than the one that is named"));
      }
    }
    const auto bound = [&](const Sums& x) {
      return std::min(matrices.row * x.entries.most, matrices.entries.most * x.column);
    };
    const auto grain = [&](const Sums& x) {
      return common(product(matrices.entries.grain, x.entries.grain), additions.entries.grain);
    };
    fit(matrices.entries.grain, matrices.entries.most, "an entry of a map");
    fit(additions.entries.grain, additions.entries.most, "an entry of an addition");
    fit(states_.entries.grain, states_.entries.most, "a number of a state");
    fit(product(matrices.entries.grain, matrices.entries.grain), bound(matrices), "a product of maps");
    fit(grain(states_), bound(states_) + additions.entries.most, "a map of a state");
    fit(grain(additions), bound(additions) + additions.entries.most, "a map of an addition");
  }

  void check_moves() {
    for (const auto& columns : letters_)
      for (const Column& column : columns)
        require(column.size() <= 1 && (column.empty() || column.begin()->second.absolute() == RecheckedDyadic(1.0)),
                where("an action does more than move numbers"));
    require(maps_.letters.empty() && maps_.maps.empty() == !adds_, where("additions are not listed"));
    Sums additions;
    for (std::size_t i = 0; i < maps_.maps.size(); ++i) {
      const LayerMaps::Map& map = maps_.maps[i];
      require(map.a.empty() && map.b.size() == n_ * layer_.columns && map.next.size() == letters_.size(),
              where("an addition of another size"));
      const Numbers b = exact(map.b);
      require(i > 0 || b == Numbers(b.size()), where("the first addition is not 0"));
      widen_vector(additions, b);
      for (Action action = 0; action < letters_.size(); ++action) {
        require(map.next[action] < maps_.maps.size(), where("no such addition"));
        require(exact(maps_.maps[map.next[action]].b) == sum(times(letters_[action], b), addition(action)),
                where("an action makes another addition than the one that is named"));
      }
    }
    for (Action action = 0; action < letters_.size(); ++action) widen_vector(additions, addition(action));
    fit(additions.entries.grain, additions.entries.most, "an entry of an addition");
    fit(states_.entries.grain, states_.entries.most, "a number of a state");
    fit(common(states_.entries.grain, additions.entries.grain), states_.column + additions.entries.most,
        "a sum of moved numbers");
    fit(additions.entries.grain, additions.column + additions.entries.most, "a sum of additions");
  }

  /// One factor after another, on every codeword.
  void check_factors(const std::vector<std::pair<RecheckedNetwork::Row, double>>& factors) const {
    for (const std::uint32_t codeword : table_.codewords) {
      const Numbers numbers = exact(plain_.codeword_numbers(k_, codeword));
      for (std::size_t at = 0; at < numbers.size(); at += n_) {
        Column x;
        for (std::uint32_t i = 0; i < n_; ++i)
          if (!numbers[at + i].is_zero()) x[i] = numbers[at + i];
        for (const auto& [key, beta] : factors) reflect(key, RecheckedDyadic(beta), x);
      }
    }
  }

  void reflect(const RecheckedNetwork::Row& key, const RecheckedDyadic& beta, Column& x) const {
    Extent along, moved;
    RecheckedDyadic size, s;
    for (const auto& entry : key) {
      const auto at = x.find(entry.column);
      if (at == x.end()) continue;
      const RecheckedDyadic term = RecheckedDyadic(entry.weight) * at->second;
      along.add(term);
      size = size + term.absolute();
      s = s + term;
    }
    fit(along.grain, size, "a sum along a key");
    const RecheckedDyadic t = beta * s;
    if (t.is_zero()) return;
    fit(t.grain(), t.absolute(), "a scaled sum");
    RecheckedDyadic most, term_most;
    Extent terms;
    for (const auto& entry : key) {
      const RecheckedDyadic term = RecheckedDyadic(entry.weight) * t;
      const auto at = x.find(entry.column);
      const RecheckedDyadic before = at == x.end() ? RecheckedDyadic() : at->second;
      terms.add(term);
      moved.add(term);
      moved.add(before);
      most = std::max(most, term.absolute() + before.absolute());
      add_to(x, entry.column, -term);
    }
    fit(terms.grain, terms.most, "a step along a key");
    fit(moved.grain, most, "a reflected number");
  }

  const LayerMaps& maps_;
  const ClosedTable& table_;
  const Layer& layer_;
  const RecheckedNetwork& plain_;
  std::size_t k_, n_;
  Format format_;
  std::vector<std::vector<Column>> letters_;  ///< by action, columns
  bool adds_ = false;
  Sums states_;
};

}  // namespace

std::string check_any_order(const AnyOrder& proof, const Network& network, const RecheckedNetwork& plain) {
  require(proof.layers.size() == network.layers.size(), "the maps are not one list for each layer");
  require(network.snap_every == 0, "a network that snaps has an order");
  std::size_t maps = 0;
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    LayerCheck(proof.layers[k], proof.codewords.layers[k], network, plain, k).check();
    maps += proof.layers[k].maps.size();
  }
  if (maps == 0) return "letters only move numbers";
  return fmt::format("{} maps and additions, in exact arithmetic", maps);
}

}  // namespace krohn
