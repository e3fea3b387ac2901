// Rounding and weights, as docs/reference/network-file.md, "Bit for bit", defines them. Shares no code with krohn.
//
// Every number is a double that the format has. One operation in double followed by one rounding is the rounding of the
// exact result: products of two numbers of at most 24 digits are exact in double, and for sums 53 ≥ 2·24 + 2 digits are
// enough (Figueroa 1995). A fused acc + a·b is first rounded to odd (Boldo & Melquiond 2008).

class Refusal extends Error {}

const refuse = message => { throw new Refusal(message); };

const FORMATS = {
  fp64: {name: "fp64", width: 64, digits: 53, least: -1022, greatest: 1023},
  fp32: {name: "fp32", width: 32, digits: 24, least: -126, greatest: 127},
  fp16: {name: "fp16", width: 16, digits: 11, least: -14, greatest: 15},
  bf16: {name: "bf16", width: 16, digits: 8, least: -126, greatest: 127},
};
const TF32_OPERANDS = {name: "tf32", width: 19, digits: 11, least: -126, greatest: 127};

const DOUBLE = new Float64Array(1);
const WORDS = new Uint32Array(DOUBLE.buffer);  // low half first, as on every machine that runs a browser
const TO_INTEGER = 1.5 * 2 ** 52;              // adding and subtracting it rounds to an integer, ties to even

/// A double rounded once to a format of at most 24 digits.
function roundedTo(value, format) {
  if (!Number.isFinite(value) || value === 0) return value;
  DOUBLE[0] = value;
  const exponent = (WORDS[1] >>> 20 & 0x7ff) - 1023;
  const quantum = 2 ** (Math.max(exponent, format.least) - format.digits + 1);
  const result = (value / quantum + TO_INTEGER - TO_INTEGER) * quantum;
  return Math.abs(result) >= 2 ** (format.greatest + 1) ? Math.sign(value) * Infinity : result;
}

function rounder(format) {
  if (format === FORMATS.fp64) return x => x;
  if (format === FORMATS.fp32) return Math.fround;
  return x => roundedTo(x, format);
}

/// a + b in double, rounded to odd.
function addToOdd(a, b) {
  const sum = a + b;
  if (!Number.isFinite(sum)) return sum;
  const bPart = sum - a;
  const error = (a - (sum - bPart)) + (b - bPart);
  if (error === 0) return sum;
  DOUBLE[0] = sum;
  if (WORDS[0] & 1) return sum;
  if ((error > 0) === (sum > 0)) {
    WORDS[0] += 1;  // it is even: no carry
  } else {
    if (WORDS[0] === 0) WORDS[1] -= 1;
    WORDS[0] -= 1;
  }
  return DOUBLE[0];
}

/// The four operations of an arithmetic by its name. Refuses those that doubles do not suffice for, and integers.
function arithmeticOf(name) {
  const isTf32 = name === "tf32";
  const isFused = name.endsWith("+fma");
  const [stored, accumulator] = (isTf32 ? "fp32" : name.replace("+fma", "")).split("/");
  const storage = FORMATS[stored];
  const sums = accumulator === undefined ? storage : FORMATS[accumulator];
  const known = storage && sums && (accumulator === undefined || !isFused && accumulator === "fp32" && storage.width === 16);
  if (!known || isFused && storage === FORMATS.fp64)
    refuse(`this page does not compute in the arithmetic ${name}, as krohn run does`);
  const round = rounder(sums), keep = rounder(storage);
  const operand = isTf32 ? x => roundedTo(x, TF32_OPERANDS) : x => x;
  const product = (a, b) => round(operand(a) * operand(b));
  const add = (s, t) => round(s + t);
  const addProduct = isFused ? (s, a, b) => round(addToOdd(a * b, s)) : (s, a, b) => round(s + product(a, b));
  return {name, storage, sums, product, add, addProduct, store: keep};
}

// ---- Weights: real numbers, each rounded once

const bitLength = n => n.toString(2).length;

/// numerator/denominator (BigInts, the denominator above 0) rounded once to a format.
function roundedRatio(numerator, denominator, format) {
  if (numerator === 0n) return 0;
  const size = numerator < 0n ? -numerator : numerator;
  let exponent = bitLength(size) - bitLength(denominator);  // 2^(exponent − 1) < size/denominator < 2^(exponent + 1)
  const isBelow = exponent >= 0 ? size < denominator << BigInt(exponent) : size << BigInt(-exponent) < denominator;
  if (isBelow) exponent -= 1;
  const last = Math.max(exponent, format.least) - format.digits + 1;
  const scaled = last < 0 ? size << BigInt(-last) : size;
  const unit = last > 0 ? denominator << BigInt(last) : denominator;
  let digits = scaled / unit;
  const twice = 2n * (scaled - digits * unit);
  if (twice > unit || twice === unit && digits % 2n === 1n) digits += 1n;
  const isTooGreat = digits * 2n ** BigInt(Math.max(last, 0)) >= 2n ** BigInt(format.greatest + 1);
  const result = isTooGreat ? Infinity : last < -1000 ? Number(digits) * 2 ** -1000 * 2 ** (last + 1000) : Number(digits) * 2 ** last;
  return numerator < 0n ? -result : result;
}

const PLACES = 400n, ONE = 1n << PLACES, SLACK = 1n << 64n;  // numbers in units of 2^-400

function arctangentOfInverse(x) {
  let sum = 0n, power = ONE / x;
  for (let k = 0n; power > 0n; ++k, power /= x * x) sum += (k % 2n === 0n ? power : -power) / (2n * k + 1n);
  return sum;
}
const PI = 16n * arctangentOfInverse(5n) - 4n * arctangentOfInverse(239n);  // Machin

/// cos of p/q of a turn (BigInts), rounded once. Fewer than 2^11 divisions err by less than a unit each, and nothing
/// multiplies an error by more than 2^11: 2^64 units on both sides enclose it.
function cosineOfTurn(p, q, format) {
  p = (p % q + q) % q;
  if (2n * p > q) p = q - p;
  if (4n * p > q) return -cosineOfTurn(q - 2n * p, 2n * q, format);
  if (p === 0n) return 1;
  if (4n * p === q) return 0;
  if (6n * p === q) return 0.5;
  const angle = 2n * PI * p / q, square = angle * angle / ONE;
  let term = ONE, sum = ONE;
  for (let k = 2n; term !== 0n && k < 400n; k += 2n) {
    term = -term * square / (ONE * k * (k - 1n));
    sum += term;
  }
  const low = roundedRatio(sum - SLACK, ONE, format), high = roundedRatio(sum + SLACK, ONE, format);
  return low === high ? low : refuse(`the cosine of ${p}/${q} of a turn lies too near the middle of two numbers`);
}

function integerRoot(n) {
  if (n < 2n) return n;
  let x = 1n << BigInt((bitLength(n) + 1) >> 1);
  for (;;) {
    const y = (x + n / x) >> 1n;
    if (y >= x) return x;
    x = y;
  }
}

/// √(p/q)·value (BigInts), rounded once: what lies between two units of 2^-1200 rounds as the odd half there does.
function rootTimes(p, q, value, format) {
  const scaled = (p * value * value << 2400n) / q, root = integerRoot(scaled);
  const isExact = root * root === scaled && scaled * q === p * value * value << 2400n;
  const result = roundedRatio(2n * root + (isExact ? 0n : 1n), 1n << 1201n, format);
  return value < 0n ? -result : result;
}

// ---- Bit patterns

/// The number of a bit pattern in hexadecimal digits, or null: −0, a number that is not finite, other characters.
function numberOfBits(digits, format) {
  if (digits.length !== format.width / 4 || !/^[0-9a-f]*$/.test(digits)) return null;
  const bits = BigInt("0x" + digits);
  const places = BigInt(format.digits - 1), exponents = (1n << BigInt(format.width - format.digits)) - 1n;
  const exponent = bits >> places & exponents, fraction = bits & (1n << places) - 1n;
  const isNegative = bits >> BigInt(format.width - 1) === 1n;
  if (exponent === exponents || isNegative && exponent === 0n && fraction === 0n) return null;
  const last = (exponent === 0n ? format.least : format.least + Number(exponent) - 1) - format.digits + 1;
  const size = roundedRatio((exponent === 0n ? fraction : fraction | 1n << places) << BigInt(last + 1100), 1n << 1100n, FORMATS.fp64);
  return isNegative ? -size : size;
}

/// So many numbers in bit patterns one after another. `steps` refuses what are none.
function numbersOfBits(bits, count, format, steps) {
  const digits = format.width / 4;
  steps.demand(typeof bits === "string" && bits.length === count * digits, `bits: not ${count} numbers`);
  return Array.from({length: count}, (_, i) => {
    const number = numberOfBits(bits.slice(i * digits, (i + 1) * digits), format);
    steps.demand(number !== null, "bits: −0, or not a finite number");
    return number;
  });
}

/// The bit pattern of a number of the format in hexadecimal digits, −0 as +0.
function bitsOf(value, format) {
  DOUBLE[0] = value === 0 ? 0 : value;
  const sign = WORDS[1] >>> 31;
  if (format === FORMATS.fp64) return WORDS[1].toString(16).padStart(8, "0") + WORDS[0].toString(16).padStart(8, "0");
  const places = format.digits - 1, exponents = 2 ** (format.width - format.digits) - 1;
  const exponent = (WORDS[1] >>> 20 & 0x7ff) - 1023, size = Math.abs(value);
  let pattern;
  if (!Number.isFinite(value)) pattern = exponents * 2 ** places + (Number.isNaN(value) ? 2 ** (places - 1) : 0);
  else if (size < 2 ** format.least) pattern = size / 2 ** (format.least - places);
  else pattern = (exponent - format.least) * 2 ** places + size / 2 ** (exponent - places);
  return (pattern + sign * 2 ** (format.width - 1)).toString(16).padStart(format.width / 4, "0");
}
