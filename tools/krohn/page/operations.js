// A model that is no network, evaluated operation by operation as docs/reference/certificate-file.md, "Operations", states them.
// Numbers are doubles that the format has, fp64, fp32 or bf16: one operation in double and one rounding are the rounding of
// the exact result, of quotients and roots too.

const twoSum = (a, b) => {
  const s = a + b, part = s - a;
  return [s, (a - (s - part)) + (b - part)];
};

/// Dekker's product: a·b as a sum of two doubles, for numbers far from the ends of the range.
function twoProduct(a, b) {
  const split = x => { const c = 134217729 * x, high = c - (c - x); return [high, x - high]; };
  const p = a * b, [ah, al] = split(a), [bh, bl] = split(b);
  return [p, ((ah * bh - p) + ah * bl + al * bh) + al * bl];
}

/// a·b + c rounded once to fp64 (Boldo & Melquiond 2008).
function fused(a, b, c) {
  const [uh, ul] = twoProduct(a, b), [th, tl] = twoSum(c, ul), [vh, vl] = twoSum(uh, th);
  return vh + addToOdd(tl, vl);
}

const fp64Of = digits => numberOfBits(digits, FORMATS.fp64);
const EXP = {
  turns: fp64Of("3ff71547652b82fe"), high: fp64Of("3fe62e42fefa3800"), low: fp64Of("3d2ef35793c76730"),
  greatest32: fp64Of("40562e42e0000000"), least32: fp64Of("c059fe3680000000"), turns32: fp64Of("40471547652b82fe"),
  rootOf2: fp64Of("3ff6a09e667f3bcd"), logOf2: [fp64Of("3fe62e42fefa39ef"), fp64Of("3c7abc9e3b39803f")],
  cubic32: fp64Of("3ebc6af84b912394"), square32: fp64Of("3f2ebfce50fac4f3"), linear32: fp64Of("3f962e42ff0c52d6"),
};
const INVERSE_FACTORIALS = (() => {
  const inverses = [1];
  for (let n = 1, factorial = 1; n < 15; ++n) factorial *= n, inverses.push(1 / factorial);
  return inverses;
})();
let powers = null;  // 2^(i/32) rounded to fp64, once they are needed

/// With ½ more, or below 0 less, cut to an integer.
const whole = x => Math.trunc(x + (x >= 0 ? 0.5 : -0.5));
/// x · 2^k, rounded once.
const timesPower = (x, k) => k > 0 ? x * 2 ** (k - 100) * 2 ** 100 : x * 2 ** (k + 100) * 2 ** -100;

/// k, u, v with e^x = 2^k (1 + u + v): what e^x and tanh begin with.
function exponential64(x) {
  const k = whole(x * EXP.turns);
  const [r, below] = twoSum(x - k * EXP.high, -(k * EXP.low));
  let tail = 0;
  for (let n = 14; n > 2; --n) tail = tail * r + INVERSE_FACTORIALS[n];
  const [square, lost] = twoProduct(r, r), [high, low] = twoSum(r, square / 2);
  const rest = (lost / 2 + square * r * tail) + below * (1 + r);
  return [k, ...twoSum(high, low + rest)];
}

/// e^x by the steps of `sigmoid`; Infinity where it is too large.
function exp64(x) {
  if (x > 710) return Infinity;
  if (x < -746) return 0;
  const [k, less, lessRest] = exponential64(x), [value, valueRest] = twoSum(1, less);
  return timesPower(value + (valueRest + lessRest), k);
}

/// tanh by the steps of `tanh`.
function tanh64(a) {
  const x = -2 * Math.abs(a);
  let lessOne = -1;
  if (x >= -40) {
    const [k, first, second] = exponential64(x);
    if (k === 0) {
      lessOne = first + second;
    } else {
      const [octaves, octavesRest] = twoSum(2 ** k, -1), [sum, sumRest] = twoSum(octaves, first * 2 ** k);
      const [below, belowRest] = twoSum(octavesRest, second * 2 ** k), [whole, wholeRest] = twoSum(sum, sumRest + below);
      lessOne = whole + (wholeRest + belowRest);
    }
  }
  return a > 0 ? -(lessOne / (2 + lessOne)) : lessOne / (2 + lessOne);
}

/// Pairs, whose sum is meant, as in the steps of `softplus`.
const pairs = {
  add([a, aRest], [b, bRest]) {
    const [sum, sumRest] = twoSum(a, b), [below, belowRest] = twoSum(aRest, bRest), [first, firstRest] = twoSum(sum, sumRest + below);
    return twoSum(first, firstRest + belowRest);
  },
  multiply([a, aRest], [b, bRest]) {
    const [product, lost] = twoProduct(a, b);
    return twoSum(product, lost + (a * bRest + aRest * b));
  },
  divide(a, b) {
    const less = (from, times) => pairs.add(from, pairs.multiply([times, 0], b).map(x => -x));
    const first = a[0] / b[0], rest = less(a, first), second = rest[0] / b[0], last = less(rest, second);
    return pairs.add(twoSum(first, second), [last[0] / b[0], 0]);
  },
};
const INVERSE_ODDS = Array.from({length: 21}, (_, i) => pairs.divide([1, 0], [2 * i + 1, 0]));

const negated = pair => pair.map(x => -x);
const INVERSE_FACTORIAL_PAIRS = (() => {
  const inverses = [[1, 0]];
  for (let n = 1; n < 29; ++n) inverses.push(pairs.divide(inverses[n - 1], [n, 0]));
  return inverses;
})();

/// The series in a pair of pairs, the first `count` of which are taken as pairs.
function series(factors, count, x) {
  const tail = factors.slice(count).reduceRight((sum, factor) => sum * x[0] + factor[0], 0);
  return factors.slice(0, count).reduceRight((sum, factor) => pairs.add(pairs.multiply(sum, x), factor), [tail, 0]);
}

/// The logarithm of a pair that begins with a normal number above 0.
function logarithm([high, low]) {
  let k = 0;
  for (; high > EXP.rootOf2; ++k) high /= 2, low /= 2;
  for (; high <= EXP.rootOf2 / 2; --k) high *= 2, low *= 2;
  const f = twoSum(high - 1, low), s = pairs.divide(f, pairs.add([2, 0], f));
  const ofM = pairs.multiply(s, series(INVERSE_ODDS, 4, pairs.multiply(s, s))).map(x => 2 * x);
  return k === 0 ? ofM : pairs.add(pairs.multiply(EXP.logOf2, [k, 0]), ofM);
}

/// log(1 + x) for x ≥ 0.
const log1p64 = x => x < 2 ** -60 ? x : logarithm(twoSum(1, x))[0];

/// x^y for x ≥ 0 and y > 0.
function power64(x, y) {
  if (x === 0 || x === 1 || x === Infinity) return x;
  const isSmall = x < 2 ** -1022, shift = pairs.multiply(EXP.logOf2, [60, 0]);
  const log = isSmall ? pairs.add(logarithm([x * 2 ** 60, 0]), negated(shift)) : logarithm([x, 0]);
  if (y * log[0] > 710) return Infinity;
  if (y * log[0] < -746) return 0;
  const exponent = pairs.multiply(log, [y, 0]), k = whole(exponent[0] * EXP.turns);
  const r = pairs.add(exponent, negated(pairs.multiply(EXP.logOf2, [k, 0]))).map(x => x / 64);
  let less = pairs.multiply(r, series(INVERSE_FACTORIAL_PAIRS.slice(1, 13), 3, r));
  for (let i = 0; i < 6; ++i) less = pairs.add(less.map(x => 2 * x), pairs.multiply(less, less));
  return timesPower(pairs.add([1, 0], less)[0], k);
}

const ANGLE = {
  turns: fp64Of("3fe45f306dc9c883"), first: fp64Of("3ff921fb54400000"), second: fp64Of("3dd0b4611a600000"),
  others: [fp64Of("3ba3198a2e037073"), fp64Of("384129024e088a68")],
};
let halfPi = null;  // times 2^1280, once it is needed

/// The quarter turns in a, and the pair that is left.
function angle64(a) {
  if (Math.abs(a) < 2 ** 20) {
    const k = whole(a * ANGLE.turns), left = twoSum(a - k * ANGLE.first, -(k * ANGLE.second));
    return [k & 3, pairs.add(left, negated(pairs.multiply(ANGLE.others, [k, 0])))];
  }
  if (halfPi === null) {
    halfPi = 0n;
    for (let n = 1n, sign = 1n; 5n ** n <= 1n << 1280n; n += 2n, sign = -sign)
      halfPi += sign * (16n * ((1n << 1280n) / (n * 5n ** n)) - 4n * ((1n << 1280n) / (n * 239n ** n)));
    halfPi /= 2n;
  }
  const size = Math.abs(a), scaled = size < 2 ** 53 ? BigInt(size * 2 ** 33) << 1247n : BigInt(size) << 1280n;
  const k = (2n * scaled + halfPi) / (2n * halfPi), rest = scaled - k * halfPi;
  const leading = x => {
    const digits = (x < 0n ? -x : x).toString(2).length, drop = BigInt(Math.max(digits - 53, 0));
    return [x / (1n << drop) << drop, Number(x / (1n << drop)) * 2 ** (Number(drop) - 1280)];
  };
  const [cut, high] = leading(rest), [, low] = leading(rest - cut), sign = a < 0 ? -1 : 1;
  return [Number(BigInt.asUintN(2, a < 0 ? -k : k)), twoSum(sign * high, sign * low)];
}

/// cos(a + quarters · π/2).
function cosine64(a, quarters) {
  const [k, rest] = angle64(a), place = k + quarters & 3, isOdd = place % 2;
  const factors = INVERSE_FACTORIAL_PAIRS.filter((_, n) => n % 2 === isOdd).map((x, i) => i % 2 === 0 ? x : negated(x));
  const sum = series(factors, 4, pairs.multiply(rest, rest)), [value] = isOdd ? pairs.multiply(rest, sum) : sum;
  return place === 1 || place === 2 ? -value : value;
}

/// e^x by the steps of `sigmoid32`, in fp32.
function exp32(x) {
  if (x > EXP.greatest32) return Infinity;
  if (x < EXP.least32) return 0;
  powers ??= Array.from({length: 32}, (_, i) => {
    let power = 1n << BigInt(i + 32 * 80);
    for (let n = 0; n < 5; ++n) power = integerRoot(power);
    return roundedRatio(power, 1n << 80n, FORMATS.fp64);
  });
  const shift = 1.5 * 2 ** 52, k = fused(EXP.turns32, x, shift) - shift, r = fused(EXP.turns32, x, -k);
  const value = fused(fused(EXP.cubic32, r, EXP.square32), r * r, fused(EXP.linear32, r, 1));
  return Math.fround(value * (powers[k & 31] * 2 ** (k >> 5)));
}

/// Each operation at one place of the result; `round` is that of the format.
const COMPUTED = {
  copy: {operands: 1, of: () => a => a},
  add: {operands: 2, of: round => (a, b) => round(a + b)},
  subtract: {operands: 2, of: round => (a, b) => round(a - b)},
  multiply: {operands: 2, of: round => (a, b) => round(a * b)},
  divide: {operands: 2, of: round => (a, b) => b === 0 ? NaN : round(a / b)},
  greater: {operands: 2, of: () => (a, b) => a > b ? a : b},
  root: {operands: 1, of: round => a => round(Math.sqrt(a))},
  bf16: {operands: 1, of: () => a => roundedTo(a, FORMATS.bf16)},
  sigmoid: {operands: 2, of: round => sigmoidBy(exp64, round)},
  sigmoid32: {operands: 2, of: round => sigmoidBy(exp32, round)},
  exp: {operands: 1, of: round => a => round(exp64(a))},
  exp32: {operands: 1, of: round => a => round(exp32(a))},
  softplus: {operands: 1, of: round => a => round(Math.max(a, 0) + round(log1p64(exp64(-Math.abs(a)))))},
  softplus32: {operands: 1, of: round => a => a > 20 ? a : round(log1p64(exp32(a)))},
  logistic: {operands: 1, of: round => a => round(1 / (1 + exp64(-a)))},
  tanh: {operands: 1, of: round => a => round(tanh64(a))},
  dot: {operands: 2, of: () => null},
  softplus64: {operands: 1, isNewer: true, of: round => a => a > 20 ? a : round(log1p64(exp64(a)))},
  "log sigmoid": {operands: 1, isNewer: true, of: round => a => round(Math.min(a, 0) - log1p64(exp64(-Math.abs(a))))},
  cosine: {operands: 1, isNewer: true, of: round => a => round(cosine64(a, 0))},
  sine: {operands: 1, isNewer: true, of: round => a => round(cosine64(a, -1))},
  norm: {operands: 1, isNewer: true, of: () => null},
};

const sigmoidBy = (exponential, round) => (a, b) => {
  const e = round(exponential(-b));
  return e === Infinity ? 0 : round(a / round(1 + e));
};

const MOST_NUMBERS = 2 ** 26;

/// The truth that a certificate brings along: an automaton, and the number of the logit that is wanted in each state,
/// null where nothing is asked. A letter that cannot stand leads to null.
class Truth {
  constructor(steps) {
    const step = steps.take("language", ["letters", "table", "outputs", "logits"]), {letters, table, outputs, logits} = step;
    const areTexts = list => Array.isArray(list) && list.every(x => typeof x === "string");
    steps.demand(areTexts(letters) && new Set(letters).size === letters.length && !letters.includes(""), "language: a letter twice, or no name");
    steps.demand(Array.isArray(table) && table.length > 0 && table.every(row => Array.isArray(row) && row.length === letters.length &&
                 row.every(q => isIndex(q, table.length) || q === NOWHERE)), "language: no such state");
    steps.demand(Array.isArray(outputs) && outputs.length === table.length && areTexts(outputs.filter(x => x !== null)),
                 "language: not an output for each state");
    steps.demand(Array.isArray(logits) && logits.length === table.length && logits.every((x, q) => x === null ? outputs[q] === null : isIndex(x, 2 ** 32) && outputs[q] !== null),
                 "language: not a logit where there is an output, and only there");
    const meant = new Map();
    logits.forEach((x, q) => {
      if (x === null || x >= NOWHERE - 3) return;
      steps.demand((meant.get(x) ?? outputs[q]) === outputs[q], "language: one logit stands for two outputs");
      meant.set(x, outputs[q]);
    });
    Object.assign(this, {letters, outputs, wanted: logits, initial: 0, states: table.length, names: meant});
    this.table = table.map(row => row.map(q => q === NOWHERE ? null : q));
    this.asked = logits.filter(x => x !== null).length;
  }
  next(state, letter) { return this.table[state][letter]; }
  isRight(state, answer) { return this.wanted[state] === null || answer === this.wanted[state]; }
}

/// Lists of numbers, each made from those before it. What it remembers is a list of numbers; `answer` is the number of the
/// greatest logit after the letter read last, or null.
class Operations {
  /// `steps` stands before the step "operations", and behind the language afterwards.
  constructor(bytes, arithmetic, steps) {
    this.tensors = readSafetensors(bytes).tensors;
    this.a = {name: arithmetic, storage: FORMATS[arithmetic]};
    this.round = rounder(this.a.storage);
    this.lists = [], this.size = null, this.work = 1, this.isNewer = false;
    const {tokens, before, after} = steps.take("operations", ["tokens", "before", "after"]);
    const areTokens = list => Array.isArray(list) && list.every(x => isIndex(x, 2 ** 32));
    steps.demand([tokens, before, after].every(areTokens), "operations: no tokens");
    Object.assign(this, {tokens, suffix: after});
    while (steps.step.step !== "answer by") this.readOperation(steps, steps.step.step);
    const {start, keep, logits} = steps.take("answer by", ["start", "keep", "logits"]);
    steps.demand(areIndices([start, keep, [logits]].flat(), this.lists.length) && Array.isArray(start) && Array.isArray(keep), "answer by: no such list");
    steps.demand(start.every(i => this.lists[i].depends === 0), "start: a list that depends on letters");
    Object.assign(this, {keep, logits, ofToken: new Map()});
    const roundings = this.lists.filter(({kind}) => kind === "bf16").length;
    if (roundings > 0) this.a.name += ` with ${roundings} rounding${roundings === 1 ? "" : "s"} to bf16`;
    const numbers = start.flatMap(i => Array.from(this.lists[i].values));
    this.size ??= 0;
    steps.demand(this.size === numbers.length && this.size === keep.reduce((sum, i) => sum + this.lists[i].size, 0),
                 "what is remembered is not always as long");
    this.truth = new Truth(steps);
    if (tokens.length !== this.truth.letters.length) refuse("not a token for each letter");
    this.first = this.token({numbers, answer: null}, null);
    this.first = before.reduce((memory, token) => this.token(memory, token), this.first);
    this.first = after.length > 0 ? this.behind(this.first) : before.length > 0 ? this.first : {...this.first, answer: null};
  }

  readOperation(steps, kind) {
    const list = {kind, depends: 0, values: null};
    if (kind === "tensor") {
      const {name} = steps.take(kind, ["name"]), found = this.tensors.get(name);
      steps.demand(["F32", "F64", "F16", "BF16"].includes(found?.dtype), `the model has no tensor “${name}” of real numbers`);
      list.values = Float64Array.from(found.values, this.round);
      steps.demand(list.values.every(Number.isFinite), `tensor “${name}”: a number that is not finite`);
      list.size = list.values.length;
    } else if (kind === "numbers") {
      const {bits, times} = steps.take(kind, ["bits", "times"]), digits = this.a.storage.width / 4;
      steps.demand(typeof bits === "string" && bits.length % digits === 0 && bits.length > 0 && times !== 0 && isIndex(times, MOST_NUMBERS) && bits.length / digits * times <= MOST_NUMBERS, "numbers: too many");
      const once = numbersOfBits(bits, bits.length / digits, this.a.storage, steps);
      list.values = new Float64Array(once.length * times);
      for (let i = 0; i < times; ++i) list.values.set(once, i * once.length);
      list.size = list.values.length;
    } else if (kind === "memory") {
      const {size} = steps.take(kind, ["size"]);
      steps.demand(this.size === null && isIndex(size, MOST_NUMBERS) && size > 0, "memory: named twice, or too large");
      this.size = list.size = size, list.depends = 2;
    } else if (kind === "row") {
      const {of, size} = steps.take(kind, ["of", "size"]);
      steps.demand(isIndex(of, this.lists.length) && this.lists[of].depends === 0 && isIndex(size, MOST_NUMBERS) && size > 0, "row: of no list that is always the same");
      Object.assign(list, {of, size, depends: 1});
    } else {
      this.readComputed(steps, kind, list);
    }
    this.lists.push(list);
    steps.demand(this.lists.reduce((sum, {size}) => sum + size, 0) <= MOST_NUMBERS, "too many numbers");
    if (list.values === null && list.depends === 0) list.values = this.computed(list, this.lists.map(({values}) => values));
  }

  readComputed(steps, kind, list) {
    if (!Object.hasOwn(COMPUTED, kind)) refuse(`line ${steps.at}: an unknown operation “${kind}”`);
    const isDot = kind === "dot", isNorm = kind === "norm", hasTerms = isDot || isNorm;
    const {shape, of, exponent, terms = 0} = steps.take(kind, ["shape", "of", ...hasTerms ? ["terms"] : [], ...isNorm ? ["exponent"] : []]);
    steps.demand(Array.isArray(shape) && shape.every(x => isIndex(x, MOST_NUMBERS) && x > 0) && isIndex(terms, MOST_NUMBERS) && (terms > 0 || !hasTerms), `${kind}: \`shape\``);
    if (isNorm) {
      list.exponent = typeof exponent === "string" ? numberOfBits(exponent, FORMATS.fp64) : null;
      steps.demand(list.exponent !== null && list.exponent >= 1 && list.exponent <= 1024, "norm: exponents are from 1 to 1,024");
    }
    list.size = shape.reduce((product, x) => product * x, 1);
    steps.demand(list.size * Math.max(terms, 1) <= MOST_NUMBERS, `${kind}: too many numbers`);
    const due = COMPUTED[kind].operands;
    steps.demand(Array.isArray(of) && (of.length === due || isDot && of.length === 3), `${kind}: not made of ${due} lists`);
    list.views = of.map((view, v) => {
      const summed = hasTerms && v < 2;
      steps.demand(Array.isArray(view) && view.every(x => isIndex(x, 2 ** 32)) && view.length === 2 + shape.length + summed && view[0] < this.lists.length,
                   `${kind}: not a list before it with a stride for each axis`);
      const [from, first, ...strides] = view;
      let at = [first];
      shape.forEach((extent, axis) => { at = at.flatMap(x => Array.from({length: extent}, (_, y) => x + y * strides[axis])); });
      const stride = summed ? strides[shape.length] : 0, along = summed && terms > 0 ? (terms - 1) * stride : 0;
      steps.demand(at.every(x => x + along < this.lists[from].size), `${kind}: a number that list ${from} does not have`);
      list.depends = Math.max(list.depends, this.lists[from].depends);
      return {from, at: Float64Array.from(at), stride};
    });
    list.terms = terms;
    list.compute = COMPUTED[kind].of(this.round);
    this.isNewer ||= Object.hasOwn(COMPUTED[kind], "isNewer");
    this.work += list.size * Math.max(terms, 1);
  }

  computed({kind, size, views, terms, exponent, compute}, values) {
    const result = new Float64Array(size);
    if (kind === "dot") {
      const [x, y, rest] = views, a = values[x.from], b = values[y.from], c = rest && values[rest.from], {round} = this;
      for (let i = 0; i < size; ++i) {
        let s = rest ? c[rest.at[i]] : 0;
        for (let t = 0, p = x.at[i], q = y.at[i]; t < terms; ++t, p += x.stride, q += y.stride) s = round(s + round(a[p] * b[q]));
        result[i] = s;
      }
    } else if (kind === "norm") {
      const [x] = views, a = values[x.from];
      for (let i = 0; i < size; ++i) {
        let s = 0;
        for (let t = 0; t < terms; ++t) s += power64(Math.abs(a[x.at[i] + t * x.stride]), exponent);
        result[i] = this.round(power64(s, 1 / exponent));
      }
    } else {
      const [x, y] = views, a = values[x.from], b = y && values[y.from];
      for (let i = 0; i < size; ++i) result[i] = y ? compute(a[x.at[i]], b[y.at[i]]) : compute(a[x.at[i]]);
    }
    for (let i = 0; i < size; ++i) if (!Number.isFinite(result[i])) refuse("a number on the way is not finite");
    return result;
  }

  /// The lists of a token that do not depend on what is remembered.
  listsOfToken(token) {
    if (this.ofToken.has(token)) return this.ofToken.get(token);
    const values = this.lists.map(list => list.values);
    this.lists.forEach((list, i) => {
      if (list.depends !== 1) return;
      if (list.kind !== "row") values[i] = this.computed(list, values);
      else if ((token + 1) * list.size > this.lists[list.of].size) refuse(`token ${token} has no row`);
      else values[i] = values[list.of].slice(token * list.size, (token + 1) * list.size);
    });
    if (this.ofToken.size < 4096) this.ofToken.set(token, values);
    return values;
  }

  /// Returns the memory after one more token, with its logits; `null` reads none.
  token(memory, token) {
    if (token === null) return {...memory, logits: null};
    const values = this.listsOfToken(token).slice();
    this.lists.forEach((list, i) => {
      if (list.depends === 2) values[i] = list.kind === "memory" ? memory.numbers : this.computed(list, values);
    });
    const logits = values[this.logits];
    let answer = null, greatest = -Infinity;
    logits.forEach((x, i) => {
      if (x > greatest) [answer, greatest] = [i, x];
      else if (x === greatest) answer = null;
    });
    return {numbers: this.keep.flatMap(i => Array.from(values[i])), answer, logits};
  }

  /// The answer after the tokens `after`, which are forgotten.
  behind(memory) {
    if (this.suffix.length === 0) return memory;
    const {answer, logits} = this.suffix.reduce((m, token) => this.token(m, token), memory);
    return {...memory, answer, logits};
  }

  start() { return this.first; }
  /// Throws Refusal where a number on the way is not finite.
  step(memory, letter) {
    if (!(letter < this.tokens.length)) refuse(`letter ${letter} has no token`);
    return this.behind(this.token(memory, this.tokens[letter]));
  }

  // The stepper's positions, by the letters of an automaton: memories, with the state of the truth.
  follow(letters, unit = "answer") {
    this.unit = unit;
    const number = new Map(this.truth.letters.map((name, i) => [name, i]));
    this.letterOf = letters.map(name => number.get(name) ?? refuse(`the model does not read the letter “${name}”`));
  }
  begin() { return {...this.first, right: this.truth.initial}; }
  after(memory, letter) {
    const read = this.letterOf[letter], right = memory.right === null ? null : this.truth.next(memory.right, read);
    const broken = why => ({numbers: memory.numbers, answer: null, logits: null, right, broken: why});
    if (memory.broken) return broken(memory.broken);
    try {
      return {...this.step(memory, read), right};
    } catch (error) {
      return error instanceof Refusal ? broken(error.message) : (() => { throw error; })();
    }
  }
  isAsked({right}) { return right !== null && this.truth.wanted[right] !== null; }
  agrees(memory) { return !this.isAsked(memory) || this.truth.isRight(memory.right, memory.answer); }
  nameOf(answer) { return answer === null ? "no answer" : this.truth.names.get(answer) ?? `${this.unit} ${answer}`; }
  /// How far the second logit is behind the first.
  closeness({logits}) {
    if (!logits || logits.length < 2) return null;
    const [first, second] = Array.from(logits).sort((x, y) => y - x);
    return {margin: first - second, distance: null};
  }

  pairMembers() { return ["state", "bits"]; }
  memoryOf(pair, steps) {
    steps.demand(Array.isArray(pair.bits) && pair.bits.length === 1, "pair: not the bits of one list");
    return {numbers: numbersOfBits(pair.bits[0], this.size, this.a.storage, steps)};
  }
  isSame(x, y) { return sameNumbers(x.numbers, y.numbers); }
}
