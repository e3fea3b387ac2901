#include "krohn/simulate/many/ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <exception>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "krohn/constructions/files/network_file.h"
#include "krohn/groups/base/error.h"
#include "krohn/groups/base/float_environment.h"
#include "krohn/groups/base/record_set.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/check/sha256.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/many/pair_set.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/pairs/pair_search.h"

namespace krohn {
namespace {

using Clock = std::chrono::steady_clock;

/// The counts at a wrong answer follow from it, so rounds begin at multiples of it from their level's
/// first.
constexpr std::uint64_t kBlock = kPairsAtOnce;
constexpr std::uint64_t kNone = UINT64_MAX;
/// The exit status of a mistake in krohn.
constexpr int kLostPairs = 4;
/// Exit status when a limit was met or the disk lost data.
constexpr int kUndecided = 3;

/// A transition by its number: the pair's times the letters plus the letter. The numbers are in the order in which one
/// process would meet them.
struct WrongAnswer {
  std::uint64_t transition = kNone;
  State expected = 0, given = 0;
};

/// The message of a rank in every round.
struct Told {
  enum Field : std::size_t {
    kTransition,
    kExpected,
    kGiven,
    kOutOfMemory,
    kRoom,
    kRoomError,
    kLate,
    kInterrupted,
    kCommit,
    kFields
  };
};

class RankedPairs {
 public:
  RankedPairs(Ranks& ranks, const Network& network, const CertifyOptions& options, const KeptSearch& kept)
      : ranks_(ranks),
        automaton_(network.automaton),
        options_(options),
        kept_(kept),
        machine_(network_reader(network, options.arithmetic, options.form, NetworkReading::kPairs)),
        memory_(machine_->start()),
        width_(1 + memory_.size()),
        letters_(std::max<std::uint64_t>(1, machine_->letters())),
        held_(width_, options.max_bytes, kept.folder, kept.max_disk_bytes),
        record_(width_),
        outgoing_(ranks.size()) {
    if (!kept.folder.empty()) open(network);
  }

  PairSearchEnd run() {
    if (!stand_.pairs && !start()) return wrong({});
    for (;;) {
      while (stand_.expanded < stand_.level_end) {
        const std::uint64_t end = std::min(stand_.level_end, stand_.expanded + round_length());
        if (auto ended = play_round(end)) return *std::move(ended);
      }
      if (!limit_.empty()) return PairSearchEnd::stopped(stand_.pairs, stand_.depth + 1, stand_.level_end, limit_);
      if (stand_.level_end == stand_.pairs) return closed();
      stand_.level_begin = stand_.level_end;
      stand_.level_end = stand_.pairs;
      ++stand_.depth;
      held_.start_level();
    }
  }

 private:
  // ---- The beginning

  /// The first pair, unless the answer before any letter is wrong.
  bool start() {
    const State answer = machine_->answer_at_start().output;
    put_record(automaton_.initial(), machine_->start());
    if (answer != automaton_.initial()) {
      wrong_ = {0, automaton_.initial(), answer};
      return false;
    }
    stand_ = {1, 0, 0, 1, 0};
    if (owner_of(RecordSet::hash(record_)) == ranks_.rank()) held_.owned().insert(record_, bits_);
    if (ranks_.rank() == 0) keep(held_.now(), 0, record_, std::vector<std::uint64_t>{0});
    return true;
  }

  void open(const Network& network) {
    parts_.emplace(ranks_, kept_.folder,
                   PairSearchQuestion{sha256(canonical_weights(network) + canonical_automaton(network.automaton)),
                                      to_string(options_.arithmetic), to_string(options_.form), width_, letters_});
    if (!parts_->stand()) return;
    stand_ = *parts_->stand();
    if (stand_.pairs > options_.max_pairs)
      throw InputError(kept_.folder, fmt::format("it holds {}, more than the limit of {}; raise --max-pairs, or "
                                                 "name another folder",
                                                 counted(stand_.pairs, "pair"), options_.max_pairs));
    std::uint64_t read = 0, fresh = 0;
    std::vector<std::uint8_t> is_fresh;
    parts_->read([&](const PairPiece* piece) {
      guarded([&] {
        outgoing_.assign(ranks_.size(), {});
        if (piece == nullptr) return;
        read += piece->keys.size();
        for (std::size_t i = 0; i < piece->keys.size(); ++i)
          send(RecordSet::Record(piece->records).subspan(i * width_, width_));
        held_.take_up(*piece, stand_);
      });
      ranks_.exchange(outgoing_, incoming_);
      guarded([&] {
        for (const Ranks::Words& records : incoming_) {
          held_.owned().insert(records, bits_);
          for (const std::uint32_t bits : bits_) fresh += static_cast<std::uint64_t>(std::popcount(bits));
        }
        if (room_.kind == RoomLimit::kNone) room_ = held_.make_room(0);
      });
    });
    held_.sort();
    const std::uint64_t mine[] = {read, fresh, is_out_of_memory_ || room_.kind != RoomLimit::kNone};
    const std::vector<std::uint64_t> all = ranks_.gather(mine);
    read = fresh = 0;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::uint64_t* const said = all.data() + 3 * rank;
      if (said[2] != 0)
        throw LimitError(memory_of(rank) +
                         " and the disk it may use do not hold what was kept; raise the limits or take more ranks");
      read += said[0];
      fresh += said[1];
    }
    if (read != stand_.pairs || fresh != stand_.pairs)
      throw InputError(kept_.folder, fmt::format("it should hold {}, and has {}, of which {} are different; it is "
                                                 "damaged, remove it and start again",
                                                 counted(stand_.pairs, "pair"), read, fresh));
  }

  void put_record(State state, const LetterReader::Memory& memory) {
    record_[0] = state;
    std::ranges::copy(memory, record_.begin() + 1);
  }

  // ---- A round: the next pairs of the level

  std::uint64_t round_length() const {
    const std::uint64_t each = kept_.round_words / (letters_ * width_);
    return std::max<std::uint64_t>(1, each * ranks_.size() / kBlock) * kBlock;
  }

  /// The end of the search, if it ends in this round.
  std::optional<PairSearchEnd> play_round(std::uint64_t end) {
    const Share share = hand_out(end);
    guarded([&] { expand(share); });
    const std::vector<std::uint64_t> told = tell();
    const auto any = [&](Told::Field field) {
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        if (told[rank * Told::kFields + field] != 0) return true;
      return false;
    };
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      if (told[rank * Told::kFields + Told::kOutOfMemory] != 0) return out_of_memory(rank);
    // A rank without memory does not send what others expect; without such a rank nothing may be missing.
    if (!is_share_whole_) ranks_.abort(kLostPairs, "a search over ranks has lost pairs; please report this");
    for (std::size_t rank = 0; limit_.empty() && rank < ranks_.size(); ++rank) {
      const std::uint64_t* const said = told.data() + rank * Told::kFields;
      meet({static_cast<RoomLimit::Kind>(said[Told::kRoom]), said[Told::kRoomError]}, rank);
    }
    if (any(Told::kInterrupted)) stop_for_interrupt();
    if (any(Told::kCommit)) commit();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::uint64_t* const said = told.data() + rank * Told::kFields;
      if (said[Told::kTransition] < wrong_.transition)
        wrong_ = {said[Told::kTransition], static_cast<State>(said[Told::kExpected]),
                  static_cast<State>(said[Told::kGiven])};
    }
    if (limit_.empty())
      if (const std::optional<std::size_t> rank = remember()) return out_of_memory(*rank);
    if (wrong_.transition != kNone) return wrong(failing_word());
    stand_.expanded = end;
    if (stand_.depth > 0 && any(Told::kLate)) {
      meet(fmt::format("the time (--time {:g})", options_.max_seconds));
      return stopped(limit_);
    }
    return std::nullopt;
  }

  /// Gives every rank its share of the pairs from `expanded` to `end`, wherever their records are.
  Share hand_out(std::uint64_t end) {
    const unsigned size = ranks_.size();
    guarded([&] {
      outgoing_.assign(size, {});
      for (unsigned rank = 0; rank < size; ++rank) {
        const Share theirs = share_of(stand_.expanded, end, rank, size);
        Ranks::Words& to = outgoing_[rank];
        held_.now().overlapping(theirs.begin, theirs.end, [&](std::uint64_t first, auto records, std::uint32_t) {
          to.push_back(static_cast<std::uint32_t>(first - theirs.begin));
          to.push_back(static_cast<std::uint32_t>(records.size() / width_));
          to.insert(to.end(), records.begin(), records.end());
        });
      }
    });
    ranks_.exchange(outgoing_, incoming_);
    const Share share = share_of(stand_.expanded, end, ranks_.rank(), size);
    guarded([&] {
      share_.resize((share.end - share.begin) * width_);
      std::uint64_t filled = 0;
      for (const Ranks::Words& from : incoming_)
        for (std::size_t at = 0; at + 2 < from.size();) {
          const std::size_t first = from[at], words = std::size_t{from[at + 1]} * width_;
          at += 2;
          std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(at), words,
                      share_.begin() + static_cast<std::ptrdiff_t>(first * width_));
          at += words;
          filled += words;
        }
      is_share_whole_ = filled == share_.size();
    });
    return share;
  }

  /// The distinct successors of the share, by their least transitions.
  void expand(const Share& share) {
    successors_.emplace(width_);
    transitions_.clear();
    mistake_ = {};
    if (is_out_of_memory_ || !is_share_whole_) return;
    for (std::uint64_t pair = share.begin; pair < share.end; ++pair) {
      const std::uint32_t* const from = share_.data() + (pair - share.begin) * width_;
      for (Letter letter = 0; letter < machine_->letters(); ++letter) {
        memory_.assign(from + 1, from + width_);
        const State answer = machine_->step(letter, memory_, /*asked=*/true).output;
        put_record(automaton_.next(from[0], letter), memory_);
        const std::uint64_t transition = pair * letters_ + letter;
        if (answer != record_[0]) {
          mistake_ = {transition, record_[0], answer};
          return;
        }
        if (limit_.empty() && successors_->insert(record_).fresh) transitions_.push_back(transition);
      }
    }
  }

  std::vector<std::uint64_t> tell() {
    guarded([&] { look_for_room(); });
    std::uint64_t mine[Told::kFields] = {};
    mine[Told::kTransition] = mistake_.transition;
    mine[Told::kExpected] = mistake_.expected;
    mine[Told::kGiven] = mistake_.given;
    mine[Told::kOutOfMemory] = is_out_of_memory_;
    mine[Told::kRoom] = room_.kind;
    mine[Told::kRoomError] = room_.error;
    try {
      if (options_.progress) options_.progress(stand_.pairs);
    } catch (const Interrupted&) {
      interrupted_ = std::current_exception();
      mine[Told::kInterrupted] = 1;
    }
    if (ranks_.rank() == 0) {
      mine[Told::kLate] = !TimeLimit::met().empty();
      mine[Told::kCommit] = seconds_since(committed_) > kept_.seconds;
    }
    return ranks_.gather(mine);
  }

  // ---- Owners

  unsigned owner_of(std::uint64_t hash) const { return static_cast<unsigned>((hash >> 32) * ranks_.size() >> 32); }

  unsigned send(RecordSet::Record record) {
    const unsigned owner = owner_of(RecordSet::hash(record));
    outgoing_[owner].insert(outgoing_[owner].end(), record.begin(), record.end());
    return owner;
  }

  /// Hands the successors to their owners, who say which of them are new; these are numbered in the order of their
  /// transitions. Gives the first rank that is out of memory, if one is.
  std::optional<std::size_t> remember() {
    std::size_t count = 0;
    guarded([&] {
      // Nothing of the block with the wrong answer is remembered.
      const std::uint64_t block =
          wrong_.transition == kNone
              ? kNone
              : stand_.level_begin + (wrong_.transition / letters_ - stand_.level_begin) / kBlock * kBlock;
      const std::uint64_t most = block == kNone ? kNone : block * letters_;
      owners_.clear();
      outgoing_.assign(ranks_.size(), {});
      count = static_cast<std::size_t>(std::ranges::lower_bound(transitions_, most) - transitions_.begin());
      for (std::size_t i = 0; i < count; ++i) owners_.push_back(send((*successors_)[static_cast<RecordSet::Index>(i)]));
    });
    ranks_.exchange(outgoing_, incoming_);
    guarded([&] { own(); });
    ranks_.exchange(outgoing_, incoming_);
    guarded([&] { keep_fresh(count); });
    const std::uint64_t mine[] = {fresh_keys_.size(), is_out_of_memory_};
    const std::vector<std::uint64_t> all = ranks_.gather(mine);
    std::uint64_t first = stand_.pairs, found = stand_.pairs;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      if (all[2 * rank + 1] != 0) return rank;
      if (rank < ranks_.rank()) first += all[2 * rank];
      found += all[2 * rank];
    }
    if (found > std::max<std::uint64_t>(1, options_.max_pairs)) {
      meet(fmt::format("{} pairs", options_.max_pairs));
      stand_.pairs = std::max<std::uint64_t>(1, options_.max_pairs);
    } else {
      stand_.pairs = found;
    }
    if (first < stand_.pairs) {
      const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(fresh_keys_.size(), stand_.pairs - first));
      guarded([&] {
        keep(held_.next(), first, std::span<const std::uint32_t>(fresh_).first(kept * width_),
             std::span<const std::uint64_t>(fresh_keys_).first(kept));
      });
    }
    return std::nullopt;
  }

  /// Inserts what the ranks sent, one rank's after another's, which is the order of transitions; tells each which of
  /// its records are new, a bit for each.
  void own() {
    outgoing_.assign(ranks_.size(), {});
    for (std::size_t rank = 0; rank < incoming_.size(); ++rank) held_.owned().insert(incoming_[rank], outgoing_[rank]);
  }

  void keep_fresh(std::size_t count) {
    fresh_.clear();
    fresh_keys_.clear();
    if (is_out_of_memory_) return;
    std::vector<std::size_t> asked(ranks_.size(), 0);
    for (std::size_t i = 0; i < count; ++i) {
      const unsigned owner = owners_[i];
      const std::size_t at = asked[owner]++;
      if (at / 32 >= incoming_[owner].size()) return;  // the owner is out of memory
      if ((incoming_[owner][at / 32] >> at % 32 & 1) == 0) continue;
      const RecordSet::Record record = (*successors_)[static_cast<RecordSet::Index>(i)];
      fresh_.insert(fresh_.end(), record.begin(), record.end());
      fresh_keys_.push_back(transitions_[i]);
    }
  }

  void keep(NumberedPieces& pieces, std::uint64_t first, std::span<const std::uint32_t> records,
            std::span<const std::uint64_t> keys) {
    if (parts_) parts_->append(first, records, keys);
    pieces.append(first, records);
    held_.keep_keys(first, keys);
  }

  // ---- The end

  PairSearchEnd stopped(const std::string& limit) const {
    return PairSearchEnd::stopped(stand_.pairs, stand_.depth, stand_.level_begin, limit);
  }
  PairSearchEnd wrong(Word word) const {
    return PairSearchEnd::wrong(stand_.pairs, std::move(word), wrong_.expected, wrong_.given);
  }

  PairSearchEnd closed() {
    const std::uint64_t mine[] = {held_.owned().size()};
    std::uint64_t owned = 0;
    for (const std::uint64_t count : ranks_.gather(mine)) owned += count;
    if (owned != stand_.pairs) throw SystemError("a search over ranks has lost pairs; please report this");
    commit();
    return PairSearchEnd::closed(stand_.pairs, stand_.depth);
  }

  PairSearchEnd out_of_memory(std::size_t rank) const {
    const std::string limit = memory_of(rank);
    if (stand_.depth == 0) throw LimitError(limit + " is used up before anything is proved; take more ranks");
    return stopped(limit);
  }

  static std::string memory_of(std::size_t rank) { return fmt::format("the memory of rank {}", rank); }

  [[noreturn]] void stop_for_interrupt() {
    commit();
    if (parts_)
      throw LimitError(fmt::format("interrupted after {}, all right so far; the same command goes on from {}",
                                   counted(stand_.pairs, "pair"), kept_.folder));
    if (interrupted_) std::rethrow_exception(interrupted_);
    throw Interrupted("interrupted");
  }

  /// From now on nothing new is remembered; what is there is kept first, so that it can be gone on with past the limit.
  void meet(std::string limit) {
    commit();
    if (limit_.empty()) limit_ = std::move(limit);
  }

  /// A disk that refused to take something may have lost what is not committed.
  void meet(const RoomLimit& limit, std::size_t rank) {
    if (limit.kind == RoomLimit::kNone) return;
    if (limit.error == 0) commit();
    if (limit_.empty()) limit_ = limit.text(rank, options_.max_bytes, kept_.max_disk_bytes, kept_.folder);
  }

  /// Everything that was found up to `expanded`, and nothing of a round that is under way. Past a limit, what was
  /// expanded was not remembered. A disk that does not take it is such a limit.
  void commit() {
    if (!parts_ || !limit_.empty()) return;
    try {
      parts_->commit(stand_);
    } catch (const LimitError& full) {
      limit_ = full.what();
    }
    committed_ = Clock::now();
  }

  /// Back from the wrong answer through the keys, each of which some rank has.
  Word failing_word() {
    Word word;
    for (std::uint64_t transition = wrong_.transition;;) {
      word.push_back(static_cast<Letter>(transition % letters_));
      const std::uint64_t pair = transition / letters_;
      if (pair == 0) break;
      const std::uint64_t mine[] = {held_.key(pair).value_or(kNone)};
      transition = kNone;
      for (const std::uint64_t key : ranks_.gather(mine)) transition = std::min(transition, key);
      if (transition == kNone) throw SystemError("a search over ranks has lost a pair's parent; please report this");
    }
    std::ranges::reverse(word);
    return word;
  }

  // ---- Memory and time

  void look_for_room() {
    if (!limit_.empty() || room_.kind != RoomLimit::kNone) return;
    if (parts_ && parts_->error() != 0)
      room_ = {RoomLimit::kDisk, static_cast<std::uint64_t>(parts_->error())};
    else
      room_ = held_.make_room(parts_ ? parts_->bytes() : 0);
  }

  /// A rank that lacks memory, or numbers for its records, says so in the next round.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (const std::bad_alloc&) {
      is_out_of_memory_ = true;
    } catch (const LimitError&) {
      is_out_of_memory_ = true;
    } catch (const SystemError& error) {
      ranks_.abort(kUndecided, error.what());
    }
  }

  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  Ranks& ranks_;
  const Dfa& automaton_;
  const CertifyOptions& options_;
  const KeptSearch& kept_;
  std::unique_ptr<LetterReader> machine_;
  LetterReader::Memory memory_;
  std::size_t width_;      ///< words of a record: the automaton's state, and what the network remembers
  std::uint64_t letters_;  ///< 1 where there are none
  PairSearchStand stand_;
  HeldPairs held_;
  std::vector<std::uint32_t> record_, share_, fresh_;
  Ranks::Words bits_;
  bool is_share_whole_ = true;
  std::optional<RecordSet> successors_;  ///< of this rank's share
  std::vector<std::uint64_t> transitions_, fresh_keys_;
  std::vector<unsigned> owners_;
  std::vector<Ranks::Words> outgoing_, incoming_;
  WrongAnswer mistake_, wrong_;
  std::string limit_;
  bool is_out_of_memory_ = false;
  RoomLimit room_;  ///< of this rank
  std::exception_ptr interrupted_;
  std::optional<PairParts> parts_;
  Clock::time_point committed_ = Clock::now();
};

}  // namespace

Certificate search_pairs_on_ranks(Ranks& ranks, const Network& network, const CertifyOptions& options,
                                  const KeptSearch& kept) {
  const FloatEnvironment environment;
  return certificate_of(RankedPairs(ranks, network, options, kept).run(), options);
}

}  // namespace krohn
