#include "krohn/automata/words/accepted_words.h"

#include "krohn/automata/operations/emptiness.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/automata/operations/product.h"
#include "krohn/automata/words/spellings.h"

namespace krohn {
namespace {

Dfa minimal_acceptor(const Dfa& dfa) {
  require_acceptor(dfa, "enumeration");
  return minimise(dfa);
}

}  // namespace

AcceptedWords::AcceptedWords(const Dfa& dfa)
    : dfa_(minimal_acceptor(dfa)), finite_(is_finite(dfa_)), path_{dfa_.initial()} {
  possible_.emplace_back(dfa_.outputs().begin(), dfa_.outputs().end());
}

std::optional<Word> AcceptedWords::next() {
  while (true) {
    if (fresh_ && possible_[length_][dfa_.initial()]) {
      fresh_ = false;
      complete();
      return word_;
    }
    if (!fresh_ && advance()) return word_;
    // A finite language has no word as long as its automaton has states: some state would be met twice.
    if (finite_ && length_ + 1 >= dfa_.states()) return std::nullopt;
    next_length();
  }
}

std::optional<Letter> AcceptedWords::letter_from(State state, Letter first, std::size_t remaining) const {
  for (Letter letter = first; letter < dfa_.letters(); ++letter)
    if (possible_[remaining][dfa_.next(state, letter)]) return letter;
  return std::nullopt;
}

void AcceptedWords::complete() {
  while (word_.size() < length_) {
    const Letter letter = *letter_from(path_.back(), 0, length_ - word_.size() - 1);
    word_.push_back(letter);
    path_.push_back(dfa_.next(path_.back(), letter));
  }
}

bool AcceptedWords::advance() {
  while (!word_.empty()) {
    const Letter last = word_.back();
    word_.pop_back();
    path_.pop_back();
    const std::optional<Letter> letter = letter_from(path_.back(), last + 1, length_ - word_.size() - 1);
    if (!letter) continue;
    word_.push_back(*letter);
    path_.push_back(dfa_.next(path_.back(), *letter));
    complete();
    return true;
  }
  return false;
}

void AcceptedWords::next_length() {
  std::vector<bool> possible(dfa_.states(), false);
  for (State state = 0; state < dfa_.states(); ++state)
    for (const State target : dfa_.row(state)) possible[state] = possible[state] || possible_[length_][target];
  possible_.push_back(std::move(possible));
  ++length_;
  fresh_ = true;
  word_.clear();
  path_.assign(1, dfa_.initial());
}

std::vector<std::string> first_accepted_texts(const Dfa& dfa, std::uint64_t count) {
  AcceptedWords words(dfa);
  std::vector<std::string> list;
  while (list.size() < count) {
    auto word = words.next();
    if (!word) break;
    Spellings texts(dfa.alphabet(), std::move(*word));
    for (auto text = texts.next(); text && list.size() < count; text = texts.next()) list.push_back(*text);
  }
  return list;
}

std::vector<Word> first_accepted_words(const Dfa& dfa, std::size_t count) {
  std::vector<Word> words;
  AcceptedWords generator(dfa);
  while (words.size() < count) {
    std::optional<Word> word = generator.next();
    if (!word) break;
    words.push_back(std::move(*word));
  }
  return words;
}

}  // namespace krohn
