// Re-checks a certificate of docs/reference/certificate-file.md against the network in the page: closed codewords, closed reachable
// sets and failing words. Every line is read; nothing is searched for.

const SHA_WORDS = (() => {
  const primes = [];
  for (let n = 2; primes.length < 64; ++n) if (primes.every(p => n % p !== 0)) primes.push(n);
  const cubeRoot = n => { let x = 1n << 40n; for (;;) { const y = (2n * x + n / (x * x)) / 3n; if (y >= x) return x; x = y; } };
  const low = x => Number(x & 0xffffffffn);
  return {
    start: primes.slice(0, 8).map(p => low(integerRoot(BigInt(p) << 64n))),
    rounds: primes.map(p => low(cubeRoot(BigInt(p) << 96n))),
  };
})();

/// FIPS 180-4. The page has its own: browsers keep theirs from files that are opened from the disk.
function sha256(bytes) {
  const length = bytes.length, padded = new Uint8Array(((length + 8 >> 6) + 1) * 64);
  padded.set(bytes);
  padded[length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setBigUint64(padded.length - 8, BigInt(length) * 8n);
  const turn = (x, n) => x >>> n | x << 32 - n;
  const hash = Uint32Array.from(SHA_WORDS.start), w = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let i = 0; i < 16; ++i) w[i] = view.getUint32(at + 4 * i);
    for (let i = 16; i < 64; ++i) {
      const x = w[i - 15], y = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (turn(x, 7) ^ turn(x, 18) ^ x >>> 3) + (turn(y, 17) ^ turn(y, 19) ^ y >>> 10);
    }
    let [a, b, c, d, e, f, g, h] = hash;
    for (let i = 0; i < 64; ++i) {
      const t = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + (e & f ^ ~e & g) + SHA_WORDS.rounds[i] + w[i] | 0;
      const u = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + (a & b ^ a & c ^ b & c) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, d + t | 0, c, b, a, t + u | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((x, i) => { hash[i] += x; });
  }
  return Array.from(hash, x => x.toString(16).padStart(8, "0")).join("");
}

/// Steps one after another. What a reader must refuse, and what does not follow, both throw Refusal with the line.
class Steps {
  constructor(text) {
    if (!text.endsWith("\n")) refuse("the certificate is cut short");
    this.lines = text.slice(0, -1).split("\n");
    this.at = 0;
    this.taken = 0;
    this.read();
  }

  read() {
    if (this.at >= this.lines.length) refuse("the certificate ends before its end");
    const text = this.lines[this.at++];
    // Members of the claim and of steps are names, texts and small numbers; JSON.parse would take the last of two.
    this.step = JSON.parse(text);
    const names = [...text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?/g)].filter(([, colon]) => colon !== undefined);
    if (typeof this.step !== "object" || this.step === null || Array.isArray(this.step) ||
        names.length !== Object.keys(this.step).length)
      refuse(`line ${this.at}: not an object whose members are given once`);
    // A list of one text is the same name to an object, and another value to ===.
    const isText = name => !Object.hasOwn(this.step, name) || typeof this.step[name] === "string";
    if (!["step", "claim", "method"].every(isText)) refuse(`line ${this.at}: a name that is no text`);
    if (/[-.]|\d[eE]/.test(text.replace(/"(?:[^"\\]|\\.)*"/g, ""))) refuse(`line ${this.at}: a number that is no integer from 0 on`);
  }

  demand(condition, message) { if (!condition) refuse(`line ${this.taken || this.at}: ${message}`); }

  /// The next step's members when it is of this kind, which must be just these; else null.
  maybe(kind, names) {
    if (this.step.step !== kind) return null;
    const step = this.step;
    this.taken = this.at;
    this.demand(Object.keys(step).sort().join() === ["step", ...names].sort().join(), `${kind}: its members are not ${names.join(", ")}`);
    this.read();
    return step;
  }

  take(kind, names) {
    const step = this.maybe(kind, names);
    if (step === null) refuse(`line ${this.at}: a step ${this.step.step} where ${kind} is due`);
    return step;
  }

  end() {
    this.taken = this.at;
    this.demand(this.step.step === "end" && Object.keys(this.step).length === 2 && this.step.lines === this.at - 1 &&
                this.at === this.lines.length, "not the end");
  }
}

const isIndex = (x, bound) => Number.isInteger(x) && x >= 0 && x < bound && !Object.is(x, -0);
const areIndices = (list, bound) => Array.isArray(list) && list.every(x => isIndex(x, bound));
const sameNumbers = (x, y) => x.length === y.length && x.every((v, i) => v === y[i]);

/// The places of each layer and where its actions take them.
function closedTables(net, steps) {
  return net.layers.map((layer, k) => {
    const step = steps.take("codewords", ["layer", "codewords"]), places = step.codewords;
    steps.demand(step.layer === k && areIndices(places, layer.words.length) && places.length > 0, "codewords: not codewords of the layer");
    const words = places.map(i => layer.words[i]), labels = places.map(i => layer.labelOf[i]);
    steps.demand(words.every(word => word.every(Number.isFinite)), "codewords: not finite");
    steps.demand(labels[0] === layer.initialLabel && sameNumbers(words[0], layer.initial), "codewords: place 0 is not H_0");
    const moves = new Map();
    for (let move; (move = steps.maybe("move", ["layer", "action", "book", "next"])) !== null;) {
      const key = `${move.action} ${move.book}`;
      steps.demand(move.layer === k && isIndex(move.action, layer.actions) && isIndex(move.book, layer.books) && !moves.has(key),
                   "move: of another layer, of no action or book, or named twice");
      steps.demand(areIndices(move.next, places.length) && move.next.length === places.length, "move: `next` does not name places");
      move.next.forEach((j, i) => {
        const h = layer.moved(move.action, words[i]);
        steps.demand(sameNumbers(h, words[j]), `move: place ${i} does not become place ${j} bit for bit`);
        const found = layer.nearest(h, move.book);
        steps.demand(found.label === labels[j], `move: place ${i} is decoded wrongly`);
        steps.demand(net.snapEvery === 0 || sameNumbers(layer.words[found.codeword], h), `move: place ${i} snaps elsewhere`);
      });
      moves.set(key, move.next);
    }
    const moveOf = context => moves.get(`${layer.actionOf[context]} ${layer.bookOf[context]}`);
    for (let context = 0; context < layer.contexts; ++context)
      steps.demand(moveOf(context) !== undefined, `layer ${k}: context ${context} has no move`);
    return {labels, moveOf};
  });
}

/// All tuples of places that are read as some state go where the automaton goes, by induction over the layers.
function checkInduction(net, steps, machine) {
  const {automaton} = net;
  steps.demand(net.read(machine.map(({labels}) => labels[0])) === automaton.initial, "induction: the places 0 are not read as the initial state");
  for (let letter = 0; letter < automaton.letters.length; ++letter) {
    let triples = new Map([["", [letter, 0, 0]]]);
    net.layers.forEach((layer, k) => {
      const after = new Map(), {labels, moveOf} = machine[k], level = net.readout[k];
      for (const [context, u, v] of triples.values()) {
        const move = moveOf(context);
        labels.forEach((label, place) => {
          if (level[u][label] === null) return;
          const above = layer.next === undefined ? 0 : layer.next[context][label], node = level[v][labels[move[place]]];
          steps.demand(node !== null && above !== null, `induction: letter ${letter}, layer ${k}, place ${place}: nothing to go on to`);
          after.set(`${above} ${level[u][label]} ${node}`, [above, level[u][label], node]);
        });
      }
      triples = after;
    });
    for (const [, u, v] of triples.values())
      steps.demand(v === automaton.next(u, letter), `induction: letter ${letter} goes wrong from state ${u}`);
  }
}

function checkTuples(net, steps, machine) {
  const {automaton} = net, tuples = [];
  for (let step; (step = steps.maybe("tuple", ["state", "places", "next"])) !== null;) {
    steps.demand(isIndex(step.state, automaton.states) && Array.isArray(step.places) && step.places.length === machine.length &&
                 step.places.every((p, k) => isIndex(p, machine[k].labels.length)), "tuple: no such places or state");
    tuples.push({...step, line: steps.taken});
  }
  steps.demand(tuples.length > 0, "`induction` or tuples are due");
  steps.taken = tuples[0].line;
  steps.demand(tuples[0].places.every(p => p === 0) && tuples[0].state === automaton.initial, "tuple 0 is not the start");
  for (const {state, places, next, line} of tuples) {
    steps.taken = line;
    const labels = places.map((p, k) => machine[k].labels[p]);
    steps.demand(net.read(labels) === state, "tuple: it is read as another state");
    steps.demand(areIndices(next, tuples.length) && next.length === automaton.letters.length, "tuple: `next` does not name tuples");
    next.forEach((j, letter) => {
      let context = letter;
      const moved = net.layers.map((layer, k) => {
        steps.demand(context !== null, `tuple: letter ${letter} has no context`);
        const place = machine[k].moveOf(context)[places[k]];
        context = layer.next === undefined ? null : layer.next[context][labels[k]];
        return place;
      });
      steps.demand(sameNumbers(moved, tuples[j].places) && tuples[j].state === automaton.next(state, letter),
                   `tuple: letter ${letter} does not lead to tuple ${j}`);
    });
  }
}

function closedCodewords(net, steps) {
  const machine = closedTables(net, steps);
  if (steps.maybe("induction", []) !== null) checkInduction(net, steps, machine);
  else checkTuples(net, steps, machine);
}

const MOST_WORK = 1e9;  // products that a re-check in a page may take

function readPair(net, steps, most) {
  const names = net.pairMembers(), hasDepth = most !== null;
  const isLast = hasDepth && steps.step.depth >= most - 1;
  if (hasDepth) names.push("depth");
  if (!isLast) names.push("next");
  const pair = steps.take("pair", names);
  steps.demand(isIndex(pair.state, net.truth.states), "pair: no such state");
  steps.demand(!hasDepth || isIndex(pair.depth, Math.max(most, 1)), `pair: its depth is not below ${most}`);
  return {...pair, line: steps.taken, memory: net.memoryOf(pair, steps)};
}

/// The pairs are all that words reach; `most` is null, or the number of letters that they prove the model right for.
function closedPairs(net, steps, most) {
  const {truth} = net, pairs = [];
  while (steps.step.step === "pair") pairs.push(readPair(net, steps, most));
  steps.demand(pairs.length > 0, "a pair is due");
  if (pairs.length * truth.letters.length * net.work > MOST_WORK) refuse("this page does not re-check so many pairs of so large a model; krohn check does");
  const start = net.start();
  steps.taken = pairs[0].line;
  steps.demand(net.isSame(pairs[0].memory, start) && pairs[0].state === truth.initial && (pairs[0].depth ?? 0) === 0 &&
               truth.isRight(truth.initial, start.answer), "pair 0 is not the start, or is not read as the initial state");
  if (most === 0) return;
  for (const {memory, state, depth, next, line} of pairs) {
    steps.taken = line;
    steps.demand(next === undefined || Array.isArray(next) && next.length === truth.letters.length, "pair: `next` does not have every letter");
    for (let letter = 0; letter < truth.letters.length; ++letter) {
      const target = truth.next(state, letter);
      if (target === null) {
        steps.demand(next === undefined || next[letter] === NOWHERE, `pair: letter ${letter} cannot stand there`);
        continue;
      }
      const after = net.step(memory, letter);
      steps.demand(truth.isRight(target, after.answer), `pair: letter ${letter} is read as ${after.answer}, not as state ${target}`);
      if (next === undefined) continue;
      steps.demand(isIndex(next[letter], pairs.length), `pair: letter ${letter} does not lead to a pair`);
      const named = pairs[next[letter]];
      steps.demand(net.isSame(after, named.memory) && named.state === target, `pair: letter ${letter} does not lead to that pair`);
      steps.demand(depth === undefined || named.depth <= depth + 1, `pair: letter ${letter} leads too deep`);
    }
  }
}

/// The letters of a random word, as docs/reference/certificate-file.md defines them.
function* randomLetters(seed, stream, n) {
  const mask = (1n << 64n) - 1n, golden = 0x9e3779b97f4a7c15n;
  const mix = x => {
    x = (x ^ x >> 30n) * 0xbf58476d1ce4e5b9n & mask;
    x = (x ^ x >> 27n) * 0x94d049bb133111ebn & mask;
    return x ^ x >> 31n;
  };
  const greatestPower = (base, bound) => { let k = 0; for (let p = base; p <= bound; p *= base) ++k; return k; };
  const power = greatestPower(Math.max(n, 2), n > 256 ? 2 ** 32 : 256), isEqual = Math.max(n, 2) ** power === 256;
  const count = n > 256 ? power : isEqual ? 8 * power : 4 * power;
  const key = mix(seed + golden * mix(stream + golden & mask) & mask), letters = BigInt(n);
  for (let block = 1n;; ++block) {
    let fraction = mix(key + golden * block & mask);
    if (n <= 256 && !isEqual) fraction &= ~0xffn;
    for (let i = 0; i < count; ++i) {
      const scaled = fraction * letters;
      yield Number(scaled >> 64n);
      fraction = scaled & mask;
    }
  }
}

const MOST_LETTERS = 2_000_000;
const TOO_GREAT = "this page does not take numbers past 2^53 in a failing word; krohn check does";
const isCount = x => Number.isSafeInteger(x) && x >= 0;

/// Reads letters, within what a page can do.
class Reading {
  constructor(net, steps) {
    Object.assign(this, {net, steps, truth: net.truth, length: 0, memory: net.start(), state: net.truth.initial});
    this.most = Math.min(MOST_LETTERS, Math.floor(MOST_WORK / net.work));
  }
  read(letter) {
    if (++this.length > this.most) refuse(`this page does not read words of more than ${this.most} letters with such a model; krohn check does`);
    this.state = this.truth.next(this.state, letter);
    this.steps.demand(this.state !== null, `letter ${letter} of the word cannot stand there`);
    this.memory = this.net.step(this.memory, letter);
  }
}

function failingWord(net, steps, claim) {
  const {truth} = net, reading = new Reading(net, steps);
  const random = steps.maybe("random", ["seed", "stream", "letters"]);
  if (random !== null) {
    steps.demand(!claim.shortest, "random: a random word is never claimed to be the shortest");
    if (!["seed", "stream", "letters"].every(name => isCount(random[name]))) refuse(TOO_GREAT);
    const letters = randomLetters(BigInt(random.seed), BigInt(random.stream), truth.letters.length);
    for (let i = 0; i < random.letters; ++i) reading.read(letters.next().value);
  } else {
    const number = new Map(truth.letters.map((name, i) => [name, i]));
    for (let step; (step = steps.maybe("word", ["letters", "times"])) !== null;) {
      steps.demand(Array.isArray(step.letters) && step.letters.every(name => number.has(name)), "word: a letter that the model does not have");
      steps.demand(step.letters.length > 0 && step.times !== 0, "word: no letters");
      if (!isCount(step.times)) refuse(TOO_GREAT);
      for (let i = 0; i < step.times; ++i) step.letters.forEach(name => reading.read(number.get(name)));
    }
  }
  const {state, length, memory: {answer}} = reading, step = steps.take("answer", ["expected", "given"]);
  steps.demand(step.expected === state && step.given === answer && !truth.isRight(state, answer),
               `answer: the automaton is in state ${state}, the model gives ${answer}`);
  if (claim.shortest && length > 0) closedPairs(net, steps, length - 1);
  return length;
}

function sampledWords(net, steps) {
  const {truth} = net, step = steps.take("words", ["seed", "words", "length"]);
  if (!["seed", "words", "length"].every(name => isCount(step[name]))) refuse(TOO_GREAT);
  steps.demand(step.words > 0 && step.length > 0, "words: nothing was read");
  if (step.words * step.length > Math.min(MOST_LETTERS, MOST_WORK / net.work)) refuse("this page does not read so many random words; krohn check does");
  for (let stream = 0; stream < step.words; ++stream) {
    const reading = new Reading(net, steps), letters = randomLetters(BigInt(step.seed), BigInt(stream), truth.letters.length);
    for (let t = 0; t < step.length; ++t) {
      reading.read(letters.next().value);
      steps.demand(truth.isRight(reading.state, reading.memory.answer), `words: stream ${stream}, letter ${t + 1} is read wrongly`);
    }
  }
}

const CLAIM = ["format", "version", "weights", "automaton", "arithmetic", "form", "order", "claim", "method"];

/// The first line, whose members must be just these.
function claimOf(steps, names) {
  const claim = steps.step, extra = {refuted: ["shortest"], "proved up to a length": ["length"], __proto__: null}[claim.claim] ?? [];
  const isClaim = Object.keys(claim).sort().join() === [...names, ...extra].sort().join();
  if (!isClaim || claim.format !== "krohn.certificate" || ![2, 3].includes(claim.version)) refuse("line 1: not a claim of version 2 or 3");
  if (claim.claim === "proved up to a length" && !(Number.isSafeInteger(claim.length) && claim.length >= 1)) refuse("line 1: `length`");
  if (claim.claim === "refuted" && typeof claim.shortest !== "boolean") refuse("line 1: `shortest`");
  return claim;
}

function inWords(claim, letters) {
  if (claim.claim === "proved") return "proved for words of every length";
  if (claim.claim === "sampled") return "sampled, not proved: random words were read correctly";
  if (claim.claim === "refuted") return `refuted by a word of ${letters} letter${letters === 1 ? "" : "s"}${claim.shortest ? ", and no shorter word fails" : ""}`;
  return `proved for words of up to ${claim.length} letter${claim.length === 1 ? "" : "s"}`;
}

/// By the method that the claim names, which must be one of `known`.
function byMethod(claim, known) {
  const method = `${claim.claim}, ${claim.method}`;
  return Object.hasOwn(known, method) ? known[method] : refuse(`this page does not re-check "${method}"; krohn check does`);
}

/// Returns the claim that the certificate establishes, in one sentence. Throws Refusal: what is wrong, or that the page does not
/// re-check it.
function established(text, net, weights, automaton) {
  const steps = new Steps(text);
  if (Object.hasOwn(steps.step, "against")) refuse("this page does not re-check certificates of networks that bring along what is right; krohn check does");
  const claim = claimOf(steps, CLAIM);
  const method = byMethod(claim, {
    "proved, closed codewords": () => closedCodewords(net, steps),
    "proved, closed reachable set": () => closedPairs(net, steps, null),
    "proved up to a length, closed reachable set": () => closedPairs(net, steps, claim.length),
    "refuted, failing word": () => failingWord(net, steps, claim),
  });
  if (claim.version !== 2) refuse("line 1: certificates of networks are of version 2");
  if (claim.order !== "sequential" || claim.form !== "structured")
    refuse(`this page does not re-check ${claim.form} weights in the order ${claim.order}; krohn check does`);
  if (claim.arithmetic !== net.a.name) refuse(`line 1: the claim is about ${claim.arithmetic}, the page computes in ${net.a.name}`);
  if (claim.weights !== sha256(weights)) refuse("line 1: the claim is about other weights");
  if (claim.automaton !== sha256(automaton)) refuse("line 1: the claim is about another automaton");
  steps.read();
  const letters = method();
  steps.end();
  return inWords(claim, letters);
}

/// The same of a model that the certificate describes operation by operation; `weights` are the tensors that it names.
function establishedOfOperations(text, weights) {
  const steps = new Steps(text), files = ["config.json", "tokens.json"].filter(name => Object.hasOwn(steps.step, name));
  const claim = claimOf(steps, [...CLAIM.filter(name => name !== "automaton"), "against", ...files]);
  let net = null;
  const method = byMethod(claim, {
    "proved, closed reachable set": () => closedPairs(net, steps, null),
    "proved up to a length, closed reachable set": () => closedPairs(net, steps, claim.length),
    "refuted, failing word": () => failingWord(net, steps, claim),
    "sampled, sampled": () => sampledWords(net, steps),
  });
  if (claim.order !== "sequential" || claim.form !== "operations" || claim.against !== "language") refuse("line 1: not a claim about operations");
  if (!["fp64", "fp32", "bf16"].includes(claim.arithmetic)) refuse("line 1: operations are in fp64, fp32 or bf16");
  if (claim.weights !== sha256(weights)) refuse("line 1: the claim is about other weights");
  steps.read();
  net = new Operations(weights, claim.arithmetic, steps);
  if (claim.version !== (net.isNewer ? 3 : 2)) refuse("line 1: the version is not that of the operations");
  const letters = method(), {asked, states} = net.truth;
  steps.end();
  return `${inWords(claim, letters)}, held against the language in the certificate, which asks in ${asked} of its ${states} states`;
}
