// simulate/prove/claims/closed_layer.h — the machine of labels that a layer is found to be when all its states are
// codewords: the common part of the certificates by closed codewords (MATH.md §5).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "krohn/automata/cascades/emulation.h"
#include "krohn/groups/base/time_limit.h"
#include "krohn/simulate/arithmetic/rounded_operations.h"
#include "krohn/simulate/evaluate/nearest_codeword.h"
#include "krohn/simulate/prove/claims/certificate.h"

namespace krohn {

using LayerMove = std::pair<Action, std::uint32_t>;  ///< an action, with the book that decodes after it

/// A layer's label machine without its states. `moves` are the different ones that contexts make, as they meet them.
inline LabelLayer wired_layer(const Layer& layer, std::vector<LayerMove>& moves) {
  LabelLayer wired;
  wired.labels = layer.labels;
  wired.next = layer.wiring.next;
  std::map<LayerMove, std::uint32_t> numbers;
  for (Context context = 0; context < layer.wiring.action_of.size(); ++context) {
    const LayerMove move{layer.wiring.action_of[context],
                         layer.book_of_context.empty() ? 0 : layer.book_of_context[context]};
    const auto [found, fresh] = numbers.try_emplace(move, static_cast<std::uint32_t>(moves.size()));
    if (fresh) moves.push_back(move);
    wired.move_of.push_back(found->second);
  }
  wired.moves.resize(moves.size());
  return wired;
}

/// The states of one layer that its actions reach from H_0, all of them codewords. A state is a codeword of one book;
/// a move is an action together with the book that decodes after it.
class ClosedLayer {
 public:
  /// Evaluates one action on the numbers of a state, which are held as doubles.
  using Move = std::function<void(Action, const std::vector<double>& from, std::vector<double>& to)>;
  /// The codeword of book 0 that the action takes this one of book 0 to, bit for bit, where that is known.
  using Jump = std::function<std::optional<std::uint32_t>(Action, std::uint32_t)>;

  /// Views the layer's books.
  ClosedLayer(const Layer& layer, std::span<const NearestCodeword> books, ArithmeticName arithmetic)
      : rounding_(arithmetic),
        books_(books),
        initial_label_(layer.initial_label),
        machine_(wired_layer(layer, moves_)),
        from_(static_cast<std::size_t>(layer.initial.size())),
        to_(from_.size()) {
    for (const double entry : layer.initial.reshaped()) initial_.push_back(rounding_.round(entry));
    for (const NearestCodeword& book : books_) {
      hints_.push_back(book.make_hints());
      known_.emplace_back(book.size(), kNoLabel);
    }
  }

  /// False as soon as a state is not a codeword.
  bool close(const Move& move, const Jump& jump = {}) {
    if (!find_start()) return false;
    for (Label state = 0; state < states_.size(); ++state) {
      TimeLimit::check();
      const Codeword from = states_[state];
      bool loaded = false;
      for (std::size_t i = 0; i < moves_.size(); ++i) {
        const auto [action, book] = moves_[i];
        std::optional<Codeword> reached;
        if (jump && from.book == 0 && book == 0)
          if (const std::optional<std::uint32_t> index = jump(action, from.index)) reached = Codeword{0, *index};
        if (!reached) {
          TimeLimit::check();
          if (!loaded) load(from, from_);
          loaded = true;
          move(action, from_, to_);
          reached = codeword_of(to_, book);
        }
        if (!reached) return false;
        machine_.moves[i].push_back(number_of(*reached));
      }
    }
    machine_.states = static_cast<Label>(states_.size());
    return true;
  }

  LabelLayer take_machine() { return std::move(machine_); }

  /// The result, for the certificate: codewords by their numbers in the decoder.
  ClosedTable table(const Layer& layer) const {
    std::vector<std::vector<std::uint32_t>> in_book(hints_.size());
    for (std::uint32_t i = 0; i < codeword_count(layer); ++i) in_book[codeword_book(layer, i)].push_back(i);
    ClosedTable table;
    for (const Codeword& state : states_) table.codewords.push_back(in_book[state.book][state.index]);
    for (const auto& [action, book] : moves_) table.moves.push_back({action, book});
    table.next = machine_.moves;
    return table;
  }

  /// How many codewords were reached, and the numbers of one.
  Label states() const { return static_cast<Label>(states_.size()); }
  const std::vector<double>& numbers(Label state) {
    load(states_[state], from_);
    return from_;
  }

 private:
  struct Codeword {
    std::uint32_t book, index;
  };

  bool find_start() {
    for (std::uint32_t book = 0; book < hints_.size(); ++book) {
      const std::optional<Codeword> start = codeword_of(initial_, book);
      if (!start || books_[book].label(start->index) != initial_label_) continue;
      machine_.initial = number_of(*start);
      return true;
    }
    return false;
  }

  /// The codeword that the decoder picks in the book, if the numbers are that codeword, rounded, bit for bit.
  std::optional<Codeword> codeword_of(const std::vector<double>& numbers, std::uint32_t book) {
    const std::uint32_t index = books_[book].nearest(numbers, hints_[book]);
    if (index == NearestCodeword::kNoCodeword) return std::nullopt;
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (rounding_.round(books_[book].entry(index, i)) != numbers[i]) return std::nullopt;
    return Codeword{book, index};
  }

  void load(const Codeword& codeword, std::vector<double>& numbers) const {
    for (std::size_t i = 0; i < numbers.size(); ++i)
      numbers[i] = rounding_.round(books_[codeword.book].entry(codeword.index, i));
  }

  Label number_of(const Codeword& codeword) {
    Label& number = known_[codeword.book][codeword.index];
    if (number != kNoLabel) return number;
    number = static_cast<Label>(states_.size());
    states_.push_back(codeword);
    machine_.shown.push_back(books_[codeword.book].label(codeword.index));
    return number;
  }

  RoundedOperations rounding_;
  std::span<const NearestCodeword> books_;
  Label initial_label_;
  std::vector<double> initial_;
  std::vector<LayerMove> moves_;
  LabelLayer machine_;
  std::vector<Codeword> states_;
  std::vector<std::vector<Label>> known_;  ///< book ↦ codeword ↦ its number, kNoLabel when not reached
  std::vector<NearestCodeword::Hints> hints_;
  std::vector<double> from_, to_;
};

/// How the machine was found to emulate the automaton, in words; or nothing when it was not.
std::optional<std::string> emulation_evidence(const LabelMachine& machine, const Network& network,
                                              const CertifyOptions& options, bool* by_induction = nullptr);

}  // namespace krohn
