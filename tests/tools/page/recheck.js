// node recheck.js PAGE.html… — the page's checker establishes the certificates of reports, and refuses each of them once
// any number in it is one more or one less, a line is missing or is there twice, and when it is of another network.
"use strict";
const engine = require("./engine.js");

const bytesOf = text => Uint8Array.from(Buffer.from(text, "base64"));

function loaded(file) {
  const {network, automaton, certificate, verdict} = engine.dataOf(file);
  const weights = bytesOf(network.weights.bytes), states = bytesOf(automaton.bytes);
  return {file, text: certificate.text, weights, states,
          net: new engine.Network(weights, new engine.Automaton(states), verdict.verdict.arithmetic)};
}

function established({net, weights, states}, text) {
  try {
    return engine.established(text, net, weights, states);
  } catch (error) {
    if (error instanceof engine.Refusal || error instanceof SyntaxError) return null;
    throw error;
  }
}

// ---- Certificates that krohn does not write of such small networks, made from those that it writes

const withSteps = (claim, steps) => {
  const lines = [claim, ...steps].map(line => JSON.stringify(line));
  return [...lines, JSON.stringify({step: "end", lines: lines.length})].join("\n") + "\n";
};

/// All that is reached from the first one, in the order of a breadth-first search, with the depth of each.
function reached(first, after) {
  const found = new Map([[JSON.stringify(first), {it: first, depth: 0}]]);
  for (const entry of found.values())
    for (const next of after(entry.it)) if (!found.has(JSON.stringify(next))) found.set(JSON.stringify(next), {it: next, depth: entry.depth + 1});
  return [...found.values()];
}

/// Closed codewords with every tuple of places in place of the induction.
function withTuples({text, net}) {
  const [claim, ...steps] = text.trimEnd().split("\n").map(line => JSON.parse(line));
  const kept = steps.filter(({step}) => step === "codewords" || step === "move"), {automaton} = net;
  const placesOf = k => kept.find(({step, layer}) => step === "codewords" && layer === k).codewords;
  const moveOf = (k, context) => kept.find(({step, layer, action, book}) => step === "move" && layer === k && action === net.layers[k].actionOf[context] && book === net.layers[k].bookOf[context]);
  const after = ({state, places}) => automaton.letters.map((_, letter) => {
    let context = letter;
    return {state: automaton.next(state, letter), places: places.map((p, k) => {
      const place = moveOf(k, context).next[p], layer = net.layers[k];
      context = layer.next?.[context][layer.labelOf[placesOf(k)[p]]];
      return place;
    })};
  });
  const tuples = reached({state: automaton.initial, places: net.layers.map(() => 0)}, after).map(({it}) => it);
  const number = tuple => tuples.findIndex(other => JSON.stringify(other) === JSON.stringify(tuple));
  return withSteps(claim, [...kept, ...tuples.map(tuple => ({step: "tuple", ...tuple, next: after(tuple).map(number)}))]);
}

/// A closed reachable set as far as words of `length` letters reach.
function upTo({text}, length) {
  const [{claim: _, method, ...claim}, ...steps] = text.trimEnd().split("\n").map(line => JSON.parse(line));
  const pairs = steps.filter(({step}) => step === "pair");
  const kept = reached(0, i => pairs[i].next).filter(({depth}) => depth < length);
  const number = new Map(kept.map(({it}, i) => [it, i]));
  return withSteps({...claim, claim: "proved up to a length", length, method}, kept.map(({it, depth}) => {
    const {next, ...pair} = pairs[it];
    return {...pair, depth, ...depth < length - 1 ? {next: next.map(i => number.get(i))} : {}};
  }));
}

// ---- Wrong ones

/// Every change of one integer in one line, by one, and of one text to a list of it.
function* mutants(line) {
  const step = JSON.parse(line);
  for (const [member, value] of Object.entries(step)) {
    const places = Array.isArray(value) ? value.map((_, i) => [value, i]) : [[step, member]];
    for (const [holder, place] of places) {
      const before = holder[place];
      if (typeof before === "string") {
        holder[place] = [before];
        yield [JSON.stringify(step), `${member}: a list of ${before}`];
        holder[place] = before;
      }
      if (!Number.isInteger(before)) continue;
      for (const change of [1, -1]) {
        holder[place] = before + change;
        yield [JSON.stringify(step), `${member} ${before} → ${before + change}`];
      }
      holder[place] = before;
    }
  }
  for (const digit of step.bits?.keys() ?? []) {
    const before = step.bits[digit];
    step.bits[digit] = (before[0] === "0" ? "1" : "0") + before.slice(1);
    yield [JSON.stringify(step), `bits ${before} → ${step.bits[digit]}`];
    step.bits[digit] = before;
  }
}

let tried = 0;
const failures = [];
const pages = process.argv.slice(2).map(loaded), made = [];
for (const page of pages) {
  if (page.text.includes("\"induction\"")) made.push({...page, file: `${page.file} with tuples`, text: withTuples(page)});
  if (page.text.includes("\"proved\",\"method\":\"closed reachable set\""))
    for (const length of [1, 2, 3]) made.push({...page, file: `${page.file} up to ${length} letters`, text: upTo(page, length), isShorter: true});
}
const methods = new Set();
for (const page of [...pages, ...made]) {
  page.text.trimEnd().split("\n").forEach(line => methods.add(JSON.parse(line).step));
  const sentence = established(page, page.text), lines = page.text.trimEnd().split("\n");
  if (sentence === null) failures.push(`${page.file}: its certificate is not established`);
  const demandRefusal = (text, what) => {
    ++tried;
    if (established(page, text) !== null) failures.push(`${page.file}: established all the same: ${what}`);
  };
  const withLine = (at, replacement) => [...lines.slice(0, at), ...replacement, ...lines.slice(at + 1)].join("\n") + "\n";
  lines.forEach((line, at) => {
    for (const [changed, what] of mutants(line)) demandRefusal(withLine(at, [changed]), `line ${at + 1}, ${what}`);
    demandRefusal(withLine(at, []), `line ${at + 1} missing`);
    demandRefusal(withLine(at, [line, line]), `line ${at + 1} twice`);
    demandRefusal(withLine(at, [line.replace("{", "{\"more\":1,")]), `line ${at + 1} with a member more`);
    for (const end of /[:,[]\d/.test(line) ? [".0", "e0"] : [])
      demandRefusal(withLine(at, [line.replace(/[:,[]\d+/, `$&${end}`)]), `line ${at + 1} with ${end}`);
  });
  demandRefusal(page.text + "{}\n", "a line more");
  demandRefusal(page.text.slice(0, -1), "without its last line break");
  for (const other of page.isShorter ? [] : pages)
    if (other !== page && engine.sha256(other.weights) !== engine.sha256(page.weights)) demandRefusal(other.text, `that of ${other.file}`);
}
for (const method of ["codewords", "move", "induction", "tuple", "pair", "word", "answer"])
  if (!methods.has(method)) failures.push(`no certificate has a step ${method}`);
console.log(`${pages.length + made.length} certificates, ${tried} wrong ones, ${failures.length} failures`);
failures.slice(0, 20).forEach(failure => console.log(failure));
process.exit(failures.length > 0 ? 1 : 0);
