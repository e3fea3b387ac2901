// node exponentials.js FILE — the page's exponentials, tanh and logarithms against the lines of exponentials.py, bit for bit.
"use strict";
const fs = require("fs");
const engine = require("./engine.js");

const view = new DataView(new ArrayBuffer(8));
const numberOf = digits => (view.setBigUint64(0, BigInt("0x" + digits)), view.getFloat64(0));
let compared = 0, wrong = 0;
for (const line of fs.readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const [name, x, result] = line.split(" "), ours = engine[name](numberOf(x)), theirs = result === "none" ? Infinity : numberOf(result);
  ++compared;
  if (ours !== theirs && ++wrong < 10) console.log(`${name}(${numberOf(x)}): ${ours} instead of ${theirs}`);
}
console.log(`${compared} exponentials, ${wrong} wrong`);
process.exit(wrong > 0 || compared < 1200 ? 1 : 0);
