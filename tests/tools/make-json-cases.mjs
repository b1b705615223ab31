// Random JSON texts, many of them broken, each with its canonical form (RFC 8785) or null when the
// engine that runs this refuses it.
//
//     node make-json-cases.mjs SEED TEXTS > json_cases.json
//
// SPDX-License-Identifier: MIT
let state = BigInt(process.argv[2] || 1);
const count = Number(process.argv[3] || 1000);
function next() { // splitmix64
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const int = n => Math.floor(next() * n), pick = a => a[int(a.length)], chance = p => next() < p;

const CHARS = ['a', 'b', '"', '\\', '/', '\n', '\t', '\u0000', '\u001f', '\u007f', '\u0080', '\u00e9', '\u2028', '\ud7ff', '\ue000', '\uffff', '\ud83d\ude00', '\u20ac'];
const string = () => Array.from({ length: int(4) }, () => pick(CHARS)).join('');
function escaped(c) {
  if (c.charCodeAt(0) >= 0x20 && c !== '"' && c !== '\\' && chance(0.8)) return c;
  const short = { '"': '\\"', '\\': '\\\\', '/': '\\/', '\n': '\\n', '\t': '\\t' }[c];
  if (short && chance(0.7)) return short;
  return [...Array(c.length).keys()].map(i => {
    const hex = c.charCodeAt(i).toString(16).padStart(4, '0');
    return '\\u' + (chance(0.5) ? hex : hex.toUpperCase());
  }).join('');
}
const quoted = s => '"' + [...s].map(escaped).join('') + '"';
function number() {
  const sign = chance(0.3) ? '-' : '';
  const whole = chance(0.3) ? '0' : String(1 + int(9)) + String(int(10 ** (1 + int(12)))).slice(0, int(14));
  const fraction = chance(0.4) ? '.' + String(int(1e9)) : '';
  const exponent = chance(0.3) ? pick(['e', 'E']) + pick(['', '+', '-']) + int(chance(0.9) ? 20 : 400) : '';
  return sign + whole + fraction + exponent;
}
const gap = () => chance(0.8) ? '' : pick([' ', '\n', '\t', '\r', ' \n']);
function value(d) {
  const k = int(d > 0 ? 10 : 6);
  let s;
  if (k < 2) s = number();
  else if (k < 4) s = quoted(string());
  else if (k < 6) s = pick(['true', 'false', 'null']);
  else if (k < 8) s = '[' + gap() + Array.from({ length: int(4) }, () => value(d - 1)).join(',') + ']';
  else s = '{' + gap() + Array.from({ length: int(4) }, (_, i) => gap() + quoted(string() + i) + gap() + ':' + value(d - 1)).join(',') + '}';
  return gap() + s + gap();
}
function broken(s) {
  const at = int(s.length + 1);
  switch (int(4)) {
  case 0: return s.slice(0, at) + s.slice(at + 1);
  case 1: return s.slice(0, at) + pick([',', ':', '"', '\\', '{', '}', '[', ']', '0', '.', '-', '+', 'e', 'n', 't', '\u0001', '\u00a0', '\ufeff', '/', "'", '\\u12', '\\x', '\\ud800', '1e9', 'NaN', '//']) + s.slice(at);
  case 2: return s.slice(0, at);
  default: return s.slice(0, at) + s.slice(int(s.length + 1));
  }
}
function canonical(v) {
  if (Array.isArray(v)) return '[' + v.map(canonical).join(',') + ']';
  if (v && typeof v === 'object') return '{' + Object.keys(v).sort().map(k => JSON.stringify(k) + ':' + canonical(v[k])).join(',') + '}';
  return JSON.stringify(v);
}
const out = [];
while (out.length < count) {
  let text = value(3);
  if (chance(0.5)) text = broken(text);
  if (!text.isWellFormed()) continue;
  let parsed, ok = true;
  try { parsed = JSON.parse(text); } catch { ok = false; }
  out.push(JSON.stringify([text, ok ? canonical(parsed) : null]));
}
console.log('[\n' + out.join(',\n') + '\n]');
