#include "krohn/simulate/prove/self_check.h"

#include <fmt/format.h>
#include <Eigen/Core>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>

#include "krohn/groups/base/error.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/claims/closed_layer.h"
#include "krohn/simulate/prove/claims/unit_moves.h"
#include "krohn/simulate/prove/pairs/certify_reader.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/words/word.h"

namespace krohn {
namespace {

constexpr std::uint64_t kSeed = 20'261'122;
constexpr std::uint64_t kRandomLength = 5'000, kPowerLength = 1'000;
constexpr std::size_t kLongestPeriod = 3, kMaxPowers = 24;

std::uint64_t longest_of(const Certificate& certificate) {
  return certificate.is<Proved>() ? UINT64_MAX : certificate.length();
}

/// Words of one letter, of two, of three.
std::vector<Word> periods(Letter letters) {
  std::vector<Word> words;
  for (std::size_t length = 1; length <= kLongestPeriod; ++length) {
    Word word(length, 0);
    for (bool more = true; more && words.size() < kMaxPowers;) {
      words.push_back(word);
      std::size_t at = length;
      while (at > 0 && ++word[at - 1] == letters) word[--at] = 0;
      more = at > 0;
    }
  }
  return words;
}

}  // namespace

void for_replayed_words(const Dfa& automaton, std::uint64_t letters, std::uint64_t longest,
                        const std::function<bool(const Word&)>& read) {
  if (automaton.letters() == 0 || longest == 0) {
    read({});
    return;
  }
  std::uint64_t left = letters;
  const auto give = [&](Word word) {
    if (word.size() > std::min(longest, left)) word.resize(static_cast<std::size_t>(std::min(longest, left)));
    left -= word.size();
    return read(word);
  };
  // Aimed: half of the letters go to transitions, in the order in which a breadth-first search meets them.
  struct Step {
    State from;
    Letter letter;
  };
  std::vector<Step> came(automaton.states(), {automaton.initial(), 0});
  std::vector<bool> known(automaton.states(), false);
  std::vector<State> met{automaton.initial()};
  known[automaton.initial()] = true;
  for (std::size_t i = 0; i < met.size() && left > letters / 2; ++i)
    for (Letter letter = 0; letter < automaton.letters() && left > letters / 2; ++letter) {
      const State next = automaton.next(met[i], letter);
      if (!known[next]) {
        known[next] = true;
        came[next] = {met[i], letter};
        met.push_back(next);
      }
      Word word{letter};
      for (State state = met[i]; state != automaton.initial(); state = came[state].from)
        word.push_back(came[state].letter);
      std::reverse(word.begin(), word.end());
      if (!give(std::move(word))) return;
    }
  for (const Word& period : periods(automaton.letters())) {
    if (left <= letters / 4) break;
    Word word(kPowerLength);
    for (std::size_t t = 0; t < word.size(); ++t) word[t] = period[t % period.size()];
    if (!give(std::move(word))) return;
  }
  for (std::uint64_t stream = 0; left > 0; ++stream)
    if (!give(RandomWord(automaton.letters(), kSeed, stream).slice(0, std::min({kRandomLength, longest, left}))))
      return;
}

namespace {

/// Seconds that reading may take: orders that compose letters, and exact arithmetic, may need milliseconds a letter. Of
/// a network whose states are one-hot, half of them: what is left is read as fast as the ones move. Half of the time
/// that is left, where that is less.
constexpr double kSeconds = 2;

double seconds_for_replay() { return std::min(kSeconds, TimeLimit::left() / 2); }

/// A network along the words of a replay.
class NetworkReplay {
 public:
  NetworkReplay(const Network& network, const Certificate& certificate, std::uint64_t& letters_read)
      : network_(network), certificate_(certificate), letters_read_(letters_read) {
    evaluator_ = make_evaluator(network, certificate.arithmetic, certificate.form, certificate.order);
  }

  /// False when the word is read wrongly, or the time is over.
  bool read(const Word& word) {
    if (unit_run_) return follow(word);
    const std::uint64_t before = letters_read_;
    if (evaluate(word)) return true;
    if (wrong_ || !may_be_unit_) return false;
    letters_read_ = before;
    unit_run_ = make_unit_run(network_, certificate_.arithmetic, certificate_.form);
    may_be_unit_ = unit_run_ != nullptr;
    return read(word);
  }

  std::optional<Word> wrong() const { return wrong_; }

 private:
  bool is_late(double seconds) const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() > seconds;
  }

  bool note(const Word& word, std::size_t letters) {
    wrong_.emplace(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(letters));
    return false;
  }

  bool evaluate(const Word& word) {
    constexpr std::size_t kPiece = 32;
    evaluator_->reset();
    State state = network_.automaton.initial();
    if (evaluator_->current() != state) return note(word, 0);
    for (std::size_t first = 0; first < word.size(); first += kPiece) {
      const std::span<const Letter> piece = std::span(word).subspan(first, std::min(kPiece, word.size() - first));
      answers_.resize(piece.size());
      evaluator_->run(piece, answers_);
      for (std::size_t t = 0; t < piece.size(); ++t) {
        ++letters_read_;
        state = network_.automaton.next(state, piece[t]);
        if (answers_[t] != state) return note(word, first + t + 1);
      }
      if (is_late(may_be_unit_ ? seconds_ / 2 : seconds_)) return false;
    }
    return true;
  }

  bool follow(const Word& word) {
    unit_run_->reset();
    State state = network_.automaton.initial();
    for (std::size_t t = 0; t < word.size(); ++t) {
      const std::optional<State> answer = unit_run_->step(word[t]);
      if (!answer) return false;
      ++letters_read_;
      state = network_.automaton.next(state, word[t]);
      if (*answer != state) return note(word, t + 1);
    }
    return !is_late(seconds_);
  }

  const Network& network_;
  const Certificate& certificate_;
  std::uint64_t& letters_read_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<UnitRun> unit_run_;
  bool may_be_unit_ = certificate_.order.is_sequential() && !certificate_.arithmetic.is_exact();
  std::vector<State> answers_;
  std::optional<Word> wrong_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double seconds_ = seconds_for_replay();
};

}  // namespace

std::optional<Word> replay(const Network& network, const Certificate& certificate, std::uint64_t letters,
                           std::uint64_t& letters_read) {
  NetworkReplay run(network, certificate, letters_read);
  for_replayed_words(network.automaton, letters, longest_of(certificate),
                     [&](const Word& word) { return run.read(word); });
  return run.wrong();
}

std::optional<Word> replay(const LetterReader& reader, const TrackedAutomaton& tracked, const Certificate& certificate,
                           std::uint64_t letters, std::uint64_t& letters_read) {
  std::optional<Word> wrong;
  const TimeLimit time(seconds_for_replay(), "");
  const auto read = [&](const Word& word) {
    ReaderRun run(reader, tracked);
    Word was_read;
    for (std::size_t t = 0; t < word.size(); ++t) {
      if (!run.read(word[t])) continue;  // that letter cannot stand here
      was_read.push_back(word[t]);
      ++letters_read;
      if (run.is_wrong()) return wrong.emplace(std::move(was_read)), false;
      if (t % 64 == 0 && time.is_over()) return false;
    }
    return true;
  };
  for_replayed_words(tracked.automaton, letters, longest_of(certificate), read);
  return wrong;
}

namespace {

void require_room(std::uint64_t steps, std::uint64_t bytes, const StepLimits& limits) {
  if (steps > limits.max_steps)
    throw LimitError(fmt::format("the certificate would have more than {}", counted(limits.max_steps, "step")));
  if (bytes > limits.max_bytes)
    throw LimitError(fmt::format("the certificate would take more than {} MiB", limits.max_bytes >> 20));
}

using Describe = std::function<void(const LetterReader::Memory&, ReachedPair&)>;

constexpr std::uint64_t kEveryLength = std::numeric_limits<std::uint64_t>::max();

/// Pairs of a state and a memory, breadth-first: those that fewer than `length` letters reach. `bytes`: of a pair.
std::vector<ReachedPair> list_pairs(const LetterReader& reader, const TrackedAutomaton& tracked, std::uint64_t length,
                                    std::uint64_t bytes, const StepLimits& limits, const Describe& describe) {
  const Dfa& automaton = tracked.automaton;
  const bool is_closed = length == kEveryLength;
  std::vector<ReachedPair> pairs;
  std::vector<std::uint64_t> depths;
  LetterReader::Memory from = reader.start(), to = from;
  RecordSet known(from.size() + 1);  // numbered as the pairs are
  std::vector<std::uint32_t> record;
  const auto number = [&](std::uint64_t depth, State state, const LetterReader::Memory& memory) {
    record.assign(memory.begin(), memory.end());
    record.push_back(state);
    const auto [at, fresh] = known.insert(record);
    if (fresh) {
      pairs.push_back({is_closed ? 0 : depth, state, {}, 0, {}, {}});
      describe(memory, pairs.back());
      depths.push_back(depth);
    }
    return at;
  };
  number(0, automaton.initial(), from);
  for (std::size_t at = 0; at < pairs.size(); ++at) {
    Interruption::check();
    TimeLimit::check();
    require_room(pairs.size(), pairs.size() * bytes, limits);
    if (!is_closed && depths[at] + 1 >= length) continue;
    const RecordSet::Record of_pair = known[static_cast<RecordSet::Index>(at)];
    from.assign(of_pair.begin(), of_pair.end() - 1);
    std::vector<std::uint32_t> next;
    for (Letter letter = 0; letter < automaton.letters(); ++letter) {
      const State state = automaton.next(pairs[at].state, letter);
      if (tracked.wanted[state] == TrackedAutomaton::kNoSuchWord) {
        next.push_back(UINT32_MAX);
        continue;
      }
      to = from;
      reader.step(letter, to, false);
      next.push_back(number(depths[at] + 1, state, to));
    }
    pairs[at].next = std::move(next);
  }
  return pairs;
}

/// The tuples of labels that closed tables describe, from their start.
std::vector<LabelTuple> list_tuples(const ClosedCodewords& proof, const Network& network, const StepLimits& limits) {
  LabelMachine machine;
  for (std::size_t k = 0; k < proof.layers.size(); ++k) {
    const ClosedTable& table = proof.layers[k];
    std::vector<LayerMove> moves;
    LabelLayer& layer = machine.layers.emplace_back(wired_layer(network.layers[k], moves));
    layer.states = static_cast<Label>(table.codewords.size());
    for (std::size_t m = 0; m < moves.size(); ++m) {
      const ClosedTable::Move move{moves[m].first, moves[m].second};
      layer.moves[m] =
          table.next.at(static_cast<std::size_t>(std::ranges::find(table.moves, move) - table.moves.begin()));
    }
    for (const std::uint32_t i : table.codewords) layer.shown.push_back(codeword_label(network.layers[k], i));
  }
  machine.readout = network.readout.next;
  const std::uint64_t bytes = (proof.layers.size() + network.automaton.letters()) * sizeof(std::uint32_t);
  const auto keep_places = [](const LetterReader::Memory& places, ReachedPair& pair) { pair.labels = places; };
  std::vector<LabelTuple> tuples;
  for (ReachedPair& pair : list_pairs(LabelReader(machine, network.automaton.letters()), every_state(network.automaton),
                                      kEveryLength, bytes, limits, keep_places))
    tuples.push_back({pair.state, std::move(pair.labels), std::move(pair.next)});
  return tuples;
}

/// The certificate with its pairs; `list(tracked, length)` lists them.
template <class List>
void list_all(Certificate& certificate, const StepLimits& limits, const List& list) {
  if (auto* reached = std::get_if<ReachedPairs>(&certificate.proof)) {
    require_room(reached->pairs, 0, limits);
    const bool is_closed = certificate.is<Proved>();
    reached->list = list(is_closed ? kEveryLength : certificate.length());
    reached->pairs = reached->list.size();
    reached->depth = 0;
    for (const ReachedPair& pair : reached->list) reached->depth = std::max(reached->depth, pair.depth);
  }
  if (auto* run = std::get_if<FailingRun>(&certificate.proof); run != nullptr && certificate.is_shortest())
    if (const Word& word = *certificate.failing_word(); !word.empty()) run->shorter = list(word.size() - 1);
}

}  // namespace

Certificate with_steps(Certificate certificate, const Network& network, const StepLimits& limits) {
  auto* closed = std::get_if<ClosedCodewords>(&certificate.proof);
  if (auto* any = std::get_if<AnyOrder>(&certificate.proof)) closed = &any->codewords;
  if (closed != nullptr && !closed->by_induction) closed->tuples = list_tuples(*closed, network, limits);
  list_all(certificate, limits, [&](std::uint64_t length) {
    const TrackedAutomaton tracked = certificate.language ? *certificate.language : every_state(network.automaton);
    const auto reader = network_reader(network, certificate.arithmetic, certificate.form, NetworkReading::kLabels);
    std::uint64_t numbers = 0;
    for (const Layer& layer : network.layers) numbers += std::uint64_t{layer.dimension} * layer.columns;
    return list_pairs(*reader, tracked, length, 128 + 16 * numbers, limits,
                      [&](const auto& memory, ReachedPair& pair) { reader->describe(memory, pair); });
  });
  return certificate;
}

Certificate with_steps(Certificate certificate, const LetterReader& reader, const StepLimits& limits) {
  list_all(certificate, limits, [&](std::uint64_t length) {
    const Operations& operations = *certificate.operations;
    const auto remembered = std::ranges::find(operations.list, "memory", &Operation::what);
    const std::size_t count = remembered == operations.list.end() ? 0 : remembered->size;
    const auto describe = [&](const LetterReader::Memory& memory, ReachedPair& pair) {
      auto& list = pair.numbers.emplace_back();
      for (std::size_t i = 0; i < count; ++i) {
        const auto number = [&]<class Real>(Real real) {
          std::memcpy(static_cast<void*>(&real), reinterpret_cast<const char*>(memory.data()) + i * sizeof(Real),
                      sizeof(Real));
          return static_cast<double>(real) + 0.0;
        };
        list.push_back(operations.format == Precision::kFp64   ? number(double{})
                       : operations.format == Precision::kBf16 ? number(Eigen::bfloat16{})
                                                               : number(float{}));
      }
    };
    return list_pairs(reader, *certificate.language, length, 128 + 16 * reader.start().size(), limits, describe);
  });
  return certificate;
}

TrackedAutomaton language_to_write(const TrackedAutomaton& tracked) {
  const Dfa& automaton = tracked.automaton;
  const State none = automaton.states();
  std::vector<State> number(automaton.states(), none), met{automaton.initial()};
  number[automaton.initial()] = 0;
  bool has_dead = false;
  for (std::size_t i = 0; i < met.size(); ++i)
    for (const State next : automaton.row(met[i])) {
      const bool is_dead = tracked.wanted[next] == TrackedAutomaton::kNoSuchWord;
      has_dead = has_dead || is_dead;
      if (is_dead || number[next] != none) continue;
      number[next] = static_cast<State>(met.size());
      met.push_back(next);
    }
  const auto dead = static_cast<State>(met.size());
  std::vector<State> table;
  std::vector<Output> outputs, wanted;
  for (const State state : met) {
    for (const State next : automaton.row(state)) table.push_back(number[next] == none ? dead : number[next]);
    outputs.push_back(automaton.output(state));
    wanted.push_back(tracked.wanted[state]);
  }
  if (has_dead) {
    table.insert(table.end(), automaton.letters(), dead);
    outputs.push_back(0);
    wanted.push_back(TrackedAutomaton::kNoSuchWord);
  }
  return {Dfa::moore(automaton.alphabet(), std::move(table), 0, std::move(outputs),
                     {automaton.output_names().begin(), automaton.output_names().end()}),
          std::move(wanted)};
}

void give_proof(Certificate& certificate, const LetterReader& reader, const TrackedAutomaton& tracked) {
  certificate.proof = {};
  if (certificate.is<Proved>()) {
    certificate.proof = ReachedPairs{certificate.pairs, 0, {}};
  } else if (certificate.is<ProvedUpTo>() && certificate.length() > 0) {
    certificate.proof = ReachedPairs{0, certificate.length() - 1, {}};
  } else if (const Word* word = certificate.failing_word(); word != nullptr) {
    certificate.language = language_to_write(tracked);
    ReaderRun run(reader, *certificate.language);
    for (const Letter letter : *word) run.read(letter);
    const Output given = run.answer().output;
    certificate.proof =
        FailingRun{{}, run.state(), given == LetterReader::kNoAnswer ? std::nullopt : std::optional(given), {}};
    return;
  } else {
    return;
  }
  certificate.language = language_to_write(tracked);
}

}  // namespace krohn
