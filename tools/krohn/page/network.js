// A network and its automaton, read from the bytes of docs/reference/network-file.md and evaluated letter after letter in the
// structured form. Shares no code with krohn.

const NOWHERE = 2 ** 32 - 1;
const ELEMENT = {U8: 1, I8: 1, F16: 2, BF16: 2, U32: 4, I32: 4, U64: 8, I64: 8, F32: 4, F64: 8};

const FLOAT = new Float32Array(1), WORDS_OF_FLOAT = new Uint32Array(FLOAT.buffer);

/// The metadata and tensors of a safetensors file. Integers of 64 bits become BigInts.
function readSafetensors(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8) refuse("the file of the weights is cut short");
  const length = Number(view.getBigUint64(0, true)), start = 8 + length;
  if (start > bytes.length) refuse("the header of the weights is longer than the file");
  const header = JSON.parse(new TextDecoder("utf-8", {fatal: true}).decode(bytes.subarray(8, start)));
  const metadata = header.__metadata__ ?? {}, tensors = new Map();
  delete header.__metadata__;
  const half = bits => {
    const exponent = bits >> 10 & 31, fraction = bits & 1023;
    const size = exponent === 31 ? Infinity : exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
    return bits >> 15 ? -size : size;
  };
  const readers = {
    F16: at => half(view.getUint16(at, true)),
    BF16: at => (WORDS_OF_FLOAT[0] = view.getUint16(at, true) << 16, FLOAT[0]),
    U8: at => view.getUint8(at), I8: at => view.getInt8(at), U32: at => view.getUint32(at, true),
    I32: at => view.getInt32(at, true), U64: at => view.getBigUint64(at, true), I64: at => view.getBigInt64(at, true),
    F32: at => view.getFloat32(at, true), F64: at => view.getFloat64(at, true),
  };
  for (const [name, {dtype, shape, data_offsets: [begin, end]}] of Object.entries(header)) {
    const count = shape.reduce((product, side) => product * side, 1), size = ELEMENT[dtype];
    if (size === undefined || end - begin !== count * size || begin < 0 || start + end > bytes.length)
      refuse(`${name}: a tensor that does not fit its bytes`);
    if (/^layers\.\d+\.A$/.test(name)) continue;  // follows from the structured form
    const values = new Array(count);
    for (let i = 0; i < count; ++i) values[i] = readers[dtype](start + begin + i * size);
    tensors.set(name, {dtype, shape, values});
  }
  return {metadata, tensors};
}

const values = (tensors, name) => tensors.get(name)?.values ?? refuse(`${name}: no such tensor`);
const optional = (tensors, name) => tensors.get(name)?.values;

function rowsOf(flat, width) {
  const rows = [];
  for (let i = 0; i < flat.length; i += width) rows.push(flat.slice(i, i + width));
  return rows;
}

function listsOf(flat, offsets) {
  const lists = [];
  for (let i = 0; i + 1 < offsets.length; ++i) lists.push(flat.slice(Number(offsets[i]), Number(offsets[i + 1])));
  return lists;
}

/// Every entry below the bound, or NOWHERE, which becomes null.
const links = (flat, bound, name) => flat.map(
  x => x === NOWHERE ? null : x < bound ? x : refuse(`${name}: an entry that is not below ${bound}`));

/// The automaton: its table, outputs and letters.
class Automaton {
  constructor(bytes) {
    const {metadata, tensors} = readSafetensors(bytes);
    const about = JSON.parse(metadata.automaton);
    this.symbols = about.alphabet;
    this.letters = about.alphabet.map(symbol => symbol.name);
    this.initial = about.initial;
    this.outputNames = about.output_names;
    this.outputs = links(values(tensors, "automaton.outputs"), this.outputNames.length, "automaton.outputs");
    this.states = this.outputs.length;
    const table = links(values(tensors, "automaton.table"), this.states, "automaton.table");
    this.table = rowsOf(table, this.letters.length);
    if (this.table.length !== this.states || !(this.initial < this.states) || table.includes(null))
      refuse("automaton.table: not a complete table");
  }
  next(state, letter) { return this.table[state][letter]; }
  output(state) { return this.outputNames[this.outputs[state]]; }
}

// ---- Matrices: functions from a column to A times it, before it is stored

/// The rounded weights of one layer's actions, ready to be applied.
class Matrices {
  constructor(tensors, prefix, n, forms, form, arithmetic) {
    Object.assign(this, {tensors, prefix: prefix + "structured.", n, a: arithmetic});
    const counts = forms.map((_, i) => form.filter(f => f === i).length);
    const made = forms.map((name, i) => counts[i] === 0 ? [] : this.form(name, counts[i]));
    const taken = forms.map(() => 0);
    this.apply = form.map(f => made[f]?.[taken[f]++] ?? refuse(`${prefix}form: no such form`));
  }

  tensor(name) { return values(this.tensors, this.prefix + name); }
  lists(name) { return listsOf(this.tensor(name), this.tensor(name + ".offsets")); }
  weight(x) { return Number.isFinite(x) ? rounder(this.a.storage)(x) : refuse(`${this.prefix}: a weight that is not finite`); }
  cosine(p, q) { return cosineOfTurn(p, q, this.a.storage); }
  sine(p, q) { return cosineOfTurn(4n * p - q, 4n * q, this.a.storage); }

  form(name, m) {
    const {n, a} = this;
    if (name === "zero") return new Array(m).fill(() => new Array(n).fill(0));
    if (name === "map")
      return rowsOf(this.tensor("map"), n).map(map => {
        const sources = Array.from({length: n}, () => []);
        map.forEach((i, j) => sources[i].push(j));
        return x => sources.map(from => this.sum(from, x));
      });
    if (name === "signed-permutation") {
      const signs = rowsOf(this.tensor("signed.sign"), n);
      return rowsOf(this.tensor("signed.map"), n).map((map, r) => x => {
        const y = new Array(n).fill(0);
        map.forEach((i, j) => { y[i] = signs[r][j] * x[j]; });
        return y;
      });
    }
    if (name === "diagonal")
      return rowsOf(this.tensor("diagonal"), n).map(row => {
        const weights = row.map(w => this.weight(w));
        return x => weights.map((w, i) => a.product(w, x[i]));
      });
    if (name === "dense") return rowsOf(this.tensor("dense"), n * n).map(flat => this.blocks([rowsOf(flat, n)]));
    if (name === "block-diagonal") {
      const flat = this.tensor("blocks.values");
      let at = 0;
      return this.lists("blocks.size").map(sizes => this.blocks(sizes.map(size => {
        const block = rowsOf(flat.slice(at, at + size * size), size);
        at += size * size;
        return block;
      })));
    }
    if (name === "rotation") return this.rotations();
    if (name === "reflections") return this.reflections();
    if (name === "factored") return this.factored();
    return refuse(`this page does not know the form of matrices "${name}"`);
  }

  sum(from, x) {
    let s = 0;
    from.forEach((j, i) => { s = i === 0 ? x[j] : this.a.add(s, x[j]); });
    return s;
  }

  blocks(given) {
    const {a} = this, blocks = given.map(block => block.map(row => row.map(w => this.weight(w))));
    return x => {
      const y = [];
      for (const block of blocks) {
        const first = y.length;
        for (const row of block) {
          let s = a.product(row[0], x[first]);
          for (let j = 1; j < row.length; ++j) s = a.addProduct(s, row[j], x[first + j]);
          y.push(s);
        }
      }
      return y;
    };
  }

  rotations() {
    const {a} = this, turns = rowsOf(this.tensor("rotation.turn"), 2), isSign = this.tensor("rotation.is_sign");
    const blocks = turns.map(([p, q], i) => isSign[i] ? {sign: p % q === 0n ? 1 : -1} : {c: this.cosine(p, q), s: this.sine(p, q)});
    return listsOf(blocks, this.tensor("rotation.offsets")).map(of => x => {
      const y = [];
      for (const {sign, c, s} of of) {
        const i = y.length;
        if (sign !== undefined) y.push(sign * x[i]);
        else y.push(a.addProduct(a.product(c, x[i]), -s, x[i + 1]), a.addProduct(a.product(s, x[i]), c, x[i + 1]));
      }
      return y;
    });
  }

  reflections() {
    const {a} = this, offsets = this.tensor("reflections.position.offsets");
    const positions = this.lists("reflections.position"), keys = listsOf(this.tensor("reflections.value"), offsets);
    const squares = rowsOf(this.tensor("reflections.scale_squared"), 2), angles = rowsOf(this.tensor("reflections.angle"), 2);
    const planes = this.tensor("reflections.plane"), betas = this.tensor("reflections.beta");
    const roots = new Map();
    const root = (p, q, value) => {
      const key = `${p} ${q} ${value}`;
      if (!roots.has(key)) roots.set(key, rootTimes(p, q, BigInt(value), a.storage));
      return roots.get(key);
    };
    const factors = positions.map((at, f) => {
      const beta = this.weight(betas[f]), [p, q] = squares[f];
      if (at.length > 0) return {at, key: keys[f].map(value => root(p, q, value)), beta};
      return {at: [planes[f], planes[f] + 1], key: [this.cosine(...angles[f]), this.sine(...angles[f])], beta};
    });
    return listsOf(factors, this.tensor("reflections.offsets")).map(of => x => {
      const y = Array.from(x);
      for (const {at, key, beta} of of) {
        let s = a.product(key[0], y[at[0]]);
        for (let i = 1; i < at.length; ++i) s = a.addProduct(s, key[i], y[at[i]]);
        const t = a.product(beta, s);
        for (let i = 0; i < at.length; ++i) y[at[i]] = a.addProduct(y[at[i]], -key[i], t);
      }
      return y;
    });
  }

  factored() {
    const {n, a} = this, inputs = this.lists("factored.input");
    const terms = this.lists("factored.output").map((outputs, r) => ({outputs, inputs: inputs[r]}));
    const gates = this.lists("factored.gate");
    return listsOf(terms, this.tensor("factored.offsets")).map((of, m) => x => {
      const y = new Array(n).fill(0);
      for (const r of gates[m]) {
        const s = this.sum(of[r].inputs, x);
        for (const i of of[r].outputs) y[i] = a.add(y[i], s);
      }
      return y;
    });
  }
}

// ---- Layers

/// H is kept column after column.
class Layer {
  constructor(tensors, k, about, contexts, arithmetic) {
    const prefix = `layers.${k}.`, get = name => optional(tensors, prefix + name);
    this.n = about.dimension, this.d = about.columns, this.labels = about.labels, this.initialLabel = about.initial_label;
    this.a = arithmetic;
    const form = values(tensors, prefix + "form");
    this.actions = form.length;
    this.actionOf = links(values(tensors, prefix + "action_of"), this.actions, prefix + "action_of");
    if (contexts !== null && this.actionOf.length !== contexts) refuse(`${prefix}action_of: its shape`);
    this.contexts = this.actionOf.length;
    this.next = get("next") && rowsOf(get("next").map(x => x === NOWHERE ? null : x), this.labels);
    const stored = x => Number.isFinite(x) ? rounder(arithmetic.storage)(x) + 0 : refuse(`${prefix}: a number that is not finite`);
    this.initial = this.columns(values(tensors, prefix + "H0")).map(stored);
    const given = get("B.given"), b = get("B");
    this.B = rowsOf(b ?? [], this.n * this.d).map((flat, i) => given[i] ? this.columns(flat).map(stored) : null);
    this.readDecoder(tensors, prefix, about.unit_copies, stored);
    this.bookOf = get("book_of_context") ?? new Array(this.contexts).fill(0);
    this.matrices = new Matrices(tensors, prefix, this.n, about.forms, form, arithmetic);
  }

  /// Row after row to column after column.
  columns(flat) {
    const result = [];
    for (let c = 0; c < this.d; ++c) for (let i = 0; i < this.n; ++i) result.push(flat[i * this.d + c]);
    return result;
  }

  readDecoder(tensors, prefix, copies, stored) {
    if (copies > 0) {
      this.codewords = Array.from({length: this.labels}, (_, label) =>
        Array.from({length: this.n}, (_, i) => i % this.labels === label ? 1 : 0));
    } else {
      this.codewords = rowsOf(values(tensors, prefix + "codewords"), this.n * this.d).map(flat => this.columns(flat));
    }
    this.labelOf = optional(tensors, prefix + "codewords.label") ?? this.codewords.map((_, i) => i);
    this.book = optional(tensors, prefix + "codewords.book") ?? this.codewords.map(() => 0);
    this.words = this.codewords.map(word => word.map(stored));  // as the storage format has them
    this.books = Math.max(...this.book) + 1;
  }

  /// The numbers after the action.
  moved(action, h) {
    const {a, n} = this, b = this.B[action], y = [];
    for (let c = 0; c < this.d; ++c) for (const v of this.matrices.apply[action](h.slice(c * n, c * n + n))) y.push(v);
    if (b) b.forEach((v, i) => { y[i] = a.add(y[i], v); });
    return y.map(v => a.store(v) + 0);
  }

  /// The nearest codeword of the book in fp64, or null (a tie, or nothing finite), with the squares of its distance and
  /// of that of the nearest codeword with another label.
  nearest(h, book) {
    let found = null, least = Infinity;
    const squares = new Array(this.codewords.length).fill(Infinity);
    for (let i = 0; i < squares.length; ++i) {
      if (this.book[i] !== book) continue;
      let square = 0;
      for (let j = 0; j < h.length; ++j) {
        const difference = h[j] - this.codewords[i][j];
        square += difference * difference;
      }
      if (!Number.isFinite(square)) continue;
      squares[i] = square;
      if (square < least) [found, least] = [i, square];
      else if (square === least) found = null;
    }
    return {codeword: found, label: found === null ? null : this.labelOf[found], least, squares};
  }

  /// How much farther the nearest codeword with another label is; null without one.
  margin({label, least, squares}) {
    if (label === null) return 0;
    let other = Infinity;
    squares.forEach((square, i) => { if (this.labelOf[i] !== label && square < other) other = square; });
    return other === Infinity ? null : Math.sqrt(other) - Math.sqrt(least);
  }
}

/// The memory of a network after a letter: the labels and numbers of its layers, and the letters since it snapped; with
/// what was found on the way, before a snap.
class Network {
  constructor(bytes, automaton, arithmeticName) {
    const {metadata, tensors} = readSafetensors(bytes);
    this.a = arithmeticOf(arithmeticName);
    this.automaton = automaton;
    this.snapEvery = Number(metadata.snap_every ?? 0);
    this.layers = [];
    const about = JSON.parse(metadata.layers);
    about.forEach((layer, k) => this.layers.push(new Layer(tensors, k, layer, k === 0 ? automaton.letters.length : null, this.a)));
    this.readout = this.layers.map((layer, k) => rowsOf(values(tensors, `readout.${k}`).map(x => x === NOWHERE ? null : x), layer.labels));
    this.checkLinks();
  }

  checkLinks() {
    this.layers.forEach((layer, k) => {
      const isLast = k + 1 === this.layers.length, above = this.layers[k + 1];
      if (isLast !== (layer.next === undefined)) refuse(`layers.${k}.next: only the last layer has none`);
      if (!isLast) layer.next.forEach(row => row.forEach(x => x === null || x < above.contexts || refuse(`layers.${k}.next`)));
      const bound = isLast ? this.automaton.states : this.readout[k + 1].length;
      this.readout[k].forEach(row => row.forEach(x => x === null || x < bound || refuse(`readout.${k}`)));
      const sizes = [layer.initialLabel < layer.labels, layer.labelOf.every(label => label < layer.labels),
                     layer.bookOf.every(book => book < layer.books), layer.initial.length === layer.n * layer.d];
      if (sizes.includes(false)) refuse(`layers.${k}: sizes that do not fit`);
    });
  }

  get numbers() { return this.layers.reduce((sum, layer) => sum + layer.n * layer.d, 0); }

  /// The work of one letter, in products.
  get work() { return this.layers.reduce((sum, {n, d, codewords}) => sum + n * n * d + codewords.length * n * d, 1); }

  start() {
    const labels = this.layers.map(layer => layer.initialLabel);
    return {labels, phase: 0, numbers: this.layers.map(layer => layer.initial), answer: this.read(labels)};
  }

  // The stepper's positions: memories, with the labels that decoders found on the way.
  begin() {
    const memory = this.start();
    return {...memory, found: this.layers.map((layer, k) => layer.nearest(memory.numbers[k], 0)), seen: memory.numbers};
  }
  after(memory, letter) { return this.step(memory, letter); }
  agrees(memory, state) { return memory.answer === state; }
  /// The least margin of all layers, with its distance.
  closeness({found}) {
    let close = null;
    found.forEach((nearest, k) => {
      if (nearest === null) return;
      const margin = this.layers[k].margin(nearest), distance = Math.sqrt(nearest.least);
      if (close === null || (margin ?? Infinity) < (close.margin ?? Infinity)) close = {margin, distance};
      delete nearest.squares;
      nearest.margin = margin;
    });
    return close;
  }

  /// The right answers: the automaton's own states.
  get truth() {
    const {automaton} = this, {letters, initial, states} = automaton;
    return {letters, initial, states, next: (state, letter) => automaton.next(state, letter), isRight: (state, answer) => answer === state};
  }

  pairMembers() { return ["state", "labels", "bits", ...this.snapEvery > 0 ? ["phase"] : []]; }
  memoryOf(pair, steps) {
    steps.demand(Array.isArray(pair.bits) && pair.bits.length === this.layers.length && Array.isArray(pair.labels) &&
                 pair.labels.length === this.layers.length, "pair: not bits and a label of every layer");
    const numbers = this.layers.map((layer, k) => {
      steps.demand(isIndex(pair.labels[k], layer.labels), "pair: no such label");
      return numbersOfBits(pair.bits[k], layer.n * layer.d, this.a.storage, steps);
    });
    const phase = pair.phase ?? 0;
    steps.demand(isIndex(phase, Math.max(this.snapEvery, 1)), "pair: no such phase");
    return {labels: pair.labels, phase, numbers};
  }
  isSame(x, y) { return x.phase === y.phase && sameNumbers(x.labels, y.labels) && x.numbers.every((h, k) => sameNumbers(h, y.numbers[k])); }

  /// The state that labels are read as, or null.
  read(labels) {
    let node = 0;
    for (let k = 0; k < labels.length; ++k) {
      node = labels[k] === null || node === null ? null : this.readout[k][node][labels[k]];
    }
    return node;
  }

  /// The memory after the letter, with `answer`, and `found`: what each layer's decoder saw (null: no context).
  step(memory, letter) {
    const labels = [], numbers = [], found = [];
    const phase = this.snapEvery > 0 ? (memory.phase + 1) % this.snapEvery : 0, snaps = this.snapEvery > 0 && phase === 0;
    let context = letter;
    this.layers.forEach((layer, k) => {
      if (context === null) {
        labels.push(null), numbers.push(memory.numbers[k]), found.push(null);
        return;
      }
      const h = layer.moved(layer.actionOf[context], memory.numbers[k]);
      const nearest = layer.nearest(h, layer.bookOf[context]);
      labels.push(nearest.label), numbers.push(h), found.push(nearest);
      const before = memory.labels[k];
      context = layer.next === undefined || before === null ? null : layer.next[context][before];
    });
    const answer = this.read(labels), seen = numbers.slice();
    if (snaps) found.forEach((nearest, k) => { if (nearest?.codeword != null) numbers[k] = this.layers[k].words[nearest.codeword]; });
    return {labels, phase, numbers, answer, found, seen};
  }
}
