#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Commands that reach hosts by name: real clients against real servers in a network namespace of their own, and attacks, which
are judged by a capture of what arrives there."""
import base64
import hashlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import unittest
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import network_world  # noqa: E402
from programs import Page, Server  # noqa: E402

PADDOCK = os.environ["PADDOCK"]
ALLOWED = "code.example.org,*.example.net,code.example.org:9000"
# What only looks whether something could be reached.
GREETING = """
import socket, ssl, sys
plain = ssl.create_default_context(cafile='ca.pem')
def hello(name):
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        plain.wrap_bio(incoming, outgoing, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()
def to(host, port=443):
    return socket.create_connection((host, port), 10)
def send(host, data, port=443):
    with to(host, port) as s:
        for piece in [data] if isinstance(data, bytes) else data:
            s.sendall(piece)
        return s.recv(1 << 16)
"""


def enter_machine():
    """This test again, in namespaces where it may lay cables."""
    unshare = ["unshare", "--net", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    os.environ |= {"IN_NETWORK_WORLD": "1", "AS_ROOT": str(int(os.geteuid() == 0))}
    if not all(map(shutil.which, ("unshare", "ip", "openssl", "curl"))) or run(*unshare, "ip", "link", "add", "type", "veth").returncode != 0:
        print("skipped: ip, curl, openssl and network namespaces with a cable (veth) are needed")
        sys.exit(77)  # what Meson takes for that
    os.execvp("unshare", [*unshare, sys.executable, "-B", *sys.argv])


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, **options)


class World:
    def __init__(self, folder):
        self.process = subprocess.Popen(["unshare", "--net", sys.executable, "-B", network_world.__file__, folder],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        here = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.process.pid}/ns/net") == here:
            os.sched_yield()
        for command in (["link", "add", "m0", "type", "veth", "peer", "name", "w0", "netns", str(self.process.pid)],
                        ["addr", "add", network_world.MACHINE + "/24", "dev", "m0"],
                        ["addr", "add", network_world.MACHINES_SECOND + "/24", "dev", "m0"], ["link", "set", "m0", "up"],
                        ["link", "set", "lo", "up"], ["route", "add", "default", "via", "11.0.1.2"]):
            subprocess.run(["ip", *command], check=True)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        assert self.process.stdout.readline() == "ready\n"

    def take(self):
        """What has arrived since the last time."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        seen = json.loads(self.process.stdout.readline())
        seen["connections"] = [f"{kind} {host}:{port}" for kind, host, port in seen["packets"] if host != network_world.RESOLVER]
        return seen


    def start(self, test, *command, until):
        """A server of another program there, which has written a line with `until` when it listens."""
        server = subprocess.Popen(["nsenter", f"--net=/proc/{self.process.pid}/ns/net", *command], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True)
        test.addCleanup(server.communicate)
        test.addCleanup(server.kill)
        said = iter(server.stdout.readline, "")
        test.assertTrue(any(until in line for line in said), command)


def make_certificate(folder):
    names = ",".join("DNS:" + name for name in network_world.HOSTS)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "9",
                    "-subj", "/CN=test", "-addext", "subjectAltName=" + names, "-addext", "basicConstraints=critical,CA:TRUE",
                    "-keyout", folder + "/key.pem", "-out", folder + "/certificate.pem"], check=True, capture_output=True)


def setUpModule():
    global folder, world, environment
    folder = tempfile.mkdtemp()
    unittest.addModuleCleanup(shutil.rmtree, folder)
    os.chmod(folder, 0o755)
    resolver = pathlib.Path(folder, "resolv.conf")
    resolver.write_text(f"nameserver {network_world.RESOLVER}\nsearch search.example\noptions timeout:1 attempts:1\n")
    subprocess.run(["mount", "--bind", resolver, os.path.realpath("/etc/resolv.conf")], check=True)
    make_certificate(folder)
    world = World(folder)
    unittest.addModuleCleanup(world.process.kill)
    environment = {name: value for name, value in os.environ.items() if "proxy" not in name.lower()}
    environment |= {"HOME": folder + "/home", "XDG_STATE_HOME": folder + "/state"}


class Network(unittest.TestCase):
    def setUp(self):
        self.workspace = tempfile.mkdtemp(dir=folder)
        shutil.copy(folder + "/certificate.pem", self.workspace + "/ca.pem")
        world.take()

    def inside(self, *command, allowed=ALLOWED, options=()):
        reach = allowed if allowed in ("all", "host") else "allow:" + allowed
        return run(PADDOCK, "exec", "--timeout", "60", "--network", reach, *options, "--", *command, cwd=self.workspace, env=environment)

    def serve(self, path, text):
        file = pathlib.Path(folder, "www", path)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())

    def python(self, script, **options):
        return self.inside("python3", "-c", GREETING + textwrap.dedent(script), **options)


class Clients(Network):
    """Each works with the list, and ends soon without it, with a word that names the host."""

    def need(self, *programs):
        for program in programs:
            if shutil.which(program, path="/usr/local/bin:/usr/bin:/bin:/usr/sbin") is None:
                self.skipTest(program + " is not installed")

    def check(self, command, expected, host="code.example.org", options=(), allowed=ALLOWED):
        self.need(command[0])
        done = self.inside(*command, options=options, allowed=allowed)
        self.assertEqual(0, done.returncode, done.stdout + done.stderr)
        self.assertIn(expected, done.stdout + done.stderr)
        self.assertTrue(world.take()["connections"])
        self.setUp()
        refused = self.inside(*command, options=options, allowed="elsewhere.example.org")
        self.assertNotEqual(0, refused.returncode, refused.stdout)
        self.assertIn(f"network: refused: {host};", refused.stderr)
        self.assertEqual([], world.take()["packets"])

    def test_curl_over_tls(self):
        self.serve("page", "a page")
        self.check(["curl", "-sS", "--cacert", "ca.pem", "https://code.example.org/page"], "a page")

    def test_curl_without(self):
        self.serve("page", "a page")
        self.check(["curl", "-sS", "http://code.example.org/page", "http://code.example.org/page"], "a pagea page")

    def test_curl_that_sends_much(self):
        self.check(["sh", "-c", "head -c 3000000 /dev/zero >big; curl -sS -T big -X POST -H 'Expect:' http://code.example.org/x | wc -c &&"
                    "curl -sS -X POST -H 'Transfer-Encoding: chunked' -d @big http://code.example.org/x -o out && echo sent"], "sent")

    def test_python(self):
        self.check(["python3", "-c", "import ssl, urllib.request as r; print(r.urlopen('https://code.example.org/', context="
                    "ssl.create_default_context(cafile='ca.pem')).status)"], "200")

    def test_node(self):
        self.check(["sh", "-c", "NODE_EXTRA_CA_CERTS=ca.pem node -e \"fetch('https://code.example.org/')"
                    ".then(r => console.log('status', r.status))\" || exit 1"], "status 200")

    def test_java(self):
        if shutil.which("java") is None or run("java", "--version").returncode != 0:
            self.skipTest("java is not installed")
        pathlib.Path(self.workspace, "Get.java").write_text(
            "class Get { public static void main(String[] a) throws Exception { System.out.println(java.net.http.HttpClient.newHttpClient()"
            '.send(java.net.http.HttpRequest.newBuilder(java.net.URI.create("http://code.example.org/")).build(),'
            " java.net.http.HttpResponse.BodyHandlers.ofString()).statusCode()); } }")
        source = pathlib.Path(self.workspace, "Get.java").read_text()
        self.check(["sh", "-c", f"cat >Get.java <<'E'\n{source}\nE\njava Get.java"], "200")

    def test_git(self):
        repository = folder + "/www/repository.git"
        if not os.path.exists(repository):
            subprocess.run("git init -q x && cd x && git -c user.name=a -c user.email=a commit -q --allow-empty -m one && cd .. && "
                           f"git clone -q --bare x {repository} && cd {repository} && git update-server-info",
                           shell=True, check=True, cwd=folder, env=environment)
        self.check(["git", "clone", "http://code.example.org/repository.git", "copy"], "Cloning")

    def test_pip(self):
        if run("python3", "-m", "pip", "--version").returncode != 0:
            self.skipTest("pip is not installed")
        subprocess.run(["python3", "-c", textwrap.dedent("""
            import zipfile
            with zipfile.ZipFile("thing-1.0-py3-none-any.whl", "w") as z:
                z.writestr("thing.py", "x = 1")
                z.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\\nName: thing\\nVersion: 1.0\\n")
                z.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
                z.writestr("thing-1.0.dist-info/RECORD", "")
            """)], check=True, cwd=folder + "/www")
        self.serve("simple/thing/index.html", '<a href="/thing-1.0-py3-none-any.whl">thing-1.0-py3-none-any.whl</a>')
        self.check(["python3", "-m", "pip", "install", "--no-cache-dir", "--retries", "0", "--target", "here", "--index-url",
                    "http://code.example.org/simple/", "--trusted-host", "code.example.org", "thing"], "Successfully installed")

    def test_npm(self):
        if shutil.which("npm") is None:
            self.skipTest("npm is not installed")
        subprocess.run("mkdir -p p/package && echo '{\"name\":\"thing\",\"version\":\"1.0.0\"}' >p/package/package.json && "
                       "tar -C p -czf www/thing-1.0.0.tgz package", shell=True, check=True, cwd=folder)
        self.serve("thing", json.dumps({"name": "thing", "dist-tags": {"latest": "1.0.0"}, "versions": {"1.0.0": {
            "name": "thing", "version": "1.0.0", "dist": {"tarball": "http://code.example.org/thing-1.0.0.tgz"}}}}))
        self.check(["npm", "install", "--registry", "http://code.example.org/", "--no-audit", "--no-fund", "thing"], "added 1 package")

    def test_a_websocket(self):
        script = GREETING + ("s = to('code.example.org', 80); s.sendall(b'GET /ws HTTP/1.1\\r\\nHost: code.example.org\\r\\nConnection: Upgrade"
                             "\\r\\nUpgrade: websocket\\r\\n\\r\\n'); head = s.recv(4096); s.sendall(b'\\x81\\x05frame'); print(s.recv(99))")
        self.check(["python3", "-c", script], "frame")

    def test_node_websocket(self):
        self.need("node")
        if run("node", "--experimental-websocket", "-e", "WebSocket", env=environment).returncode != 0:
            self.skipTest("this node has no WebSocket")
        for scheme in ("ws", "wss"):
            self.check(["sh", "-c", "NODE_EXTRA_CA_CERTS=ca.pem exec node --experimental-websocket -e \"const s = new WebSocket("
                        f"'{scheme}://code.example.org/ws'); s.onmessage = m => {{ console.log(m.data); process.exit() }};"
                        "s.onerror = e => { console.log(e.message); process.exit(1) }\""], "hello")

    def test_curl_with_http2(self):
        self.need("node", "curl")
        world.start(self, "node", "-e", "const fs = require('fs'); require('http2').createSecureServer({key: fs.readFileSync"
                    f"('{folder}/key.pem'), cert: fs.readFileSync('{folder}/certificate.pem')}}, (_, answer) => answer.end('a page'))"
                    ".listen(443, '11.0.0.13', () => console.log('ready'))", until="ready")
        self.check(["curl", "-sS", "--http2", "--cacert", "ca.pem", "-w", " by %{http_version}", "https://h2.example.net/"], "a page by 2",
                   "h2.example.net")

    def serve_ssh(self):
        """A server of git by SSH at ports 22 and 443."""
        self.need("sshd", "ssh", "git")
        if os.environ["AS_ROOT"] != "1":
            self.skipTest("sshd needs root")
        os.makedirs("/run/sshd", exist_ok=True)
        shutil.rmtree(folder + "/ssh", ignore_errors=True)
        os.mkdir(folder + "/ssh")
        for key in ("host", "client"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{folder}/ssh/{key}"], check=True)
        pathlib.Path(folder, "ssh/config").write_text(
            f"ListenAddress 11.0.0.14:22\nListenAddress 11.0.0.14:443\nHostKey {folder}/ssh/host\nStrictModes no\nUsePAM no\n"
            f"AuthorizedKeysFile {folder}/ssh/client.pub\nPermitRootLogin prohibit-password\nPidFile none\n")
        subprocess.run("git init -q x && git -C x -c user.name=a -c user.email=a commit -q --allow-empty -m one", shell=True, check=True,
                       cwd=folder + "/ssh", env=environment)
        world.start(self, shutil.which("sshd", path="/usr/sbin:/usr/bin"), "-D", "-e", "-f", folder + "/ssh/config",
                    until="listening on 11.0.0.14 port 443")

    def clone_by_ssh(self, port):
        key = pathlib.Path(folder, "ssh/client").read_text()
        ssh = "ssh -F none -i key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o ConnectTimeout=10"
        return ["sh", "-c", f"umask 077; echo '{key}' >key; GIT_SSH_COMMAND='{ssh}' exec git clone ssh://root@ssh.example.net:{port}"
                f"{folder}/ssh/x copy"]

    def test_git_by_ssh(self):
        self.serve_ssh()
        self.check(self.clone_by_ssh(22), "Cloning", "ssh.example.net", allowed="ssh.example.net:22")
        self.setUp()
        self.check(self.clone_by_ssh(443), "Cloning", "ssh.example.net", allowed="ssh://ssh.example.net:443")
        self.setUp()
        done = self.inside(*self.clone_by_ssh(443), allowed="ssh.example.net")
        self.assertIn("the TLS greeting has to name the host: ssh.example.net:443", done.stderr)
        self.assertEqual([], world.take()["connections"])

    def test_cargo(self):
        cargo = next((path for path in [run("rustup", "which", "cargo").stdout.strip() if shutil.which("rustup") else "",
                                        shutil.which("cargo", path="/usr/bin")] if path), None)
        if cargo is None:
            self.skipTest("cargo is not installed")
        if tuple(map(int, run(cargo, "--version").stdout.split()[1].split(".")[:2])) < (1, 68):
            self.skipTest("this cargo knows no sparse index")
        crate = folder + "/thing-1.0.0"
        os.makedirs(crate + "/src", exist_ok=True)
        pathlib.Path(crate, "Cargo.toml").write_text('[package]\nname = "thing"\nversion = "1.0.0"\n')
        pathlib.Path(crate, "src/lib.rs").write_text("")
        packed = subprocess.run(["tar", "-C", folder, "-cz", "thing-1.0.0"], check=True, capture_output=True).stdout
        self.serve("crates/thing/1.0.0/download", packed)
        self.serve("index/config.json", json.dumps({"dl": "http://code.example.org/crates"}))
        self.serve("index/th/in/thing", json.dumps({"name": "thing", "vers": "1.0.0", "deps": [], "features": {}, "yanked": False,
                                                    "cksum": hashlib.sha256(packed).hexdigest()}))
        script = """
mkdir -p src .cargo; : >src/lib.rs
printf '[package]\nname = "own"\nversion = "1.0.0"\n[dependencies]\nthing = "1"\n' >Cargo.toml
printf '[source.crates-io]\nreplace-with = "here"\n[source.here]\nregistry = "sparse+http://code.example.org/index/"\n' >.cargo/config.toml
"""
        bin = os.path.dirname(cargo)
        self.check(["sh", "-c", script + f"PATH={bin}:$PATH cargo fetch"], "Downloaded thing",
                   options=[] if bin == "/usr/bin" else ["--read", os.path.dirname(bin)])

    def test_go(self):
        self.need("go")
        self.serve("goproxy/example.com/thing/@v/v1.0.0.info", '{"Version": "v1.0.0", "Time": "2024-01-01T00:00:00Z"}')
        self.serve("goproxy/example.com/thing/@v/v1.0.0.mod", "module example.com/thing\n")
        with zipfile.ZipFile(folder + "/www/goproxy/example.com/thing/@v/v1.0.0.zip", "w") as packed:
            packed.writestr("example.com/thing@v1.0.0/go.mod", "module example.com/thing\n")
        self.check(["sh", "-c", "go mod init own && GOFLAGS=-mod=mod GOSUMDB=off GOPROXY=http://code.example.org/goproxy "
                    "go mod download -x example.com/thing@v1.0.0"], "v1.0.0.zip: 200 OK")

    def test_apt(self):
        """Reads a signed repository and fetches a package of it."""
        self.need("apt-get", "apt-ftparchive", "dpkg-deb", "gpg")
        debian = pathlib.Path(folder, "www/debian")
        shutil.rmtree(debian, ignore_errors=True)
        (debian / "thing/DEBIAN").mkdir(parents=True)
        (debian / "thing/DEBIAN/control").write_text("Package: thing\nVersion: 1\nArchitecture: all\nMaintainer: a <a@example.org>\nDescription: a\n")
        subprocess.run("""dpkg-deb --build thing thing_1_all.deb && rm -r thing && apt-ftparchive packages . >Packages &&
            apt-ftparchive release . >../Release && mv ../Release . && export GNUPGHOME=$(mktemp -d) &&
            gpg --batch --passphrase '' --quick-generate-key a@example.org default default never &&
            gpg --batch --clearsign -o InRelease Release && gpg --batch --export >key.gpg && gpgconf --kill all""",
                       shell=True, check=True, cwd=debian, env=environment, capture_output=True, timeout=60)
        key = base64.b64encode((debian / "key.gpg").read_bytes()).decode()
        self.check(["sh", "-c", f"echo {key} | base64 -d >key.gpg; mkdir -p a/lists/partial a/cache/archives/partial; : >a/status;"
                    "echo \"deb [signed-by=$PWD/key.gpg] http://code.example.org/debian ./\" >a/list;"
                    "echo 'APT::Sandbox::User \"root\"; Acquire::Retries \"0\"; Acquire::http::Timeout \"10\";"
                    "Dir::State::status \"'$PWD'/a/status\"; Dir::State \"'$PWD'/a\"; Dir::Cache \"'$PWD'/a/cache\";"
                    "Dir::Etc::sourcelist \"'$PWD'/a/list\"; Dir::Etc::sourceparts \"-\";' >conf;"
                    "export APT_CONFIG=$PWD/conf; apt-get update -o APT::Update::Error-Mode=any && apt-get download thing && ls *.deb"],
                   "thing_1_all.deb")

    def test_another_protocol_at_a_listed_port(self):
        self.check(["python3", "-c", GREETING + "print(send('code.example.org', b'anything', 9000))"], "anything")

    def test_the_second_address_of_a_host(self):
        done = self.python("print(send('both.example.org', b'anything', 9000))", allowed="both.example.org:9000")
        self.assertEqual("b'anything'\n", done.stdout, done.stderr)

    def test_a_name_with_an_underscore(self):
        self.check(["curl", "-sS", "http://under_score.example.net/"], "Directory listing", "under_score.example.net")

    def test_a_name_below_a_wildcard(self):
        self.check(["curl", "-sS", "http://b.c.example.net/"], "Directory listing", "b.c.example.net")


HTTP_ATTACKS = {
    "another Host": ["GET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "no Host": ["GET /bad HTTP/1.1\r\n\r\n"],
    "two Hosts": ["GET /bad HTTP/1.1\r\nHost: code.example.org\r\nHost: other.example.org\r\n\r\n"],
    "Host in another case, and another": ["GET /bad HTTP/1.1\r\nHOST: other.example.org\r\n\r\n"],
    "Host with a port": ["GET /bad HTTP/1.1\r\nHost: code.example.org:8080\r\n\r\n"],
    "Host with a NUL": ["GET /bad HTTP/1.1\r\nHost: code.example.org\0.other.example.org\r\n\r\n"],
    "Host with a user": ["GET /bad HTTP/1.1\r\nHost: code.example.org@other.example.org\r\n\r\n"],
    "a space before the colon": ["GET /bad HTTP/1.1\r\nHost : other.example.org\r\nHost: code.example.org\r\n\r\n"],
    "a line that goes on": ["GET /bad HTTP/1.1\r\nX: y\r\n Host: other.example.org\r\nHost: code.example.org\r\n\r\n"],
    "bare line feeds": ["GET /bad HTTP/1.1\nHost: other.example.org\n\n"],
    "a bare line feed in a value": ["GET /bad HTTP/1.1\r\nHost: code.example.org\r\nX: a\nHost: other.example.org\r\n\r\n"],
    "a bare carriage return": ["GET /bad HTTP/1.1\r\nHost: code.example.org\r\nX: a\rHost: other.example.org\r\n\r\n"],
    "an absolute form": ["GET http://other.example.org/bad HTTP/1.1\r\nHost: code.example.org\r\n\r\n"],
    "an absolute form with TLS": ["GET https://code.example.org/bad HTTP/1.1\r\nHost: code.example.org\r\n\r\n"],
    "CONNECT": ["CONNECT other.example.org:443 HTTP/1.1\r\nHost: code.example.org\r\n\r\n"],
    "CONNECT in small letters": ["connect other.example.org:443 HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "HTTP/2": ["PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    "HTTP/0.9": ["GET /bad\r\n\r\n"],
    "two lengths": ["POST /bad HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\nhello"],
    "a length and chunks": ["POST /bad HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
    "another coding": ["POST /bad HTTP/1.1\r\nHost: code.example.org\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"],
    "a signed length": ["POST /bad HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: +5\r\n\r\nhello"],
    "bytes that are no HTTP": ["\x16\x03\x01 anything \r\n\r\n"],
}
# The first request is in order and arrives; what comes after it on the same connection does not.
LATER_ATTACKS = {
    "the second request": ["GET /good HTTP/1.1\r\nHost: code.example.org\r\n\r\n", "GET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "the second at once": ["GET /good HTTP/1.1\r\nHost: code.example.org\r\n\r\nGET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "behind a body": ["POST /good HTTP/1.1\r\nHost: code.example.org\r\nContent-Length: 4\r\n\r\nbody"
                      "GET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "behind chunks": ["POST /good HTTP/1.1\r\nHost: code.example.org\r\nTransfer-Encoding: chunked\r\n\r\n4;a=b\r\nbody\r\n0\r\nX: y\r\n\r\n"
                      "GET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "behind an upgrade that is refused": ["GET /good HTTP/1.1\r\nHost: code.example.org\r\nUpgrade: websocket\r\n\r\n",
                                          "GET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
    "an upgrade in the second request": ["GET /good HTTP/1.1\r\nHost: code.example.org\r\n\r\nGET /ws HTTP/1.1\r\nHost: code.example.org\r\n"
                                         "Upgrade: websocket\r\n\r\nGET /bad HTTP/1.1\r\nHost: other.example.org\r\n\r\n"],
}


class Attacks(Network):
    """0 packets arrive for what is not listed; a control shows that they would."""

    def quiet(self, script, told=None, **options):
        done = self.python(script, **options)
        arrived = world.take()
        self.assertEqual([], arrived["connections"], done.stdout + done.stderr)
        self.assertEqual([], arrived["greetings"] + arrived["requests"])
        if told is not None: self.assertIn(told, done.stderr)
        return done, arrived

    def test_names_that_are_not_listed(self):
        names = ["other.example.org", "example.net", "code.example.org.example.com", "xcode.example.org", "code.example.org\\0.example.com",
                     "x" * 250 + ".example.net", "code.example.org%00", "metadata.google.internal", "a..example.net", "-a.example.net"]
        done, arrived = self.quiet(f"""
            for name in {names}:
                try: print(name, to(name, 80))
                except OSError: pass
                except UnicodeError: pass
            """)
        self.assertEqual("", done.stdout)
        self.assertEqual([], arrived["names"])

    def test_a_question_never_leaves(self):
        """Not even of a name that is allowed, as long as nobody connects: no tunnel by names."""
        _, arrived = self.quiet("[socket.getaddrinfo(f'{i:x}.example.net', 80) for i in range(300)]")
        self.assertEqual([], arrived["names"])
        # The control.
        self.python("send('a.example.net', b'GET / HTTP/1.1\\r\\nHost: a.example.net\\r\\n\\r\\n', 80)")
        self.assertEqual(["a.example.net"], sorted(set(world.take()["names"])))

    def test_other_resolvers(self):
        question = "b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0\\5other\\7example\\3org\\0\\0\\1\\0\\1'"
        self.quiet(f"""
            for where in ['{network_world.RESOLVER}', '8.8.8.8']:
                s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(2)
                s.sendto({question}, (where, 53)); assert s.recv(512)[3] & 15 == 3
                try: send(where, {question}, 53)
                except OSError: pass
            """, told="other.example.org")

    def test_addresses(self):
        addresses = ["11.0.0.10", "184549386", "0xb00000a", "013.0.0.012", "11.10", "::ffff:11.0.0.10", "64:ff9b::b00:a", network_world.MACHINE,
                        "169.254.169.254", "0.0.0.0", "198.18.0.9", "198.19.255.254"]
        done, _ = self.quiet(f"""
            for address in {addresses}:
                for port, said in [(80, b'GET / HTTP/1.1\\r\\nHost: code.example.org\\r\\n\\r\\n'), (443, hello('code.example.org'))]:
                    try: print(address, send(address, said, port))
                    except OSError: pass
            """, told="11.0.0.10:443")
        self.assertEqual("", done.stdout)

    def test_other_ways_out(self):
        self.quiet("""
            for make, what in [((socket.AF_INET, socket.SOCK_DGRAM), 'udp'), ((socket.AF_INET, socket.SOCK_RAW, 1), 'icmp'),
                               ((socket.AF_INET6, socket.SOCK_STREAM), 'v6'), ((socket.AF_PACKET, socket.SOCK_RAW), 'packet'),
                               ((socket.AF_INET, socket.SOCK_STREAM, 132), 'sctp')]:
                for place in [('11.0.0.10', 443), ('11.0.0.10', 9000), ('2606:4700::1', 443)]:
                    try:
                        s = socket.socket(*make); s.settimeout(1); s.connect(place); s.send(b'x')
                    except (OSError, TypeError, ValueError) as e: print(what, e)
            """)

    def test_ports(self):
        self.quiet("send('code.example.org', b'x', 22)", told="refused: code.example.org:22;")
        self.quiet("send('code.example.org', b'x', 8080)")
        self.quiet("send('a.example.net', b'x', 9000)", told="refused: a.example.net:9000;")

    def test_greetings(self):
        rows = {
            "another name": "send('code.example.org', hello('other.example.org'))",
            "no name": "send('code.example.org', hello(None))",
            "no TLS": "send('code.example.org', b'GET / HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n')",
            "byte by byte": "send('code.example.org', [bytes([b]) for b in hello('other.example.org')])",
            "in records of one byte": "h = hello('other.example.org'); send('code.example.org',"
                                      "b''.join(h[:3] + b'\\0\\1' + bytes([b]) for b in h[5:]))",
            "of SSL 2": "send('code.example.org', b'\\x80\\x2e\\1\\3\\1' + bytes(60))",
            "an alert first": "send('code.example.org', b'\\x15\\3\\1\\0\\2\\1\\0' + hello('code.example.org'))",
            "an empty record first": "send('code.example.org', b'\\x16\\3\\1\\0\\0' + hello('code.example.org'))",
            "with a dot at its end": "send('code.example.org', hello('code.example.org').replace(b'example.org', b'exampleorg.'))",
        }
        for name, script in rows.items():
            with self.subTest(name):
                self.quiet("plain.check_hostname = False; plain.verify_mode = 0\n" + script, told=": code.example.org:443")
        self.python("h = hello('code.example.org'); print(send('code.example.org', [h[:1], h[1:50], h[50:]]))")
        self.assertEqual(["code.example.org"], world.take()["greetings"])  # the control, in pieces

    def test_a_second_greeting(self):
        """A server that is offered no key it can use asks for another greeting, and goes by the name in that."""
        done = self.python("""
            def vector(content, size): return len(content).to_bytes(size, 'big') + content
            def extension(kind, content): return kind.to_bytes(2, 'big') + vector(content, 2)
            def greeting(name, keys):
                extensions = (extension(0, vector(b'\\0' + vector(name, 2), 2)) + extension(10, b'\\0\\2\\0\\x17') +
                              extension(13, b'\\0\\2\\4\\3') + extension(43, b'\\2\\3\\4') + extension(51, vector(keys, 2)))
                body = b'\\3\\3' + bytes(32) + vector(bytes(32), 1) + b'\\0\\2\\x13\\1\\1\\0' + vector(extensions, 2)
                return b'\\x16\\3\\1' + vector(b'\\1' + vector(body, 3), 2)
            # The generator of P-256.
            key = bytes.fromhex('0017004104' '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296'
                                '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5')
            for name in [b'code.example.org', b'other.example.org']:
                with to('code.example.org') as s:
                    s.sendall(greeting(b'code.example.org', b''))
                    print(s.recv(1 << 16)[:1])
                    s.sendall(greeting(name, key))
                    try: print(s.recv(1 << 16)[:1])
                    except OSError as e: print(e)
            """)
        self.assertEqual(3, done.stdout.count("b'\\x16'"), done)
        self.assertIn("named another host: code.example.org:443 (other.example.org)", done.stderr)
        self.assertEqual(["code.example.org"] * 3, world.take()["greetings"])

    def test_requests(self):
        done, _ = self.quiet(f"""
            for name, pieces in {HTTP_ATTACKS}.items():
                try: print(name, send('code.example.org', [p.encode('latin-1') for p in pieces], 80))
                except OSError: pass
            """, told=": code.example.org:80 (")
        self.assertEqual("", done.stdout)
        for name, pieces in LATER_ATTACKS.items():
            with self.subTest(name):
                done = self.python(f"""
                    with to('code.example.org', 80) as s:
                        for piece in {[p.encode() for p in pieces]}:
                            s.sendall(piece)
                            try: print(s.recv(1 << 16))
                            except OSError as e: print(e)
                        try: print(s.recv(1 << 16))
                        except OSError as e: print(e)
                    """)
                requests = world.take()["requests"]
                self.assertEqual(["/good"] if len(pieces) > 1 else [], [path for _, path in requests], done)
                self.assertIn(": code.example.org:80 (", done.stderr)

    def test_a_request_in_a_body_that_is_not_read(self):
        self.python("""
            bad = b'GET /bad HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n'
            with to('code.example.org', 80) as s:
                s.sendall(b'GET / HTTP/1.1\\r\\nHost: code.example.org\\r\\nContent-Length: %d\\r\\n\\r\\n' % len(bad) + bad)
                s.shutdown(socket.SHUT_WR)
                try:
                    while s.recv(1 << 16): pass
                except ConnectionResetError: pass
            """)
        self.assertEqual([["code.example.org", "/"]], world.take()["requests"])

    def test_search_domains(self):
        """A listed name that does not exist is no other name that does."""
        _, arrived = self.quiet("send('lost.example.net', b'GET / HTTP/1.1\\r\\nHost: lost.example.net\\r\\n\\r\\n', 80)",
                                told="cannot resolve lost.example.net:80")
        self.assertEqual({"lost.example.net"}, set(arrived["names"]))

    def test_names_that_nobody_answers(self):
        """Their connections end, and with that other names are looked up."""
        done = self.python("""
            for i in range(400):
                with socket.socket() as s:
                    s.setblocking(False)
                    s.connect_ex((socket.gethostbyname(f'{i}.silent.example.net'), 9000))
            while True:
                try: print(send('code.example.org', b'x', 9000)); break
                except ConnectionError: pass
                except TimeoutError: pass
            """, allowed="*.example.net:9000,code.example.org:9000")
        self.assertEqual("b'x'\n", done.stdout, done.stderr)

    def test_names_that_nobody_answers_hold_up_no_others(self):
        done = self.python("""
            all = []
            for i in range(200):
                all.append(socket.socket())
                all[-1].setblocking(False)
                all[-1].connect_ex((socket.gethostbyname(f'{i}.silent.example.net'), 9000))
            print(send('code.example.org', b'x', 9000))
            """, allowed="*.example.net:9000,code.example.org:9000")
        self.assertEqual("b'x'\n", done.stdout, done.stderr)

    def test_a_name_is_looked_up_once(self):
        self.python("for i in range(20): send('code.example.org', b'x', 9000)")
        self.assertEqual(["code.example.org"] * 2, world.take()["names"])  # for both kinds of address

    def test_names_that_lead_within(self):
        listener = socket.create_server(("", 80))
        listener.settimeout(0.2)
        self.addCleanup(listener.close)
        for name in ["metadata", "inner", "loop", "mapped", "self", "second"]:
            with self.subTest(name):
                host = name + ".example.org"
                self.quiet(f"send('{host}', b'GET / HTTP/1.1\\r\\nHost: {host}\\r\\n\\r\\n', 80)", allowed=host,
                           told=f"{host}:80 ({network_world.HOSTS[host]})")
                with self.assertRaises(TimeoutError):
                    listener.accept()
        # The control: who names the address wants it.
        with subprocess.Popen([PADDOCK, "exec", "--network", "allow:self.example.org,11.0.1.1", "--", "curl", "-sS",
                               "http://self.example.org/"], cwd=self.workspace, env=environment):
            listener.settimeout(30)
            listener.accept()[0].close()

    def test_this_machine(self):
        """Its loopback is not reached but at the port that is named."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.2)
            port = listener.getsockname()[1]
            script = f"s = to('localhost', {port})"
            self.python(script)
            with self.assertRaises(TimeoutError):
                listener.accept()
            self.python(script, allowed=f"local:{port}")
            listener.accept()[0].close()

    def test_all_is_the_internet(self):
        """By name and by address, at every port, whatever is said there."""
        self.serve("page", "a page")
        done = self.python("""
            print(send('code.example.org', b'odd', 9000), send('11.0.0.10', b'raw', 9000))
            print(send('code.example.org', b'GET /page HTTP/1.1\\r\\nHost: other.example.org\\r\\n\\r\\n', 80)[:12])
            print(send('both.example.org', b'second', 9000))
            """, allowed="all")
        self.assertEqual(["b'odd' b'raw'", "b'HTTP/1.1 200'", "b'second'"], done.stdout.splitlines(), done)
        arrived = world.take()["connections"]
        self.assertTrue({"tcp 11.0.0.10:9000", "tcp 11.0.0.10:80"} <= set(arrived), arrived)

    def test_all_is_not_this_machine(self):
        """Nor a private network, metadata or a socket without a file."""
        name = "paddock-test-" + str(os.getpid())
        with socket.socket(socket.AF_UNIX) as abstract, socket.create_server(("", 8123)) as listener:
            abstract.bind("\0" + name)
            for each in (abstract, listener):
                each.listen()
                each.settimeout(0.2)
            addresses = ["127.0.0.1", "127.1.2.3", "localhost", network_world.MACHINE, network_world.MACHINES_SECOND, "0.0.0.0", "169.254.169.254", "10.0.0.5", "192.168.0.1",
                         "100.64.0.1", "198.18.0.200", "224.0.0.1", "255.255.255.255", "::1", "::ffff:127.0.0.1", "::ffff:169.254.169.254",
                         "::ffff:11.0.1.1", "::ffff:11.0.1.7", "64:ff9b::a9fe:a9fe", "fd00:ec2::254", "fe80::1", "2002:7f00:1::", "metadata.example.org",
                         "inner.example.org", "loop.example.org", "mapped.example.org", "self.example.org", "code.example.org:53"]
            done, _ = self.quiet(f"""
                for address in {addresses}:
                    for port in [8123, 80, 443, 22]:
                        for kind in [socket.SOCK_STREAM, socket.SOCK_DGRAM]:
                            for family in [socket.AF_INET, socket.AF_INET6]:
                                try:
                                    s = socket.socket(family, kind); s.settimeout(10); s.connect((address, port)); s.send(b'x')
                                    print(address, port, s.recv(9))
                                except OSError: pass
                s = socket.socket(socket.AF_UNIX)
                try: s.connect('\\0{name}'); print('abstract')
                except OSError: pass
                """, allowed="all", told="not public: 11.0.1.1:")
            self.assertEqual("", done.stdout)
            for each in (abstract, listener):
                with self.assertRaises(TimeoutError):
                    each.accept()
            # The control: the machine's own network.
            self.python(f"to('127.0.0.1', 8123)", allowed="host")
            listener.accept()[0].close()

    def test_servers_of_commands_beside_all(self):
        """Their own loopback is theirs at every port; one port of this machine can be listed, too."""
        with socket.create_server(("127.0.0.1", 0)) as machine:
            machine.settimeout(30)
            port = machine.getsockname()[1]
            done = self.python(f"""
                own = socket.create_server(('0.0.0.0', 8080))
                own.settimeout(10)
                s = to('localhost', 8080); s.sendall(b'own')
                print(own.accept()[0].recv(9))
                to('localhost', {port})
                """, allowed=f"all,local:{port}")
            self.assertEqual("b'own'\n", done.stdout, done.stderr)
            machine.accept()[0].close()

    def test_the_kernel_remembers_no_connection_within(self):
        """Its table has room for those that lead out, however much commands say to each other."""
        done = self.python("""
            own = socket.create_server(('127.0.0.1', 8080))
            for i in range(200):
                to('127.0.0.1', 8080).close(); own.accept()[0].close()
                socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9000 + i))
            print(send('code.example.org', b'x', 9000), int(open('/proc/sys/net/netfilter/nf_conntrack_count').read()) < 9)
            """, allowed="all")
        self.assertEqual("b'x' True\n", done.stdout, done.stderr)

    def test_all_but(self):
        self.quiet("send('a.example.net', b'x', 80)", allowed="all,-a.example.net")
        self.quiet("send('11.0.0.12', b'x', 80)", allowed="all,-11.0.0.12/30")
        self.quiet("send('code.example.org', b'x', 9000)", allowed="all,-all:9000", told="refused: code.example.org:9000;")

    def test_what_is_denied_stays_denied(self):
        self.quiet("send('a.example.net', b'GET / HTTP/1.1\\r\\nHost: a.example.net\\r\\n\\r\\n', 80)", allowed="*,*.example.net,-a.example.net")
        self.quiet("send('a.example.net', b'GET / HTTP/1.1\\r\\nHost: a.example.net\\r\\n\\r\\n', 80)", allowed="*,-11.0.0.12/30")

    def test_many_connections(self):
        done = self.python("""
            import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
            all = []
            for i in range(1000):
                s = to('code.example.org', 9000); s.sendall(b'%d' % i); all.append(s)
            print(sum(s.recv(9) == b'%d' % i for i, s in enumerate(all)))
            """)
        self.assertEqual("1000\n", done.stdout, done.stderr)
        done = self.python("""
            import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (4096, 4096))
            all = []
            try:
                for i in range(1100): all.append(to('code.example.org', 9000))
                all[-1].recv(1)
            except ConnectionResetError: pass
            """)
        self.assertIn("too many connections open: code.example.org:9000;", done.stderr)


class Relay(Network):
    """paddock-egress itself, while a command runs."""

    def running(self, script, allowed=ALLOWED):
        command = subprocess.Popen([PADDOCK, "exec", "--network", "allow:" + allowed, "--", "python3", "-c", GREETING + textwrap.dedent(script)],
                                   cwd=self.workspace, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        self.addCleanup(command.kill)
        self.assertEqual("ready\n", command.stdout.readline())
        children = [child for list in pathlib.Path("/proc", str(command.pid), "task").glob("*/children") for child in list.read_text().split()]
        relay, = [child for child in children if pathlib.Path("/proc", child, "comm").read_text() == "paddock-egress\n"]
        return command, int(relay)

    def test_it_has_no_rights(self):
        command, relay = self.running("print('ready', flush=True); input(); print(send('code.example.org', b'x', 9000))")
        status = dict(line.split(":", 1) for line in pathlib.Path("/proc", str(relay), "status").read_text().splitlines())
        self.assertEqual(0, int(status["CapPrm"], 16) | int(status["CapEff"], 16))
        self.assertEqual(("1", "2"), (status["NoNewPrivs"].strip(), status["Seccomp"].strip()))
        if os.environ["AS_ROOT"] == "1": self.assertEqual({"65534"}, set(status["Uid"].split()))
        self.assertEqual("b'x'\n", command.communicate("\n")[0])

    def test_its_end_is_reported(self):
        command, relay = self.running("print('ready', flush=True); input(); to('code.example.org', 9000)")
        os.kill(relay, 9)
        said = command.communicate("\n")[1]
        self.assertIn("network: no host can be reached any more, because paddock-egress has ended; run the command again", said)
        self.assertIn("b'x'", self.python("print(send('code.example.org', b'x', 9000))").stdout)

    def test_bytes_of_a_command_that_has_ended_arrive(self):
        done = self.python("""
            with to('code.example.org', 9001) as s: s.sendall(bytes(30_000_000))
            """, allowed="code.example.org:9001")
        self.assertEqual("", done.stderr)
        while not (swallowed := world.take()["swallowed"]):
            os.sched_yield()
        self.assertEqual([30_000_000], swallowed)

    def test_busy_connections_hide_no_refusal(self):
        command, _ = self.running("""
            import threading
            def fetch():
                with to('code.example.org', 80) as s:
                    s.sendall(b'GET /bytes/100000000000 HTTP/1.1\\r\\nHost: code.example.org\\r\\n\\r\\n')
                    while s.recv(1 << 20): pass
            for _ in range(8): threading.Thread(target=fetch, daemon=True).start()
            print('ready', flush=True)
            input()
            try: to('nobody.example.com')
            except OSError: pass
            import os; os._exit(0)
            """)
        self.assertIn("network: refused: nobody.example.com;", command.communicate("\n")[1])


class Reports(Network):
    def test_the_list_that_was_needed(self):
        done = run(PADDOCK, "exec", "--learn-network", "--", "curl", "-sS", "http://code.example.org/", "https://elsewhere.example.org/", "-k",
                   cwd=self.workspace, env=environment)
        self.assertIn("needed --network allow:code.example.org:80,elsewhere.example.org:443\n", done.stderr)

    def test_json(self):
        done = self.inside("curl", "-sS", "http://code.example.org/bytes/1000000", "-o", "x", options=["--json"])
        event, = json.loads(done.stdout)["network"]
        self.assertEqual(("code.example.org", 80, "ended"), (event["host"], event["port"], event["outcome"]))
        self.assertGreater(event["received"], 1000000)

    def test_names_that_are_no_text(self):
        done = self.python("""
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for name in [b'\\4code\\7example\\5org\\0x', b'\\7a\\x1b[2J\\n\\xff\\3org', b'\\x10b; reached c,all\\3org']:
                s.sendto(b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + name + b'\\0\\0\\1\\0\\1', ('127.0.0.1', 53))
                s.recv(512)
            """)
        self.assertIn("network: refused: code.example.org?x, a??2J??.org, b??reached?c?all.org;", done.stderr)
        done = self.python("send('code.example.org', b'GET / HTTP/1.1\\r\\nHost: d), e (f\\r\\n\\r\\n', 80)")
        self.assertIn("named another host: code.example.org:80 (d???e??f)\n", done.stderr)

    def test_many_refusals_hide_none(self):
        done = self.inside("python3", "-c", """
            import socket
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            for name in [*(b'\\x06%06d' % i for i in range(1500)), b'\\x06secret']:
                s.sendto(b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + name + b'\\0\\0\\1\\0\\1', ('127.0.0.1', 53))
                s.recv(512)
            """.replace("\n            ", "\n"), options=["--json"])
        self.assertEqual(1501, len({event["host"] for event in json.loads(done.stdout)["network"]}))

    def test_no_event_is_lost(self):
        """However many there are while nobody reads them."""
        for name in ("begin", "end"):
            os.mkfifo(f"{self.workspace}/{name}")
        script = """
open('begin').read()
for i in range(900): socket.socket().connect_ex((f'11.1.{i >> 8}.{i & 255}', 443))
try: to('other.example.org')
except OSError: pass
open('end', 'w').close()
"""
        with subprocess.Popen([PADDOCK, "exec", "--network", "allow:code.example.org", "--json", "--", "python3", "-c", GREETING + script],
                              cwd=self.workspace, env=environment, stdout=subprocess.PIPE) as running:
            with open(self.workspace + "/begin", "w"):
                running.send_signal(signal.SIGSTOP)
            open(self.workspace + "/end").close()
            running.send_signal(signal.SIGCONT)
            events = json.loads(running.stdout.read())["network"]
        self.assertEqual(900, len({event["host"] for event in events if event["outcome"] == "addressRefused"}))
        self.assertIn("other.example.org", {event["host"] for event in events})

    def test_a_server(self):
        """It tells its model what may be reached, and the operator what was."""
        audit = folder + "/audit"
        requests = [{"method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {},
                                                        "clientInfo": {"name": "test", "version": "1"}}},
                    {"method": "tools/list"},
                    {"method": "tools/call", "params": {"name": "exec", "arguments": {
                        "script": "curl -sS http://code.example.org/bytes/10 http://other.example.org/"}}}]
        with subprocess.Popen([os.environ["PADDOCK_MCP"], "--workspace", self.workspace, "--tools", "coding", "--audit", audit,
                               "--network", "allow:code.example.org"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as server:
            answers = []
            for number, request in enumerate(requests):
                server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, **request}) + "\n")
                server.stdin.flush()
                answers.append(json.loads(server.stdout.readline())["result"])
            server.stdin.close()
        tool = next(tool for tool in answers[1]["tools"] if tool["name"] == "exec")
        self.assertIn("of the network, code.example.org;", tool["description"])
        self.assertIn("network: refused: other.example.org;", answers[2]["content"][0]["text"])
        lines = [json.loads(line) for line in pathlib.Path(audit).read_text().splitlines()]
        events = [(line["network"]["host"], line["network"]["outcome"]) for line in lines if "network" in line]
        self.assertEqual([("code.example.org", "connected"), ("code.example.org", "ended"), ("other.example.org", "nameRefused")], sorted(events))

    def test_a_persons_list(self):
        """It has what commands and processes reached, and what they were refused."""
        if os.environ["AS_ROOT"] != "1":
            self.skipTest("in a user namespace / belongs to nobody, and a history needs one above it who may be trusted")
        store, fetch = folder + "/history", "curl -sS http://code.example.org/bytes/10 http://other.example.org/"
        with Server(self.workspace, "--network", "allow:code.example.org", "--history", store, environment=environment) as server:
            server.call("exec", script=fetch)
            server.call("startProcess", script=fetch, waitMs=60000)
            server.call("listChanges")
        page = Page(self.workspace, store)
        self.addCleanup(page.close)
        events = json.loads(page.ask("GET", "api/events"))["events"]
        self.assertEqual([f"reached code.example.org:80; refused other.example.org ({fetch})"] * 2,
                         [event["command"] for event in events if event.get("tool") == "network"])

    def test_a_connection_is_of_the_command_that_began_it(self):
        """Though its end comes while the next one runs."""
        server = Server(self.workspace, "--network", "allow:*.silent.example.net:9000", environment=environment)
        connect = "python3 -c 'import socket; s = socket.socket(); s.{}connect_ex((socket.gethostbyname(\"{}.silent.example.net\"), 9000)); {}'"
        with server:
            server.call("exec", script=connect.format("setblocking(False); s.", "one", ""))
            told = json.dumps(server.call("exec", script=connect.format("", "other", "s.recv(1)")))
        self.assertIn("cannot resolve other.silent.example.net:9000", told)
        self.assertNotIn("one.silent.example.net", told)

    def test_where_there_is_no_namespace(self):
        if os.geteuid() != 0 or run("setpriv", "--version").returncode != 0:
            self.skipTest("root and setpriv are needed to take the right to make namespaces")
        for reach, said in {"allow:code.example.org": ["hosts cannot be reached by name: Operation not permitted"],
                            "all": ["the Internet cannot be reached without the services of this machine: Operation not permitted",
                                    "or let commands reach this machine, too (--network host)"]}.items():
            done = run("setpriv", "--bounding-set", "-sys_admin,-setfcap", "--inh-caps", "-sys_admin,-setfcap", PADDOCK, "exec", "--network",
                       reach, "--", "true", cwd=self.workspace, env=environment)
            self.assertEqual(125, done.returncode, done.stderr)
            for words in [*said, "run it as an ordinary user"]:
                self.assertIn(words, done.stderr)

    def test_where_there_may_be_no_namespace(self):
        if os.geteuid() != 0 or run("setpriv", "--version").returncode != 0:
            self.skipTest("root and setpriv are needed to take the right to make namespaces")
        done = run("setpriv", "--bounding-set", "-sys_admin,-setfcap", "--inh-caps", "-sys_admin,-setfcap", PADDOCK, "exec", "--best-effort",
                   "--network", "all", "--", "curl", "-sS", "http://code.example.org/", cwd=self.workspace, env=environment)
        self.assertNotEqual(0, done.returncode)
        self.assertIn("run it with --network host", done.stderr)
        self.assertEqual([], world.take()["packets"])

    def test_unusable_lists(self):
        for allowed, said in {"": "is no host", "https://code.example.org": "is no host", "code.example.org:99999": "has no port",
                              "bücher.example": "is no host", "@nobody": "there is no set @nobody", "10.0.0.0/33": "is no host",
                              "127.1": "local:PORT", "a.example.org:53": "port 53", "local": "local:PORT", "a b": "is no host"}.items():
            with self.subTest(allowed):
                done = self.inside("true", allowed=allowed)
                self.assertEqual(2, done.returncode, done.stderr)
                self.assertIn(said, done.stderr)

    def test_a_proxy(self):
        asked = []
        proxy = socket.create_server(("127.0.0.1", 0))
        proxy.settimeout(30)
        self.addCleanup(proxy.close)
        with subprocess.Popen([PADDOCK, "exec", "--network", "allow:code.example.org", "--egress-proxy",
                               f"localhost:{proxy.getsockname()[1]}", "--", "curl", "-sS", "http://code.example.org/x"],
                              cwd=self.workspace, env=environment, stdout=subprocess.PIPE) as running:
            client = proxy.accept()[0]
            asked.append(client.recv(4096))
            client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            asked.append(client.recv(4096))
            client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi")
            self.assertEqual(b"hi", running.communicate()[0])
            client.close()
        self.assertTrue(asked[0].startswith(b"CONNECT code.example.org:80 HTTP/1.1\r\n"))
        self.assertTrue(asked[1].startswith(b"GET /x HTTP/1.1\r\n"))
        self.assertEqual([], world.take()["packets"])
        self.python("to('10.0.0.5', 80)", allowed="all", options=["--egress-proxy", f"localhost:{proxy.getsockname()[1]}"])
        proxy.settimeout(0.2)
        with self.assertRaises(TimeoutError):
            proxy.accept()


if __name__ == "__main__":
    if "IN_NETWORK_WORLD" not in os.environ:
        enter_machine()
    unittest.main(verbosity=2)
