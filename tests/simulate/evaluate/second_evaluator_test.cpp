// Files of every construction and of random networks, read by krohn and by two programs that were written from
// docs/reference/network-file.md: tests/python/second_evaluator.py, which computes in integers, and the evaluator of
// the page that `krohn report` writes (tools/krohn/page/), which computes in doubles and takes structured weights in
// sequence. All numbers at every letter, bit for bit, in all eleven arithmetics. KROHN_SECOND_EVALUATOR=N compares
// words of N letters in all orders and forms.

#include <nlohmann/json.hpp>

#include "krohn/automata/language.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/constructions/files/network_file.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "tests/simulate/formed_networks.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::formed_networks;

namespace {

struct Extent {
  std::size_t letters;
  bool everything;  ///< all orders and both forms in every arithmetic
};

Extent extent() {
  const char* wished = std::getenv("KROHN_SECOND_EVALUATOR");
  return wished == nullptr ? Extent{10, false} : Extent{std::strtoul(wished, nullptr, 10), true};
}

nlohmann::json reading_of(const Network& network, ArithmeticName arithmetic, Form form, Order order, const Word& word) {
  const auto evaluator = make_evaluator(network, arithmetic, form, order);
  nlohmann::json states = nlohmann::json::array(), answers = nlohmann::json::array();
  const auto note = [&] {
    nlohmann::json numbers = nlohmann::json::array();
    for (const double number : evaluator->numbers()) numbers.push_back(fmt::format("{:a}", number));
    states.push_back(std::move(numbers));
    const std::optional<State> answer = evaluator->current();
    answers.push_back(answer ? nlohmann::json(*answer) : nlohmann::json());
  };
  note();
  for (const Letter letter : word) {
    evaluator->step(letter);
    note();
  }
  return {{"arithmetic", to_string(arithmetic)}, {"form", to_string(form)},
          {"order", to_string(order)},           {"word", word},
          {"states", std::move(states)},         {"answers", std::move(answers)}};
}

/// All readings of one network; sequential and structured in every arithmetic, the rest in turn, integers among them.
nlohmann::json readings_of(const Network& network, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Word word(extent().letters);
  for (Letter& letter : word) letter = static_cast<Letter>(random() % network.automaton.letters());
  nlohmann::json readings = nlohmann::json::array();
  std::uint64_t turn = seed;
  try {
    readings.push_back(reading_of(network, kIntegerTypes[seed % kIntegerTypes.size()], Form::kStructured, {}, word));
  } catch (const InputError&) {
    // Not all its weights are integers of the type.
  }
  for (const ArithmeticName arithmetic : ArithmeticName::all()) {
    readings.push_back(reading_of(network, arithmetic, Form::kStructured, {}, word));
    std::uint64_t choice = 0;
    ++turn;
    for (const Form form : {Form::kStructured, Form::kDense})
      for (const char* order : {"sequential", "scan", "doubling", "chunked:4", "scan:3", "doubling:5"}) {
        if (order == std::string("sequential") ? form == Form::kStructured : network.snap_every > 0) continue;
        if (!extent().everything && choice++ % 11 != turn % 11) continue;
        readings.push_back(reading_of(network, arithmetic, form, parse_order(order), word));
      }
  }
  return readings;
}

bool has_node() {
  static const bool found = std::system("node --version > /dev/null 2>&1") == 0;
  return found;
}

/// Files of networks and of krohn's readings of them, to be read by the other programs in one run.
struct Comparison {
  std::string name;
  std::string files = "";
  std::size_t networks = 0, readings = 0;

  void add(const Network& network, const nlohmann::json& read) {
    const std::string base = fmt::format("{}/second_evaluator_{}_{}", KROHN_TEST_TMP, name, networks++);
    save_network(network, base + ".safetensors");
    std::ofstream(base + ".json") << read;
    files += fmt::format(" '{0}.safetensors' '{0}.json'", base);
    readings += read.size();
  }

  /// True if all agree, by both programs where there is node; what differs is in NAME.out and NAME.page.out.
  bool agrees() const {
    const auto agrees_by = [&](const std::string& program, const std::string& script, const std::string& output) {
      return std::system(fmt::format("{} '{}/../{}'{} > '{}/second_evaluator_{}.{}' 2>&1", program, KROHN_TEST_DATA,
                                     script, files, KROHN_TEST_TMP, name, output)
                             .c_str()) == 0;
    };
    const bool in_integers = agrees_by("python3 -B", "python/second_evaluator.py", "out");
    if (!has_node()) return in_integers;
    const bool in_doubles = agrees_by("node", "tools/page/compare.js", "page.out");
    CHECK(in_integers == in_doubles);
    return in_integers && in_doubles;
  }
};

/// True if the programs see the same in one network.
bool agrees(const Network& network, const nlohmann::json& readings) {
  Comparison one{"one"};
  one.add(network, readings);
  return one.agrees();
}

/// The same network with all its numbers so many times as great: among the subnormal ones, or beside overflow.
Network scaled(Network network, double scale) {
  for (Layer& layer : network.layers) {
    layer.initial *= scale;
    for (Transition& transition : layer.transitions) transition.b *= scale;
    for (Eigen::MatrixXd& codeword : layer.decoder.codewords) codeword *= scale;
  }
  return network;
}

bool has_python() { return std::system("python3 -c 'import json' > /dev/null 2>&1") == 0; }

}  // namespace

TEST_CASE("files of all constructions are read as the page says, bit for bit in eleven arithmetics") {
  if (!has_python()) {
    MESSAGE("skipped: there is no python3");
    return;
  }
  Comparison all{"constructions"};
  for (const std::string& construction : construction_names()) {
    std::size_t built = 0;
    for (const char* language :
         {"name:parity", "name:Z5", "name:S3", "regex:(a|b)*abb", "name:tomita3", "name:D4", "name:Z2xZ4"}) {
      BuildOptions options{.construction = construction, .integers = WrappingIntegers{}};
      std::optional<Network> network;
      try {
        network = build(load_language(language), options);
      } catch (const Error&) {
        continue;  // the construction does not take the language
      }
      std::size_t numbers = 0;
      for (const Layer& layer : network->layers) numbers += std::size_t{layer.dimension} * layer.columns;
      if (numbers > 40) continue;
      all.add(*network, readings_of(*network, all.networks));
      if (++built == 2 && !extent().everything) break;
    }
    CAPTURE(construction);
    CHECK(built > 0);
  }
  CHECK(all.agrees());
  MESSAGE(all.networks << " networks, " << all.readings << " readings"
                       << std::string(has_node() ? "" : "; without node, not in the page"));
}

TEST_CASE("random networks of every form are read as the page says") {
  if (!has_python()) {
    MESSAGE("skipped: there is no python3");
    return;
  }
  Comparison all{"random"};
  const std::uint64_t count = extent().everything ? 60 : 12;
  for (std::uint64_t seed = 1; seed <= count; ++seed) {
    const auto kind = static_cast<Kind>(seed % (static_cast<std::uint64_t>(Kind::kCount) + 1));
    const Network network =
        random_network(2 * seed + 1, 1 + static_cast<std::uint32_t>(seed % 5), 1 + static_cast<std::uint32_t>(seed % 2),
                       3, kind == Kind::kCount ? std::nullopt : std::optional(kind));
    all.add(network, readings_of(network, seed));
    if (seed % 3 != 0) continue;
    for (const double scale : {0x1p-15, 0x1p15, 0x1p-128, 0x1p127, 0x1p-500}) {
      const Network other = scaled(network, scale);
      all.add(other, readings_of(other, seed));
    }
  }
  for (const Network& network : {failing_cascade(), delayed_toggle(), two_reflections(5)})
    all.add(network, readings_of(network, 7));
  CHECK(all.agrees());
  MESSAGE(all.readings << " readings");
}

TEST_CASE("the comparison sees one place of one number, a wrong answer and a letter too few") {
  if (!has_python()) {
    MESSAGE("skipped: there is no python3");
    return;
  }
  const Network network = rotation(5, {1, 2});
  const nlohmann::json right =
      nlohmann::json::array({reading_of(network, Precision::kFp64, Form::kStructured, {}, Word{0, 1, 1, 0})});
  CHECK(agrees(network, right));
  nlohmann::json changed = right;
  const double number = make_evaluator(network, Precision::kFp64)->numbers()[0];
  changed[0]["states"][0][0] = fmt::format("{:a}", std::nextafter(number, 2));
  CHECK_FALSE(agrees(network, changed));
  changed = right;
  changed[0]["answers"][4] = right[0]["answers"][4].get<int>() + 1;
  CHECK_FALSE(agrees(network, changed));
  changed = right;
  changed[0]["states"].erase(4);
  CHECK_FALSE(agrees(network, changed));
}
