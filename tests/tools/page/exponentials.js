// node exponentials.js FILE — the page's functions against the lines of exponentials.py, bit for bit.
"use strict";
const fs = require("fs");
const engine = require("./engine.js");

const view = new DataView(new ArrayBuffer(8));
const numberOf = digits => (view.setBigUint64(0, BigInt("0x" + digits)), view.getFloat64(0));
let compared = 0, wrong = 0;
for (const line of fs.readFileSync(process.argv[2], "utf8").trim().split("\n")) {
  const [name, x, result, other] = line.split(" "), more = other && (other.length === 16 ? numberOf(other) : Number(other));
  const ours = engine[name](numberOf(x), more), theirs = result === "none" ? Infinity : numberOf(result);
  ++compared;
  if (ours !== theirs && ++wrong < 10) console.log(`${name}(${numberOf(x)}): ${ours} instead of ${theirs}`);
}
console.log(`${compared} numbers, ${wrong} wrong`);
process.exit(wrong > 0 || compared < 3000 ? 1 : 0);
