// Random JSON Schemas (2020-12) and values with the verdict on which ajv and hyperjump agree.
//
// In a directory of its own:
//     npm install ajv@8 @hyperjump/json-schema
//     node make-schema-cases.mjs SEED SCHEMAS > schema_cases.json
//
// SPDX-License-Identifier: MIT
import { createRequire } from 'node:module';
import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
const require = createRequire(import.meta.url);
const Ajv = require('ajv/dist/2020').default;
const MAX_BYTES = 700; // of a schema: small ones are easier to read when they fail

let state = BigInt(process.argv[2] || 1);
const count = Number(process.argv[3] || 100);
function next() { // splitmix64
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return Number((z ^ (z >> 31n)) >> 11n) / 2 ** 53;
}
const int = n => Math.floor(next() * n);
const pick = a => a[int(a.length)];
const chance = p => next() < p;

const NAMES = ['a', 'b', 'c', 'd', 'ab', '~', '/'];
const name = () => pick(chance(0.9) ? NAMES.slice(0, 4) : NAMES);
const SCALARS = [null, true, false, 0, 1, 2, 3, 1.5, -1, 100, '', 'a', 'b', 'ab', 'aab', '\u00e9', '\ud83d\ude00', '1'];
function value(d) {
  const k = int(10);
  if (d > 0 && k < 4) { const o = {}; for (let n = int(4); n > 0; n--) o[name()] = value(d - 1); return o; }
  if (d > 0 && k < 7) return Array.from({ length: int(5) }, () => value(d - 1));
  return pick(SCALARS);
}
const TYPES = ['null', 'boolean', 'object', 'array', 'string', 'number', 'integer'];
const PATTERNS = ['^a', 'b$', '^$', 'a|b', '^[ab]{2,}$', '.', '\\d', '^\\p{L}+$', '[^a]'];

// at: index of the definition that we are inside of, in place; refs go to later ones only, so that nothing loops.
function schema(d, at, opt) {
  if (chance(0.08)) return chance(0.8);
  const s = {};
  const child = () => schema(d - 1, -1, opt), here = () => schema(d - 1, at, opt);
  const list = (f, max = 3) => Array.from({ length: 1 + int(max) }, f);
  const map = (f, key = name) => { const o = {}; for (let n = 1 + int(3); n > 0; n--) o[key()] = f(); return o; };
  const scalar = [
    () => { s.type = chance(0.7) ? pick(TYPES) : [...new Set(list(() => pick(TYPES)))]; },
    () => { s.enum = [...new Map(list(() => value(1), 4).map(v => [JSON.stringify(v), v])).values()]; },
    () => { s.const = value(1); },
    () => { s.minimum = int(4); }, () => { s.maximum = int(4); },
    () => { s.exclusiveMinimum = int(3); }, () => { s.exclusiveMaximum = int(4); },
    () => { s.multipleOf = pick([1, 2, 0.5, 3]); },
    () => { s.minLength = int(3); }, () => { s.maxLength = int(3); },
    () => { s.pattern = pick(PATTERNS); },
    () => { s.minItems = int(3); }, () => { s.maxItems = int(4); }, () => { s.uniqueItems = chance(0.8); },
    () => { s.minProperties = int(3); }, () => { s.maxProperties = int(4); },
    () => { s.required = [...new Set(list(name, 2))]; },
    () => { s.dependentRequired = map(() => [...new Set(list(name, 2))]); },
  ];
  const applicator = [
    () => { s.properties = map(child); }, () => { s.properties = map(child); },
    () => { s.patternProperties = map(child, () => pick(['^a', 'b', '^[cd]$'])); },
    () => { s.additionalProperties = child(); },
    () => { s.propertyNames = schema(0, -1, opt); },
    () => { s.items = child(); },
    () => { s.prefixItems = list(child); }, () => { s.prefixItems = list(child); },
    () => { s.contains = child(); if (chance(0.5)) s.minContains = int(3); if (chance(0.4)) s.maxContains = int(3); },
    () => { s.allOf = list(here); }, () => { s.anyOf = list(here); }, () => { s.oneOf = list(here); },
    () => { s.not = here(); },
    () => { s.if = here(); if (chance(0.8)) s.then = here(); if (chance(0.8)) s.else = here(); },
    () => { s.dependentSchemas = map(here); },
    () => { s.unevaluatedProperties = chance(0.7) ? false : child(); },
    () => { s.unevaluatedProperties = chance(0.7) ? false : child(); },
    () => { s.unevaluatedItems = chance(0.7) ? false : child(); },
    () => { s.unevaluatedItems = chance(0.7) ? false : child(); },
    () => { if (at + 1 < opt.defs) s.$ref = opt.ref(at + 1 + int(opt.defs - at - 1)); },
    () => { if (at + 1 < opt.defs) s.$ref = opt.ref(at + 1 + int(opt.defs - at - 1)); },
  ];
  if (opt.dynamic && at < 0) applicator.push(() => { s.$dynamicRef = '#t'; }, () => { s.$dynamicRef = '#t'; });
  for (let n = d > 0 ? int(2) : 1; n > 0; n--) pick(scalar)();
  if (d > 0) for (let n = 1 + int(4); n > 0; n--) pick(applicator)();
  return s;
}
function document() {
  const defs = int(4), dynamic = chance(0.3), ids = dynamic || chance(0.4);
  const opt = { defs, dynamic: dynamic && defs > 0, ref: i => ids ? pick([`r${i}`, `http://x/r${i}`, `http://x/r${i}#`]) :
    pick([`#/$defs/d${i}`, `#n${i}`, `#/%24defs/d${i}`]) };
  let root = schema(3, -1, { ...opt, dynamic: false });
  if (typeof root === 'boolean') return root;
  if (defs) root.$defs = {};
  if (ids) root.$id = 'http://x/root';
  for (let i = 0; i < defs; i++) {
    let s = schema(2, i, opt);
    if (typeof s === 'boolean') s = s ? {} : { not: {} };
    if (ids) s.$id = `r${i}`; else s.$anchor = `n${i}`;
    if (opt.dynamic) { s.$defs = { t: schema(1, defs, { ...opt, dynamic: false }) };
      if (typeof s.$defs.t === 'boolean') s.$defs.t = { type: pick(TYPES) };
      s.$defs.t.$dynamicAnchor = 't'; }
    root.$defs[`d${i}`] = s;
  }
  if (opt.dynamic && chance(0.5)) root.$defs.t = { $dynamicAnchor: 't', type: pick(TYPES) };
  return root;
}
// Instances that have a chance: grown from names and values, and changed one place at a time.
function instances() { return Array.from({ length: 8 }, () => value(3)); }

const ajvOptions = { strict: false, validateFormats: false, logger: false };
function byAjv(doc) {
  try { return new Ajv(ajvOptions).compile(doc); } catch { return () => null; }
}
async function byHyperjump(doc, uri) {
  registerSchema(structuredClone(doc), uri, 'https://json-schema.org/draft/2020-12/schema');
  const check = await validate(uri);
  unregisterSchema(uri);
  return value => check(value).valid;
}

const groups = [];
let agreed = 0, disagreed = 0;
while (groups.length < count) {
  const schema = document();
  if (JSON.stringify(schema).length > MAX_BYTES) continue;
  const ajv = byAjv(schema), hyperjump = await byHyperjump(schema, schema.$id || 'http://x/none');
  const tests = new Map();
  for (const value of instances()) {
    const verdict = ajv(structuredClone(value));
    if (verdict === hyperjump(value)) tests.set(JSON.stringify(value), [value, verdict]);
    else disagreed++;
  }
  const verdicts = new Set([...tests.values()].map(test => test[1]));
  if (verdicts.size < 2) continue; // a schema that takes all or nothing teaches little
  groups.push(JSON.stringify({ schema, tests: [...tests.values()] }));
  agreed += tests.size;
}
console.error(`${agreed} agreed, ${disagreed} disagreed`);
console.log('[\n' + groups.join(',\n') + '\n]');
