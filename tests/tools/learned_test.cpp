// The contents of a trained network, as a person asks for them: extract, compare, snap, and the plots.

#include "tests/tools/shell.h"
#include "tools/krohn/pictures/pictures.h"

using namespace krohn::test;
using nlohmann::json;

TEST_CASE("extract writes the minimal automaton of a compiled language") {
  const Workplace place("extract");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  place.make("krohn convert 'regex:(a|b)*abb' minimal.json --minimal");
  const json found =
      json::parse(place.shell("krohn extract abb.safetensors -o again.json --against 'regex:(b|a)*abb' --json").out);
  CHECK(found["states"] == 4);
  CHECK(found["exact"] == true);
  CHECK(found["equal"] == true);
  CHECK(contents(place / "again.json") == contents(place / "minimal.json"));
  place.expect(1, "krohn extract abb.safetensors -o other.dot --against 'regex:(a|b)*ab'",
               {"the extracted automaton differs from regex:(a|b)*ab on \"ab\""});
  place.expect(3, "krohn extract abb.safetensors -o few.dot --most 3");
  CHECK(!std::filesystem::exists(place / "few.dot"));
}

TEST_CASE("extract says before the work what it cannot write or hold, and an interrupt ends it within a word") {
  const Workplace place("extract-early");
  place.make("krohn train parity --model bilinear:full,hidden=4,inputs=2 --steps 0 -o run");
  for (const char* subject : {"run", "z7.safetensors"}) {
    CAPTURE(subject);
    place.make("krohn compile name:Z7 --construction rotation -o z7.safetensors");
    const auto start = std::chrono::steady_clock::now();
    const Outcome stopped = place.shell(fmt::format(
        "timeout -s INT 1 '" KROHN_COMMAND "' extract {} -o x.dot --length 2 --beyond 1e8 --precision fp32", subject));
    CHECK(contains(stopped.err, "interrupted"));
    CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(10));
    CHECK(!std::filesystem::exists(place / "x.dot"));
    const Outcome timed = place.expect(
        3, fmt::format("krohn extract {} -o timed.dot --length 2 --beyond 1e8 --precision fp32 --time 1", subject));
    CHECK(contains(timed.out + timed.err, "the time is over (--time 1)"));
  }
}

TEST_CASE("verify refutes what drifts by a long word, and writes it down") {
  const Workplace place("long-words");
  place.make("krohn compile name:Z7 --construction rotation -o z7.safetensors");
  const json verdict = place.report(
      1, "krohn verify z7.safetensors --precision bf16 --max-pairs 1000 --certificate z7.json --json")["verdict"];
  CHECK(verdict["method"] == "long words");
  CHECK(verdict["shortest"] == false);
  place.expect(0, "krohn check z7.json z7.safetensors", {"refuted"});
}

TEST_CASE("compare finds the turns of a rotation, and draws them") {
  const Workplace place("compare");
  place.make("krohn compile name:Z5 --construction rotation -o rotation.safetensors");
  place.make("krohn compile name:Z5 --construction permutation -o permutation.safetensors");
  place.make("krohn compile name:S3 --construction cascade-holonomy -o layers.safetensors");
  place.make("krohn compile 'regex:(a|b)*abb' -o abb.safetensors");
  const Outcome compared =
      place.expect(0, "krohn compare rotation.safetensors permutation.safetensors --plot planes.svg --json");
  const json letters = json::parse(compared.out)["letters"];
  CHECK(letters.size() >= 1);
  for (const json& letter : letters) {
    CHECK(letter["spectral_radius"].get<double>() == doctest::Approx(1));
    for (const json& mode : letter["modes"]) {
      CHECK(mode["off"].get<double>() < 1e-9);
      CHECK(mode["distance"].get<double>() < 1e-9);
    }
  }
  CHECK(contains(contents(place / "planes.svg"), "plane 1"));
  place.expect(0, "krohn compare permutation.safetensors rotation.safetensors --plot circles.svg");
  CHECK(contains(contents(place / "circles.svg"), "letter "));
  CHECK(!contains(compared.out, "differ_on"));
  place.make("krohn compile 'regex:(a|b)*ab' -o ab.safetensors");
  CHECK(contains(place.shell("krohn compare abb.safetensors ab.safetensors").out,
                 "they are of different languages, such as on \"ab\" (2 letters)"));
  CHECK(json::parse(place.shell("krohn compare abb.safetensors ab.safetensors --json").out)["differ_on"] == "ab");
}

TEST_CASE("snap proves what it writes") {
  const Workplace place("snap");
  place.make("krohn compile name:Z5 --construction rotation -o rotation.safetensors");
  const json found = place.report(0, "krohn snap rotation.safetensors -o exact.safetensors --against name:Z5 --json");
  CHECK(found["verdict"]["claim"] == "proved");
  CHECK(found["equal"] == true);
  for (const json& letter : found["letters"]) CHECK(letter["distance"].get<double>() < 1e-5);
  place.expect(0, "krohn verify exact.safetensors --against name:Z5");
  // Perturbed, it follows Z_5 on short words and soon no automaton of 250 states.
  place.make(
      "krohn train modadd5 --model bilinear:block=8,hidden=16,inputs=8 --init rotation.safetensors --perturb 0.05 "
      "--steps 0 -o run");
  place.expect(0, "krohn snap run -o exact.safetensors --length 32 --against name:Z5",
               {"computes name:Z5", "on the words of up to 16 letters", "more than 250 states"});
  // Far fewer are read than there are words of so many letters.
  place.expect(0, "krohn extract run -o learned.dot --length 16", {"begins one of them"});
}

TEST_CASE("a trained model that is no network is verified, extracted, snapped and compared") {
  const Workplace place("trained");
  place.make(
      "krohn train parity --model deltaproduct:signed,width=16,heads=1,mlp=0 --rates 1e-2 --steps 2000 "
      "--schedule cosine --stop-at 0 --threads 1 -o run");
  CHECK(!std::filesystem::exists(place / "run/network.safetensors"));
  const json verdict = place.report(1, "krohn verify run --max-pairs 20000 --json");
  CHECK(verdict["verdict"]["claim"] == "refuted");
  CHECK(verdict["verdict"]["shortest"] == false);
  CHECK(verdict["verdict"]["failing_word_length"].get<int>() > 40);  // the lengths of training are right
  CHECK(verdict["answers"]["model"] != verdict["answers"]["automaton"]);
  // The word again: its parity is what the automaton says.
  const std::string word = verdict["verdict"]["failing_word"];
  CHECK((verdict["answers"]["automaton"] == "accept") == (count(word, "1") % 2 == 1));
  CHECK(contains(place.shell("krohn verify run/parameters.safetensors --max-pairs 20000").out, "the model says"));
  // Held against the even words it is wrong at once, and no shorter word is.
  place.write("even.dot",
              "digraph { node [shape=circle]; e [shape=doublecircle]; i [shape=point]; i -> e; e -> e [label=\"0\"]; "
              "o -> o [label=\"0\"]; e -> o [label=\"1\"]; o -> e [label=\"1\"]; }");
  const json even = json::parse(place.shell("krohn verify run --against even.dot --json").out)["verdict"];
  CHECK(even["failing_word_length"] == 1);
  CHECK(even["shortest"] == true);

  // Both refutations have files, about the operations of the run's own tensors and a language of their own.
  for (const std::string against : {"", " --against even.dot"}) {
    place.expect(1, "krohn verify run --max-pairs 20000 --certificate run.cert" + against);
    place.expect(0, "krohn check run.cert run" + against,
                 {": established: refuted: wrong on",
                  against.empty() ? "which asks for an answer in" : "even.dot: the language of the certificate"});
  }
  place.expect(1, "krohn check run.cert run --against name:parity");  // it is another language
  place.expect(3, "krohn verify run --max-pairs 100 --long-letters 0 --certificate run.cert");
  CHECK(contains(place.shell("krohn check run.cert run/parameters.safetensors").out,
                 ": established: proved for words of up"));
  place.make("krohn compile name:parity -o parity.safetensors");
  place.expect(2, "krohn check run.cert parity.safetensors", {"a model that is no network"});

  const std::string extract = "krohn extract run -o learned.json --length 32 --against name:parity --json";
  json learned = place.report(1, extract);
  CHECK(learned["states"] == 2);
  CHECK(place.report(1, extract + " --threads 1 --device cpu") == learned);
  const Outcome there = place.shell("rm learned.json; " + extract + " --device cuda");
  if (there.status != 2) {
    CHECK(json::parse(there.out) == learned);
  } else {
    CHECK(contains(there.err, "CUDA: "));
    CHECK(!std::filesystem::exists(place / "learned.json"));
  }
  place.expect(0, "krohn snap run -o exact.safetensors --length 32 --against name:parity",
               {"its own read-out included"});
  place.expect(0, "krohn verify exact.safetensors --against name:parity");

  const json sides = place.report(0, "krohn compare run exact.safetensors --plot circles.svg --json");
  CHECK(sides["alive"].get<int>() < sides["coordinates"].get<int>());
  const json& one = sides["letters"][1];
  CHECK(one["letter"] == "1");
  CHECK(one["betas"].size() == 1);
  CHECK(one["betas"][0].get<double>() == doctest::Approx(2).epsilon(0.05));
  CHECK(one["modes"][0]["nearest_turn"] == json::array({1, 2}));
  CHECK(contains(contents(place / "circles.svg"), "letter 1"));
}

TEST_CASE("words below --from are not asked about") {
  const Workplace place("from");
  place.make("krohn train ltrarith2 --model dense:size=2 --steps 1 --threads 1 -o run");
  const auto failing_length = [&](const std::string& options) {
    return place.report(1, "krohn verify run --json" + options)["verdict"]["failing_word_length"].get<int>();
  };
  CHECK(failing_length("") < 5);            // one or two integers: "1", "1+1"
  CHECK(failing_length(" --from 3") >= 5);  // three, with two operators
  // Questions that were not asked are named for every model, also of those whose functions no certificate states.
  for (const char* const model : {"fan:layers=2,blocks=1,size=2,norm=1.2", "rnn:hidden=2"}) {
    place.make(fmt::format("krohn train modadd1 --model {} --steps 0 --threads 1 -o {}", model, model));
    const Outcome some = place.shell(fmt::format("krohn verify {} --from 50 --max-pairs 100 --long-letters 0", model));
    CHECK(contains(some.out, "proved"));
    CHECK(contains(some.out, "not of words that are not asked about, such as"));
  }
  place.expect(2, "krohn verify run --from 1e9 --time 1", {"--from: "});
}

TEST_CASE("the folder of a linear model is the trained model in it, for every verb") {
  const Workplace place("linear-run");
  place.make(
      "krohn train modadd2 --model bilinear:full,hidden=8,inputs=8,spread=0.1 --steps 2000 --rates 3e-3 "
      "--smoothing 0.1 --schedule cosine --stop-at 0 --threads 1 -o run");
  const auto without_first = [](const std::string& text) { return text.substr(text.find(": ")); };
  const Outcome folder = place.shell("krohn verify run --max-pairs 1000"),
                file = place.shell("krohn verify run/parameters.safetensors --max-pairs 1000");
  CHECK(folder.status == file.status);
  CHECK(without_first(folder.out) == without_first(file.out));
  CHECK(contains(folder.out, "letter after letter"));
  place.expect(0, "krohn extract run -o learned.dot --length 8");
  place.expect(0, "krohn snap run -o exact.safetensors --length 8");
  // Its recurrence with another decoder is a network, by its own name.
  CHECK(contains(place.shell("krohn verify run/network.safetensors --max-pairs 1000").out, "structured weights"));
  CHECK(contains(contents(place / "run/network.safetensors"), "nearest codewords in place of its read-out"));
  const json run = json::parse(contents(place / "run/run.json"));
  const json& test = run["runs"][0]["test"];
  CHECK(test["length"] == 500);
  CHECK(test["answers"] == 100);
  CHECK(test["reading"] == "as trained");
  // The same words by eval, which is told which function it measures.
  const json again = json::parse(place.shell("krohn eval run --lengths 500 --words 100 --json").out);
  CHECK(again["lengths"][0]["right"] == test["right"]);
  CHECK(again["reading"] == "as trained");
  CHECK(contains(place.shell("krohn eval run --lengths 50 --words 10 --rescaled").out, "another function"));
}

TEST_CASE("verify, eval and compare speak of the trained model whose states grow") {
  const Workplace place("growing");
  std::filesystem::create_directory(place / "run");
  std::filesystem::copy_file(std::string(KROHN_TEST_DATA) + "/networks/trained-parity.safetensors",
                             place / "run/parameters.safetensors");
  const json verdict = place.report(1, "krohn verify run --max-pairs 20000 --json")["verdict"];
  CHECK(verdict["failing_word_length"].get<int>() > 60);  // nearest codewords tie at 0^39
  const json measured = json::parse(place.shell("krohn eval run --lengths 39,500 --words 50 --json").out);
  CHECK(measured["lengths"][0]["words_right"] == 50);
  CHECK(measured["lengths"][1]["words_right"] == 0);  // fp32 overflows
  const json rescaled = json::parse(place.shell("krohn eval run --lengths 500 --words 50 --json --rescaled").out);
  CHECK(rescaled["lengths"][0]["words_right"] == 50);
  CHECK(contains(rescaled["reading"].get<std::string>(), "another function"));
  place.make("krohn compile name:parity -o exact.safetensors");
  const json compared = json::parse(place.shell("krohn compare run exact.safetensors --json").out);
  REQUIRE(compared["margins"].size() > 4);
  const json &before = compared["margins"][3], &last = compared["margins"].back();
  CHECK(before["letters"] == json::array({8, 15}));
  CHECK(before["least_margin"].get<double>() > 1);
  CHECK(last["letters"][1] == compared["failing_word_length"]);
  CHECK(contains(place.shell("krohn compare run exact.safetensors").out, "margin of the read-out"));
}

TEST_CASE("accuracy by length is drawn with its intervals") {
  krohn::AccuracyPicture picture{
      "a <title>", {{"one", {{10, 1, 0.98, 1}, {1000, 0.5, 0.4, 0.6}, {1'000'000, 0, -0.1, 0.1}}}}, {2, 10}};
  const std::string svg = krohn::accuracy_plot(picture).finished();
  CHECK(svg.starts_with("<svg"));
  CHECK(svg.ends_with("</svg>\n"));
  CHECK(contains(svg, "a &lt;title&gt;"));
  CHECK(contains(svg, "10⁶"));
  CHECK(contains(svg, ">chance<"));
  CHECK(contains(svg, ">trained<"));
  CHECK(!contains(svg, ">one<"));  // names tell several curves apart
  CHECK(count(svg, "<circle") == 3);
  CHECK(count(svg, "<polyline") == 1);

  picture.curves.push_back({"two", {{10, 1, 1, 1}}});
  picture.has_chance = false;
  picture.x_title = "words trained on";
  const std::string two = krohn::accuracy_plot(picture).finished();
  CHECK(contains(two, ">one<"));
  CHECK(contains(two, ">two<"));
  CHECK(contains(two, ">words trained on<"));
  CHECK(!contains(two, ">chance<"));
  CHECK(count(two, "<polyline") == 2);
}

TEST_CASE("a long title of a plot is broken, and none of it is lost") {
  std::string title = "S3/swaps: deltaproduct:layers=1,width=16,heads=1,keys=16,values=16,reflections=1,signed,mlp=32";
  for (const std::string& whole : {title, std::string(74, 'x'), std::string(75, 'x'), std::string(200, 'x')}) {
    const std::string svg = krohn::accuracy_plot({whole, {{"one", {{10, 1, 1, 1}}}}, {}}).finished();
    std::string read;
    for (std::size_t at = 0; (at = svg.find("font-size=\"14\"", at)) != std::string::npos;) {
      const std::size_t begin = svg.find('>', at) + 1, end = svg.find('<', begin);
      CHECK(end - begin <= 74);
      read += svg.substr(begin, end - begin);
      at = end;
    }
    CHECK(read == whole);
    CHECK(!contains(svg, ">trained<"));
  }
}

TEST_CASE("plots are SVG, PNG or PDF, of one run or several, with every name in the legend") {
  const Workplace place("plots");
  const std::string train = "krohn train parity --length 2..20 --steps 2 --model bilinear:inputs=3,hidden=";
  place.make(train + "2 -o small && " + train + "3 -o large");
  const std::string eval = "krohn eval small large --lengths 10,100 --words 2 ";
  place.make(eval + "--plot a.svg && " + eval + "--plot a.png && " + eval + "--plot a.pdf");
  const std::string svg = contents(place / "a.svg");
  for (const char* text : {">small: bilinear:full,hidden=2,inputs=3<", ">large: bilinear:full,hidden=3,inputs=3<",
                           ">trained<", ">parity<", ">scaled accuracy<"}) {
    CAPTURE(text);
    CHECK(contains(svg, text));
  }
  CHECK(contents(place / "a.png").starts_with("\x89PNG"));
  CHECK(contents(place / "a.pdf").starts_with("%PDF"));
  CHECK(contents(place / "a.png").size() > 5'000);
  const json both = json::parse(place.shell(eval + "--json").out),
             one = json::parse(place.shell("krohn eval large --lengths 10,100 --words 2 --json").out);
  REQUIRE(both["runs"].size() == 2);
  CHECK(both["runs"][1]["folder"] == "large");
  CHECK(both["runs"][1]["lengths"] == one["lengths"]);
  place.expect(2, eval + "--plot a.gif", {".svg, .png or .pdf"});
  // Runs that were trained on different lengths share no band.
  place.make("krohn train parity --length 2..30 --steps 2 --model bilinear:inputs=3,hidden=2 -o longer");
  place.make("krohn eval small longer --lengths 10 --words 2 --plot b.svg");
  CHECK(!contains(contents(place / "b.svg"), ">trained<"));
}

TEST_CASE("a plot shades the lengths that the run was trained on, not the paper's") {
  const Workplace place("shaded");
  place.make("krohn train S3/swaps --model bilinear:hidden=4,inputs=4 --length 2..20 --steps 2 -o run");
  place.make("krohn eval run --lengths 10,1000 --words 2 --plot a.svg");
  // Three decades on 544 pixels, from 64 on.
  CHECK(contains(contents(place / "a.svg"), "<rect x=\"118.59\""));
  CHECK(contains(contents(place / "a.svg"), "width=\"181.33\""));
  std::filesystem::remove(place / "run/run.json");
  place.make("krohn eval run --lengths 10,1000 --words 2 --plot b.svg");
  CHECK(!contains(contents(place / "b.svg"), ">trained<"));
  place.write("run/run.json", "{\"lengths\": 3}");
  place.expect(2, "krohn eval run --lengths 10 --words 2 --plot c.svg");
  CHECK(!std::filesystem::exists(place / "c.svg"));
}

TEST_CASE("a table goes on after the cells that are there") {
  const Workplace place("table");
  const std::string line =
      "krohn table ebrahimi2 --only 'H = 2' --lengths 400 -o cells --json --rescaled";  // 200 short runs of two samples
  const Outcome first = place.expect(0, line);
  const json cells = json::parse(first.out)["cells"];
  REQUIRE(cells.size() == 1);
  CHECK(cells[0]["runs"].size() == 200);
  CHECK(cells[0]["seeds"].size() == 200);
  CHECK(contains(cells[0]["reading"].get<std::string>(), "another function"));
  CHECK(cells[0]["claim"] == "");
  CHECK(cells[0]["expected_share"].get<double>() == doctest::Approx(1 - 0.75 * 0.75));
  CHECK(cells[0]["holding_runs"].get<int>() > 20);
  CHECK(cells[0]["holding_runs"].get<int>() < 200 * (1 - 0.75 * 0.75));  // theory bounds what can work at all
  CHECK(place.shell(line).out == first.out);                             // seconds too: nothing was trained again
  CHECK(place.shell(line + " --examine-again").out == first.out);        // nor with its models read again
  std::string file;
  std::size_t models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(place / "cells")) {
    if (entry.path().extension() == ".json") file = entry.path().filename().string();
    models += entry.path().extension() == ".safetensors";
  }
  CHECK(models == 200);
  // The same models as they are: most states have grown past fp32, or died out, in 400 letters.
  const json as_trained =
      json::parse(place.shell("krohn table ebrahimi2 --only 'H = 2' --lengths 400 -o cells --json").out)["cells"];
  CHECK(as_trained[0]["reading"] == "as trained");
  CHECK(as_trained[0]["claim"] != "");
  CHECK(as_trained[0]["holding_runs"].get<int>() < cells[0]["holding_runs"].get<int>());
  place.write("cells/" + file, "{}");
  place.expect(2, line);
}
