// `dormouse skill validate` beside the reference tool, skills-ref: the same verdict on every fixture
// and every bundled skill. Where ours is stricter on purpose it is named here with the reason, and
// must stay so: a case that agrees again has to leave the list.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import path from "node:path";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { validate } from "skills-ref";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../..");
const fixtures = path.join(root, "tests/fixtures/skills");
const bundled = path.join(root, "share/skills");
const cli = path.join(root, "tests/e2e/node_modules/skills-ref/dist/cli.js");

const stricter = new Map([
  // skills-ref replaces what is no UTF-8, so that two different files look the same.
  ["bytes-not-utf8-in-body", /not valid UTF-8/],
  ["bytes-not-utf8-in-front", /not valid UTF-8/],
  // Turned to text these say "null", "a,b" or the name that nobody wrote.
  ["description-list", /description: must be text/],
  ["description-null", /description: must be text/],
  ["name-list", /name: must be text/],
  ["name-null-in-null", /name: must be text/],
  // skills-ref ends the front matter at any three hyphens and drops what follows unseen.
  ["front-dashes-inside", /SKILL\.md:3: three hyphens/],
  ["front-first-line-says-more", /nothing may follow/],
  ["front-four-dashes", /three hyphens/],
  // A file without line feeds has no lines of its own.
  ["front-cr-only", /nothing may follow/],
  // The strict reader of YAML: what is meant must stand there.
  ["front-merge-key", /merge keys/],
  ["metadata-number-key", /not a string/],
  // Enforced while the skill is in use, so it has to be read without doubt. (The newest Python
  // reference refuses the first three as well.)
  ["tools-list-of-numbers", /allowed-tools: item 2/],
  ["tools-number", /allowed-tools: must be/],
  ["tools-mapping", /allowed-tools: must be/],
  ["tools-null", /allowed-tools: must be/],
]);

function folders(at) {
  return readdirSync(at, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => path.join(at, entry.name));
}

function ours(...paths) {
  const result = spawnSync(process.env.SERVER, ["--json", "skill", "validate", ...paths], {
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  assert.equal(result.signal, null, result.stderr);
  const verdicts = result.stdout.trim().split("\n").map((line) => JSON.parse(line));
  return { code: result.status, verdicts };
}

const cases = folders(fixtures).flatMap((folder) =>
  folders(folder).map((skill) => ({ name: path.basename(folder), skill })),
);

for (const { name, skill } of cases) {
  test(`${name}: the verdict is that of skills-ref`, async () => {
    const theirs = await validate(skill);
    const { code, verdicts } = ours(skill);
    const [verdict] = verdicts;
    const told = `ours: ${verdict.problems.join("; ") || "valid"}\ntheirs: ${theirs.join("; ") || "valid"}`;
    assert.equal(code, verdict.valid ? 0 : 1);
    assert.equal(verdict.valid, verdict.problems.length === 0);
    if (stricter.has(name)) {
      assert.deepEqual(theirs, [], `skills-ref refuses it, too: take it from the list\n${told}`);
      assert.ok(verdict.problems.some((text) => stricter.get(name).test(text)), told);
    } else {
      assert.equal(verdict.valid, theirs.length === 0, told);
    }
  });
}

test("every case that is stricter is a fixture", () => {
  const names = new Set(cases.map((one) => one.name));
  assert.deepEqual([...stricter.keys()].filter((name) => !names.has(name)), []);
});

test("every bundled skill is valid for both", async () => {
  const skills = folders(bundled);
  assert.ok(skills.length >= 3);
  for (const skill of skills) assert.deepEqual(await validate(skill), [], skill);
  const { code, verdicts } = ours(...skills);
  assert.equal(code, 0);
  assert.equal(verdicts.length, skills.length);
});

test("exit codes and paths are those of the skills-ref command", () => {
  const valid = path.join(fixtures, "valid/my-skill");
  for (const operand of [
    valid,
    valid + "/",
    valid + "/.",
    path.join(valid, "SKILL.md"),
    path.join(fixtures, "file-lowercase/my-skill/skill.md"),
    path.join(fixtures, "front-list/my-skill"),
    path.join(fixtures, "no-skill-md/my-skill/README.md"),
    path.join(fixtures, "nothing-here"),
    fixtures,
  ]) {
    const theirs = spawnSync(process.execPath, [cli, "validate", operand]);
    assert.equal(ours(operand).code, theirs.status, operand);
  }
  const inside = { cwd: valid, encoding: "utf8" };
  const theirs = spawnSync(process.execPath, [cli, "validate", "."], inside);
  const mine = spawnSync(process.env.SERVER, ["skill", "validate", "."], inside);
  assert.equal(theirs.status, 0);
  assert.equal(mine.status, 0, mine.stderr);
  assert.match(mine.stdout, /^Valid skill: /);
});

test("one that is broken among several fails the command and the others are still told", () => {
  const { code, verdicts } = ours(
    path.join(fixtures, "valid/my-skill"),
    path.join(fixtures, "front-list/my-skill"),
    path.join(fixtures, "whole/my-skill"),
  );
  assert.equal(code, 1);
  assert.deepEqual(verdicts.map((one) => one.valid), [true, false, true]);
});
