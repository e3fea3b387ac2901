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

/// A number that may be another one and leave the claim true: what a step is called by in no other, or an equal entry.
const isFree = (line, member) => member === "times" && line.letters?.length === 0;

/// Every change of one integer in one line, by one.
function* mutants(line) {
  const step = JSON.parse(line);
  for (const [member, value] of Object.entries(step)) {
    const places = Array.isArray(value) ? value.map((_, i) => [value, i]) : [[step, member]];
    for (const [holder, place] of places) {
      const before = holder[place];
      if (!Number.isInteger(before) || isFree(step, member)) continue;
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
const pages = process.argv.slice(2).map(loaded);
for (const page of pages) {
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
  });
  demandRefusal(page.text + "{}\n", "a line more");
  demandRefusal(page.text.slice(0, -1), "without its last line break");
  for (const other of pages)
    if (other !== page && engine.sha256(other.weights) !== engine.sha256(page.weights)) demandRefusal(other.text, `that of ${other.file}`);
}
failures.slice(0, 20).forEach(failure => console.log(failure));
console.log(`${pages.length} pages, ${tried} wrong certificates, ${failures.length} failures`);
process.exit(failures.length > 0 || pages.length === 0 ? 1 : 0);
