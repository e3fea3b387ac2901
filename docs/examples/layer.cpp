// A network made by hand, not by a construction: parity as one number that the letter 1 turns over. Whether it is right
// is proved, not believed: with a weight that is a little off it is refuted by a word.
// Prints:
//   −1.0: proved
//   −1.5: refuted

#include <krohn/krohn.h>

#include <cstdio>

namespace {

krohn::Network parity_by(double weight) {
  krohn::Layer layer = krohn::listed_layer({Eigen::MatrixXd::Constant(1, 1, 1), Eigen::MatrixXd::Constant(1, 1, -1)});
  layer.transitions = {{krohn::DiagonalMatrix{{1}}, {}}, {krohn::DiagonalMatrix{{weight}}, {}}};
  layer.wiring.action_of = {0, 1};  // the letter 0 keeps the number, 1 multiplies it by the weight

  krohn::Network network{krohn::parse_regex("0*(10*10*)*"), {layer}, {{{0, 1}}}, {"by hand", "", "", ""}};
  krohn::validate(network);
  return network;
}

}  // namespace

int main() {
  for (const double weight : {-1.0, -1.5}) {
    const krohn::Certificate certificate = krohn::certify(parity_by(weight), {});
    std::printf("−%.1f: %s\n", -weight, krohn::to_string(certificate.claim).c_str());
  }
}
