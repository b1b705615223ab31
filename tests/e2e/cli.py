#!/usr/bin/env python3
"""Every command as a user types it: help, completion, configuration, schemas, proofs, errors."""
import fcntl
import http.client
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import termios

from harness import BINARY, LONG, ROOT, WAIT_S, Skip, expect, expect_eq, expect_in, free_port, main, test


# ---- help, version, usage ----

SAME = {"ASAN_OPTIONS": "detect_leaks=0"}  # for what was looked through for leaks by another name


@test
def version_names_the_libraries(box):
    answer = box.json("version")
    expect(re.fullmatch(r"\d+\.\d+\.\d+", answer["version"]), answer)
    expect({"sqlite", "libuv", "json-c", "libmicrohttpd"} <= set(answer["libraries"]), answer)
    out, _ = box.run("--version")
    expect_in(f"dormouse {answer['version']} (", out)
    expect_in(f"  sqlite         {answer['libraries']['sqlite']}\n", out)


@test
def help_exists_for_every_command(box):
    overview, _ = box.run("help")
    names = re.findall(r"^  ([a-z]+(?: [a-z]+)?)(?:  |\n)", overview.split("topics:")[0], re.M)
    expect(len(names) >= 7, overview)
    for i, name in enumerate(names):
        page, _ = box.run("help", *name.split())
        expect_in(f"usage: dormouse {name}", page)
        # The other ways to ask are the same for every command: they take turns.
        ways = ((*name.split(), "--help"), (*name.split(), "-h"), ("--help", *name.split()))
        for words in ways if LONG else ways[i % 3:i % 3 + 1]:
            expect_eq(box.run(*words, env=SAME)[0], page)
    group, _ = box.run("config", "--help")
    expect_in("config check", group)
    expect_eq(box.run("help", "config")[0], group)
    expect_in("usage:", box.json("help", "serve")["text"])


@test
def help_tells_of_topics(box):
    listed = box.run("help")[0].split("topics:\n")[1].split("\n\n")[0]
    names = re.findall(r"^  ([a-z-]+)  ", listed, re.M)
    expect({"ids", "times", "rules", "predicates", "exit-codes", "environment", "files"} == set(names), listed)
    about, _ = box.run("help", "help")
    for name in names:
        expect(box.run("help", name)[0].startswith(f"{name}: "), name)
        expect_in(name, about)
    expect_in("  3                     waiting for a person", box.run("help", "exit-codes")[0])
    expect_in("did you mean `predicates`?", box.error("help", "predicate", code=2)["message"])
    # What the topics show is taken.
    for rule in re.findall(r"timer next '([^']*)'", box.run("help", "rules")[0]):
        box.run("timer", "next", rule)
    box.run("journal", "category", "add", "gym")
    for where in re.findall(r"^    ((?:task|entry)\..*)$", box.run("help", "predicates")[0], re.M):
        box.run("subscribe", "planner", "--key", "TASK", "--key", "WORKOUT", "--where", where)


@test
def wrong_usage_ends_with_two(box):
    expect_in("did you mean `version`?", box.error("verison", code=2)["message"])
    expect_in("did you mean --listen?", box.error("serve", "--lisen", "x", code=2)["message"])
    expect_in("`config` needs one of", box.error("config", code=2)["message"])
    expect_in("a command is missing", box.error(code=2)["message"])
    expect_in("no command `nope`", box.error("help", "nope", code=2)["message"])
    expect_in("see `dormouse help config`", box.run("config", "shwo", code=2)[1])
    expect_in("did you mean `config show`?", box.error("help", "config", "shwo", code=2)["message"])
    expect_in("did you mean `timer`?", box.error("help", "timers", code=2)["message"])
    expect_in("did you mean `dormouse subscribe list`?", box.run("subscribe", "lst", code=1)[1])
    expect_in("`dormouse timer add [RRULE]`",
              box.error("timer", "add", "--rule", "FREQ=DAILY", code=2)["message"])
    expect_in("needs FILE", box.error("backup", code=2)["message"])
    expect_in("--data needs a directory", box.error("doctor", "--data", "", code=2)["message"])
    expect_in("see `dormouse help serve`", box.run("serve", "extra", code=2)[1])


@test
def a_full_disk_is_a_failure(box):
    with open("/dev/full", "w") as full:
        done = subprocess.run([BINARY, "help"], stdout=full, stderr=subprocess.PIPE, env=box.env)
    expect_eq(done.returncode, 1)
    expect_in(b"No space left", done.stderr)


@test
def no_colours_in_a_pipe(box):
    for words in (["help"], ["doctor"], ["verison"]):
        done = subprocess.run([BINARY, *words], env=dict(box.env, TERM="xterm"),
                              capture_output=True, text=True, timeout=WAIT_S)
        expect("\033" not in done.stdout + done.stderr, done.stdout + done.stderr)


def on_terminal(box, *words, columns=80, env=None):
    """What a terminal of this width gets from a command, and its exit code."""
    env = {**box.env, "TERM": "xterm", **(env or {})}
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.chdir(box.work)
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
            os.execve(BINARY, [BINARY, *words], env)
        finally:
            os._exit(127)
    text = b""
    while True:
        try:
            part = os.read(terminal, 65536)
        except OSError:  # the other end is closed
            part = b""
        if not part:
            break
        text += part
    os.close(terminal)
    return text.decode().replace("\r\n", "\n"), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def seen(text):
    """The lines that stay on the screen."""
    text = re.sub(r"\033\[\d*m", "", text)
    return [line.rsplit("\r", 1)[-1] for line in text.split("\n")]


@test
def a_terminal_gets_colours_and_lines_that_fit(box):
    free = {"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"}
    box.config("agent: { name: Ada }\n")
    for words in (["doctor"], ["help"], ["help", "backup"], ["config", "show"], ["config", "check"]):
        for columns in (80, 120):
            text, code = on_terminal(box, *words, columns=columns, env=free)
            expect_eq(code, 0)
            wide = [line for line in seen(text) if len(line) > columns and "try: " not in line]
            expect_eq(wide, [])
    text, _ = on_terminal(box, "doctor", env=free)
    expect_in("\033[32mok   \033[0m configuration", text)
    for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        expect("\033" not in on_terminal(box, "doctor", env=dict(free, **env))[0], env)
    text, code = on_terminal(box, "verison")
    expect_eq(code, 2)
    expect_in("\033[31mdormouse:\033[0m no command", text)


@test
def a_long_value_moves_its_origin_below_on_a_narrow_terminal(box):
    lines = seen(on_terminal(box, "config", "show")[0])
    at = next(i for i, line in enumerate(lines) if line.startswith("sandbox.security.denyRead"))
    expect_eq(lines[at + 1].strip(), "default")
    expect_eq(len([line for line in lines if line.endswith("default")]), len(lines) - 2)
    piped = box.run("config", "show")[0].splitlines()
    expect(all(line.endswith("  default") for line in piped), piped)


@test
def escapes_in_files_do_not_reach_the_terminal(box):
    evil = '"\\e]0;owned\\a\\x9b31m": 1\n'
    box.config(evil)
    instance = box.write("work/i.json", '{"\\u001b[31m": 1}')
    schema = box.write("work/s.json", '{"additionalProperties": false}')
    for words in (["config", "check"], ["config", "show"], ["doctor"], ["serve"],
                  ["schema", "check", schema, instance]):
        out, err = box.run(*words, code=1, env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})
        bad = re.findall(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", out + err)
        expect_eq((words, bad), (words, []))
        expect_in("\\x1b", out + err)


@test
def the_man_page_has_no_warnings(box):
    if not shutil.which("groff"):
        raise Skip("groff is not installed")
    page, _ = box.run("help", "--man")
    for form in ("utf8", "ascii"):
        done = subprocess.run(["groff", "-man", "-ww", "-T", form], input=page.encode(),
                              capture_output=True, timeout=WAIT_S)
        expect_eq(done.stderr, b"")
    text = re.sub(rb"\x1b\[[0-9;]*m|.\x08", b"", done.stdout).decode()
    for part in ("NAME", "SYNOPSIS", "config check", "--listen", "EXIT STATUS", "DORMOUSE_DATA"):
        expect_in(part, text)


# ---- completion ----


def complete(box, line):
    """What bash offers at the end of this line."""
    script = box.write("completion", box.run("help", "--completion", "bash")[0])
    words = line.split(" ")
    quoted = " ".join("'" + word + "'" for word in words)
    done = subprocess.run(
        ["bash", "--norc", "-c",
         f"source {script}; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
         "_dormouse; printf '%s\\n' \"${COMPREPLY[@]}\""],
        cwd=box.work, env=dict(box.env, PATH=os.path.dirname(BINARY) + ":" + os.environ["PATH"]), capture_output=True, text=True, timeout=WAIT_S,
    )
    expect_eq(done.stderr, "")
    return sorted(done.stdout.split())


@test
def bash_completes_commands_options_and_files(box):
    if not shutil.which("bash"):
        raise Skip("bash is not installed")
    box.write("work/schema.json", "{}")
    os.mkdir(box.path("work/sub"))
    expect_eq(complete(box, "dormouse ser"), ["serve"])
    expect({"serve", "doctor", "config", "backup"} <= set(complete(box, "dormouse ")), "commands")
    expect_eq(complete(box, "dormouse config "), ["check", "show"])
    expect_eq(complete(box, "dormouse config sh"), ["show"])
    expect_eq(complete(box, "dormouse serve --li"), ["--listen"])
    expect_eq(complete(box, "dormouse --json doc"), ["doctor"])
    expect_eq(complete(box, "dormouse --data sub doc"), ["doctor"])
    expect_eq(complete(box, "dormouse doctor --data "), ["sub"])
    expect_eq(complete(box, "dormouse help conf"), ["config"])
    expect_eq(complete(box, "dormouse help config "), ["check", "show"])
    expect_eq(complete(box, "dormouse help config sh"), ["show"])
    expect_eq(complete(box, "dormouse help serve "), [])
    expect_eq(complete(box, "dormouse config --json sh"), ["show"])
    expect_eq(complete(box, "dormouse help --completion "), ["bash", "fish", "zsh"])
    expect_eq(complete(box, "dormouse help --completion = b"), ["bash"])
    expect_eq(complete(box, "dormouse backup s"), ["schema.json", "sub"])
    expect_eq(complete(box, "dormouse serve "), [])


@test
def ids_are_completed_when_a_daemon_runs_and_none_is_started_for_them(box):
    if not shutil.which("bash"):
        raise Skip("bash is not installed")
    expect_eq(complete(box, "dormouse agent show "), [])
    expect(not os.path.exists(box.data), "completing made a data directory")
    made = box.json("subscribe", "planner", "--key", "TASK", "--name", "Tasks")
    box.run("journal", "category", "add", "Deep work")
    expect_eq(complete(box, "dormouse agent show "), ["planner"])
    expect_eq(complete(box, "dormouse run --agent = pl"), ["planner"])
    ids = [json.loads(line)["id"] for line in box.run("subscribe", "list", "--json")[0].splitlines()]
    expect_in(made["id"], ids)
    expect_eq(sorted(complete(box, "dormouse subscribe show ")), sorted(ids))
    expect_eq(complete(box, "dormouse journal task add x --category De"), ["Deep\\", "work"])
    expect_in("weekly-review", complete(box, "dormouse skill show --agent planner week"))
    answer, _ = box.run("help", "--complete", "--", "dormouse", "subscribe", "rm", "")
    expect_in(f"{made['id']}\tTasks\n", answer)
    expect_eq(len(answer.splitlines()), len(ids))


# ---- the data directory ----


@test
def the_data_directory_is_found_in_its_order(box):
    def where(*words, env):
        checks = box.json("doctor", *words, env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0", **env})
        checks = checks["checks"]
        return next(c["message"] for c in checks if c["name"] == "data directory").split(" ")[0]

    expect_eq(where("--data", "here", env={}), os.path.join(os.path.realpath(box.work), "here"))
    expect_eq(where(env={}), box.data)
    expect_eq(where(env={"DORMOUSE_DATA": "", "XDG_DATA_HOME": "/x"}), "/x/dormouse")
    expect_eq(where(env={"DORMOUSE_DATA": ""}), f"{box.dir}/.local/share/dormouse")


@test
def a_bad_data_directory_is_refused_before_anything_starts(box):
    path = box.write("file", "")
    expect_in("it is not a directory", box.error("serve", "--data", path)["message"])
    expect_in("/proc/nowhere", box.error("serve", "--data", "/proc/nowhere")["message"])


# ---- configuration ----


@test
def config_mistakes_are_named_by_file_and_line(box):
    path = box.config("agent:\n  name: Ada\nserver:\n  listn: x\nsandbox: { enabled: 3 }\n")
    out, _ = box.run("config", "check", code=1)
    lines = out.splitlines()
    expect_eq(len(lines), 2)
    expect_in(f"{path}:4:3: no key `listn`; did you mean `listen`?", out)
    expect_in(f"{path}:5:21: `sandbox.enabled` must be", out)
    answer = box.json("config", "check", code=1)
    expect_eq(answer["valid"], False)
    expect_eq([(p["line"], p["column"]) for p in answer["problems"]], [(4, 3), (5, 21)])
    for words in (["serve", "--listen", "127.0.0.1:0"], ["config", "show"],
                  ["backup", box.path("b.tar")]):
        expect_in(f"{path}:4:3", box.error(*words)["message"])
    expect_eq(sorted(os.listdir(box.data)), ["config.yaml"])


@test
def a_good_configuration_is_shown_with_its_origins(box):
    box.config("agent:\n  name: Ada\nserver:\n  token: " + "x" * 43 + "\n")
    box.write("work/.dormouse/config.yaml", "sandbox: { limits: { timeout: 5s } }\n")
    expect_in("valid", box.run("config", "check")[0])
    expect_eq(box.json("config", "check"), {"valid": True, "problems": []})
    answer = box.json("config", "show", env={"DORMOUSE_SKILLS_ROOT": "/skills"})
    expect_eq(answer["values"]["agent.name"], "Ada")
    expect_eq(answer["origins"]["agent.name"], f"{box.data}/config.yaml:2")
    expect_in(".dormouse/config.yaml:1", answer["origins"]["sandbox.limits.timeout"])
    expect_eq(answer["origins"]["skills.root"], "$DORMOUSE_SKILLS_ROOT")
    expect_eq(answer["origins"]["store.url"], "default")
    out, _ = box.run("config", "show")
    expect("xxxx" not in out + json.dumps(answer), "a secret was shown")
    expect(re.search(r"^agent\.name +Ada +/", out, re.M), out)


@test
def a_working_directory_can_not_loosen(box):
    box.write("work/.dormouse/config.yaml", "sandbox:\n  enabled: false\n")
    loosens = "config.yaml:2:12: `sandbox.enabled` would loosen"
    expect_in(loosens, box.run("config", "check", code=1)[0])
    expect_in(loosens, box.error("run", "hello")["message"])
    expect_in(loosens, box.run("sandbox", "exec", "--", "true", code=125)[1])


@test
def the_configured_address_and_token_are_used(box):
    token = "t" * 43
    port = free_port()
    box.config(f"server: {{ listen: 127.0.0.1:{port}, token: {token} }}\n")
    process = subprocess.Popen([BINARY, "serve", "--json"], cwd=box.work, env=box.env, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        expect_eq(json.loads(process.stdout.readline())["url"], f"http://127.0.0.1:{port}")
        for bearer, status in ((token, 200), ("u" * 43, 401)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            connection.request("GET", "/api/v1/openapi.json",
                               headers={"Authorization": f"Bearer {bearer}"})
            expect_eq(connection.getresponse().status, status)
            connection.close()
    finally:
        process.terminate()
        process.communicate(timeout=WAIT_S)
    expect_eq(process.returncode, 0)


@test
def documentation_and_example_are_what_the_schema_says(box):
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools/config-docs"), "--check"],
                          capture_output=True, text=True, timeout=WAIT_S)
    expect_eq((done.returncode, done.stderr), (0, ""))


# ---- schema check ----


@test
def a_schema_is_checked(box):
    schema = box.write("s.json", json.dumps({
        "type": "object", "required": ["id"], "additionalProperties": False,
        "properties": {"id": {"type": "string", "format": "uuid"}, "n": {"maximum": 3}}}))
    good = box.write("good.json", '{"id": "x"}')
    bad = box.write("bad.json", '{"id": 1, "n": 4, "z": 0}')
    box.write("good.yaml", "id: x\nn: 2\n")
    expect_eq(box.run("schema", "check", schema, good)[0], "valid\n")
    expect_eq(box.json("schema", "check", schema, good), {"valid": True, "errors": []})
    out, _ = box.run("schema", "check", schema, bad, code=1)
    expect_in("/id: must be a string", out)
    expect_in("#/properties/id/type", out)
    answer = box.json("schema", "check", schema, bad, code=1)
    expect_eq(answer["valid"], False)
    expect({"/id", "/n"} <= {e["instance"] for e in answer["errors"]}, answer)
    expect(all({"instance", "schema", "message"} == set(e) for e in answer["errors"]), answer)
    box.run("schema", "check", schema, box.path("good.yaml"))
    box.run("schema", "check", schema, "-", stdin='{"id": "y"}')
    box.run("schema", "check", "-", good, stdin="true")
    box.run("schema", "check", "/dev/stdin", good, stdin="true")
    expect_in("is larger than 16 MiB",
              box.error("schema", "check", "-", good, stdin=" " * (17 << 20))["message"])
    box.run("schema", "check", "-", good, stdin="false", code=1)
    box.run("schema", "check", schema, good, "--assert-format", code=1)


@test
def a_schema_finds_its_references(box):
    schema = box.write("s.json", '{"$ref": "https://example.org/a#/$defs/n"}')
    other = box.write("o.json", '{"$defs": {"n": {"$ref": "urn:b"}}}')
    third = box.write("t.yaml", "type: integer\n")
    one = box.write("one.json", "1")
    text = box.write("text.json", '"1"')
    refs = ["--ref", f"https://example.org/a={other}", f"--ref=urn:b={third}"]
    box.run("schema", "check", schema, one, *refs)
    box.run("schema", "check", schema, text, *refs, code=1)
    expect_in("https://example.org/a", box.error("schema", "check", schema, one)["message"])
    expect_in("URI=FILE", box.error("schema", "check", schema, one, "--ref", "x")["message"])


@test
def what_is_no_schema_or_no_json_is_an_error(box):
    one = box.write("one.json", "1")
    expect_in("absent.json", box.error("schema", "check", "absent.json", one)["message"])
    broken = box.write("broken.json", '{"a": 1,}')
    expect_in("broken.json", box.error("schema", "check", broken, one)["message"])
    anything = box.write("anything.json", "true")
    expect_in("1:9", box.error("schema", "check", anything, broken)["message"])
    wrong = box.write("wrong.json", '{"type": "nonsense"}')
    box.error("schema", "check", wrong, one)
    box.error("schema", "check", one, code=2)


# ---- verify ----


@test
def the_registered_programs_are_proved(box):
    out, _ = box.run("verify", seconds=10 * WAIT_S)
    with open(os.path.join(ROOT, "src", "run", "program.c")) as file:
        wanted = re.findall(r"\{ PROPERTY\((\w+)\)", file.read())
    expect(len(wanted) >= 30, wanted)
    for name in wanted:
        expect(re.search(rf"^  proved +{name} +\d+ states", out, re.M), f"{name} is not in {out}")
    expect(not re.search(r"^  (violated|bound|unknown)", out, re.M), out)
    for program in ("run", "approval", "modes", "lease"):
        expect(re.search(rf"^{program}: ", out, re.M), out)


@test
def findings_are_lines_of_json(box):
    out = box.run("verify", "--json", "--bound", "100", code=1)[0]
    verdicts = {json.loads(line)["verdict"] for line in out.splitlines()}
    expect(verdicts == {"proved", "bound"}, verdicts)


@test
def a_bound_that_is_too_small_proves_nothing(box):
    expect_in("bound", box.run("verify", "--bound", "10", code=1)[0])
    for bound in ("0", "-1", "many", "99999999999999999999"):
        expect_in("--bound takes", box.error("verify", "--bound", bound, code=2)["message"])


@test
def a_policy_that_does_not_load_is_an_error(box):
    expect_in("absent.yaml", box.error("verify", "--policy", "absent.yaml")["message"])
    path = box.write("policy.yaml", "guards: 5\n")
    expect_in("policy.yaml", box.error("verify", "--policy", path)["message"])
    os.makedirs(box.data, mode=0o700)
    shutil.copy(path, os.path.join(box.data, "policy.yaml"))
    expect_in(f"{box.data}/policy.yaml", box.error("verify")["message"])


# ---- runs ----


@test
def a_fresh_data_directory_has_no_runs(box):
    expect_in("There are no runs yet", box.run("runs")[0])
    expect(box.run("runs", "--json")[0] == "", "no lines")
    for command in (("trace", "abcd"), ("replay", "abcd", "--check"), ("trajectories", "export")):
        expect_in("nothing has been run in", box.error(*command)["message"])


@test
def reading_runs_says_what_is_wrong_with_what_was_typed(box):
    expect_in("nothing has been run in", box.error("replay", "abcd")["message"])
    box.error("trace", code=2)
    box.error("replay", "--check", code=2)


main()
