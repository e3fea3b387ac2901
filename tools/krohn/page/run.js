// The parts that only the page of a run or a checkpoint shows: accuracy, eigenvalues, the learned automaton, margins.

/// The model, operation by operation, as its certificate states it, or the page's data where it has none.
function evaluatorOf(automaton) {
  const {evaluator, certificate} = DATA;
  if (evaluator.absent) refuse(evaluator.absent);
  const steps = new Steps(certificate.text ?? evaluator.steps);
  if (certificate.text) steps.read();  // past the claim
  const net = new Operations(bytesOf(evaluator.bytes), evaluator.arithmetic, steps);
  net.follow(automaton.letters, DATA.model.kind === "checkpoint" ? "token" : "answer");
  return net;
}

/// Shows the model's memory and its logits, the greatest marked.
function modelPanes(net, memory) {
  if (memory.broken) return [element("p", {class: "wrong"}, `It computes nothing any more: ${memory.broken}.`)];
  const bars = memory.logits === null ? element("p", {class: "small"}, "It has read nothing yet, so there are no logits.") : logitBars(net, memory);
  return [element("h3", {}, `Remembers ${many(memory.numbers.length, "number")}`),
          heatMap({n: memory.numbers.length, d: 1, a: net.a, words: [memory.numbers]}, memory.numbers),
          element("h3", {}, "Logits"), bars,
          element("p", {class: "small"}, `${net.a.name}, ${DATA.model.kind === "run" ? "letter after letter" : "token by token"}, every operation rounded as the certificate states it; point at a cell for its bits.`)];
}

function logitBars(net, {logits, answer, right}) {
  const most = 40, numbers = Array.from(logits), greatest = Math.max(1e-300, ...numbers.map(Math.abs)), wanted = right === null ? null : net.truth.wanted[right];
  const named = numbers.map((value, i) => ({value, i})).sort((x, y) => numbers.length > most ? y.value - x.value : 0).slice(0, most);
  const rows = named.map(({value, i}) => element("tr", {class: i === answer ? i === wanted ? "right" : "wrong" : ""},
    element("td", {}, `${net.nameOf(i)}${i === wanted ? " ←" : ""}`), element("td", {}, shown(value)),
    element("td", {class: "bar"}, element("span", {class: value < 0 ? "negative" : "positive", style: `width: ${(Math.abs(value) / greatest * 100).toFixed(1)}%`}))));
  const more = numbers.length > most ? [element("p", {class: "small"}, `and ${numbers.length - most} lesser ones`)] : [];
  return element("div", {}, element("table", {class: "logits"}, element("tbody", {}, ...rows)), ...more);
}

const many = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
const percent = (part, all) => `${(100 * part / all).toFixed(part === all ? 0 : 1)} %`;

/// "of every length up to 100, 300 the first with a wrong word"
function horizonInWords(lengths) {
  const wrong = lengths.find(at => at.words_right < at.words), before = lengths.filter(at => !wrong || at.length < wrong.length);
  const right = before.length > 0 ? `Horizon of the samples: every word was right throughout up to length ${before.at(-1).length.toLocaleString("en")}` : "No sampled length was right throughout";
  return wrong ? `${right}; at length ${wrong.length.toLocaleString("en")}, ${wrong.words - wrong.words_right} of ${wrong.words} words were not.` : `${right}, the greatest that was tried.`;
}

function provedInWords() {
  const {claim, length, failing_word_length: failing, shortest, not_asked: other} = DATA.verdict.verdict;
  const but = other === undefined ? "" : `, but for words that are not asked about, such as “${other}”`;
  if (claim === "proved") return `Proved for words of every length${but}.`;
  if (claim === "proved up to a length") return `Proved for words of up to ${many(length, "letter")}${but}.`;
  if (claim === "refuted") return failing === undefined ? "Refuted." : `Refuted by a word of ${many(failing, "letter")}${shortest ? ", and no shorter word fails" : ""}.`;
  return "Nothing is proved for any length.";
}

function showAccuracy(target, accuracy) {
  const {training} = DATA, {lengths, reading, words, seed, trained} = accuracy;
  target.append(element("p", {}, `${horizonInWords(lengths)} ${provedInWords()}`), plotOf(accuracy.svg));
  const rows = lengths.map(at => ({cells: [at.length.toLocaleString("en"), at.scaled_accuracy.toFixed(4), `${at.low.toFixed(4)} … ${at.high.toFixed(4)}`, percent(at.words_right, at.words)]}));
  target.append(scrolled(table(["length", "scaled accuracy", "95 % interval", "words right throughout"], rows,
    `${words} samples of every length, seed ${seed}, ${reading}; 0 is chance, 1 perfect${trained[1] > 0 ? `; trained on lengths ${trained[0]} to ${trained[1]}` : ""}.`), true));
  if (!training?.runs) return;
  const runs = training.runs.map(run => ({mark: run.best ? "chosen" : "", cells: [run.rate, run.seed, run.steps.toLocaleString("en"), run.state, run.validation_loss === null ? "none" : shown(run.validation_loss),
    run.test ? `${run.test.scaled_accuracy.toFixed(4)} at ${run.test.length}` : ""]}));
  target.append(element("details", {}, element("summary", {}, `Training: ${training.model}, ${training.parameters.toLocaleString("en")} parameters`),
    scrolled(table(["rate", "seed", "steps", "end", "validation loss", "scaled accuracy in the run’s own test"], runs))));
}

const scrolled = (made, isNarrow = false) => element("div", {class: isNarrow ? "scroll narrow" : "scroll"}, made);
const plotOf = text => {
  const svg = picture(text), made = element("div", {class: "plot"});
  svg?.setAttribute("role", "img");
  made.append(svg ?? "");
  return made;
};

function showSpectrum(target, spectrum) {
  const turn = ([p, q]) => q === 1 && p === 0 ? "0" : `${p}/${q}`, polar = ([x, y]) => `${Math.hypot(x, y).toFixed(4)} at ${(Math.atan2(y, x) / 2 / Math.PI).toFixed(4)}`;
  const rows = spectrum.letters.flatMap(({letter, modes = [], spectral_radius: radius}) => modes.filter(mode => mode.turn >= 0).slice(0, 12).map((mode, i) => ({
    cells: [i === 0 ? letter : "", i === 0 ? radius.toFixed(4) : "", `${mode.weight.toFixed(2)}${mode.modes > 1 ? ` ×${mode.modes}` : ""}`, mode.modulus.toFixed(4), mode.turn.toFixed(5), turn(mode.nearest_turn), mode.off.toFixed(5), polar(mode.nearest)]})));
  target.append(plotOf(spectrum.svg), scrolled(table(["letter", "spectral radius", "weight", "modulus", "turn", "exact turn", "off by", "nearest of the exact network"], rows,
    `Against ${spectrum.construction}; a mode weighs by how far the mean states of the automaton move along it. ${spectrum.coordinates - spectrum.alive} of ${spectrum.coordinates} coordinates are dead. Of a conjugate pair one is shown.`)));
}

function showLearned(target, learned) {
  const {differences: {edges, outputs, states, left_out: leftOut}, beyond} = learned, isEqual = edges.length + outputs.length === 0;
  const evidence = learned.exact ? "equal on words of every length" : `it agrees with the model on ${learned.words.toLocaleString("en")} words of up to ${learned.length} letters`;
  const follows = learned.exact ? "The model follows" : beyond ? "On short words the model follows" : "On all words that were read the model follows";
  target.append(element("p", {class: isEqual ? "" : "wrong"}, isEqual ? `${follows} the true automaton, ${many(states, "state")} (${evidence}).`
    : `${follows} another automaton, of ${many(states, "state")} (${evidence}), in which ${many(edges.length + leftOut, "edge")} and ${many(outputs.length, "output")} differ${learned.differs_on === undefined ? "" : `; a shortest word is ${learned.differs_on}`}.`));
  if (beyond) target.append(element("p", {}, `It stops following that automaton: after ${beyond.word} it says “${beyond.model}”, and the automaton “${beyond.automaton}”.`));
  if (learned.limit) target.append(element("p", {class: "small"}, learned.limit));
  target.append(element("div", {class: "panes even"}, learnedPicture("The model's automaton", learned.picture, edges, outputs), learnedPicture("The right automaton", DATA.automaton.picture, [], [])));
  if (isEqual) return;
  const rows = [...outputs.map(({state, stands_for: due, says, right}) => ({cells: [state, "", `says “${says}”`, `“${right}”, as state ${due}`]})),
                ...edges.slice(0, 200).map(({from, letter, to, stands_for: other, due}) => ({cells: [from, letter, `${to}, which stands for ${other}`, `one that stands for ${due}`]}))];
  target.append(element("details", {}, element("summary", {}, "Where they differ"), scrolled(table(["state", "letter", "goes to", "should be"], rows,
    "Each learned state stands for the true one to which its shortest word leads."))));
}

function learnedPicture(caption, drawn, edges, outputs) {
  const svg = drawn && picture(drawn.svg), made = element("figure", {class: "learned"}, element("figcaption", {}, caption), svg ? svg : element("p", {class: "small"}, "too many states to draw one by one"));
  if (!svg || !drawn.has_states) return made;
  svg.removeAttribute("width"), svg.removeAttribute("height");
  svg.style.maxWidth = `${svg.viewBox.baseVal.width * 1.4}px`;
  const states = new Set(outputs.map(({state}) => String(state)));
  const groups = new Map([...svg.querySelectorAll("g.edge")].map(group => [group.querySelector("title")?.textContent, group]));
  for (const {from, to} of edges) (groups.get(`${from}->${to}`) ?? groups.get(`${to}->${from}`))?.classList.add("differs");
  svg.querySelectorAll("g.node").forEach(group => { if (states.has(group.querySelector("title")?.textContent)) group.classList.add("differs"); });
  return made;
}

function showMargins(target, margins) {
  const rows = margins.rows.map(({first, last, margin, after, state_norm: norm}, i) => ({mark: margins.fails && i + 1 === margins.rows.length ? "wrong" : "",
    cells: [first === last ? first.toLocaleString("en") : `${first.toLocaleString("en")} to ${last.toLocaleString("en")}`, shown(margin), after.toLocaleString("en"), norm === null ? "not finite" : shown(norm)]}));
  target.append(element("p", {}, `Along ${margins.fails ? "the failing word" : "a random word"}: ${margins.word}`),
    scrolled(table(["letters", "least margin", "after", "norm of the state"], rows, "The margin is the difference of the two best logits; the least one among the letters of every stretch."), true));
}

function showRun() {
  if (!DATA.model) return;
  $("trace-pane").querySelector("figcaption").textContent = "Margin of the read-out: how far the second logit is behind the first";
  $("network-pane").querySelector("figcaption").textContent = "Model";
  $("stepper-title").textContent = "Automaton and model, letter by letter";
  for (const [id, show] of Object.entries({accuracy: showAccuracy, spectrum: showSpectrum, learned: showLearned, margins: showMargins})) {
    $(id).hidden = false;
    if (DATA[id].absent) $(`${id}-parts`).append(element("p", {}, `Not here: ${DATA[id].absent}.`));
    else show($(`${id}-parts`), DATA[id]);
  }
}

// ---- Everything, in order; what breaks is said

try {
  // A notebook's page has nothing but the stepper.
  if (DATA.stepped) for (const id of ["verdict", "trust", "classes", "costs", "repeat"]) $(id).hidden = true;
  showVerdict(), showClasses(), showCosts(), showAlgebra(), showRepeat(), showRun();
  const loaded = load();
  if (loaded.automaton) new Stepper(loaded);
  else $("stepper").replaceChildren($("stepper-title"), element("p", {}, `Not here: ${loaded.why}.`));
  showTrust({net: null, ...loaded});
} catch (error) {
  $("broken").hidden = false;
  $("broken").textContent = `This page is broken: ${error.message}`;
}
