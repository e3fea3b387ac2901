// Words, and what automaton and network do at each of their letters. No part of the page is touched here.

/// The letters of a text, as `krohn run` takes words. Throws Refusal naming what is no letter.
function parseWord(text, symbols) {
  const byName = new Map(symbols.map((symbol, i) => [symbol.name, i]));
  const ofCharacter = character => {
    const code = character.codePointAt(0);
    return symbols.findIndex(({characters}) => characters.some(([first, last]) => first <= code && code <= last));
  };
  const letterOf = (name, at) => {
    const letter = byName.get(name) ?? (Array.from(name).length === 1 ? ofCharacter(name) : -1);
    return letter >= 0 ? letter : refuse(`symbol ${at} of the word, “${name}”, is not a letter`);
  };
  if (symbols.every(({characters}) => characters.length > 0))
    return Array.from(text, (character, i) => {
      const letter = ofCharacter(character);
      return letter >= 0 ? letter : refuse(`character ${i + 1} of the word, “${character}”, is not a letter`);
    });
  return namesIn(text, bracketsProtect(symbols)).map((name, i) => letterOf(name, i + 1));
}

const OPENING = "([{", CLOSING = ")]}";

/// Brackets protect separators where every name has them in balance.
const bracketsProtect = symbols => symbols.every(({name}) => {
  let depth = 0;
  for (const c of name) {
    if (OPENING.includes(c)) ++depth;
    if (CLOSING.includes(c) && --depth < 0) return false;
  }
  return depth === 0;
});

/// Names separated by white space or commas; double quotes protect anything, with \" and \\ inside.
function namesIn(text, bracketsCount) {
  const names = [];
  let name = null, depth = 0, isQuoted = false, isEscaped = false;
  for (const c of text) {
    if (isEscaped) [name, isEscaped] = [name + c, false];
    else if (isQuoted && c === "\\") isEscaped = true;
    else if (c === "\"") [name, isQuoted] = [name ?? "", !isQuoted];
    else if (!isQuoted && depth === 0 && /[\s,]/.test(c)) {
      if (name !== null) names.push(name);
      name = null;
    } else {
      if (!isQuoted && bracketsCount && OPENING.includes(c)) ++depth;
      if (!isQuoted && bracketsCount && CLOSING.includes(c)) --depth;
      name = (name ?? "") + c;
    }
  }
  if (isQuoted || depth > 0) refuse("a quote or a bracket of the word is not closed");
  if (name !== null) names.push(name);
  return names;
}

/// The inverse of parseWord.
function formatWord(word, symbols) {
  const character = ({characters}) => {
    const [first, last] = characters[0];
    return String.fromCodePoint(characters.length > 0 && first < 0x21 && last >= 0x21 ? 0x21 : first);
  };
  if (symbols.every(({characters}) => characters.length > 0)) return word.map(letter => character(symbols[letter])).join("");
  const protect = bracketsProtect(symbols);
  const written = name => {
    let isPlain = false;
    try {
      const parts = namesIn(name, protect);
      isPlain = parts.length === 1 && parts[0] === name;
    } catch {
      // to be quoted
    }
    return isPlain ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
  };
  return word.map(letter => written(symbols[letter].characters.length > 0 ? character(symbols[letter]) : symbols[letter].name)).join(" ");
}

/// A word and where in it one is. `net` is null where the page steps the automaton alone.
class Run {
  constructor(automaton, net) {
    Object.assign(this, {automaton, net, word: [], at: 0});
    this.longest = Math.max(200, Math.min(5000, Math.floor(3e8 / (net === null ? 1 : net.work))));
    this.set([]);
  }

  /// Takes another word. The letters that it has in common with the one before are not computed again.
  set(word) {
    if (word.length > this.longest) refuse(`this page takes words of up to ${this.longest} letters; krohn run takes longer ones`);
    let common = 0;
    while (this.steps && common < word.length && common < this.word.length && word[common] === this.word[common]) ++common;
    this.steps = this.steps ? this.steps.slice(0, common + 1) : [this.measured(this.beginning())];
    this.word = word;
    for (let i = this.steps.length - 1; i < word.length; ++i) this.steps.push(this.measured(this.after(this.steps[i], word[i])));
    this.at = Math.min(this.at, word.length);
  }

  beginning() { return {state: this.automaton.initial, memory: this.net && this.net.begin()}; }

  after({state, memory}, letter) {
    return {state: this.automaton.next(state, letter), memory: this.net && this.net.after(memory, letter)};
  }

  move(to) { this.at = Math.max(0, Math.min(this.word.length, to)); }
  get now() { return this.steps[this.at]; }

  /// With `close`: the least margin and the distance that goes with it, or null where there is none.
  measured(step) { return {...step, close: step.memory ? this.net.closeness(step.memory) : null}; }
}
