#!/usr/bin/env python3
"""`dormouse sandbox exec` as people type it: streams, exit codes, the terminal, the walls."""
import contextlib
import http.server
import json
import os
import pty
import shutil
import signal
import ssl
import subprocess
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


@test
def streams_and_exit_code_are_the_command_s(box):
    out, err = sandbox(box, "--", "sh", "-c", "cat; echo oops >&2; exit 7", stdin="in\n", code=7)
    expect_eq(out, "in\n")
    expect_eq(err, "oops\n")
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
            expect_eq((out, err), ("/hello", ""))
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
def what_a_command_makes_of_settings_is_set_aside(box):
    _, err = sandbox(box, "--", "mkdir", ".dormouse", code=125)
    expect_in("dormouse: settings: ", err)
    expect_eq(os.listdir(box.work), [".dormouse.set-aside-1"])


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
    expect_in("set-aside", json.dumps(stream.until("tool_result", toolName="bash")["output"]))
    eventually(lambda: os.path.exists(started), "the last command has begun")
    expect(running(started), "no command runs")
    _, err = daemon.stop()
    expect("BUG" not in err and "Sanitizer" not in err, err)
    eventually(lambda: not running(started), "the command has ended")
    out, _ = box.run("trace", box.runs()[0]["runId"])
    expect_in("evil.example:443", out)
    expect_in(".dormouse.set-aside-1", out)


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
def the_doctor_says_that_it_works(box):
    sandbox(box, "--", "true")
    out, _ = box.run("doctor", env={"DORMOUSE_SERVER_LISTEN": "127.0.0.1:0"})
    expect_in("a command was run in the sandbox", out)


main()
