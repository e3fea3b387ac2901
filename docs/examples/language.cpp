// A regular expression becomes its minimal automaton: what it accepts, and what its monoid says about it.
// Prints:
//   4 states over 2 letters
//   abb aabb babb
//   star-free: yes

#include <krohn/krohn.h>

#include <cstdio>

int main() {
  const krohn::Dfa automaton = krohn::parse_regex("(a|b)*abb");
  std::printf("%u states over %u letters\n", automaton.states(), automaton.letters());

  const char* separator = "";
  for (const krohn::Word& word : krohn::first_accepted_words(automaton, 3)) {
    std::printf("%s%s", separator, automaton.alphabet().format_word(word).c_str());
    separator = " ";
  }
  std::printf("\n");

  const krohn::Verdict aperiodic = krohn::analyse(automaton).verdict("aperiodic");
  std::printf("star-free: %s\n", krohn::to_string(aperiodic.answer).c_str());
}
