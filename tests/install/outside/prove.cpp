// A program outside krohn's tree: compiles a language, asks the network about a word, and has it proved.

#include <cstdio>

#include <krohn/krohn.h>

int main() {
  const krohn::Network network = krohn::build(krohn::parse_regex("(a|b)*abb"), {});
  const krohn::Dfa& automaton = network.automaton;
  const auto evaluator = krohn::make_evaluator(network, krohn::Precision::kFp32);
  auto state = evaluator->current();
  for (const krohn::Letter letter : automaton.alphabet().parse_word("abb")) state = evaluator->step(letter);
  const krohn::Certificate certificate = krohn::certify(network, {});
  const bool accepted = state && automaton.accepts(*state);
  const bool proved = certificate.is<krohn::Proved>();
  std::printf("abb: %s, %s\n", accepted ? "accept" : "reject", proved ? "proved for every length" : "not proved");
  return accepted && proved ? 0 : 1;
}
