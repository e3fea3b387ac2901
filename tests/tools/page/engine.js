// The page's own evaluator and checker, without the page.
"use strict";
const fs = require("fs"), path = require("path");

const FOLDER = path.join(__dirname, "../../../tools/krohn/page");
const NAMES = ["Network", "Operations", "Steps", "Automaton", "Run", "Refusal", "established", "establishedOfOperations", "exp64", "exp32", "tanh64", "log1p64", "power64", "cosine64", "fused", "sha256", "arithmeticOf", "roundedTo", "roundedRatio", "FORMATS",
               "numberOfBits", "bitsOf", "parseWord", "formatWord", "cosineOfTurn", "rootTimes", "randomLetters"];

const source = ["arithmetic", "network", "operations", "check", "stepper"].map(name => fs.readFileSync(path.join(FOLDER, `${name}.js`), "utf8")).join("\n");
module.exports = new Function(`"use strict";\n${source}\nreturn {${NAMES}};`)();

/// The data of a report.
module.exports.dataOf = file => JSON.parse(fs.readFileSync(file, "utf8").match(/<script type="application\/json" id="data">(.*?)<\/script>/s)[1]);
