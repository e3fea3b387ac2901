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

namespace {

/// Whether sums of squares of doubles are told apart by the definition alone: a loop over the codewords.
Label by_definition(const Layer& layer, const std::vector<double>& state) {
  double least = std::numeric_limits<double>::infinity();
  Label nearest = kNoLabel;
  for (std::size_t i = 0; i < codeword_count(layer); ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < state.size(); ++k) {
      const double difference = state[k] - codeword(layer, i)(static_cast<Eigen::Index>(k));
      sum += difference * difference;
    }
    if (sum == least) nearest = kNoLabel;
    if (sum < least) nearest = codeword_label(layer, i);
    least = std::min(least, sum);
  }
  return nearest;
}

}  // namespace

TEST_CASE("a hint is taken only where it is proved right: codewords from the least scale to the greatest") {
  // Nine coordinates, so that hints are worth it. A square of 2^−537 is the least double; one of 2^512 overflows.
  for (const int exponent :
       {-1060, -1000, -600, -541, -540, -539, -538, -537, -536, -520, -500, -402, -401, -400, -399, -300,
        -1,    0,     300,  398,  399,  400,  401,  500,  509,  510,  511,  512,  513,  600,  1000}) {
    CAPTURE(exponent);
    const double unit = std::ldexp(1, exponent);
    for (const double gap : {1.0, 2.0, 3.0, 1.5}) {
      Layer layer;
      layer.dimension = 9;
      layer.labels = 3;
      for (const double at : {0.0, gap * unit, 7 * unit}) {
        layer.decoder.codewords.push_back(Eigen::MatrixXd::Zero(9, 1));
        layer.decoder.codewords.back()(4) = at;
      }
      const NearestCodeword decoder(layer, 0);
      NearestCodeword::Hints hints = decoder.make_hints();
      const double half = gap / 2 * unit;
      std::vector<double> places{0, gap * unit, 7 * unit, half, 0.99999 * half, 1.00001 * half, unit / 2, 0.1 * unit};
      for (int i = 0; i < 4; ++i) {
        places.push_back(std::nextafter(places[3 + static_cast<std::size_t>(i)], 0.0));
        places.push_back(std::nextafter(places[3 + static_cast<std::size_t>(i)], 8 * unit));
      }
      for (const double first : places)
        for (const double second : places) {  // the hint that the first leaves must not answer for the second
          std::vector<double> state(9, 0.0);
          for (const double place : {first, second}) {
            state[4] = place;
            REQUIRE(decoder.decode(state, hints) == by_definition(layer, state));
          }
        }
      const bool has_hints = !hints.empty();
      CHECK(has_hints == (half > 0x1p-400 && half < 0x1p400));
    }
  }
}

TEST_CASE("codewords found by their own numbers are the nearest ones") {
  // 24 codewords so that there is a table; the last two are `least` apart. Below 2^-400 there is none, and where the
  // square of their distance is zero, about 2^-538, they are a tie.
  for (const double least : {1.0, 0x1p-400, std::nextafter(0x1p-400, 0.0), 0x1p-537, 0x1p-538, 0x1p-1074, 0.0})
    for (const double scale : {0.0, 1.0, 0x1p-400}) {
      CAPTURE(least);
      CAPTURE(scale);
      Layer layer;
      layer.labels = 24;
      layer.dimension = 2;
      for (Label label = 0; label < 24; ++label) {
        Eigen::MatrixXd code(2, 1);
        code << (label < 22 ? 3.0 + label : scale), (label == 23 ? least : 0.0);
        layer.decoder.codewords.push_back(code);
      }
      const NearestCodeword decoder(layer, 0);
      NearestCodeword::Hints hints = decoder.make_hints();
      for (int again = 0; again < 2; ++again)
        for (Label label = 0; label < 24; ++label)
          for (const double zero : {0.0, -0.0}) {
            const Eigen::MatrixXd& code = layer.decoder.codewords[label];
            const std::vector<double> state{code(0) + zero, code(1) == 0 ? zero : code(1)};
            REQUIRE(decoder.decode(state, hints) == decoder.reference(state));
          }
      const std::vector<double> last{scale, least};
      CHECK((decoder.decode(last, hints) == kNoLabel) == (least * least == 0));
    }
}

TEST_CASE("forty thousand codewords are read without looking at them all") {
  Layer layer;  // the permutations of eight numbers
  layer.dimension = 8;
  std::vector<double> numbers{1, 2, 3, 4, 5, 6, 7, 8};
  do layer.decoder.codewords.push_back(Eigen::Map<const Eigen::MatrixXd>(numbers.data(), 8, 1));
  while (std::next_permutation(numbers.begin(), numbers.end()));
  layer.labels = static_cast<Label>(layer.decoder.codewords.size());
  const NearestCodeword decoder(layer, 0);
  NearestCodeword::Hints hints = decoder.make_hints();
  for (Label label = 0; label < layer.labels; ++label) {
    const Eigen::MatrixXd& code = layer.decoder.codewords[label];
    REQUIRE(decoder.decode({code.data(), 8}, hints) == label);
  }
  CHECK(decoder.reference(std::vector<double>{1, 2, 3, 4, 5, 6, 8, 7}) == 1);
}
