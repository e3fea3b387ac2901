// The algebra of an automaton on the command line: classify, decompose, egg-boxes.

#include "tests/tools/shell.h"

using namespace krohn::test;
using nlohmann::json;

namespace {

template <class Told>
void check_in_time(const Workplace& place, const std::string& line, double seconds, const Told& is_told) {
  const auto run = [&](double given) { return place.shell(line + " --time " + std::to_string(given)); };
  const auto wrong = [&](const Outcome& outcome, double) { return is_told(outcome) ? "" : "not told"; };
  CHECK_MESSAGE(broken_promises(seconds, run, wrong) == "", line);
}

const json& row(const json& rows, const char* key, const std::string& value) {
  for (const json& candidate : rows)
    if (candidate.at(key) == value) return candidate;
  FAIL("no row with " << key << " " << value);
  return rows;
}

}  // namespace

TEST_CASE("classify: modular arithmetic with precedence has Z_4 and Z_5, and is solvable") {
  const Workplace place("classify");
  const json facts = place.report(0, "krohn classify name:modarith5 --json").at("jobs").at(0);
  std::vector<std::string> names;
  for (const json& group : facts.at("groups")) names.push_back(group.at("name"));
  CHECK(names == std::vector<std::string>{"Z_4", "Z_5"});
  CHECK(facts.at("monoid").at("size") == 129);
  const json& architectures = facts.at("architectures");
  CHECK(row(architectures, "family", "diagonal, A in [0, 1]").at("answer") == "no");
  CHECK(row(architectures, "family", "diagonal, A in [-1, 1]").at("answer") == "no");
  CHECK(row(architectures, "family", "complex diagonal, |A| in {0, 1}").at("answer") == "yes");
}

TEST_CASE("classify tells state tracking from acceptance when their automata differ") {
  const Workplace place("two-jobs");
  // Every word is accepted, so one state decides; to track which of the two states it is takes Z_2.
  place.write("every.att", "0\t1\ta\ta\n1\t0\ta\ta\n0\n1\n");
  const json jobs = place.report(0, "krohn classify every.att --json").at("jobs");
  REQUIRE(jobs.size() == 2);
  CHECK(jobs.at(0).at("job") == "state tracking");
  CHECK(jobs.at(0).at("states") == 2);
  CHECK(row(jobs.at(0).at("architectures"), "family", "diagonal, A in [0, 1]").at("answer") == "no");
  CHECK(jobs.at(1).at("job") == "acceptance");
  CHECK(jobs.at(1).at("states") == 1);
  CHECK(row(jobs.at(1).at("architectures"), "family", "diagonal, A in [0, 1]").at("answer") == "yes");
}

TEST_CASE("a star-free language compiles to a diagonal network that is proved") {
  const Workplace place("diagonal");
  place.make("krohn compile 'regex:(a|b)*abb' --construction diagonal-unit-interval -o d.safetensors");
  place.expect(0, "krohn verify d.safetensors --precision bf16", {"proved for words of every length"});
}

TEST_CASE("diagonal models in integers: classify and smallest answer, compile takes the yes, and verify proves it") {
  const Workplace place("integers");
  struct Fact {
    std::string language, wrapping, is_unsigned, is_signed;
  };
  for (const auto& [language, wrapping, is_unsigned, is_signed] :
       {Fact{"name:Z4", "yes", "no", "yes"}, Fact{"name:Z3", "no", "no", "no"},
        Fact{"'regex:(a|b)*abb'", "yes", "yes", "yes"}}) {
    CAPTURE(language);
    const json rows = place.report(0, "krohn classify " + language + " --json").at("jobs").at(0).at("architectures");
    const json bounds = place.report(0, "krohn smallest " + language + " --json").at("bounds");
    const auto check = [&](const std::string& kind, const std::string& model, const std::string& said,
                           const std::string& arithmetic) {
      const json& answer = row(rows, "family", "diagonal, " + kind);
      CHECK(answer.at("answer") == said);
      CHECK(answer.at("checked").get<std::string>().ends_with(", in " + arithmetic) == (said == "yes"));
      const json& bound = row(bounds, "model", "diagonal layers of " + model + " integers of 8 bits");
      CHECK(bound.at("impossible") == (said == "no"));
      CHECK(bound.at("built").is_null() == (said == "no"));
    };
    check("integers that wrap around", "wrapping", wrapping, "u8");
    check("unsigned integers that saturate", "unsigned saturating", is_unsigned, "u8-saturating");
    check("signed integers that saturate", "signed saturating", is_signed, "i8-saturating");
  }
  place.expect(0, "krohn compile name:Z256 --precision u8 -o z256.safetensors",
               {"by wrapping-cells", "1 number of state", "in u8: proved for words of every length"});
  place.expect(0, "krohn verify z256.safetensors --precision u8 --certificate z256.cert",
               {"proved for words of every length"});
  place.expect(0, "krohn check z256.cert z256.safetensors --against name:Z256");
  for (const std::string order : {"--any-order", "--order scan", "--order chunked:64 --length 1000"})
    place.expect(0, "krohn verify z256.safetensors --precision u8 " + order,
                 {"in any order of evaluation, fused or not", "modulo 2^8 are a ring's"});
  place.expect(1, "krohn verify z256.safetensors --precision u16", {"refuted"});
  place.expect(1, "krohn verify z256.safetensors", {"refuted"});
  place.expect(2, "krohn verify z256.safetensors --precision i8", {"layer 0, "});
  place.expect(2, "krohn verify z256.safetensors --precision u8-saturating --any-order", {"saturates"});
  place.expect(0, "krohn compile name:Z4 --precision i8-saturating --explain -o z4.safetensors",
               {"in i8-saturating: wrapping-cells: no: ", "in i8-saturating: proved"});
  place.expect(2, "krohn compile name:Z4 --precision u8 --target onnx -o z4.onnx", {"leave out --target"});
  place.expect(2, "krohn compile name:Z4 --construction wrapping-cells -o z4.safetensors", {"take --precision u8"});
  place.expect(2, "krohn compile name:Z3 --construction wrapping-cells --precision u8 -o z3.safetensors",
               {"no construction is proved in u8"});
}

TEST_CASE("decompose by holonomy, by the chain, into primes") {
  const Workplace place("decompose");
  const json two = json::parse(place.shell("krohn decompose name:modarith5 --method holonomy --json").out);
  REQUIRE(two.at("layers").size() == 2);
  CHECK(two.at("layers").at(0).at("width") == 5);
  CHECK(two.at("layers").at(0).at("group") == "Z_4");
  CHECK(two.at("layers").at(1).at("width") == 5);
  CHECK(two.at("layers").at(1).at("group") == "Z_5");
  CHECK(two.at("emulation").at("holds") == true);
  const json chain = json::parse(place.shell("krohn decompose name:T4 --method chain --json").out);
  CHECK(chain.at("layers").size() == 3);
  const json primes = json::parse(place.shell("krohn decompose name:S4/points --primes --json").out);
  for (const json& layer : primes.at("layers")) CHECK((layer.at("width") == 2 || layer.at("width") == 3));
  place.make("krohn decompose name:T4 --draw cascade.svg");
  CHECK(contains(contents(place / "cascade.svg"), "</svg>"));
  const json simple = json::parse(place.shell("krohn decompose name:S5/points --primes --json").out);
  REQUIRE(simple.at("layers").size() == 2);
  CHECK(simple.at("layers").at(0).at("group") == "Z_2");
  CHECK(simple.at("layers").at(1).at("group") == "A_5");
  CHECK(simple.at("layers").at(1).at("width") == 60);
  const json swaps = json::parse(place.shell("krohn decompose name:S5/points --swaps --json").out);
  std::vector<int> swap_widths;
  for (const json& layer : swaps["layers"]) swap_widths.push_back(layer["width"]);
  CHECK(swap_widths == std::vector<int>{2, 2, 2, 4, 12, 5});
  CHECK(swaps["emulation"]["holds"] == true);
}

TEST_CASE("egg-boxes in the terminal and as a picture") {
  const Workplace place("egg-box");
  place.expect(0, "krohn info " KROHN_ROOT "/tests/data/mlregtest/04.04.Zp.3.1.2.att --monoid", {"group Z_3"});
  place.make("krohn draw name:T4 --eggbox -o eggbox.svg");
  CHECK(contains(contents(place / "eggbox.svg"), ">S</text>"));  // its subscript is a text of its own
}

TEST_CASE("a monoid past its limit is undecided, status 3, in one line") {
  const Workplace place("limit");
  place.expect(3, "krohn info name:T7 --monoid --max-classes 100", {"2> --max-classes"});
}

TEST_CASE("a monoid past --max-elements leaves verdicts undecided: what is known is printed, status 3") {
  const Workplace place("undecided");
  const json job = place.report(3, "krohn classify name:T5 --max-elements 100 --json").at("jobs").at(0);
  CHECK(job.at("monoid").at("size") == 3125);
  CHECK(row(job.at("verdicts"), "property", "aperiodic").at("answer") == "no");
  CHECK(row(job.at("verdicts"), "property", "locally testable").at("answer") == "no");  // it follows
  CHECK(row(job.at("verdicts"), "property", "quasi-aperiodic").at("answer") == "unknown");
  place.expect(0, "krohn classify name:T4 --json");
}

TEST_CASE("a group's structure: series, centre, classes, factors") {
  const Workplace place("group");
  const json group = json::parse(place.shell("krohn info name:A5xZ2 --json").out).at("group");
  CHECK(group.at("name") == "A_5×Z_2");
  CHECK(group.at("derived_series") == json{120, 60});
  CHECK(group.at("lower_central_series") == json{120, 60});
  CHECK(group.at("centre") == 2);
  CHECK(group.at("composition_factors") == "Z_2, A_5");
  CHECK(group.at("abelian_invariants") == json{2});
  CHECK(group.at("conjugacy_classes").size() == 10);
  CHECK(group.at("solvable") == false);
  const json dihedral = json::parse(place.shell("krohn info name:D4/points --json").out).at("group");
  CHECK(dihedral.at("nilpotent") == true);
  CHECK(dihedral.at("lower_central_series") == json{8, 2, 1});
  CHECK(dihedral.at("primitive") == false);
}

TEST_CASE("even length: a counter of positions, then resets, proved; parity is refused with a word") {
  const Workplace place("position");
  place.make("krohn compile 'regex:((a|b)(a|b))*' --construction diagonal-position -o p.safetensors");
  CHECK(contains(place.shell("krohn verify p.safetensors --precision bf16").out, "proved for words of every length"));
}

TEST_CASE("A_5 in three dimensions") {
  const Workplace place("a5");
  place.make("krohn compile name:A5 --construction orthogonal -o a5.safetensors");
  const json model = json::parse(place.shell("krohn info a5.safetensors --json").out);
  CHECK(model.at("network").at("state_numbers") == 3);
}

TEST_CASE("classify backs every yes by a network that was proved, and draws what follows from a no") {
  const Workplace place("backed");
  for (const char* language : {"name:modarith5", "name:S5/points", "'regex:(a|b)*abb'", "name:parity",
                               "'regex:((a|b)(a|b))*'", "'regex:(a|b(ab*a)*b)*'", "'regex:'", "name:T3"}) {
    CAPTURE(language);
    const json facts = place.report(0, "krohn classify " + std::string(language) + " --json");
    for (const json& job : facts.at("jobs")) {
      for (const json& architecture : job.at("architectures")) {
        CAPTURE(architecture.dump());
        const bool yes = architecture.at("answer") == "yes";
        CHECK(yes != architecture.at("checked").get<std::string>().empty());
        if (yes) CHECK_FALSE(architecture.at("construction").get<std::string>().empty());
      }
      if (row(job.at("verdicts"), "property", "aperiodic").at("answer") == "no")
        for (const char* property : {"locally testable", "definite", "reverse definite", "generalised definite",
                                     "nilpotent", "R-trivial", "J-trivial", "DA"})
          CHECK(row(job.at("verdicts"), "property", property).at("answer") == "no");
    }
  }
}

TEST_CASE("a monoid that met a limit: what the automaton decides is printed, the right option is named, status 3") {
  const Workplace place("partial");
  const json job = place.report(3, "krohn classify name:T5 --max-classes 3 --json").at("jobs").at(0);
  CHECK(contains(job.at("limit").get<std::string>(), "--max-classes"));
  CHECK(job.at("monoid").is_null());
  CHECK(row(job.at("verdicts"), "property", "group").at("answer") == "no");
  CHECK(row(job.at("verdicts"), "property", "commutative").at("answer") == "no");
  CHECK(row(job.at("verdicts"), "property", "aperiodic").at("answer") == "no");
  CHECK(row(job.at("verdicts"), "property", "nilpotent").at("answer") == "no");
  CHECK(row(job.at("verdicts"), "property", "solvable groups").at("answer") == "unknown");
  const std::string big = KROHN_ROOT "/tests/data/aalpy/tcp_server_bsd_trans.dot";
  check_in_time(place, "krohn classify " + big, 4, [](const Outcome& timed) {
    return timed.status == 3 && contains(timed.out, "--time ") && contains(timed.out, "merges states");
  });
  check_in_time(place, "krohn classify name:T12 --json", 4, [](const Outcome& timed) {
    if (!json::accept(timed.out)) return false;
    const json verdicts = json::parse(timed.out).at("jobs").at(0).at("verdicts");
    return row(verdicts, "property", "aperiodic").at("answer") == "no" &&  // by its first words
           row(verdicts, "property", "2-groups only").at("answer") == "no";
  });
  const Outcome cascade = place.expect(3, "krohn decompose " + big + " --time 1");
  CHECK(contains(cascade.out + cascade.err, "--time 1"));  // with what bounds the complexity, if that is known by then
  const json heights = place.report(3, "krohn decompose name:T4 --max-contexts 5 --json");
  CHECK(heights.at("layers").empty());
  CHECK(heights.at("holonomy").at("heights") == 3);
  CHECK(heights.at("complexity").at("at_most") == 3);
  CHECK(heights.at("limits").size() == 1);
  CHECK(contains(place.shell("krohn decompose name:T4 --max-contexts 5").out, "no cascade was built"));
  check_in_time(place, "krohn info " + big + " --monoid --json", 1, [](const Outcome& timed) {
    return timed.status == 3 && json::accept(timed.out) &&
           contains(json::parse(timed.out).at("monoid").at("limit").get<std::string>(), "--time ");
  });
}

TEST_CASE("a language without letters: every verb answers or refuses in words") {
  const Workplace place("no-letters");
  for (const char* language : {"'regex:'", "'regex:()'", "'regex:|'", "'regex:(?:)'"}) {
    CAPTURE(language);
    const std::string l = language;
    for (const std::string& command :
         {"classify " + l, "info " + l + " --monoid", "decompose " + l, "decompose " + l + " --primes",
          "compile " + l + " -o m.safetensors", "compile " + l + " --explain", std::string("verify m.safetensors"),
          std::string("verify m.safetensors --order scan"), "verify m.safetensors --against " + l,
          std::string("info m.safetensors"), std::string("run m.safetensors ''"), "run " + l + " ''",
          "draw " + l + " -o m.dot", "convert " + l + " m.json"})
      place.expect(0, "krohn " + command);
    place.expect(2, "krohn convert " + l + " m.att");
    for (const char* target : {"bilinear", "bilinear-cp", "bilinear-r2", "pd-ssm", "mamba", "fan"}) {
      place.expect(2, "krohn compile " + l + " --target " + target + " -o t.safetensors", {"no letters"});
    }
  }
}

TEST_CASE("decompose: bounds of the complexity, and tables that run the automaton") {
  const Workplace place("complexity");
  const auto bounds = [&](const std::string& language) {
    const json facts = json::parse(place.shell("krohn decompose " + language + " --json").out).at("complexity");
    return std::pair(facts.at("at_least").get<int>(), facts.at("at_most").get<int>());
  };
  CHECK(bounds("'regex:(a|b)*abb'") == std::pair(0, 0));
  CHECK(bounds("name:Z5") == std::pair(1, 1));
  CHECK(bounds("name:T3") == std::pair(2, 2));
  CHECK(bounds("name:T4") == std::pair(3, 3));
  CHECK(bounds("name:modarith5").first == 1);
  CHECK(bounds("name:modarith5").second <= 2);
  const json facts = json::parse(place.shell("krohn decompose name:modarith5 --method holonomy --json --tables").out);
  // The wiring by hand: after a letter the readout of the labels is the next state, whatever the state.
  const json info = json::parse(place.shell("krohn convert name:modarith5 m.json >&2; cat m.json").out);
  const json& layers = facts.at("layers");
  const auto read = [&](const std::vector<std::size_t>& labels) {
    std::size_t node = 0;
    for (std::size_t k = 0; k < layers.size(); ++k)
      node = facts.at("readout").at(k).at(node * layers.at(k).at("width").get<std::size_t>() + labels[k]);
    return node;
  };
  std::vector<std::size_t> labels = facts.at("initial");
  std::vector<std::vector<long>> next(static_cast<std::size_t>(facts.at("states")), std::vector<long>(20, -1));
  std::uint32_t seed = 7;
  std::size_t letters = 0;
  for (const json& action : layers.at(0).at("action_of")) letters += action.is_number();
  for (int i = 0; i < 2000; ++i) {
    seed = seed * 1664525 + 1013904223;
    std::size_t context = (seed >> 16) % letters;
    const std::size_t letter = context, from = read(labels);
    for (std::size_t k = 0; k < layers.size(); ++k) {
      const std::size_t label = labels[k], width = layers.at(k).at("width"),
                        action = layers.at(k).at("action_of").at(context);
      labels[k] = layers.at(k).at("action_tables").at(action).at(label);
      if (k + 1 < layers.size()) context = layers.at(k).at("next").at(context * width + label);
    }
    long& known = next.at(from).at(letter);
    const long to = static_cast<long>(read(labels));
    CHECK((known == -1 || known == to));  // a function of state and letter
    known = to;
  }
}

TEST_CASE("smallest: bounds beside plans, witnesses in JSON, one of LANGUAGE and --table") {
  const Workplace place("smallest");
  const json report = place.report(0, "krohn smallest name:A5/points --generators standard --json");
  for (const json& bound : report["bounds"]) {
    const bool is_of_integers = contains(bound["model"].get<std::string>(), "integers");  // of which A_5 asks too much
    CHECK(bound["impossible"] == is_of_integers);
    if (is_of_integers) continue;
    const bool meets = bound["built"] == bound["at_least"];
    CHECK(bound["optimal"] == meets);
    if (bound["model"] == "one layer, finitely many values, read in any way" && bound["counted"] == "numbers of state")
      CHECK(bound["at_least"] == 3);
  }
  CHECK(report["witnesses"]["hankel"]["minor"]["rows"].size() == 5);
  CHECK(report["witnesses"]["finitely_many_values"]["group"] == "A_5");
  const Outcome text = place.shell("krohn smallest 'regex:(a|b)*abb'");
  CHECK(contains(text.out, "optimal"));
  CHECK(contains(text.out, "gap 1"));
  const Outcome first = place.shell("krohn smallest 'regex:a(a|b)*'");
  CHECK(contains(first.out, "none      -             impossible"));
  CHECK(contains(first.out, "with e = \"a\" and f = \"b\", efe and fe differ"));
  CHECK(contains(place.shell("krohn smallest --table monoids").out, "\n| 3 | 27 | "));
}

TEST_CASE("a semigroup of a GAP text is judged whole by every verb, and what needs a first state asks for one") {
  const Workplace place("semigroup");
  place.write("hidden.g", "S := Semigroup( Transformation( [ 1, 1, 4, 3 ] ) );\n");  // Z_2, on points 3 and 4
  place.write("s.g",
              "S := Semigroup( [ Transformation( [ 3, 1, 2, 2, 5, 6 ] ), Transformation( [ 1, 1, 4, 4, 6, 5 ] ),\n"
              "  Transformation( [ 2, 1, 3, 3 ] ) ] );\n");
  const json hidden = json::parse(place.shell("krohn classify hidden.g --json").out).at("jobs");
  REQUIRE(hidden.size() == 1);
  CHECK(hidden.at(0).at("job") == "state tracking from every state");
  CHECK(row(hidden.at(0).at("verdicts"), "property", "aperiodic").at("answer") == "no");
  CHECK(row(hidden.at(0).at("architectures"), "family", "diagonal, A in [0, 1]").at("answer") == "no");
  CHECK(row(hidden.at(0).at("architectures"), "family", "diagonal, A in [-1, 1]").at("answer") == "yes");
  CHECK(hidden.at(0).at("monoid").at("size") == 3);
  const json layers = json::parse(place.shell("krohn decompose hidden.g --json").out);
  CHECK(layers.at("emulation").at("holds") == true);
  CHECK(contains(layers.at("layers").dump(), "Z_2"));
  CHECK(contains(place.shell("krohn decompose hidden.g --method chain --primes --swaps").out, "emulation proved"));
  const json facts = json::parse(place.shell("krohn info hidden.g --monoid --json").out);
  CHECK(facts.at("has_start") == false);
  CHECK(facts.at("reachable_states") == 4);
  CHECK(facts.at("monoid").at("size") == 3);
  CHECK(contains(place.shell("krohn info hidden.g --monoid").out, "transition monoid of all states: 3 elements"));
  CHECK(json::parse(place.shell("krohn elements hidden.g --json").out).at("monoid_size") == 3);
  place.expect(0, "krohn draw hidden.g --eggbox -o h.svg");
  place.expect(0, "krohn draw hidden.g -o hidden.svg");

  const json whole = json::parse(place.shell("krohn classify s.g --json").out).at("jobs").at(0);
  CHECK(whole.at("monoid").at("size") == 63);
  CHECK(whole.at("monoid").at("d_classes") == 4);
  std::vector<int> orders;
  for (const json& group : whole.at("groups")) orders.push_back(group.at("order"));
  std::sort(orders.begin(), orders.end());
  CHECK(orders == std::vector<int>{2, 4, 6});

  CHECK(contains(place.shell("krohn convert hidden.g h.json").err, "says that point 1 is initial"));
  CHECK(place.shell("krohn convert hidden.g back.g").err == "");
  CHECK_FALSE(contains(contents(place / "back.g"), "initial"));
}

TEST_CASE("a verb that leaves states out says so first") {
  const Workplace place("left-out");
  place.write("x.dot",
              "digraph { __start0 [shape=none]; __start0 -> p; p [shape=doublecircle]; p -> p [label=a];\n"
              "q -> r [label=a]; r -> q [label=a]; }\n");
  const std::string says = "x.dot: states q, r are never reached from p and left out\n";
  for (const char* line : {"classify x.dot", "decompose x.dot", "info x.dot", "smallest x.dot --task state",
                           "compile x.dot --task state -o m.safetensors", "report x.dot -o r.html"}) {
    CAPTURE(line);
    const Outcome outcome = place.expect(0, std::string("krohn ") + line);
    CHECK(outcome.out.starts_with(says));
  }
  for (const char* line : {"classify x.dot --json", "decompose x.dot --json", "info x.dot --json",
                           "draw x.dot --view cascade -o x.svg", "draw x.dot --eggbox -o x.svg"}) {
    CAPTURE(line);
    CHECK(contains(place.shell(std::string("krohn ") + line).err, "krohn: " + says));
  }
  CHECK(json::parse(place.shell("krohn classify x.dot --json").out).at("states_left_out") == 2);
  for (const char* line :
       {"elements x.dot", "draw x.dot -o y.svg", "run x.dot a", "words x.dot", "classify name:parity"}) {
    CAPTURE(line);
    const Outcome outcome = place.shell(std::string("krohn ") + line);
    CHECK_FALSE(contains(outcome.out + outcome.err, "left out"));
  }
}

TEST_CASE("classify and info say whether an automaton is synchronising, and by which word") {
  const Workplace place("synchronising");
  place.write("cerny4.json", R"({"format":"krohn automaton","version":1,"alphabet":["a","b"],"states":4,"initial":0,
 "accepting":[0],"transitions":[[1,1],[2,1],[3,2],[0,3]]})");
  CHECK(contains(place.shell("krohn classify cerny4.json").out, "by \"baaabaaab\", 9 letters, the shortest"));
  const json facts = json::parse(place.shell("krohn info cerny4.json --json").out).at("synchronising");
  CHECK(facts.at("answer") == "yes");
  CHECK(facts.at("word") == "baaabaaab");
  CHECK(facts.at("shortest") == true);
  CHECK(contains(place.shell("krohn info name:parity").out, "no, no word takes states 0 and 1 to one"));
}
