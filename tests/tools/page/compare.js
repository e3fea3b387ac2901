// node compare.js MODEL READINGS.json [MODEL READINGS.json …] — the page's evaluator against readings of krohn's: every
// number after every letter, bit for bit, and the answers. Prints how much was compared; exit status 1 where something differs.
"use strict";
const fs = require("fs");
const engine = require("./engine.js");

/// "-0x1.8p+1"
function numberOf(text) {
  const [, sign, whole, fraction = "", exponent] = text.match(/^(-?)0x([01])(?:\.([0-9a-f]*))?p([+-]\d+)$/) ?? [];
  if (exponent === undefined) return NaN;
  const digits = Number(BigInt("0x" + whole + fraction)), shift = Number(exponent) - 4 * fraction.length;
  const size = shift < -1000 ? digits * 2 ** -1000 * 2 ** (shift + 1000) : digits * 2 ** shift;
  return sign ? -size : size;
}

let all = 0, refused = 0, numbers = 0;
for (let i = 2; i < process.argv.length; i += 2) {
  const [model, readings] = process.argv.slice(i, i + 2), bytes = fs.readFileSync(model), automaton = new engine.Automaton(bytes);
  let compared = 0;
  for (const {arithmetic, form, order, word, states, answers} of JSON.parse(fs.readFileSync(readings, "utf8"))) {
    if (form !== "structured" || order !== "sequential") continue;
    let net;
    try {
      net = new engine.Network(bytes, automaton, arithmetic);
    } catch (error) {
      // Only what the page says that it cannot do may be refused.
      if (!(error instanceof engine.Refusal) || !/^(fp64\+fma|[ui][0-9])/.test(arithmetic)) throw error;
      ++refused;
      continue;
    }
    let memory = net.start(), answer = net.read(memory.labels);
    for (let t = 0; t <= word.length; ++t) {
      if (t > 0) ({answer} = memory = net.step(memory, word[t - 1]));
      const ours = memory.numbers.flat(), theirs = (states[t] ?? []).map(numberOf);
      // Numbers that are not finite are alike: they decode to nothing.
      const differs = ours.length !== theirs.length || ours.some((x, i) => x !== theirs[i] && (Number.isFinite(x) || Number.isFinite(theirs[i])));
      if (differs || answer !== answers[t]) {
        console.log(`${model}, ${arithmetic}, after ${t} letters: ${ours} reads ${answer}, and krohn says ${theirs} reads ${answers[t]}`);
        process.exit(1);
      }
      numbers += ours.length;
    }
    ++compared;
  }
  if (compared === 0) process.exit(1);
  all += compared;
}
console.log(`${all} readings, ${numbers} numbers, ${refused} refused`);
