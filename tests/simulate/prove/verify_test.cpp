#include <exception>

#include "krohn/simulate/prove/verify.h"
#include "krohn/automata/language.h"
#include "krohn/automata/operations/minimise.h"
#include "krohn/constructions/build/planner.h"
#include "krohn/groups/base/error.h"
#include "krohn/simulate/check/certificate_file.h"
#include "krohn/simulate/check/recheck.h"
#include "krohn/simulate/evaluate/evaluate.h"
#include "krohn/simulate/prove/certify.h"
#include "krohn/simulate/prove/pairs/network_machine.h"
#include "krohn/simulate/prove/self_check.h"
#include "krohn/simulate/prove/verify_built.h"
#include "tests/simulate/hand_built.h"
#include "tests/simulate/prove/judged_claims.h"
#include "tests/testing.h"

using namespace krohn;
using namespace krohn::hand_built;

// No network that is wrong may ever be proved. Every number and every table entry of small networks is changed in turn;
// what the certificates claim is compared with a search that shares no code with them.

namespace {

using Visit = std::function<void()>;

/// Gives the number other values, one after another, calls `visit` each time, and puts it back.
void vary(double& number, const Visit& visit) {
  const double was = number;
  for (const double changed : {was + 1, was - 1, -was, std::nextafter(was, 2.0), std::nextafter(was, -2.0), was / 2,
                               was + 0.0078125, was - 0x1p-20}) {
    number = changed;
    visit();
  }
  number = was;
}

void vary(Eigen::MatrixXd& numbers, const Visit& visit) {
  for (Eigen::Index i = 0; i < numbers.size(); ++i) vary(numbers(i), visit);
}

template <class Integer>
void vary_index(Integer& index, std::int64_t end, bool may_be_missing, const Visit& visit) {
  const Integer was = index;
  for (std::int64_t changed = 0; changed < end; ++changed) {
    index = static_cast<Integer>(changed);
    if (index != was) visit();
  }
  if (may_be_missing) {
    index = static_cast<Integer>(kNoContext);
    visit();
  }
  index = was;
}

void vary(Turn& turn, const Visit& visit) {
  const Turn was = turn;
  for (std::int64_t eighth = 0; eighth < 8; ++eighth) {
    turn = Turn{eighth, 8}.normalised();
    if (turn != was) visit();
  }
  turn = was;
}

struct VaryMatrix {
  const Visit& visit;

  void operator()(MapMatrix& matrix) const {
    const MapMatrix was = matrix;
    std::vector<Point> images(was.map.images().begin(), was.map.images().end());
    for (Point& image : images)
      vary_index(image, was.map.degree(), false, [&] {
        matrix.map = Transformation::from_images(images);
        visit();
      });
    matrix = was;
  }
  void operator()(ReflectionProduct& product) const {
    for (Reflection& factor : product.factors) {
      vary(factor.beta, visit);
      vary_index(factor.scale_squared_denominator, 5, false, visit);
      if (factor.entries.empty()) vary(factor.angle, visit);
      for (auto& entry : factor.entries) {
        vary_index(entry.position, product.dimension, false, visit);
        for (const std::int32_t value : {-entry.value, 2 * entry.value}) {
          const std::int32_t was = std::exchange(entry.value, value);
          visit();
          entry.value = was;
        }
      }
    }
  }
  void operator()(RotationBlocks& rotation) const {
    for (auto& block : rotation.blocks) vary(block.turn, visit);
  }
  void operator()(DiagonalMatrix& diagonal) const {
    for (double& value : diagonal.values) vary(value, visit);
  }
  void operator()(DenseMatrix& dense) const { vary(dense.values, visit); }
  template <class Other>
  void operator()(Other&) const {}
};

/// Every single change of every stored number and table entry of one layer.
void vary(Layer& layer, std::size_t contexts_above, const Visit& visit) {
  vary(layer.initial, visit);
  vary_index(layer.initial_label, layer.labels, false, visit);
  for (Eigen::MatrixXd& codeword : layer.decoder.codewords) vary(codeword, visit);
  for (std::size_t i = 1; i < layer.decoder.codewords.size(); ++i) {
    std::swap(layer.decoder.codewords[i - 1], layer.decoder.codewords[i]);
    visit();
    std::swap(layer.decoder.codewords[i - 1], layer.decoder.codewords[i]);
  }
  for (Label& label : layer.decoder.label_of) vary_index(label, layer.labels, false, visit);
  for (std::uint32_t& book : layer.decoder.book) vary_index(book, 2, false, visit);
  for (std::uint32_t& book : layer.book_of_context) vary_index(book, 2, false, visit);
  for (Transition& transition : layer.transitions) {
    std::visit(VaryMatrix{visit}, transition.a);
    const Matrix a = transition.a;
    for (const Transition& other : layer.transitions) {
      if (other.a == a) continue;
      transition.a = other.a;
      visit();
      transition.a = a;
    }
    vary(transition.b, visit);
    const Eigen::MatrixXd b = std::exchange(transition.b, Eigen::MatrixXd::Ones(layer.dimension, layer.columns));
    visit();
    transition.b = {};
    visit();
    transition.b = b;
  }
  for (Action& action : layer.wiring.action_of)
    vary_index(action, static_cast<std::int64_t>(layer.transitions.size()), false, visit);
  for (Context& next : layer.wiring.next) vary_index(next, static_cast<std::int64_t>(contexts_above), true, visit);
}

void vary(Network& network, const Visit& visit) {
  for (std::size_t k = 0; k < network.layers.size(); ++k) {
    const bool last = k + 1 == network.layers.size();
    vary(network.layers[k], last ? 0 : network.layers[k + 1].wiring.action_of.size(), visit);
  }
  for (std::size_t k = 0; k < network.readout.next.size(); ++k) {
    const bool last = k + 1 == network.readout.next.size();
    const std::size_t nodes =
        last ? network.automaton.states() : network.readout.next[k + 1].size() / network.layers[k + 1].labels;
    for (Context& entry : network.readout.next[k]) vary_index(entry, static_cast<std::int64_t>(nodes), true, visit);
  }
}

constexpr std::uint64_t kMaxPairs = 48;

Tally judge_all_changes(Network network, Precision precision, Form form) {
  Tally tally;
  vary(network, [&] {
    try {
      validate(network);
    } catch (const InputError&) {
      return;  // no such network can be loaded
    }
    judge(network, precision, form, kMaxPairs, replayed_search(network, precision, form, kMaxPairs), tally);
  });
  return tally;
}

/// Labels 0 … 3 on a line by a dense integer matrix and B: H ← 1 − H on letter 0, H ← 3 − H on letter 1, reset on 2.
Network dense_with_additions() {
  const auto matrix = [](double a) { return Matrix{DenseMatrix{Eigen::MatrixXd::Constant(1, 1, a)}}; };
  const auto number = [](double b) { return Eigen::MatrixXd(Eigen::MatrixXd::Constant(1, 1, b)); };
  std::vector<State> table;
  for (const int q : {0, 1}) {
    table.push_back(static_cast<State>(1 - q));
    table.push_back(static_cast<State>(q));
    table.push_back(1);
  }
  Network network =
      one_layer(automaton(3, table), number(0), {matrix(-1), matrix(1), matrix(0)}, {number(0), number(1)});
  network.layers[0].transitions[0].b = number(1);
  network.layers[0].transitions[2].b = number(1);
  return network;
}

}  // namespace

TEST_CASE("no change of a stored number or table makes a wrong network proved") {
  std::mt19937_64 random(6);
  const std::vector<Network> networks{one_hot(random_automaton(random, 4, 2)),
                                      symmetric(3, 2, Swap::kUnnormalised),
                                      symmetric(3, 1, Swap::kDoubled),
                                      rotation(4, {1, 2}),
                                      flip_flop_toggle(),
                                      dense_with_additions()};
  for (std::size_t i = 0; i < networks.size(); ++i) {
    CAPTURE(i);
    for (const Precision precision : {Precision::kBf16, Precision::kFp32}) {
      const Form form = precision == Precision::kBf16 ? Form::kStructured : Form::kDense;
      const Tally tally = judge_all_changes(networks[i], precision, form);
      CAPTURE(tally.valid);
      CHECK(tally.proved_by_codewords > 0);  // changes that do not matter, such as an ulp of a codeword
      CHECK(tally.refuted > 0);
      CHECK(tally.valid > 50);
    }
  }
}

TEST_CASE("the same for code books, whose labels the numbers do not tell") {
  const Tally tally = judge_all_changes(two_reflections(2), Precision::kBf16, Form::kStructured);
  CHECK(tally.refuted > 0);
  CHECK(tally.proved_by_search > 0);
  CHECK(tally.proved_by_codewords == 0);
}

TEST_CASE("a wiring that disagrees with the numbers is not believed") {
  // The decoder's labels are exchanged in layer 1 and the tables above left as they were: every codeword still closes.
  Network network = flip_flop_toggle();
  std::swap(network.layers[0].decoder.codewords[0], network.layers[0].decoder.codewords[1]);
  network.layers[0].initial_label = 1;
  CertifyOptions options;
  CHECK_FALSE(certify_closed_codewords(network, options));
  CHECK(certify(network, options).is<Refuted>());
}

// The one road for verdicts: what it says, what it does to itself before it says so, and that it holds for every kind
// of subject.

namespace {

ModelVerdict ask(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs = 100'000,
                 std::uint64_t length = 0) {
  Question question{.subject = &network, .how = {.arithmetic = arithmetic, .max_pairs = max_pairs}};
  question.random.length = length;
  return verify(question);
}

/// The network itself, read through the interface of whatever reads letters.
ModelVerdict ask_reader(const Network& network, ArithmeticName arithmetic, std::uint64_t max_pairs) {
  const auto reader = network_reader(network, arithmetic, Form::kStructured);
  const TrackedAutomaton tracked = every_state(network.automaton);
  const ReadModel model{*reader, tracked};
  return verify(Question{.subject = &model, .how = {.arithmetic = arithmetic, .max_pairs = max_pairs}});
}

}  // namespace

TEST_CASE("a proof is re-checked and replayed before it is given") {
  const Network network = symmetric(4, 3, Swap::kMap);
  const ModelVerdict verdict = ask(network, Precision::kBf16);
  CHECK(verdict.certificate.is<Proved>());
  CHECK(verdict.self_check.is_rechecked);
  CHECK(verdict.self_check.replayed_letters == 100'000);
}

TEST_CASE("networks and what reads letters come down the same road") {
  for (const std::uint32_t m : {3u, 10u})
    for (const Precision precision : {Precision::kBf16, Precision::kFp16, Precision::kFp32}) {
      CAPTURE(m);
      CAPTURE(to_string(precision));
      const Network network = rotation(m, {0, 1});
      const Certificate own = ask(network, precision, 3000).certificate;
      const Certificate read = ask_reader(network, precision, 3000).certificate;
      // Bounds are of networks only; where pairs or long words decide, both decide alike.
      if (own.method != "closed reachable set" && own.method != "long words") continue;
      CHECK((own.claim == read.claim));
    }
}

TEST_CASE("a failing word is really wrong, and nothing shorter when it says so") {
  const Network network = rotation(5, {0, 1, 2, 3, 4});
  const Certificate certificate = ask(network, Precision::kBf16, 20'000'000).certificate;
  REQUIRE(certificate.is<Refuted>());
  CHECK(certificate.is_shortest());
  CHECK(certificate.failing_word()->size() == 249);  // MATH.md §5
}

TEST_CASE("what was found stays where random words meet a limit, which is said") {
  const Network many = rotation(5, {0, 1, 2, 3, 4});  // more states in fp32 than a run through them lists
  Question question{.subject = &many, .how = {.max_pairs = 1000, .long_letters = 0}};
  question.random = {.length = 300, .through = RandomTest::Through::kStates};
  const ModelVerdict proved = verify(question);
  CHECK(proved.certificate.length() > 0);
  CHECK(test::contains(proved.not_tested, "reachable states"));
  question.test_only = false;
  Network wrong = many;
  const Dfa& own = many.automaton;
  std::vector<State> table(own.table().begin(), own.table().end());
  table[own.initial() * own.letters() + 1] = own.initial();
  wrong.automaton =
      Dfa::moore(own.alphabet(), std::move(table), own.initial(), {own.outputs().begin(), own.outputs().end()},
                 {own.output_names().begin(), own.output_names().end()});
  question.subject = &wrong;
  const ModelVerdict refuted = verify(question);
  CHECK(refuted.certificate.is<Refuted>());
  CHECK(*refuted.certificate.failing_word() == Word{1});
}

TEST_CASE("what was checked before a refutation is said as far as it was proved") {
  const Network drifting = rotation(5, {0, 1, 2, 3, 4});
  Question question{.subject = &drifting, .how = {.arithmetic = Precision::kBf16, .max_pairs = 10, .long_letters = 0}};
  const std::uint64_t proved = verify(question).certificate.length();
  REQUIRE(proved > 0);
  question.random.length = 100'000;
  const ModelVerdict verdict = verify(question);
  REQUIRE(verdict.certificate.is<Refuted>());
  CHECK(verdict.self_check.length == proved);
  CHECK(ask(rotation(4, {0, 1}), Precision::kFp32).self_check.length == 0);
}

TEST_CASE("replayed words meet every transition, and no more letters than allowed") {
  const Dfa automaton = load_language("name:S4", {});
  std::vector<bool> met(std::size_t{automaton.states()} * automaton.letters(), false);
  std::uint64_t letters = 0, longest = 0;
  for_replayed_words(automaton, 10'000, 50, [&](const Word& word) {
    State state = automaton.initial();
    for (const Letter letter : word) {
      met[std::size_t{state} * automaton.letters() + letter] = true;
      state = automaton.next(state, letter);
    }
    letters += word.size();
    longest = std::max<std::uint64_t>(longest, word.size());
    return true;
  });
  CHECK(std::count(met.begin(), met.end(), false) == 0);
  CHECK(letters == 10'000);
  CHECK(longest == 50);
  for_replayed_words(load_language("regex:", {}), 100, 100, [](const Word& word) { return CHECK(word.empty()), true; });
}

TEST_CASE("replay finds the letter where a false proof breaks") {
  // 250 letters of the famous word would be needed for Z_5; a network that turns a twentieth too far breaks sooner.
  const Network network = turning_too_far(5, 50);
  Certificate forged{.claim = Proved{}};
  std::uint64_t letters = 0;
  const auto wrong = replay(network, forged, 100'000, letters);
  REQUIRE(wrong);
  CHECK(letters <= 100'000);
  check_fails_on(*make_evaluator(network, forged.arithmetic), network.automaton, *wrong);
  forged.claim = ProvedUpTo{wrong->size() > 3 ? 3U : 1U};
  letters = 0;
  CHECK_FALSE(replay(network, forged, 100'000, letters));  // nothing longer was claimed
}

TEST_CASE("what a construction promises is proved before it is written") {
  for (const char* name : {"parity", "Z5", "S3", "tomita4", "Z2xZ4", "Q8"}) {
    CAPTURE(name);
    const Dfa automaton = load_language(std::string("name:") + name, {});
    for (const PlanRow& row : plan(automaton, {})) {
      if (!row.possible || row.wraps_in) continue;
      CAPTURE(row.construction);
      const Network network = build(automaton, BuildOptions{.construction = row.construction});
      CertifyOptions limits{.max_pairs = 20'000};
      const KeptPromise kept = verify_built(network, {row.exact_in, row.locked_in}, limits);
      // The matrices of a grid rotation multiply to very many maps, of which no search sees the end.
      if (row.construction != "rotation-grid") CHECK(kept.promised_only.empty());
      for (const Precision precision : kept.promised_only) CHECK(ask(network, precision).certificate.is<Proved>());
      CHECK(kept.every_order.size() + kept.sequential.size() + kept.promised_only.size() ==
            row.exact_in.size() + row.locked_in.size());
    }
  }
}

TEST_CASE("one-hot networks past the size for orders are proved once, and the other formats' proofs agree") {
  const Dfa automaton = load_language("name:random:m=4000,seed=1", {});
  const Network network = build(automaton, BuildOptions{.construction = "one-hot"});
  const std::vector<Precision> formats{Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16};
  const KeptPromise kept = verify_built(network, {formats, {}}, {});
  CHECK(kept.sequential == formats);
  for (const Precision precision : formats) CHECK(ask(network, precision).certificate.is<Proved>());
  // A second 1 in a codeword's way: no format may be named because of another one.
  Network wrong = network;
  std::get<MapMatrix>(wrong.layers[0].transitions[0].a).map = Transformation::identity(network.layers[0].dimension);
  CHECK_THROWS_AS(verify_built(wrong, {formats, {}}, {}), Contradiction);
}

TEST_CASE("a construction chosen in any order is the first that is proved so, and all others are told why not") {
  for (const char* name : {"parity", "Z5", "S3", "tomita3"})
    for (const Precision precision : {Precision::kFp64, Precision::kFp32, Precision::kFp16, Precision::kBf16}) {
      CAPTURE(name);
      CAPTURE(to_string(precision));
      const Dfa dfa = load_language(std::string("name:") + name, {});
      BuildOptions wishes{.precision = precision};
      std::map<std::string, std::string> refused;
      CertifyOptions how{.arithmetic = precision, .any_order = true};
      const Choice choice =
          choose_by_proof(dfa, wishes, how, PlanRows::kAll,
                          [&](const PlanRow& row, const std::string& refusal) { refused[row.construction] = refusal; });
      REQUIRE(choice.chosen() != nullptr);
      CHECK(refused.at(choice.chosen()->construction).empty());
      CHECK(refused.size() == static_cast<std::size_t>(
                                  std::ranges::count_if(choice.rows, [](const PlanRow& row) { return row.possible; })));
      CHECK(std::holds_alternative<Certificate>(certify_any_order(quantise(*choice.network, precision), how)));
      CHECK(choose_by_proof(dfa, wishes, how, PlanRows::kNeeded).chosen()->construction ==
            choice.chosen()->construction);
      for (const PlanRow& row : choice.rows)
        if (row.possible && row.exact_in.empty() && !row.wraps_in)
          CHECK(refused.at(row.construction) == "its numbers round");
    }
  BuildOptions small{.precision = Precision::kFp32, .max_dimension = 2};
  CertifyOptions any{.any_order = true};
  const Choice none = choose_by_proof(load_language("name:Z5", {}), small, any, PlanRows::kNeeded);
  CHECK(none.chosen() == nullptr);
  CHECK_THROWS_AS(std::rethrow_exception(none.failure), InputError);
}

TEST_CASE("in integers the choice has the fewest layers and then numbers, proved, and nothing is forced on it") {
  struct Fact {
    const char *language, *arithmetic, *construction;
    std::uint64_t numbers;
  };
  for (const auto& [language, arithmetic, construction, numbers] :
       {Fact{"name:Z4", "u8", "wrapping-cells", 1}, Fact{"name:Z4", "i32", "wrapping-cells", 1},
        Fact{"name:Z4xZ2", "i8", "wrapping-cells", 2}, Fact{"name:Z4", "u8-saturating", "permutation", 4},
        Fact{"name:parity", "i8-saturating", "parity-scalar", 1}, Fact{"name:S3", "u8", "permutation-vector", 3}}) {
    CAPTURE(language);
    CAPTURE(arithmetic);
    const Dfa dfa = minimise(load_language(language, {}));
    CertifyOptions how{.arithmetic = ArithmeticName::parse(arithmetic)};
    BuildOptions wishes;
    if (const IntegerType& type = how.arithmetic.integer(); !type.saturates)
      wishes.integers = WrappingIntegers{type.bits, type.is_signed};
    const Choice choice = choose_by_proof(dfa, wishes, how, PlanRows::kNeeded);
    REQUIRE(choice.chosen() != nullptr);
    CHECK(choice.chosen()->construction == construction);
    CHECK(choice.chosen()->state_numbers == numbers);
    CHECK(certify(*choice.network, how).is<Proved>());
  }
  CertifyOptions how{.arithmetic = ArithmeticName::parse("u8")};
  BuildOptions wishes{.construction = "signed-permutation"};
  const Choice none = choose_by_proof(load_language("name:Z4", {}), wishes, how, PlanRows::kNeeded);
  CHECK(test::contains(test::error_of([&] { std::rethrow_exception(none.failure); }), "signed-permutation: layer 0"));
  wishes.construction = "wrapping-cells";
  CHECK(test::contains(test::error_of([&] { build(load_language("name:Z4", {}), wishes); }), "take --precision u8"));
}

TEST_CASE("every order of integers that wrap around is the sequential one, and no other order saturates") {
  BuildOptions wishes{.construction = "wrapping-cells"};
  for (const bool is_signed : {false, true}) {
    wishes.integers = WrappingIntegers{8, is_signed};
    const Network network = build(minimise(load_language("name:D4/points", {})), wishes);
    Question question{.subject = &network};
    question.random = {.length = 200, .words = 3};
    question.how.arithmetic = IntegerType{8, is_signed, false};
    CHECK_FALSE(verify(question).certificate.holds_in_any_order());
    question.how.any_order = true;
    for (const char* order : {"sequential", "scan", "doubling:16", "chunked:64"}) {
      CAPTURE(order);
      question.how.order = parse_order(order);
      const ModelVerdict verdict = verify(question);
      CHECK(verdict.certificate.holds_in_any_order());
      CHECK(verdict.self_check.is_rechecked);
      CHECK(test::contains(verdict.certificate.evidence, "modulo 2^8 are a ring's"));
      CHECK(test::contains(claim_in_words(verdict.certificate, network.automaton.alphabet()), "in any order of evaluation"));
      // The file is that of the sequential order.
      const test::Scratch folder("ring");
      const std::string file = (folder / "ring.cert").string();
      save_certificate(with_steps(verdict.certificate, network), network, file);
      CHECK(test::contains(test::contents(file), "\"order\":\"sequential\""));
      CHECK(recheck(load_certificate(file, network), network).established);
      question.how.any_order = false;
    }
    question.how.arithmetic = IntegerType{8, is_signed, true};
    CHECK_THROWS_AS(verify(question), InputError);
    question.how.order = {};
    question.how.any_order = true;
    CHECK(test::contains(test::error_of([&] { verify(question); }), "saturates, so that another order"));
    Network snaps = network;
    snaps.snap_every = 2;
    question.subject = &snaps;
    question.how.arithmetic = IntegerType{8, is_signed, false};
    CHECK_THROWS_AS(verify(question), InputError);
  }
}

TEST_CASE("products of letters' maps in any grouping, modulo 2^8, are the numbers that are evaluated") {
  std::mt19937_64 random(8);
  BuildOptions wishes{.construction = "wrapping-cells", .integers = WrappingIntegers{}};
  const Network network = build(minimise(load_language("name:D4/points", {})), wishes);
  const Layer& layer = network.layers[0];
  using Step = std::pair<std::uint8_t, std::uint8_t>;  // h ↦ a h + b
  const auto step_of = [&](Letter letter) {
    const Transition& transition = layer.transitions[layer.wiring.action_of[letter]];
    return Step{std::get<DiagonalMatrix>(transition.a).values[0], transition.b(0)};
  };
  const auto then = [](Step f, Step g) { return Step{g.first * f.first, g.first * f.second + g.second}; };
  for (int i = 0; i < 10'000; ++i) {
    std::vector<Step> parts;
    const auto evaluator = make_evaluator(network, ArithmeticName::parse("u8"));
    for (std::uint64_t length = random() % 12; length > 0; --length) {
      const auto letter = static_cast<Letter>(random() % network.automaton.letters());
      parts.push_back(step_of(letter));
      evaluator->step(letter);
    }
    parts.insert(parts.begin(), Step{0, layer.initial(0)});
    while (parts.size() > 1) {
      const std::size_t at = random() % (parts.size() - 1);
      parts[at] = then(parts[at], parts[at + 1]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    REQUIRE(evaluator->numbers() == std::vector<double>{static_cast<double>(parts[0].second)});
  }
}

TEST_CASE("a network that breaks its construction's promise is a contradiction") {
  Network network = build(load_language("name:S3", {}), {});
  std::swap(network.layers[0].transitions[0], network.layers[0].transitions[1]);
  const std::vector<Precision> exact{Precision::kFp32};
  CHECK_THROWS_AS(verify_built(network, {exact, {}}), Contradiction);
  CHECK_THROWS_AS(verify_built(network, {}), Contradiction);
}

namespace {

/// The automaton with its letters in another order, and its outputs numbered otherwise.
Dfa renumbered(const Dfa& dfa, const std::vector<Letter>& letters, const std::vector<Output>& outputs) {
  std::vector<std::string> names, output_names(outputs.size());
  for (const Letter letter : letters) names.push_back(dfa.alphabet().name(letter));
  std::vector<State> table;
  for (State state = 0; state < dfa.states(); ++state)
    for (const Letter letter : letters) table.push_back(dfa.next(state, letter));
  std::vector<Output> given;
  for (const Output output : dfa.outputs()) given.push_back(outputs[output]);
  for (std::size_t i = 0; i < outputs.size(); ++i) output_names[outputs[i]] = dfa.output_names()[i];
  return Dfa::moore(Alphabet::from_names(names), std::move(table), dfa.initial(), std::move(given),
                    std::move(output_names));
}

/// The name of what every state says is its remainder.
Dfa remainders(std::uint32_t m, std::vector<std::uint32_t> added) {
  const Dfa dfa = counter(m, added);
  std::vector<std::string> names;
  std::vector<Output> outputs;
  for (std::uint32_t q = 0; q < m; ++q) names.push_back("r" + std::to_string(q)), outputs.push_back(q);
  return Dfa::moore(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, 0, std::move(outputs), std::move(names));
}

struct HasBegun {};

}  // namespace

TEST_CASE("a language whose letters and outputs come in another order is compared by their names") {
  const Dfa own = remainders(3, {0, 1, 2});
  const Network network = one_hot(own);
  std::vector<Letter> letters{0, 1, 2};
  do {
    for (const std::vector<Output>& outputs : {std::vector<Output>{0, 1, 2}, {2, 0, 1}, {1, 0, 2}}) {
      Question question{.subject = &network, .random = {.length = 100}};
      const Dfa same = renumbered(own, letters, outputs);
      question.against = Language{"the same", same};
      CHECK(verify(question).certificate.is<Proved>());
      // One wrong arc: the second letter of `same` leads from r1 to where it stays.
      std::vector<State> table(same.table().begin(), same.table().end());
      State& arc = table[1 * 3 + 1];
      const State right = arc;
      arc = (arc + 1) % 3;
      question.against =
          Language{"another", Dfa::moore(same.alphabet(), table, 0, {same.outputs().begin(), same.outputs().end()},
                                         {same.output_names().begin(), same.output_names().end()})};
      const ModelVerdict verdict = verify(question);
      REQUIRE(verdict.certificate.is<Refuted>());
      CHECK(verdict.certificate.is_shortest());
      CHECK(*verdict.certificate.failing_word() == Word{1, letters[1]});
      CHECK(verdict.said == "r" + std::to_string(right));
      CHECK(verdict.wanted == "r" + std::to_string((right + 1) % 3));
    }
  } while (std::ranges::next_permutation(letters).found);
}

TEST_CASE("questions that make no sense are refused before anything is proved") {
  const Network network = rotation(10, {0, 1, 3});
  const auto question = [&](ArithmeticName arithmetic = Precision::kFp32, Order order = {}) {
    Question asked{.subject = &network, .how = in(arithmetic, 200'000, order), .random = {.length = 10}};
    asked.how.progress = [](std::uint64_t) { throw HasBegun(); };
    return asked;
  };
  CHECK_THROWS_AS(verify(question()), HasBegun);
  Question asked = question();
  asked.random.words = 0;
  CHECK_THROWS_AS(verify(asked), InputError);
  asked = question();
  asked.against = Language{"others", remainders(10, {0, 1})};  // a letter is missing, and outputs have names
  CHECK_THROWS_AS(verify(asked), InputError);
  asked = question();
  asked.random.accepted = true;
  asked.random.length = 0;
  CHECK_THROWS_AS(verify(asked), HasBegun);  // no words are asked for
  for (const RandomTest::Through through : {RandomTest::Through::kAuto, RandomTest::Through::kStates}) {
    asked = question(Precision::kFp32, parse_order("scan"));
    asked.random.through = through;
    asked.random.must_compare = through == RandomTest::Through::kAuto;
    CHECK_THROWS_AS(verify(asked), InputError);
    asked.how.order = {};
    CHECK_THROWS_AS(verify(asked), HasBegun);
    asked.test_only = true;
    CHECK_THROWS_AS(verify(asked), InputError);
  }
  asked = question();
  asked.random.length = 0;
  asked.test_only = true;
  CHECK_THROWS_AS(verify(asked), InputError);
  asked.test_only = false;
  asked.random.must_compare = true;
  CHECK_THROWS_AS(verify(asked), InputError);
}

TEST_CASE("no accepted word of the length is told before anything is proved") {
  Network network = rotation(10, {0, 1, 3});
  const Dfa& dfa = network.automaton;
  network.automaton = Dfa::acceptor(dfa.alphabet(), {dfa.table().begin(), dfa.table().end()}, 0,
                                    std::vector<bool>(dfa.states(), false));
  Question asked{.subject = &network, .how = {.max_pairs = 200'000}, .random = {.length = 10}};
  asked.how.progress = [](std::uint64_t) { throw HasBegun(); };
  CHECK_THROWS_AS(verify(asked), HasBegun);
  asked.random.accepted = true;
  CHECK_THROWS_AS(verify(asked), InputError);
}

TEST_CASE("a wrong answer to the empty word refutes, by search and by random words") {
  /// Says 1 before the first letter and 0 after every one.
  class Wrong final : public LetterReader {
   public:
    Letter letters() const override { return 1; }
    Memory start() const override { return {0}; }
    Answer answer_at_start() const override { return {1, 1}; }
    Answer step(Letter, Memory&, bool) const override { return {0, 1}; }
  };
  const Wrong reader;
  const TrackedAutomaton tracked{automaton(1, {0}), {0}};
  const ReadModel model{reader, tracked, [](Output output) { return "says " + std::to_string(output); }};
  Question question{.subject = &model, .random = {.length = 5}};
  for (const bool test_only : {false, true}) {
    question.test_only = test_only;
    const ModelVerdict verdict = verify(question);
    CHECK(verdict.certificate.is<Refuted>());
    CHECK(*verdict.certificate.failing_word() == Word{});
    CHECK(verdict.said == "says 1");
    CHECK(verdict.has_failed_on_random_words);
  }
}

TEST_CASE("a run through states finds the letter that a run through the network finds") {
  // A line of states, and a network of it that leaves the line at its end.
  Question question{.how = {.max_pairs = 5, .long_letters = 0}};
  const auto of_line = [&](State states, std::uint64_t length, RandomTest::Through through) {
    std::vector<State> line, astray;
    for (State q = 0; q < states; ++q) {
      line.insert(line.end(), {q + 1 < states ? q + 1 : q, 0});
      astray.insert(astray.end(), {q + 1 < states ? q + 1 : 0, 0});
    }
    Network network = one_hot(automaton(2, astray));
    network.automaton = automaton(2, line);
    question.subject = &network;
    question.random.length = length;
    question.random.seed = 7;
    question.random.through = through;
    return std::pair{verify(question), network};
  };
  // Seldom are 30 letters the same: the failing word is too long to print, and named by its seed.
  const ModelVerdict none = of_line(30, 10'000'000, RandomTest::Through::kStates).first;
  CHECK(none.certificate.is<ProvedUpTo>());
  REQUIRE(none.through_states);
  CHECK_FALSE(none.through_states->failing_at);
  // 12 are.
  const auto [through, network] = of_line(12, 100'000, RandomTest::Through::kStates);
  const ModelVerdict letters = of_line(12, 100'000, RandomTest::Through::kNetwork).first;
  REQUIRE(through.certificate.is<Refuted>());
  REQUIRE(through.through_states);
  CHECK(through.certificate.failing_word() == letters.certificate.failing_word());
  CHECK(through.certificate.evidence == letters.certificate.evidence);
  CHECK(through.certificate.proof == letters.certificate.proof);
  CHECK(recheck(through.certificate, network).established);
}
