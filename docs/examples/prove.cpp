// A language is compiled to the exact weights of a network, the network reads a word, and a proof covers all words.
// Prints:
//   abb: accept
//   proved

#include <krohn/krohn.h>

#include <cstdio>

int main() {
  const krohn::Network network = krohn::build(krohn::parse_regex("(a|b)*abb"), {});
  const krohn::Dfa& automaton = network.automaton;

  const auto evaluator = krohn::make_evaluator(network, krohn::Precision::kBf16);
  std::optional<krohn::State> state = evaluator->current();
  for (const krohn::Letter letter : automaton.alphabet().parse_word("abb")) state = evaluator->step(letter);
  std::printf("abb: %s\n", state && automaton.accepts(*state) ? "accept" : "reject");

  krohn::CertifyOptions options;
  options.arithmetic = krohn::Precision::kBf16;
  const krohn::Certificate certificate = krohn::certify(network, options);
  std::printf("%s\n", krohn::to_string(certificate.claim).c_str());
  return certificate.is<krohn::Proved>() ? 0 : 1;
}
