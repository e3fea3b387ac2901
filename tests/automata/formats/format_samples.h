// tests/automata/formats/format_samples.h — canonical automata that are hard on file formats.
#pragma once

#include "krohn/automata/dfa/dfa.h"
#include "krohn/automata/operations/minimise.h"
#include "tests/testing.h"

namespace krohn::samples {

inline Dfa random_machine(std::mt19937& random, const Alphabet& alphabet, State states,
                          const std::vector<std::string>& outputs) {
  std::vector<State> table(std::size_t{states} * alphabet.size());
  for (State& target : table) target = static_cast<State>(random() % states);
  std::vector<Output> output(states);
  for (Output& o : output) o = static_cast<Output>(random() % outputs.size());
  return canonical(Dfa::moore(alphabet, std::move(table), 0, std::move(output), outputs));
}

inline Symbol token(const std::string& name) { return {name, {}}; }
inline Symbol character(char32_t c, const std::string& name) { return {name, {{c, c}}}; }

/// Alphabets whose names are ordinary.
inline std::vector<Alphabet> plain_alphabets() {
  return {Alphabet::of_characters("ab"),
          Alphabet::of_characters("ba"),
          Alphabet::of_characters("xyzé∀🙂"),
          Alphabet::from_names(std::vector<std::string>{"SYN", "ACK+PSH(V,V,1)", "RST"}),
          Alphabet::from_names(std::vector<std::string>{"()", "(1,2)", "(1,2,3)"}),
          Alphabet::from_names(std::vector<std::string>{"q", "10", "2"})};
}

/// Alphabets with names that mean something to one format or another.
inline std::vector<Alphabet> odd_alphabets() {
  return {Alphabet::of_characters("01"),
          Alphabet::of_characters(",/\"\\'|&<>[](){};:#@% \t"),
          Alphabet::from_names(std::vector<std::string>{"a,b", "a/b", "/", "//", " x ", "(1 2)", "(", "),(", "a\nb"}),
          Alphabet::from_names(std::vector<std::string>{"ε", "<eps>", "<EPS>", "&amp;", "]]>", "<b>", "<!--", "\\N"}),
          Alphabet::from_symbols({token("a"), token("b"), {"[c-z]", {{U'c', U'z'}}}}),
          Alphabet::from_symbols({{"[^a]", {{0, U'`'}, {U'b', 0x10FFFF}}}, character(U'a', "a")}),
          Alphabet::from_symbols({token("\\n"), token("[a-z]"), token("\\"), token("\\\\")}),
          Alphabet::from_names(std::vector<std::string>{std::string(40000, 'x'), "\r", "a\x01z", "\x7F", "\"\""}),
          Alphabet()};
}

inline std::vector<Dfa> machines(unsigned seed, const std::vector<Alphabet>& alphabets,
                                 const std::vector<std::string>& outputs) {
  std::mt19937 random(seed);
  std::vector<Dfa> result;
  for (const Alphabet& alphabet : alphabets)
    for (const State states : {1u, 2u, 3u, 7u, 30u})
      result.push_back(random_machine(random, alphabet, states, outputs));
  return result;
}

inline const std::vector<std::string>& accepting() {
  static const std::vector<std::string> names = {"reject", "accept"};
  return names;
}
inline const std::vector<std::string>& odd_outputs() {
  static const std::vector<std::string> names = {"", "a/b", "\"", "\\n", "é\n,", "|", "unused"};
  return names;
}

}  // namespace krohn::samples
