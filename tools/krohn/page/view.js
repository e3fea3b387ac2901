// The page: everything that is seen. All texts go through textContent, so that no name is read as HTML.

const isInFrame = location.protocol === "about:";  // a page inside another, as in a notebook, has no address of its own
const $ = id => document.getElementById(id);
const DATA = JSON.parse($("data").textContent);

/// An element with attributes and children; texts are taken as texts.
function filled(made, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value);
  }
  made.append(...children.filter(child => child !== null));
  return made;
}

const element = (name, attributes = {}, ...children) => filled(document.createElement(name), attributes, children);
const svgElement = (name, attributes, ...children) => filled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

const bytesOf = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));

function table(head, rows, caption) {
  const cell = (kind, content) => element(kind, kind === "th" ? {scope: "col"} : {}, content instanceof Node ? content : String(content ?? ""));
  const made = element("table", {}, caption ? element("caption", {}, caption) : null,
    element("thead", {}, element("tr", {}, ...head.map(text => cell("th", text)))));
  made.append(element("tbody", {}, ...rows.map(({cells, mark}) => element("tr", mark ? {class: mark} : {}, ...cells.map(c => cell("td", c))))));
  return made;
}

/// The name of a group with its number lowered, S_5, wherever it stands outside of a word in quotes.
function typeset(text) {
  const parts = text.split(/("[^"]*")/).flatMap(part => part.startsWith("\"") ? [part] : part.split(/(?<=\b[A-Z])(_\d+)/));
  return element("span", {}, ...parts.map(part => /^_\d+$/.test(part) ? element("sub", {}, part.slice(1)) : part));
}

function facts(list, pairs) {
  for (const [name, value] of pairs)
    if (value !== "" && value !== undefined && value !== null) list.append(element("dt", {}, name), element("dd", {}, value));
}

function download(name, text, type) {
  const url = URL.createObjectURL(new Blob([text], {type}));
  element("a", {href: url, download: name}).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

const short = (text, most = 90) => text.length > most ? `${text.slice(0, most)}…` : text;
const shown = number => Number.isInteger(number) ? String(number) : String(Number(number.toPrecision(6)));

/// The picture, parsed as XML so that nothing in it runs, without ids that several pictures would share.
function picture(text) {
  const svg = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
  if (svg.localName !== "svg") return null;
  svg.querySelectorAll("script, foreignObject").forEach(node => node.remove());
  svg.querySelectorAll("[id]").forEach(node => node.removeAttribute("id"));
  return document.importNode(svg, true);
}

// ---- What the data say

function showVerdict() {
  $("title").textContent = DATA.title;
  document.title = `${short(DATA.title, 60)} — krohn report`;
  const {automaton: {states, letters}, network, verdict} = DATA;
  const counted = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
  $("about").textContent = `${counted(states, "state")}, ${counted(letters, "letter")}` + (DATA.model ? `; ${DATA.model.about.join("; ")}` : "") +
    (network ? `; ${network.construction} (${network.theorem})${network.source !== DATA.subject && network.source ? `, of ${network.source}` : ""}` : "");
  if (DATA.stepped) return;
  if (!verdict) {
    $("claim").textContent = `No construction fits: ${DATA.no_network}`;
    return;
  }
  const {verdict: told, self_check: check, answers} = verdict;
  $("verdict").classList.add(["good", "bad", "", "open"][verdict.status]);
  $("claim").textContent = verdict.sentence;
  facts($("verdict-facts"), [
    ["Arithmetic", told.arithmetic],
    ["Weights", DATA.model ? `those of ${DATA.subject}, a ${DATA.model.kind === "run" ? "trained model" : "checkpoint"}` : verdict.form],
    ["Order", told.order === "any" ? "any: no order, split, batch or association of letters changes a bit" : told.order],
    ["Method", told.method], ["Evidence", told.evidence], ["Limit met", told.limit],
    ["The model says", answers && `“${answers.model}” there, not “${answers.automaton}”`],
    ["Letters tested", told.letters_tested ? told.letters_tested.toLocaleString("en") : ""],
    ["Re-checked", check.letters_replayed ? `${check.letters_replayed.toLocaleString("en")} letters replayed${check.certificate_rechecked ? "; the certificate re-checked by independent code" : ""}` : ""],
  ]);
  if (told.failing_word === undefined) return;
  $("failing").hidden = false;
  $("failing-word").textContent = verdict.failing_word_shown;
  $("copy-word").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(told.failing_word);
      $("copy-word").textContent = "Copied";
    } catch {
      getSelection().selectAllChildren($("failing-word"));
    }
  });
}

function showClasses() {
  const target = $("classes-tables");
  for (const job of DATA.jobs) {
    const rows = (job.architectures ?? []).map(({family, answer, construction, reason}) => ({
      mark: `answer-${answer}`,
      cells: [family, answer, construction && element("code", {}, `krohn compile ${DATA.language || "automaton.json"} --construction ${construction} -o exact.safetensors`), typeset(short(reason, 300))],
    }));
    const monoid = job.monoid ? `a monoid of ${job.monoid.size} elements` : job.limit;
    target.append(element("h3", {}, `${job.job}: ${job.states} states, ${monoid}`));
    const scroll = made => element("div", {class: "scroll"}, made);
    target.append(scroll(table(["architecture", "holds it", "how", "why not, or how far"], rows, DATA.language ? "" : "“Save JSON” below saves automaton.json.")));
    const verdicts = (job.verdicts ?? []).map(({property, answer, meaning, witness}) => ({mark: `answer-${answer}`, cells: [property, answer, meaning, typeset(short(witness, 300))]}));
    target.append(element("details", {}, element("summary", {}, "Properties of the monoid, with witnesses"), scroll(table(["property", "answer", "meaning", "witness"], verdicts))));
    if (job.class_rows.length > 0)
      target.append(element("details", {}, element("summary", {}, "Classes of the language"), scroll(table(["class", "lies in it", "defined by, or why not"], job.class_rows.map(cells => ({cells: cells.map(cell => short(cell, 300))}))))));
  }
}

function showCosts() {
  const rows = DATA.plans.map(row => ({
    mark: row.chosen ? "chosen" : row.possible ? "" : "impossible",
    cells: [`${row.chosen ? "→ " : ""}${row.construction}`, row.layers, row.state_numbers, row.reflections_per_token, row.possible ? Number(row.margin.toPrecision(3)) : "",
            row.snap_every ? "(by snaps)" : [...(row.exact_in ?? []), ...(row.locked_in ?? []).map(name => `(${name})`)].join(" "), short(row.reason, 300)],
  }));
  $("costs-table").append(table(["construction", "layers", "state", "reflections", "margin", "exact in", "remark"], rows, "In brackets: exact letter after letter only."));
}

function showAlgebra() {
  for (const [id, drawn] of [["cascade", DATA.cascade], ["eggbox", DATA.egg_box]]) {
    const svg = drawn && picture(drawn);
    if (!svg) continue;
    $(id).hidden = false;
    $(`${id}-picture`).append(svg);
  }
}

function showRepeat() {
  $("commands").textContent = DATA.commands.join("\n");
  facts($("repeat-facts"), [["krohn", DATA.version], ["Weights, SHA-256", DATA.network?.weights_sha256], ["Automaton, SHA-256", DATA.network?.automaton_sha256],
                            ["Certificate, SHA-256", DATA.certificate?.sha256]]);
  const save = (label, text, name, type) => element("button", {type: "button", ...text ? {} : {disabled: "", title: "too large for a page, or the format cannot hold it"}, onclick: () => download(name, text, type)}, label);
  const {picture: drawn, dot, tikz, json} = DATA.automaton, module = DATA.network?.module;
  const buttons = [save("Save SVG", drawn?.svg, "automaton.svg", "image/svg+xml"), save("Save TikZ", tikz, "automaton.tex", "text/x-tex"),
                   save("Save DOT", dot, "automaton.dot", "text/vnd.graphviz"), save("Save JSON", json, "automaton.json", "application/json")];
  if (DATA.network) buttons.push(save("Save PyTorch", module, "krohn_network.py", "text/x-python"));
  buttons.push(element("button", {type: "button", onclick: () => print()}, "Print"));
  $("exports").append(...buttons.flatMap(button => [button, " "]));
}

// ---- Stepping

/// The automaton and the network of the page, or why there is none.
function load() {
  const {automaton: {bytes, absent}, network, verdict, no_network: missing, model} = DATA;
  if (bytes === undefined) return {why: absent};
  const automaton = new Automaton(bytesOf(bytes));
  const alone = why => ({automaton, net: null, why: `${why}; the page steps the automaton alone.`});
  try {
    if (model) return {automaton, net: evaluatorOf(automaton)};
    if (!network) return alone(`There is no network: ${missing}`);
    if (network.weights.bytes === undefined) return alone(network.weights.absent);
    const {order, arithmetic} = DATA.stepped ?? verdict.verdict;
    if (order !== "sequential" && order !== "any") refuse(`this page evaluates letter after letter, not in the order ${order}`);
    return {automaton, net: new Network(bytesOf(network.weights.bytes), automaton, arithmetic)};
  } catch (error) {
    return alone(error.message);
  }
}

/// The automaton's picture, whose states can be lit.
class Picture {
  constructor(automaton) {
    this.automaton = automaton;
    this.nodes = new Map(), this.edges = new Map();
    const drawn = DATA.automaton.picture, svg = drawn && picture(drawn.svg);
    this.isTable = !drawn?.has_states;
    if (svg) {
      const {width} = svg.viewBox.baseVal;
      svg.removeAttribute("width"), svg.removeAttribute("height");
      svg.style.maxWidth = `${width * 1.4}px`;
      $("picture").append(svg);
      if (drawn.has_states) this.index(svg);
    }
    if (this.isTable) this.table = $("picture").appendChild(element("div", {class: "scroll"}));
    this.lit = [];
  }

  index(svg) {
    const title = group => group.querySelector("title")?.textContent;
    svg.querySelectorAll("g.node").forEach(group => this.nodes.set(title(group), group));
    svg.querySelectorAll("g.edge").forEach(group => this.edges.set(title(group), group));
    const isDot = group => Number(group.querySelector("ellipse")?.getAttribute("rx") ?? 99) < 8;
    svg.classList.toggle("dots", [...this.nodes.values()].filter(isDot).length > this.nodes.size / 2);
  }

  mark(group, name) {
    if (!group) return;
    group.classList.add(name);
    this.lit.push([group, name]);
  }

  show(before, state, answer) {
    this.lit.forEach(([group, name]) => group.classList.remove(name));
    this.lit = [];
    this.mark(this.nodes.get(String(state)), "lit");
    if (before !== null) this.mark(this.edges.get(`${before}->${state}`) ?? this.edges.get(`${state}->${before}`), "taken");
    if (answer !== null && answer !== state) this.mark(this.nodes.get(String(answer)), "said");
    if (this.isTable) this.showTable(state, answer);
  }

  /// All rows of a small table; of a large one the row of the state.
  showTable(state, answer) {
    const {automaton} = this, mostCells = 4000;
    const isSmall = automaton.states * automaton.letters.length <= mostCells;
    const states = isSmall ? Array.from({length: automaton.states}, (_, i) => i) : [state];
    const letters = automaton.letters.map((_, i) => i).slice(0, 200);
    if (!isSmall || this.rows === undefined) {
      this.rows = states.map(from => ({cells: [stateName(from), ...letters.map(letter => stateName(automaton.next(from, letter)))]}));
      this.table.replaceChildren(table(["state", ...letters.map(letter => automaton.letters[letter])], this.rows));
    }
    [...this.table.querySelectorAll("tbody tr")].forEach((row, i) => {
      row.classList.toggle("lit", states[i] === state);
      row.classList.toggle("said", states[i] === answer && answer !== state);
    });
    const row = this.table.querySelector("tr.lit");
    if (isSmall && row) this.table.scrollTop = row.offsetTop - this.table.clientHeight / 2;
  }
}

const stateName = state => state === null ? "none" : DATA.automaton.state_names[state] ?? String(state);

/// The state matrix as coloured cells: blue below zero, orange above.
function heatMap(layer, h) {
  const most = 2500, {n, d, a} = layer;
  if (n * d > most) return element("p", {class: "small"}, `${n}×${d} numbers, too many to show`);
  const isRow = d === 1, across = isRow ? Math.min(n, 24) : d, down = isRow ? Math.ceil(n / across) : n;
  const side = Math.max(6, Math.min(30, Math.floor(360 / Math.max(across, down)))), hasText = side >= 24;
  const scale = Math.max(1e-300, ...layer.words.flat().filter(Number.isFinite).map(Math.abs));
  const svg = svgElement("svg", {class: "heat", role: "img", viewBox: `0 0 ${across * side} ${down * side}`, width: across * side, "aria-label": `State of ${n}×${d} numbers: ${short(h.map(shown).join(" "), 200)}`});
  h.forEach((value, i) => {
    const x = isRow ? i % across : Math.floor(i / n), y = isRow ? Math.floor(i / across) : i % n;
    const strength = Math.min(1, Math.abs(value) / scale);
    const cell = svgElement("g", {}, svgElement("title", {}, `row ${i % n}, column ${Math.floor(i / n)}: ${value} (${bitsOf(value, a.storage)})`),
      svgElement("rect", {x: x * side, y: y * side, width: side, height: side, class: value < 0 ? "negative" : "positive", "fill-opacity": Number.isFinite(value) ? strength.toFixed(3) : 1}));
    if (hasText) cell.append(svgElement("text", {x: (x + 0.5) * side, y: (y + 0.5) * side, "font-size": side / 2.9}, Number.isInteger(value) ? String(value) : value.toFixed(2)));
    svg.append(cell);
  });
  return svg;
}

/// The margin at every letter, as a line.
function marginChart(margins, at) {
  const width = 600, height = 60, finite = margins.filter(margin => margin !== null);
  const greatest = Math.max(...finite, 1e-300), step = width / Math.max(1, margins.length - 1);
  const points = margins.map((margin, i) => margin === null ? null : `${(i * step).toFixed(2)},${(height - 4 - margin / greatest * (height - 8)).toFixed(2)}`);
  return svgElement("svg", {viewBox: `0 0 ${width} ${height}`, class: "chart", preserveAspectRatio: "none", role: "img", "aria-label": `Margin by letter, at most ${shown(greatest)}, at least ${shown(Math.min(...finite, greatest))}`},
    svgElement("line", {x1: at * step, x2: at * step, y1: 0, y2: height, class: "now"}), svgElement("polyline", {points: points.filter(point => point !== null).join(" ")}));
}

class Stepper {
  constructor({automaton, net, why}) {
    Object.assign(this, {automaton, net});
    this.run = new Run(automaton, net);
    this.picture = new Picture(automaton);
    if (why) $("network").append(element("p", {id: "alone"}, why));
    const names = automaton.letters.slice(0, 30).join(" ");
    const isCharacterwise = automaton.symbols.every(({characters}) => characters.length > 0);
    $("word-help").textContent = `Letters: ${names}${automaton.letters.length > 30 ? " …" : ""}${isCharacterwise ? "" : ", separated by blanks"}. The arrow keys step${isInFrame ? "" : "; the word is in the page’s address"}.`;
    $("word-form").addEventListener("submit", event => event.preventDefault());
    $("word").addEventListener("input", () => this.take($("word").value, true));
    const go = {first: () => 0, back: at => at - 1, forward: at => at + 1, last: () => Infinity};
    for (const [id, where] of Object.entries(go)) $(id).addEventListener("click", () => this.go(where(this.run.at)));
    $("random").addEventListener("click", () => this.takeRandom());
    $("take-word").addEventListener("click", () => { this.take(DATA.verdict.verdict.failing_word); this.go(Infinity); $("word").focus(); });
    addEventListener("keydown", event => this.key(event));
    addEventListener("hashchange", () => this.readAddress());
    if (!this.readAddress()) this.take(this.firstWord()), this.go(Infinity, false);
  }

  /// A word to begin with: the failing one, or some letters.
  firstWord() {
    const failing = DATA.verdict?.verdict.failing_word;
    if (failing !== undefined && failing.length <= 400) return failing;
    return formatWord(Array.from({length: 6}, (_, i) => i * i % this.automaton.letters.length), this.automaton.symbols);
  }

  takeRandom() {
    const word = Array.from({length: 12}, () => Math.floor(Math.random() * this.automaton.letters.length));
    this.take(formatWord(word, this.automaton.symbols));
    this.go(Infinity);
  }

  /// Keys step wherever they do not write, or scroll what has the focus.
  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const inside = event.target instanceof Element ? event.target : document.body;
    if (inside.closest("input, textarea, .scroll, summary")) return;
    const to = {ArrowLeft: this.run.at - 1, ArrowRight: this.run.at + 1, Home: 0, End: Infinity}[event.key];
    if (to === undefined || inside === document.body && (event.key === "Home" || event.key === "End")) return;
    event.preventDefault();
    this.go(to);
  }

  /// The text becomes the word, or the problem is shown and the word before stays. While one types, the end is shown.
  take(text, isTyped = false) {
    if (!isTyped) $("word").value = text;
    try {
      this.run.set(parseWord(text, this.automaton.symbols));
      $("word-problem").textContent = "";
      $("word").removeAttribute("aria-invalid");
    } catch (error) {
      $("word-problem").textContent = error.message;
      $("word").setAttribute("aria-invalid", "true");
      return;
    }
    if (isTyped) this.go(Infinity);
    else this.show();
  }

  go(at, isInAddress = true) {
    this.run.move(at);
    this.show();
    if (!isInAddress || isInFrame) return;
    const address = new URLSearchParams({word: formatWord(this.run.word, this.automaton.symbols), at: this.run.at});
    history.replaceState(null, "", `#${address}`);
  }

  readAddress() {
    const address = new URLSearchParams(location.hash.slice(1)), word = address.get("word");
    if (word === null) return false;
    this.take(word);
    const at = Number(address.get("at") ?? Infinity);
    this.go(Number.isNaN(at) ? Infinity : Math.trunc(at), false);
    return true;
  }

  show() {
    const {run, automaton, net} = this, {at, word, now} = run, output = automaton.output(now.state);
    const isRight = net === null || net.agrees(now.memory, now.state), answer = net instanceof Network ? now.memory.answer : null;
    this.picture.show(at === 0 ? null : run.steps[at - 1].state, now.state, answer);
    const said = net === null ? "" : net instanceof Operations && !net.isAsked(now.memory) ? " Nothing is asked here." :
      isRight ? ` The ${DATA.model ? "model" : "network"} agrees.` : ` The ${DATA.model ? "model" : "network"} says ${this.said(now.memory)}: wrong.`;
    $("position").textContent = `After ${at} of ${word.length} letters${at > 0 ? ` (${automaton.letters[word[at - 1]]})` : ""}: state ${stateName(now.state)}${output === stateName(now.state) ? "" : `, ${output}`}.${said}`;
    $("position").classList.toggle("wrong", !isRight);
    for (const [id, isOff] of [["first", at === 0], ["back", at === 0], ["forward", at === word.length], ["last", at === word.length]])
      $(id).setAttribute("aria-disabled", isOff);
    this.showTape();
    if (net !== null) $("network").replaceChildren(...net instanceof Operations ? modelPanes(net, now.memory) : this.networkPanes(now));
    this.showTrace();
  }

  said(memory) { return this.net instanceof Operations ? this.net.nameOf(memory.answer) : stateName(memory.answer); }

  showTape() {
    const {at, word} = this.run, reach = 40, begin = Math.max(0, at - reach), end = Math.min(word.length, at + reach);
    const letters = word.slice(begin, end).map((letter, i) => element("button", {type: "button", tabindex: -1, class: begin + i + 1 === at ? "now" : begin + i < at ? "read" : "", "aria-label": `after letter ${begin + i + 1}, ${this.automaton.letters[letter]}`,
      onclick: () => this.go(begin + i + 1)}, this.automaton.letters[letter]));
    $("letters").replaceChildren(begin > 0 ? "… " : "", ...letters, end < word.length ? " …" : "");
  }

  networkPanes({memory}) {
    const parts = this.net.layers.map((layer, k) => {
      const nearest = memory.found[k], margin = nearest && nearest.margin;
      const label = memory.labels[k] === null ? "none: the decoder ties, or has no finite number" : String(memory.labels[k]);
      const state = this.run.at > 0 && this.net.layers.length === 1 && memory.answer !== null ? `, state ${stateName(memory.answer)}` : "";
      return element("div", {class: "layer"}, element("h3", {}, `${this.net.layers.length > 1 ? `Layer ${k}: ` : ""}label ${label}${state}`), heatMap(layer, memory.seen[k]),
        element("p", {class: "small"}, nearest === null ? "This layer has no context." : `distance ${shown(Math.sqrt(nearest.least))}, margin ${margin === null ? "none: one label only" : shown(margin)}`));
    });
    return [...parts, element("p", {class: "small"}, `${this.net.a.name}, letter after letter, every number as the hardware would have it; point at a cell for its bits.${this.net.snapEvery ? ` It snaps every ${this.net.snapEvery} letters.` : ""}`)];
  }

  showTrace() {
    const {run, net, automaton} = this, reach = 12;
    $("trace-pane").hidden = false;
    const begin = Math.max(0, Math.min(run.at - reach, run.word.length - 2 * reach)), end = Math.min(run.word.length, begin + 2 * reach);
    const rows = [];
    for (let i = begin; i <= end; ++i) {
      const step = run.steps[i], {close} = step;
      const isWrong = net && !net.agrees(step.memory, step.state), hasDistance = net instanceof Network;
      const cells = [element("button", {type: "button", onclick: () => this.go(i)}, String(i)), i === 0 ? "" : automaton.letters[run.word[i - 1]], stateName(step.state), automaton.output(step.state)];
      if (net) cells.push(this.said(step.memory), ...hasDistance ? [close ? shown(close.distance) : ""] : [], close?.margin == null ? "" : shown(close.margin));
      rows.push({mark: `${i === run.at ? "now" : ""} ${isWrong ? "wrong" : ""}`, cells});
    }
    const head = ["after", "letter", "state", "output", ...net instanceof Network ? ["network", "distance", "margin"] : net ? ["model", "margin"] : []];
    const made = table(head, rows);
    $("trace").replaceChildren(...made.children);
    $("trace-pane").querySelector("figcaption").hidden = net === null;
    const margins = run.steps.map(({close}) => close?.margin ?? null);
    $("chart").replaceChildren(...margins.some(margin => margin !== null) && margins.length > 2 ? [marginChart(margins, run.at)] : []);
  }
}

// ---- Trust

/// Returns the checker's sentence, and which of "good", "bad" and "" it is.
function rechecked({net}) {
  const {certificate, network, automaton, verdict} = DATA;
  if (!certificate) return ["Without a network there is nothing to prove.", ""];
  if (certificate.absent) return [`Nothing to re-check here: ${certificate.absent}.`, ""];
  if (net === null) return [`The page does not evaluate this ${DATA.model ? "model" : "network"}, so it re-checks nothing; krohn check does.`, ""];
  const start = performance.now();
  try {
    const sentence = net instanceof Operations ? establishedOfOperations(certificate.text, bytesOf(DATA.evaluator.bytes))
      : established(certificate.text, net, bytesOf(network.weights.bytes), bytesOf(automaton.bytes));
    const {claim} = JSON.parse(certificate.text.slice(0, certificate.text.indexOf("\n")));
    if (claim !== verdict.verdict.claim) refuse(`the certificate says "${claim}", and the verdict "${verdict.verdict.claim}"`);
    const remark = certificate.remark ? ` ${certificate.remark}.` : "";
    return [`Re-checked in this page: ${sentence}, ${net.a.name} (${Math.round(performance.now() - start)} ms).${remark}`, "good"];
  } catch (error) {
    if (error instanceof Refusal && error.message.startsWith("this page does not")) return [`T${error.message.slice(1)}.`, ""];
    return [`NOT established: ${error.message}`, "bad"];
  }
}

/// A verdict that the page contradicts is no verdict.
function recheck(loaded) {
  const [sentence, outcome] = rechecked(loaded), target = $("recheck"), {certificate} = DATA;
  target.textContent = sentence;
  for (const name of ["good", "bad"]) target.classList.toggle(name, outcome === name);
  if (outcome === "bad") {
    $("verdict").classList.remove("good", "open");
    $("verdict").classList.add("bad");
    $("claim").textContent = `NOT established by this page’s checker: ${DATA.verdict.sentence}`;
  }
  const ofVerdict = {
    good: ["this page’s own checker, which shares no code with krohn", "the same by krohn check and tools/check/krohn_check.py"],
    bad: ["nobody: the certificate does not establish it", "krohn check"],
    "": ["krohn verify, which re-checked itself", certificate?.text ? "krohn check, tools/check/krohn_check.py" : "krohn verify"],
  }[outcome];
  const rows = [
    ["the verdict", ...ofVerdict],
    ["that the automaton is the language", `krohn’s reader of ${DATA.subject}`, "krohn check … --against LANGUAGE"],
    ...DATA.model && !DATA.evaluator.absent ? [["that the operations are the model", "krohn’s reader of the folder; the certificate lists them one by one", "docs/reference/certificate-file.md"]] : [],
    ["that your machine computes like this", "IEEE 754, to nearest, with subnormal numbers, in the order of the claim", "krohn probe"],
    ["this page", "its script, which loads nothing and is here to be read; the browser’s doubles", "docs/reference/report.md"],
  ];
  $("trust-table").replaceChildren(table(["for", "you trust", "check it with"], rows.map(cells => ({cells}))));
}

function showTrust(loaded) {
  const {certificate} = DATA;
  $("save-certificate").hidden = $("recheck-again").hidden = !certificate?.text;
  $("save-certificate").addEventListener("click", () => download("certificate.cert", certificate.text, "application/jsonl"));
  $("recheck-again").addEventListener("click", () => recheck(loaded));
  recheck(loaded);
}
