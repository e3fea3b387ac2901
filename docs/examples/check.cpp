// A proof is written down as a certificate, read back, and re-checked by code that shares nothing with the prover. A
// certificate that claims more is refused.
// Prints:
//   established
//   another network's certificate is refused

#include <krohn/krohn.h>

#include <cstdio>

int main() {
  const krohn::Network network = krohn::build(krohn::load_language("name:Z6"), {});
  const std::string written = krohn::format_certificate(krohn::certify(network, {}), network);

  const krohn::Certificate read = krohn::parse_certificate(written, "memory", network);
  const krohn::Recheck found = krohn::recheck(read, network);
  std::printf("%s\n", found.established ? "established" : found.finding.c_str());

  const krohn::Network other = krohn::build(krohn::load_language("name:Z5"), {});
  try {
    krohn::parse_certificate(written, "memory", other);
  } catch (const krohn::InputError&) {
    std::printf("another network's certificate is refused\n");
  }
  return found.established ? 0 : 1;
}
