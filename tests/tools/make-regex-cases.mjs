// Random ECMA-262 patterns and texts with the verdict of the engine that runs this (V8).
//
//     node make-regex-cases.mjs SEED PATTERNS > regex_cases.json
//
// SPDX-License-Identifier: MIT
let state = BigInt(process.argv[2] || 1);
const count = Number(process.argv[3] || 1000);
function next() {
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const int = n => Math.floor(next() * n), pick = a => a[int(a.length)], chance = p => next() < p;
const CHARS = ['a', 'b', 'c', '1', '_', ' ', '-', '\u00e9', '\u20ac', '\ud83d\ude00', 'A'];
const ESCAPES = ['\\d', '\\D', '\\w', '\\W', '\\s', '\\S', '\\t', '\\n', '\\.', '\\/', '\\\\', '\\x61', '\\u0061', '\\u{61}', '\\u{1f600}',
  '\\ud83d\\ude00', '\\cA', '\\0', '\\p{L}', '\\P{L}', '\\p{Lu}', '\\p{Letter}', '\\p{gc=Nd}', '\\p{Script=Latin}', '\\p{ASCII}', '\\p{Alphabetic}',
  '\\p{Script_Extensions=Greek}', '\\p{Any}', '\\p{Emoji}', '\\p{White_Space}', '\\v', '\\f', '\\r', '\\$', '\\^', '\\*', '\\(', '\\[', '\\{', '\\}', '\\|', '\\?', '\\+',
  '\\ud800', '\\p{Lowercase_Letter}', '\\p{sc=Grek}', '\\p{Uppercase}', '\\p{ID_Start}'];
const BAD = ['\\a', '\\Z', '\\A', '(', ')', '[', 'a**', '*a', '+', '?', '\\u{110000}', '\\p{Nope}', '(?i)a', '(?>a)', 'a++', '(?<1>a)', '(?<a>x)(?<a>y)', '[b-a]', '\\', 'a{2,1}', '\\k<x>', '(?<n>a)\\k<m>', '(?', '(?P<n>a)', '(?#c)', '\\p{L', '\\x6', '\\u12', '\\c1', '[\\d-z]', '\\1', '(?<=', '{1}', '|*', '^*', '(?<!a)*', '[\\Z]'];
let groups = 0, names = 0;
function cls() {
  let s = chance(0.3) ? '[^' : '[';
  for (let n = int(4); n > 0; n--) {
    const k = int(8);
    if (k < 3) s += pick(['a', 'b', '1', '_', '\u00e9', '\ud83d\ude00', '.', '$', '(', '|', '*']);
    else if (k < 5) s += pick(['a-c', '0-9', 'A-Z', '\\u{1f600}-\\u{1f64f}', '\\x00-\\x7f', ' -~', '\\ud83d\\ude00-\\ud83d\\ude10']);
    else s += pick([...ESCAPES.slice(0, 30), '\\b', '\\-', '\\]']);
  }
  return s + (chance(0.1) ? '-' : '') + ']';
}
function atom(d) {
  const k = int(20);
  if (k < 7) return pick(CHARS);
  if (k < 10) return pick(ESCAPES);
  if (k < 12) return '.';
  if (k < 15) return cls();
  if (d <= 0) return pick(CHARS);
  if (k < 17) { groups++; return '(' + re(d - 1) + ')'; }
  if (k === 17) return '(?:' + re(d - 1) + ')';
  if (k === 18) { groups++; names++; return `(?<n${names}>` + re(d - 1) + ')'; }
  return groups ? (names && chance(0.4) ? `\\k<n${1 + int(names)}>` : '\\' + (1 + int(groups))) : pick(CHARS);
}
function piece(d) {
  if (chance(0.08)) return pick(['^', '$', '\\b', '\\B']);
  if (d > 0 && chance(0.06)) return pick(['(?=', '(?!']) + re(d - 1) + ')';
  if (d > 0 && chance(0.04)) return pick(['(?<=', '(?<!']) + pick(['a', 'ab', '\\d', '[ab]', '\u00e9', 'a|b', '']) + ')';
  let s = atom(d);
  if (chance(0.3)) s += pick(['*', '+', '?', '{2}', '{1,}', '{0,2}', '{0,1}']) + (chance(0.2) ? '?' : '');
  return s;
}
function re(d) {
  let s = '';
  for (let n = 1 + int(3); n > 0; n--) s += piece(d);
  if (chance(0.15)) s += '|' + piece(d);
  return s;
}
function text() {
  let s = '';
  for (let n = int(6); n > 0; n--) s += pick([...CHARS, 'a', 'b', '\n', '\r', '\u2028', '\t', '\u00a0', '\ufeff', '\u03b1', '\u0000', '\u0001', '.', '/', '\\', '(', ']', '\u0130', '\u017f', '\u212a', '\u000b', '\u180e', '\u0085']);
  return s;
}
const out = [];
let bad = 0;
for (let i = 0; i < count; i++) {
  groups = names = 0;
  let p = re(2);
  const broken = chance(0.12);
  if (broken) { const at = int(p.length + 1); p = chance(0.5) ? pick(BAD) : p.slice(0, at) + pick(BAD) + p.slice(at); }
  if (!p.isWellFormed()) continue;
  let u = null, web = null;
  try { u = new RegExp(p, 'u'); } catch { }
  try { web = new RegExp(p); } catch { }
  // Lenient as the web is, where it is; and ranges of surrogates are malformed there for another reason.
  if ((!u && web) || broken !== !u || (!u && p.includes('\\u'))) continue;
  // PCRE2 keeps what a group captured in an earlier round of a repetition; ECMA-262 forgets it.
  if (/\\[1-9k]/.test(p) && /\)[*+?{]/.test(p)) continue;
  if (!u) { out.push([p, null]); bad++; continue; }
  const seen = new Set();
  for (let n = 0; n < 6; n++) {
    const s = text();
    // V8 looks for empty matches between the halves of a surrogate pair, where there is no place.
    if (!(/\\[bB]|\(\?[=!<]/.test(p) && /[\ud800-\udfff]/.test(s))) seen.add(s);
  }
  out.push([p, Object.fromEntries([...seen].map(s => [s, u.test(s)]).filter(([s]) => !s.includes('\u0000'))) ]);
}
console.error(out.length, 'patterns', bad, 'bad');
console.log('[\n' + out.map(c => JSON.stringify(c)).join(',\n') + '\n]');
