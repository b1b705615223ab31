#!/usr/bin/env python3
"""`dormouse sandbox exec` as people type it: streams, exit codes, the terminal, the walls."""
import contextlib
import http.server
import json
import os
import pty
import pwd
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import threading
import time

from harness import BINARY, WAIT_S, Skip, eventually, expect, expect_eq, expect_in, main, test
from model_server import ModelServer


def sandbox(box, *words, **how):
    """Skips where no sandbox can be built."""
    if subprocess.run(["bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"],
                      stderr=subprocess.DEVNULL).returncode != 0:
        raise Skip("bubblewrap does not work here")
    return box.run("sandbox", "exec", *words, **how)


def theirs(err):
    """What the command said, without what Dormouse says of limits that this machine can't hold."""
    return "".join(line for line in err.splitlines(True) if not line.startswith("dormouse: limits: "))


@test
def streams_and_exit_code_are_the_command_s(box):
    out, err = sandbox(box, "--", "sh", "-c", "cat; echo oops >&2; exit 7", stdin="in\n", code=7)
    expect_eq(out, "in\n")
    expect_eq(theirs(err), "oops\n")
    sandbox(box, "--", "sh", "-c", "kill -TERM $$", code=143)


@test
def commands_that_can_not_run_have_codes_of_their_own(box):
    _, err = sandbox(box, "--", "no-such-command", code=127)
    expect_in("no-such-command", err)
    box.write("work/plain", "text")
    sandbox(box, "--", "./plain", code=126)
    _, err = sandbox(box, "--timeout", "1", "--", "sleep", "60", code=124)
    expect_in("too long", err)
    _, err = sandbox(box, "--allow-write", "absent", "--", "true", code=125)
    expect_in("absent", err)
    sandbox(box, "--timeout", "soon", "--", "true", code=125)


@test
def only_the_named_places_are_written(box):
    os.mkdir(box.path("other"))
    sandbox(box, "--", "sh", "-c", "echo x > here")
    expect(os.path.exists(box.path("work/here")), "not written")
    _, err = sandbox(box, "--", "sh", "-c", "echo x > ../other/there", code=2)
    expect_in("Read-only", err)
    sandbox(box, "--allow-write", box.path("other"), "--", "sh", "-c", "echo x > ../other/there")
    expect(os.path.exists(box.path("other/there")), "not written")
    expect(not os.path.exists(box.path("work/.dormouse")), "something was left behind")


@test
def what_is_denied_is_not_read(box):
    box.write(".ssh/key", "canary")
    box.write("work/.env", "canary")
    box.write("data/token", "canary")
    box.write("private", "canary")
    for path in ("~/.ssh/key", ".env", box.path("data/token")):
        out, err = sandbox(box, "--", "sh", "-c", f"cat {path}", code=1)
        expect_in("Permission denied", err)
        expect("canary" not in out, out)
    sandbox(box, "--", "cat", box.path("private"))
    sandbox(box, "--deny-read", box.path("private"), "--", "cat", box.path("private"), code=1)


@test
def a_limit_that_is_hit_is_named(box):
    box.config("sandbox: { limits: { processes: 8 } }\n")
    _, err = sandbox(box, "--", "sh", "-c", "for i in $(seq 50); do sleep 60 & done; wait",
                     code=125)
    expect_in("sandbox.limits.processes", err)


@test
def refused_calls_are_said_on_standard_error(box):
    _, err = sandbox(box, "--", "sh", "-c", "unshare -U true", code=1)
    expect_in("dormouse: seccomp: unshare by unshare refused", err)


@test
def only_listed_hosts_are_reached(box):
    _, err = sandbox(box, "--allow-domain", "example.org", "--", "bash", "-c",
                     "exec 3<>/dev/tcp/127.0.0.1/3128; printf 'CONNECT evil.example:443 HTTP/1.1"
                     "\\r\\nHost: x\\r\\n\\r\\n' >&3; head -1 <&3 >&2")
    expect_in("403", err)
    expect_in("dormouse: network: evil.example:443", err)
    _, err = sandbox(box, "--allow-domain", "http://x", "--", "true", code=125)
    expect_in("http://x", err)


class Page(http.server.BaseHTTPRequestHandler):
    """Answers every path with itself, and a POST with what was sent."""

    def do_GET(self):
        self.answer(self.path.encode())

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])))

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def page_server(box, tls):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    if tls:
        key, cert = box.path("key.pem"), box.path("cert.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=127.0.0.1",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-days", "1", "-keyout", key,
                        "-out", cert], check=True, stderr=subprocess.DEVNULL)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(cert, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@test
def curl_reaches_an_allowed_address_in_the_clear_and_through_a_tunnel(box):
    if not shutil.which("curl"):
        raise Skip("curl is not installed")
    for tls in (False, True):
        with page_server(box, tls) as port:
            host = f"127.0.0.1:{port}"
            url = f"{'https' if tls else 'http'}://{host}"
            curl = ["curl", "-sS", "--max-time", str(WAIT_S), "--noproxy", ""]
            if tls:
                curl += ["--cacert", box.path("cert.pem")]
            out, err = sandbox(box, "--allow-domain", host, "--", *curl, f"{url}/hello")
            expect_eq((out, theirs(err)), ("/hello", ""))
            big = box.write("work/big", "0123456789abcdef" * 40000)
            out, _ = sandbox(box, "--allow-domain", host, "--", *curl, "--data-binary", f"@{big}",
                             f"{url}/echo")
            expect_eq(len(out), 640000)
            # Another port of the same machine is another matter, and so is no list at all.
            _, err = sandbox(box, "--allow-domain", "127.0.0.1:1", "--", "sh", "-c", '! "$@"',
                             "sh", *curl, "--fail", f"{url}/")
            expect_in(f"dormouse: network: {host}", err)
            sandbox(box, "--", *curl, f"{url}/", code=7)


@test
def domains_of_the_configuration_may_name_a_port(box):
    with page_server(box, False) as port:
        box.config(f"sandbox: {{ security: {{ allowedDomains: ['127.0.0.1:{port}'] }} }}\n")
        out, _ = sandbox(box, "--", "bash", "-c",
                         f"exec 3<>/dev/tcp/127.0.0.1/3128; printf 'GET http://127.0.0.1:{port}/x "
                         f"HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\nConnection: close\\r\\n"
                         "\\r\\n' >&3; cat <&3")
        expect_in("200 OK", out)
        expect_in("/x", out)


@test
def what_tools_outside_obey_can_not_be_made(box):
    for name in (".dormouse", ".envrc", ".bashrc"):
        _, err = sandbox(box, "--", "mkdir", name, code=1)
        expect_in(f"dormouse: settings: {name} by mkdir refused", err)
    expect_eq(os.listdir(box.work), [])
    _, err = sandbox(box, "--", "sh", "-c", "mkdir deep; echo x > deep/.envrc", code=125)
    expect_in("deep/.envrc was made", err)
    expect_eq(os.listdir(os.path.join(box.work, "deep")), [".envrc.set-aside-1"])


@test
def what_the_background_remakes_is_set_aside(box):
    """In so many directories that the look takes a while."""
    _, err = sandbox(box, "--", "bash", "-c", "mkdir -p d/{1..300}; for n in 1 2 3; do "
                     "(while :; do for i in d/*; do echo x > $i/.envrc; done; done) & done; "
                     "until test -e d/99/.envrc; do :; done", code=125)
    expect_in("set_aside", err)
    left = [name for name in os.listdir(box.path("work/d")) if os.path.exists(box.path(f"work/d/{name}/.envrc"))]
    expect_eq(left, [])


@test
def the_home_as_writable_place_needs_a_word(box):
    home = box.env["HOME"]
    for place in ("/", home, os.path.dirname(home)):
        _, err = sandbox(box, "--allow-write", place, "--", "true", code=125)
        expect_in("--allow-home", err)
    sandbox(box, "--allow-home", "--allow-write", home, "--", "true")


def naughty_agent(started):
    """Tries an unlisted host and to make settings; then a command that does not end."""
    steps = ["curl -sS -o /dev/null --max-time 100 https://evil.example/ 2>&1; true",
             "mkdir .dormouse", f"echo > {started}; sleep 600 & sleep 600"]

    def answer(reply):
        if reply.is_check():
            reply.check(done=False)
        else:
            reply.call("bash", {"command": steps[min(reply.results(), 2)], "timeout_s": 500})
    return answer


def running(text):
    """Processes whose command line holds the text."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                if text.encode() in file.read():
                    found.append(int(pid))
        except OSError:
            pass
    return found


@test
def what_a_run_was_refused_is_in_its_trace_and_the_daemon_ends_with_a_hand_alive(box):
    sandbox(box, "--", "true")
    started = box.path("work/started")
    ModelServer(box, naughty_agent(started))
    daemon = box.serve(env={"DORMOUSE_SANDBOX_SECURITY_ALLOWEDDOMAINS": "good.example"})
    stream = daemon.start("try things", mode="wiggum", cwd=box.work)
    expect_in("403", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
    expect_in("not permitted", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
    eventually(lambda: os.path.exists(started), "the last command has begun")
    expect(running(started), "no command runs")
    _, err = daemon.stop()
    expect("BUG" not in err and "Sanitizer" not in err, err)
    eventually(lambda: not running(started), "the command has ended")
    out, _ = box.run("trace", box.runs()[0]["runId"])
    expect_in("evil.example:443", out)
    expect_in(".dormouse by mkdir refused", out)


@test
def what_was_set_aside_is_shown_to_a_person(box):
    sandbox(box, "--", "true")
    ModelServer(box, writing_agent(["mkdir -p a b/.vscode; echo x > a/.envrc; true", "true"]))
    daemon = box.serve()
    stream = daemon.start("work", mode="wiggum", cwd=box.work)
    expect_in("settings", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
    stream.end()
    items = daemon.ask("GET", "/inbox")["items"]
    expect_eq([item["kind"] for item in items], ["escalated"])
    run = box.runs()[0]
    expect_eq(run["status"], "done")
    item = daemon.ask("GET", f"/inbox/{items[0]['id']}")
    expect_eq(item["runId"], run["runId"])
    for part in (box.path("work/a/.envrc"), ".envrc.set-aside-1", ".vscode.set-aside-1"):
        expect_in(part, item["preview"])
    out, _ = box.run("trace", run["runId"])
    expect_in('"note":"set_aside"', out)
    out, _ = box.run("inbox")
    expect_in("Set aside", out)
    expect_in("says that you have seen it", out)
    for verb in ("reject", "edit", "answer"):
        expect(verb not in out, f"{verb} is offered: {out}")
    out, _ = box.run("inbox", item["id"])
    expect_in(f"dormouse approve {item['id'][:8]}   says that you have seen it", out)
    expect("reject" not in out, out)
    expect_in("nothing to reject", box.error("reject", item["id"])["message"])
    expect_eq(len(daemon.ask("GET", "/inbox")["items"]), 1)
    out, _ = box.run("approve", item["id"])
    expect_in("Seen: ", out)
    expect("pproved" not in out and "goes on" not in out, out)
    expect_in(" seen ", box.run("inbox", "--all")[0])
    expect_eq(daemon.ask("GET", "/inbox")["items"], [])
    daemon.stop()


@test
def what_a_tool_for_files_wrote_is_set_aside_too(box):
    sandbox(box, "--", "true")
    ModelServer(box, writing_agent([("write_file", {"path": "sub/.envrc", "content": "x"})]))
    daemon = box.serve()
    stream = daemon.start("work", mode="wiggum", cwd=box.work)
    expect_in("settings", json.dumps(stream.until("tool_result", toolName="write_file")["output"]))
    stream.end()
    expect_eq(os.listdir(box.path("work/sub")), [".envrc.set-aside-1"])
    items = daemon.ask("GET", "/inbox")["items"]
    expect_in(box.path("work/sub/.envrc"), daemon.ask("GET", f"/inbox/{items[0]['id']}")["preview"])
    daemon.stop()


def writing_agent(calls):
    """Runs the commands, or calls (tool, arguments), one a turn; then it is done."""
    def answer(reply):
        if reply.is_check():
            reply.check(done=reply.results() >= len(calls))
        elif reply.results() < len(calls):
            call = calls[reply.results()]
            reply.call(*(("bash", {"command": call}) if isinstance(call, str) else call))
        else:
            reply.text("done")
    return answer


@test
def a_folder_s_config_holds_for_every_run_there(box):
    """The daemon was started elsewhere, before the file was there."""
    sandbox(box, "--", "true")
    ModelServer(box, writing_agent(["mkdir -p out; echo x > made; echo x > out/made; true"]))
    os.makedirs(box.path("work/p/sub/out"))
    daemon = box.serve()
    box.write("work/p/.dormouse/config.yaml", "sandbox: { security: { allowWrite: [sub/out] } }\n")
    daemon.start("write", mode="wiggum", cwd=box.path("work/p/sub")).end()
    expect(not os.path.exists(box.path("work/p/sub/made")), "written where it may not")
    expect(os.path.exists(box.path("work/p/sub/out/made")), "not written where it may")
    box.write("work/p/.dormouse/config.yaml", "sandbox:\n  enabled: false\n")
    refused = daemon.ask("POST", "/run", {"prompt": "x", "cwd": box.path("work/p/sub")}, status=400)
    expect_in("/work/p/.dormouse/config.yaml:2:12: `sandbox.enabled` would loosen", json.dumps(refused))
    box.work = box.path("work/p")
    _, err = box.run("run", "x", code=1)
    expect_in("config.yaml:2:12", err)
    daemon.stop()
    out, _ = box.run("config", "check", "--dir", box.path("work/p/sub"), code=1)
    expect_in("config.yaml:2:12", out)
    box.write("work/p/.dormouse/config.yaml", "sandbox: { limits: { timeout: 7s } }\n")
    shown = box.json("config", "show", "--dir", box.path("work/p/sub"))
    expect_eq(shown["values"]["sandbox.limits.timeout"], "7s")


@test
def a_link_in_a_folder_s_config_opens_nothing(box):
    os.makedirs(box.path("work/p"))
    os.symlink("..", box.path("work/p/out"))
    box.write("work/p/.dormouse/config.yaml", "sandbox: { security: { allowWrite: [out] } }\n")
    _, err = sandbox(box, "--cwd", box.path("work/p"), "--", "sh", "-c", "echo x > ../escaped", code=125)
    expect_in("out leads to", err)
    expect(not os.path.exists(box.path("work/escaped")), "written outside")


@contextlib.contextmanager
def listener(path):
    """Says hello to whoever connects."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()

        def greet():
            with contextlib.suppress(OSError):
                while True:
                    conn, _ = server.accept()
                    conn.sendall(b"hello from outside\n")
                    conn.close()

        threading.Thread(target=greet, daemon=True).start()
        yield path
        server.shutdown(socket.SHUT_RDWR)


def connecting(path):
    return ["python3", "-c", "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); "
            "print(s.recv(99).decode())", path]


@test
def listed_unix_sockets_reach_runs(box):
    sandbox(box, "--", "true")
    with tempfile.TemporaryDirectory() as short, listener(short + "/a") as one, listener(short + "/b") as other:
        os.chmod(short, 0o755)
        out, _ = sandbox(box, "--allow-unix", one, "--", *connecting(one))
        expect_in("hello from outside", out)
        sandbox(box, "--allow-unix", one, "--", *connecting(other), code=1)
        _, err = sandbox(box, "--allow-unix", short + "/absent", "--", "true", code=125)
        expect_in("there is no such socket", err)
        ModelServer(box, writing_agent([" ".join(map(shlex.quote, connecting(path))) for path in (one, other)]))
        daemon = box.serve(env={"DORMOUSE_SANDBOX_SECURITY_ALLOWUNIXSOCKETS": one})
        stream = daemon.start("connect", mode="wiggum", cwd=box.work)
        expect_in("hello from outside", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
        expect_in("No such file", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
        stream.end()
        own = box.path("data/dormouse.sock")
        _, err = sandbox(box, "--allow-unix", own, "--", "true", code=125)
        expect_in("data directory of Dormouse", err)
        box.write("work/p/.dormouse/config.yaml", "sandbox: { security: { allowUnixSockets: [] } }\n")
        sandbox(box, "--cwd", box.path("work/p"), "--", *connecting(one), code=1,
                env={"DORMOUSE_SANDBOX_SECURITY_ALLOWUNIXSOCKETS": one})
        daemon.stop()


# Each key of sandbox.limits: a value, a command that finds out, what it then says.
LIMITS = {
    "timeout": ("1s", "sleep 30", '"timed_out": true'),
    "memory": ("96MiB", "ulimit -d", "98304"),
    "processes": ("10", "ulimit -u", "80"),
    "disk": ("20MiB", "ulimit -f", "20480"),
    "files": ("300", "for i in $(seq 20000); do : > f$i; done; sleep 20", "sandbox.limits.files"),
}


def limits_in_force():
    return {f"DORMOUSE_SANDBOX_LIMITS_{key.upper()}": value for key, (value, _, _) in LIMITS.items()}


@test
def every_limit_reaches_a_run(box):
    sandbox(box, "--", "true")
    schema = os.path.join(os.path.dirname(__file__), "../../share/schema/config.schema.json")
    with open(schema) as file:
        keys = json.load(file)["properties"]["sandbox"]["properties"]["limits"]["properties"]
    expect_eq(sorted(LIMITS), sorted(keys))
    commands = [command for _, command, _ in LIMITS.values()]

    def agent(reply):
        if reply.results() < len(commands):
            asked = {"timeout_s": 30} if "seq" in commands[reply.results()] else {}
            reply.call("bash", {"command": commands[reply.results()], **asked})
        else:
            reply.text("Done.")

    ModelServer(box, agent)
    daemon = box.serve(env=limits_in_force())
    stream = daemon.start("try the limits", mode="wiggum", cwd=box.work)
    for key, (_, _, said) in LIMITS.items():
        output = json.dumps(stream.until("tool_result", toolName="bash")["output"])
        expect(said in output, f"{key}: {output}")


@test
def every_limit_reaches_a_command_of_ones_own(box):
    env = limits_in_force()
    for key, (_, command, said) in LIMITS.items():
        if key != "timeout":  # this one has --timeout
            out, err = sandbox(box, "--", "bash", "-c", command, env=env, code=125 if key == "files" else 0)
            expect(said in out + err, f"{key}: {out}{err}")


@test
def limits_that_are_not_held_are_named(box):
    """By doctor and by each command, where no control group can be made; never where one can."""
    sandbox(box, "--", "true")
    said = "no control group (version 2) may be made here"
    doctor = subprocess.run([BINARY, "doctor", "--data", box.data], env=box.env, cwd=box.work, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
    expect_eq(said in doctor, said in sandbox(box, "--", "true")[1])
    if os.geteuid() != 0:
        raise Skip("only root can take control groups away")
    for words in (["doctor", "--data", box.data], ["sandbox", "exec", "--data", box.data, "--", "true"]):
        done = subprocess.run(["unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys/fs/cgroup && exec "$@"',
                               "sh", BINARY, *words], env=box.env, cwd=box.work, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect_in(said, done.stdout)


@test
def the_terminal_stays_a_terminal_and_its_keys_reach_the_command(box):
    sandbox(box, "--", "true")
    pid, terminal = pty.fork()
    if pid == 0:
        try:
            os.chdir(box.work)
            os.execve(BINARY, [BINARY, "sandbox", "exec", "--", "bash", "-c",
                               "test -t 0 && test -t 1 && echo tty; trap 'echo got it; exit 9' INT; "
                               "echo ready; while :; do sleep 0.05; done"], box.env)
        finally:
            os._exit(127)
    text = b""
    deadline = time.monotonic() + WAIT_S
    sent = False
    while time.monotonic() < deadline:
        try:
            part = os.read(terminal, 4096)
        except OSError:
            break
        text += part
        if b"ready" in text and not sent:
            os.write(terminal, b"\x03")
            sent = True
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    expect_in("tty", text.decode())
    expect_in("got it", text.decode())
    expect_eq(code, 9)


@test
def nothing_is_left_when_it_is_killed(box):
    sandbox(box, "--", "true")
    beat = box.path("work/beat")
    process = subprocess.Popen([BINARY, "sandbox", "exec", "--", "sh", "-c",
                                f"(while sleep 0.05; do date +%N > {beat}; done) & echo on; wait"],
                               cwd=box.work, env=box.env, stdout=subprocess.PIPE, text=True)
    expect_eq(process.stdout.readline(), "on\n")
    eventually(lambda: os.path.exists(beat), "it beats")
    expect(len(running(beat)) > 1, "no command runs")
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    eventually(lambda: not running(beat), "all of it has ended")


@test
def where_namespaces_are_forbidden_it_says_what_to_do(box):
    fake = box.write("bin/bwrap", "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' "
                                  ">&2\nexit 1\n")
    os.chmod(fake, 0o755)
    path = f"{os.path.dirname(fake)}:{box.env['PATH']}"
    _, err = box.run("sandbox", "exec", "--", "true", code=125, env={"PATH": path})
    expect_in("sysctl -w kernel.unprivileged_userns_clone=1", err)
    out, _ = box.run("doctor", env={"PATH": path, "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})
    expect_in("agents can't run commands", out)


@test
def a_root_that_can_not_lend_is_told_why_and_what_to_do(box):
    """Without its rights, or on a file system that knows no such mounts: every line is a sentence of ours."""
    if os.geteuid() != 0:
        raise Skip("this needs root")
    sandbox(box, "--", "true")
    over = box.path("over")
    for name in ("low", "up", "work", "all"):
        os.makedirs(os.path.join(over, name))
    mount = f"cd {over} && mount -t overlay none -o lowerdir=low,upperdir=up,workdir=work all && cd all && "
    as_root = ["sh", "-c", 'exec "$@"', "sh"]
    cases = [
        (["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", *as_root],
         "(root may not make mounts here: Operation not permitted)", "or give the container CAP_SYS_ADMIN"),
        (["setpriv", "--bounding-set=-all", "--inh-caps=-all", *as_root],
         "setting up uid map", "but without the rights of root"),
    ]
    if subprocess.run(["unshare", "-m", "sh", "-c", mount + "true"], stderr=subprocess.DEVNULL).returncode == 0:
        cases.append((["unshare", "-m", "sh", "-c", mount + f'HOME={over}/all exec "$@"', "sh"],
                      "can't be lent to an unprivileged user", "keep the place on ext4, xfs, btrfs or tmpfs"))
        cases.append((["unshare", "-m", "sh", "-c", mount + 'exec "$@"', "sh"],
                      f"({over}/all can't be lent to an unprivileged user", "keep the place on ext4"))
    for before, why, advice in cases:
        for words in (["sandbox", "exec", "--data", box.data, "--allow-home", "--", "true"],
                      ["doctor", "--data", box.data]):
            if words[0] == "doctor" and before[-2].endswith('all && exec "$@"'):
                continue  # it tries the home directory, which is elsewhere
            done = subprocess.run([*before, BINARY, *words], cwd=box.work, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT,
                                  env={**box.env, "DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})
            lines = [line for line in done.stdout.splitlines() if "sandbox can't be built" in line]
            expect(len(lines) == 1, done.stdout)
            expect_in(why, lines[0])
            expect_in(advice, lines[0])
            if words[0] == "sandbox":
                expect_eq(done.returncode, 125)
                expect_eq([line for line in done.stdout.splitlines() if not line.startswith("dormouse: ")], [])


@test
def serve_gives_up_root_for_a_user(box):
    if os.geteuid() != 0:
        raise Skip("this needs root")
    who = pwd.getpwnam("nobody")
    if subprocess.run(["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", BINARY,
                       "version"], stdout=subprocess.DEVNULL, env=box.env).returncode != 0:
        raise Skip("the binary can't be reached by others")
    data = tempfile.mkdtemp(prefix="dormouse-e2e-user-")
    os.chown(data, who.pw_uid, who.pw_gid)
    process = subprocess.Popen([BINARY, "serve", "--user", "nobody", "--data", data, "--listen",
                                "127.0.0.1:0", "--json"], env=box.env, cwd="/", text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        told = json.loads(process.stdout.readline())
        with open(f"/proc/{told['pid']}/status", encoding="utf-8") as file:
            status = file.read()
        expect_in(f"Uid:\t{who.pw_uid}\t{who.pw_uid}\t{who.pw_uid}\t{who.pw_uid}", status)
        expect_in("CapPrm:\t0000000000000000", status)
        expect_eq(os.stat(os.path.join(data, "token")).st_uid, who.pw_uid)
    finally:
        process.terminate()
        process.communicate()
        shutil.rmtree(data)
    for name, said in (("root", "root again"), ("no-such-user", "no such user")):
        _, err = box.run("serve", "--user", name, code=1)
        expect_in(said, err)


def in_namespaces(words, env):
    """A program that sees every file and is in a sandbox by its namespaces alone."""
    return subprocess.run(["bwrap", "--dev-bind", "/", "/", "--unshare-user", "--unshare-pid",
                           "--proc", "/proc", *words], env=env, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


@test
def the_daemon_s_socket_is_deaf_to_a_sandbox(box):
    sandbox(box, "--", "true")
    daemon = box.serve()
    socket_path = box.path("data/dormouse.sock")
    ask = ["curl", "-sS", "--max-time", str(WAIT_S), "--unix-socket", socket_path,
           "http://localhost/api/v1/agents"]
    plain = subprocess.run(ask, env=box.env, text=True, stdout=subprocess.PIPE)
    expect_eq(plain.returncode, 0)
    expect_in("{", plain.stdout)
    inside = in_namespaces(ask, box.env)
    expect("may speak here" in inside.stdout or inside.returncode != 0, inside.stdout)
    expect("name" not in inside.stdout, inside.stdout)
    # Not dumpable, so that /proc tells less of it.
    code = ("import ctypes, socket; ctypes.CDLL(None).prctl(4, 0); s = socket.socket("
            f"socket.AF_UNIX); s.connect({socket_path!r}); s.send(b'GET /api/v1/agents HTTP/1.1\\r\\n"
            "Host: localhost\\r\\n\\r\\n'); print(s.recv(4096))")
    inside = in_namespaces(["python3", "-c", code], box.env)
    expect("200 OK" not in inside.stdout, inside.stdout)
    outside = subprocess.run(["python3", "-c", code], text=True, stdout=subprocess.PIPE)
    expect_in("200 OK", outside.stdout)
    daemon.stop()


@test
def the_data_of_another_daemon_is_out_of_reach(box):
    sandbox(box, "--", "true")
    other = box.path("work/other-data")
    env = {"DORMOUSE_DATA": other}
    box.run("secret", "list", env=env)
    box.run("agent", "list", env=env)
    expect(os.path.exists(other), "no other data directory")
    box.write("work/other-data/token", "canary")
    out, err = sandbox(box, "--", "sh", "-c", f"cat {other}/token; ls {other}", code=2)
    expect_in("Permission denied", err)
    expect("canary" not in out, out)
    usual = box.write(".local/share/dormouse/token", "canary")
    out, err = sandbox(box, "--", "cat", usual, code=1)
    expect_in("Permission denied", err)


@test
def the_doctor_says_that_it_works(box):
    sandbox(box, "--", "true")
    out, _ = box.run("doctor", env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})
    expect_in("a command was run in the sandbox", out)


main()
