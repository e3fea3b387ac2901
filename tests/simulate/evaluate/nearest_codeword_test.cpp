#include "krohn/simulate/evaluate/nearest_codeword.h"

#include <doctest/doctest.h>

#include <limits>

#include "tests/simulate/hand_built.h"

using namespace krohn;
using namespace krohn::hand_built;

namespace {

/// States on, near, between and far from codewords.
std::vector<double> random_state(std::mt19937_64& random, const Layer& layer) {
  const auto pick = [&] { return codeword(layer, random() % codeword_count(layer)); };
  std::normal_distribution<double> noise(0, std::pow(10.0, -static_cast<double>(random() % 9)));
  Eigen::MatrixXd state = pick();
  const auto kind = random() % 4;
  if (kind == 1) state = (state + pick()) / 2;
  if (kind >= 2)
    for (Eigen::Index i = 0; i < state.size(); ++i) state(i) += noise(random);
  if (kind == 3 && random() % 10 == 0) state(0) = std::numeric_limits<double>::infinity();
  if (kind == 3 && random() % 10 == 0) state(0) = std::numeric_limits<double>::quiet_NaN();
  if (kind == 3 && random() % 10 == 0) state *= 1e200;
  return {state.data(), state.data() + state.size()};
}

void check_decoder(const Layer& layer) {
  std::mt19937_64 random(31);
  for (std::uint32_t book = 0; book < books_of(layer); ++book) {
    const NearestCodeword decoder(layer, book);
    NearestCodeword::Hints hints = decoder.make_hints();
    for (int i = 0; i < 3000; ++i) {
      const std::vector<double> state = random_state(random, layer);
      REQUIRE(decoder.decode(state, hints) == decoder.reference(state));
    }
  }
}

}  // namespace

TEST_CASE("hints and unit vectors change no answer") {
  check_decoder(rotation(3, {1}).layers[0]);
  check_decoder(rotation(60, {1}).layers[0]);
  check_decoder(symmetric(5, 4, Swap::kMap).layers[0]);
  check_decoder(symmetric(4, 3, Swap::kDoubled).layers[0]);
  check_decoder(two_reflections(9).layers[1]);
  check_decoder(one_hot(counter(12, {1})).layers[0]);
}

TEST_CASE("unit codewords that are not stored decode as stored ones do") {
  for (const std::uint32_t copies : {1, 2, 3}) {
    Layer listed, unlisted;
    listed.labels = unlisted.labels = 6;
    listed.dimension = unlisted.dimension = 6 * copies;
    unlisted.decoder.unit_copies = copies;
    for (Label label = 0; label < 6; ++label) listed.decoder.codewords.push_back(codeword(unlisted, label));
    check_decoder(unlisted);
    const NearestCodeword a(listed, 0), b(unlisted, 0);
    CHECK(a.radius() == doctest::Approx(b.radius()).epsilon(1e-15));
    NearestCodeword::Hints hints = b.make_hints();
    std::mt19937_64 random(1);
    for (int i = 0; i < 1000; ++i) {
      const std::vector<double> state = random_state(random, listed);
      REQUIRE(a.reference(state) == b.decode(state, hints));
    }
    for (std::uint32_t c = 0; c < 6; ++c)
      for (std::size_t i = 0; i < listed.dimension; ++i) CHECK(a.entry(c, i) == b.entry(c, i));
  }
}

TEST_CASE("ties, coinciding codewords and numbers that are not finite do not decode") {
  Layer layer = one_hot(counter(3, {1})).layers[0];
  const NearestCodeword decoder(layer, 0);
  NearestCodeword::Hints hints = decoder.make_hints();
  const auto label = [&](std::vector<double> state) { return decoder.decode(state, hints); };
  CHECK(label({0, 1, 0}) == 1);
  CHECK(label({0.4, 0.5, 0.4}) == 1);
  CHECK(label({0.5, 0.5, 0}) == kNoLabel);
  CHECK(label({0, 0, 0}) == kNoLabel);
  CHECK(label({std::numeric_limits<double>::infinity(), 0, 0}) == kNoLabel);
  CHECK(label({std::numeric_limits<double>::quiet_NaN(), 1, 0}) == kNoLabel);
  layer.decoder.codewords[2] = layer.decoder.codewords[1];
  const NearestCodeword twin(layer, 0);
  hints = twin.make_hints();
  CHECK(twin.radius() == 0);
  CHECK(twin.decode(std::vector<double>{0, 1, 0}, hints) == kNoLabel);
  CHECK(twin.decode(std::vector<double>{1, 0, 0}, hints) == 0);
}
