// node operations.js FOLDER PAGE.html… — the page's checker establishes the certificates of reports of runs and
// checkpoints, and refuses them once a step of their proof is changed by one, a line is missing or is there twice. Of
// changed operations and languages, which may do no harm, some are written to FOLDER as yes-N.cert and no-N.cert, with the
// name of the page after the number: krohn has to judge them alike.
"use strict";
const fs = require("fs"), path = require("path");
const engine = require("./engine.js");

const bytesOf = text => Uint8Array.from(Buffer.from(text, "base64"));

function established(text, weights) {
  try {
    return engine.establishedOfOperations(text, weights);
  } catch (error) {
    if (error instanceof engine.Refusal || error instanceof SyntaxError) return null;
    throw error;
  }
}

/// Every change of one integer of a step by one, wherever in it.
function* mutants(step, holder = step) {
  for (const [place, value] of Object.entries(holder)) {
    if (typeof value === "object" && value !== null) yield* mutants(step, value);
    if (!Number.isInteger(value)) continue;
    for (const change of [1, -1]) {
      holder[place] = value + change;
      yield JSON.stringify(step);
    }
    holder[place] = value;
  }
}

const PROOF = ["pair", "word", "answer", "end"], KEPT = 5, STRIDE = 10;
const failures = [];
let tried = 0, judged = 0, seen = 0;
const [folder, ...pages] = process.argv.slice(2);
for (const page of pages) {
  const {certificate, evaluator} = engine.dataOf(page), weights = bytesOf(evaluator.bytes), name = path.basename(page, ".html");
  const lines = certificate.text.trimEnd().split("\n");
  if (established(certificate.text, weights) === null) failures.push(`${page}: its certificate is not established`);
  const demandRefusal = (text, what) => {
    ++tried;
    if (established(text, weights) !== null) failures.push(`${page}: established all the same: ${what}`);
  };
  const withLine = (at, replacement) => [...lines.slice(0, at), ...replacement, ...lines.slice(at + 1)].join("\n") + "\n";
  const harmless = {yes: [], no: []};
  lines.forEach((line, at) => {
    const step = JSON.parse(line), isProof = at === 0 || PROOF.includes(step.step);
    for (const changed of mutants(step)) {
      if (isProof) demandRefusal(withLine(at, [changed]), `line ${at + 1}: ${changed.slice(0, 200)}`);
      else if (seen++ % STRIDE === 0 && ++judged) harmless[established(withLine(at, [changed]), weights) === null ? "no" : "yes"].push(withLine(at, [changed]));
    }
    for (const [i, bits] of (step.step === "pair" ? step.bits : []).entries())
      demandRefusal(withLine(at, [JSON.stringify({...step, bits: step.bits.with(i, (bits[0] === "0" ? "1" : "0") + bits.slice(1))})]), `line ${at + 1}: a digit`);
    demandRefusal(withLine(at, []), `line ${at + 1} missing`);
    if (step.step !== "word") demandRefusal(withLine(at, [line, line]), `line ${at + 1} twice`);
  });
  demandRefusal(certificate.text + "{}\n", "a line more");
  const other = weights.slice();
  other[other.length - 1] ^= 1;
  if (established(certificate.text, other) !== null) failures.push(`${page}: established of other weights`);
  for (const [kind, texts] of Object.entries(harmless))
    for (let i = 0; i < Math.min(KEPT, texts.length); ++i) fs.writeFileSync(path.join(folder, `${kind}-${i}-${name}.cert`), texts[Math.floor(i * texts.length / KEPT)] ?? texts[i]);
}
console.log(`${pages.length} certificates, ${tried} wrong ones refused, ${judged} others judged, ${failures.length} failures`);
failures.slice(0, 20).forEach(failure => console.log(failure));
process.exit(failures.length > 0 ? 1 : 0);
