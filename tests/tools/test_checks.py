"""The checks of tools/ must fail when the rule that they guard is broken."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
README = "| floor | room | what |\n|---|---|---|\n| 1 | `base` | x |\n| 1 | `db` | x |\n| 2 | `agent` | x |\n"


def tree(files):
    folder = tempfile.TemporaryDirectory()
    for name, text in {"src/README.md": README, **files}.items():
        path = pathlib.Path(folder.name, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def run(tool, files):
    with tree(files) as folder:
        return subprocess.run([ROOT / "tools" / tool, folder], capture_output=True, text=True)


class Layers(unittest.TestCase):
    def test_a_room_may_use_rooms_before_it(self):
        done = run("check-layers", {"src/base/a.h": "", "src/db/b.c": '#include "base/a.h"\n'})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_lower_room_may_not_use_a_higher_one(self):
        done = run("check-layers", {"src/agent/a.h": "", "src/db/b.c": '\n#include "agent/a.h"\n'})
        self.assertEqual(done.returncode, 1)
        self.assertIn("src/db/b.c:2: agent/a.h: `db` may not use `agent`", done.stdout)

    def test_an_internal_header_stays_in_its_room(self):
        done = run("check-layers", {"src/base/a_int.h": "", "src/db/b.c": '#include "base/a_int.h"\n'})
        self.assertIn("stays inside `base`", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_an_unlisted_room_is_refused(self):
        done = run("check-layers", {"src/attic/a.c": ""})
        self.assertIn("src/attic: this room is not in src/README.md", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_an_include_names_its_room(self):
        done = run("check-layers", {"src/base/a.h": "", "src/base/b.c": '#include "a.h"\n'})
        self.assertIn('write it as "room/a.h"', done.stdout)
        self.assertEqual(done.returncode, 1)


class Errors(unittest.TestCase):
    HEADER = '#define ERR_CODES(X) \\\n    X(NOT_FOUND, "not_found", 404, "a") \\\n    X(GONE, "gone", 410, "b")\n'
    RAISES = {"src/base/err.h": HEADER, "src/db/a.c": "return err_set(err, ERR_NOT_FOUND); return ERR_GONE;"}

    def test_codes_that_are_raised_and_provoked_pass(self):
        done = run("check-errors", {**self.RAISES, "tests/a.c": "ERR_NOT_FOUND", "tests/b.py": 'x == "gone"'})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(done.stdout.splitlines()[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_code_that_nothing_raises_is_refused(self):
        done = run("check-errors", {**self.RAISES, "src/db/a.c": "ERR_GONE", "tests/a.c": "ERR_NOT_FOUND ERR_GONE"})
        self.assertIn("src/base/err.h: not_found is raised nowhere under src/", done.stdout)
        self.assertEqual(done.returncode, 1)

    def test_a_code_that_no_test_provokes_is_refused(self):
        done = run("check-errors", {**self.RAISES, "tests/a.c": "ERR_NOT_FOUND; /* gone */"})
        self.assertIn("src/base/err.h: gone is provoked by no test", done.stdout)
        self.assertEqual(done.returncode, 1)


class Security(unittest.TestCase):
    HEAD = "| class | how it is held | test |\n|---|---|---|\n"
    ROW = ("| a class | `src/db/a.c`, `a.c`, `db_open()`, by `words` | db: `opens`, reads_* (both engines); `e2e-db`: it_runs; "
           "web-db: `a page, shown in *`; check-db |\n")
    FILES = {
        "src/db/a.c": "int db_open(void)\n",
        "tests/meson.build": "test_db = executable(\n  'test-db',\n  'test_a.c',\n)\ntest('db', test_db, timeout: 1)\n"
                             "test('e2e-db', files('db.py'), args: [x])\n"
                             "test('web-db', files('run'), args: [x, files('db.test.mjs')])\n"
                             "test('check-db', find_program('x'))\n",
        "tests/test_a.c": "TEST(opens)\nDB_TEST(reads_rows, .timeout_s = 1)\n",
        "tests/db.py": "def it_runs(box):\n",
        "tests/db.test.mjs": "  test(`a page, shown in ${language}`, async () => {\n",
    }

    def said(self, row):
        done = run("check-security", {**self.FILES, "docs/SECURITY.md": self.HEAD + row})
        return done.returncode, done.stdout

    def test_rows_whose_names_are_there_pass(self):
        self.assertEqual(self.said(self.ROW + "| not held: x | | |\n"), (0, "1 passed, 0 failed, 0 skipped\n"))

    def test_whatever_is_named_and_not_there_is_refused(self):
        for there, gone, sentence in (
            ("`src/db/a.c`", "`src/db/b.c`", "there is no file src/db/b.c"),
            ("`a.c`", "`b.c`", "there is no file b.c"),
            ("`db_open()`", "`db_close()`", "there is no function db_close()"),
            ("`opens`", "`closes`", "suite db has no test closes"),
            ("reads_*", "writes_*", "suite db has no test writes_*"),
            ("it_runs", "it_walks", "suite e2e-db has no test it_walks"),
            ("shown in *", "hidden in *", "suite web-db has no test a page, hidden in *"),
            ("`e2e-db`", "e2e-gone", "there is no suite e2e-gone"),
            ("db: `opens`, reads_* (both engines);", "db;", "suite db is named without a test"),
        ):
            with self.subTest(gone):
                self.assertIn(there, self.ROW)
                code, said = self.said(self.ROW.replace(there, gone, 1))
                self.assertEqual((code, said.splitlines()[-1]), (1, "0 passed, 1 failed, 0 skipped"), said)
                self.assertIn(f"docs/SECURITY.md:3: {sentence}\n", said)

    def test_a_document_without_rows_is_refused(self):
        self.assertEqual(self.said("")[0], 1)


class Mutate(unittest.TestCase):
    """What it plants; that it builds and runs is seen whenever somebody uses it."""

    def listed(self, *options):
        done = subprocess.run([ROOT / "tools/mutate", "--list", *options], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def test_a_seed_plants_the_same_bugs_again_and_another_one_others(self):
        first = self.listed("40", "--seed", "5", "--room", "run")
        self.assertEqual(len(first), 40)
        self.assertEqual(self.listed("40", "--seed", "5", "--room", "run"), first)
        self.assertNotEqual(self.listed("40", "--seed", "6", "--room", "run"), first)

    def test_every_kind_of_bug_is_planted(self):
        kinds = {line.split(": ")[1] for line in self.listed("14", "--seed", "5", "--room", "run")}
        self.assertEqual(kinds, {"call", "check", "comparison", "condition", "constant", "entry", "logic"})

    def test_one_line_gives_all_of_its_bugs(self):
        number = next(i for i, line in enumerate((ROOT / "src/run/decide.c").read_text().splitlines(), 1)
                      if "(n >= 1 && (size_t)n <= json_length(choices))" in line)
        bugs = "\n".join(self.listed("--at", f"src/run/decide.c:{number}"))
        for bug in (">= -> >", "<= -> <", "1 -> 0", "1 -> 2", "&& -> ||", "|| -> &&", "0 -> 1", "< -> <="):
            self.assertIn(bug, bugs)


class Options(unittest.TestCase):
    HELP = "## Options of every command\n\n- `--json`: JSON\n\n" + "".join(f"## filler {word}\n" for word in range(40)) + \
        "## run\n\n    dormouse run PROMPT [--thread THREAD]\n\n- `--thread THREAD`: goes on\n\n## agent set\n\n- `--name NAME`: new\n"

    def said(self, name, text):
        return run("check-options", {"docs/commands.md": self.HELP, name: text})

    def test_options_that_the_command_has_pass(self):
        for text in ['"try `dormouse run --thread X`, or --json";', '"dormouse agent set A --name N";', '"`dormouse run`: with --thread";']:
            self.assertEqual(self.said("src/cli/show.c", text).returncode, 0, text)
        own = 'const struct cli_command c = {\n    .name = "agent set" };\nerr_set("--name takes a name");\n'
        self.assertEqual(self.said("src/cli/cmd_agent.c", own).returncode, 0)

    def test_options_that_it_lacks_are_refused(self):
        for text in ['"dormouse run --name N";', '"`dormouse agent set A "\n"--thread X`";', '"allow more with --thread";',
                     '"dormouse fly --name N";', '"`dormouse run`: with --name";']:
            done = self.said("src/cli/show.c", text + "\n")
            self.assertEqual(done.returncode, 1, text)
            self.assertIn("src/cli/show.c:1:", done.stdout)
        own = 'const struct cli_command c = {\n    .name = "agent set" };\nerr_set("--thread takes a name");\n'
        self.assertIn("src/cli/cmd_agent.c:3:", self.said("src/cli/cmd_agent.c", own).stdout)


class Sql(unittest.TestCase):
    def test_store_files_and_db_may_hold_sql(self):
        text = '#include "db/db.h"\nq = SQL("SELECT 1");\n'
        done = run("check-sql", {"src/agent/agent_store.c": text, "src/db/x.c": text})
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_other_files_may_not(self):
        for line in ['x = SQL("y");', 'x = "select a from b";', 'x = "INSERT INTO t VALUES";',
                     'x = "Update t set a";', '#include "db/db.h"', "#include <sqlite3.h>"]:
            done = run("check-sql", {"src/agent/agent.c": line + "\n"})
            self.assertEqual(done.returncode, 1, line)
            self.assertIn("src/agent/agent.c:1:", done.stdout)

    def test_prose_is_not_sql(self):
        done = run("check-sql", {"src/agent/a.c": 'x = "selected by the user"; y = "update available";\n'})
        self.assertEqual(done.returncode, 0, done.stdout)


class RunTests(unittest.TestCase):
    """run-tests against a build directory whose suites are small shell scripts."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def total(self, *suites, prepare=lambda root: None, options=(), waits=()):
        root = pathlib.Path(self.folder.name)
        lines = ["project('t', 'c')"]
        for i, script in enumerate(suites):
            (root / f"{i}.sh").write_text("#!/bin/sh\n" + script + "\n")
            (root / f"{i}.sh").chmod(0o755)
            mark = ", suite: 'waits'" if i in waits else ""
            lines.append(f"test('{i}', find_program('{i}.sh'), timeout: 1{mark})")
        (root / "meson.build").write_text("\n".join(lines))
        subprocess.run(["meson", "setup", "--wipe" if (root / "b").exists() else "--buildtype=plain",
                        root / "b", root], check=True, capture_output=True)
        prepare(root)
        done = subprocess.run([ROOT / "tools" / "run-tests", root / "b", *options], capture_output=True, text=True)
        return done.stdout.splitlines()[-1], done.returncode

    def test_counts_are_added_over_suites(self):
        self.assertEqual(self.total("echo '3 passed, 0 failed, 1 skipped'", "echo '2 passed, 0 failed, 0 skipped'"),
                         ("5 passed, 0 failed, 1 skipped", 0))

    def test_a_suite_without_its_closing_line_is_a_failure(self):
        self.assertEqual(self.total("true"), ("0 passed, 1 failed, 0 skipped", 1))

    def test_a_suite_that_can_not_start_is_a_failure(self):
        self.assertEqual(self.total("#", prepare=lambda root: (root / "0.sh").chmod(0o644)),
                         ("0 passed, 1 failed, 0 skipped", 1))

    def test_a_suite_that_crashes_after_counting_is_a_failure(self):
        self.assertEqual(self.total("echo '3 passed, 0 failed, 0 skipped'; exit 3"),
                         ("3 passed, 1 failed, 0 skipped", 1))

    def test_a_suite_that_waits_holds_nobody_up(self):
        """It ends when the next one has begun, and they have one place between them."""
        pipe = pathlib.Path(self.folder.name, "pipe")
        said = "echo '1 passed, 0 failed, 0 skipped'"
        self.assertEqual(self.total(f"mkfifo {pipe}; cat {pipe}; {said}",
                                    f"until test -p {pipe}; do :; done; echo >{pipe}; {said}",
                                    options=("--jobs", "1", "--time-factor", "60"), waits=(0,)),
                         ("2 passed, 0 failed, 0 skipped", 0))

    def test_a_suite_that_hangs_is_ended_and_is_a_failure(self):
        self.assertEqual(self.total("sleep 60"), ("0 passed, 1 failed, 0 skipped", 1))


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed - len(result.skipped)} passed, {failed} failed, {len(result.skipped)} skipped",
          flush=True)
    sys.exit(1 if failed else 0)
