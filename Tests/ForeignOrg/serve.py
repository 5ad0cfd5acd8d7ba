#!/usr/bin/env python3
"""An independent org for tests: `serve.py DATA.json [--seed N]`.

It shares no code with the local org and needs only Python's standard library. It reads its objects, users and
records from a file, varies its responses as orgs may (`habits.py`) and fails as orgs do (`mishaps.py`), by a seed.
The first line of its standard output has its addresses: that of the logins, and those of the data. `/foreign/…` is
for the test only: `dump`, `records`, `log`, `differences`, `change`, `mishaps`.
"""

import argparse
import gzip
import http.server
import json
import os
import socket
import sys
import threading
import time
import zlib

import bulk
import judge
import soap
from mishaps import PAGE, Cut, Page
from org import LONGEST_ADDRESS, Org, Request
from refusal import Refusal


class Server(http.server.ThreadingHTTPServer):
    """A port of the org."""

    daemon_threads = True
    request_queue_size = 64
    org = None

    def handle_error(self, request, address):
        """Ignores clients that disconnect; reports everything else."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, Cut)):
            super().handle_error(request, address)


class Handler(http.server.BaseHTTPRequestHandler):
    """Reads requests and writes responses."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """The org has its own log."""

    def handle_one(self):
        body = self.body()
        org = self.server.org
        if self.path.startswith("/foreign/"):
            return self.send(200, json.dumps(self.foreign(org, body)).encode(), {"Content-Type": "application/json"})
        with org.lock:
            entry = {"method": self.command, "path": self.path, "status": 0, "did": 0, "port": self.server.server_port}
            org.log.append(entry)
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.command, self.path, headers, body, entry)
            status, content, extra = self.answered(org, request)
            entry["status"] = status
            chance = request.chance
            above = org.headers() | extra
        if len(self.path) > LONGEST_ADDRESS:
            status, content = 414, PAGE.encode()
        self.send(status, content, above, chance)
        return None

    def answered(self, org, request):
        """The status, body and header fields of a response."""
        kind = {"Content-Type": "application/json;charset=UTF-8"}
        try:
            status, value = org.answer(request)
        except Page as page:
            return page.status, PAGE.encode(), {"Content-Type": "text/html; charset=UTF-8"} | page.headers
        except Refusal as refusal:
            status, value = refusal.status, refusal.of_resource()
            if request.is_soap:
                return 500, soap.fault(refusal, request.chance).encode(), {"Content-Type": "text/xml;charset=UTF-8"}
            if request.path.endswith("/oauth2/token"):
                value = {"error": refusal.code, "error_description": refusal.message}
            if refusal.code == "Bad_OAuth_Token":
                return 403, b"Bad_OAuth_Token", {"Content-Type": "text/html; charset=UTF-8"}
            if status == 429:
                kind["Retry-After"] = "1"
        if isinstance(value, bulk.Table):
            return status, value.content, value.headers
        if isinstance(value, soap.Envelope):
            return status, value.encode(), {"Content-Type": "text/xml;charset=UTF-8"}
        return status, (b"" if value is None else org.habits.write(value, request.chance)), kind

    def foreign(self, org, body):
        """Requests by the test only."""
        with org.lock:
            if self.path == "/foreign/dump":
                return org.dump()
            if self.path == "/foreign/records":
                # As read by clients that do not accept unpaired surrogates.
                text = json.dumps(org.shown(json.loads(body)), ensure_ascii=False)
                return json.loads(text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))
            if self.path == "/foreign/log":
                return org.log
            if self.path == "/foreign/differences":
                return judge.differences(org, json.loads(body))
            if self.path == "/foreign/change":
                return org.change(json.loads(body))
            if self.path == "/foreign/mishaps":
                org.mishaps.orders = []
                for order in json.loads(body):
                    org.mishaps.order(order)
        return {}

    def body(self):
        """The body of a request, which may be chunked or compressed."""
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline().split(b";")[0], 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            content = b"".join(pieces)
        else:
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        return gzip.decompress(content) if self.headers.get("Content-Encoding") == "gzip" else content

    def send(self, status, content, headers, chance=None):
        """Writes a response, which may be compressed or chunked."""
        packs = chance is not None and "gzip" in self.headers.get("Accept-Encoding", "") and chance.random() < 0.5
        if packs and content:
            packer = zlib.compressobj(6, zlib.DEFLATED, 31)
            content = packer.compress(content) + packer.flush()
            headers = headers | {"Content-Encoding": "gzip"}
        # The date is that of the org, not of this machine.
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status in (204, 304):
            self.end_headers()
        elif chance is not None and chance.random() < 0.5:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.chunks(content, chance)
        else:
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        self.wfile.flush()

    def chunks(self, content, chance):
        at = 0
        while at < len(content):
            size = 1 + chance.randrange(1 << chance.randrange(4, 15))
            piece = content[at : at + size]
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            at += size
        self.wfile.write(b"0\r\n\r\n")

    def guarded(self):
        """Handles a request; the connection may break on the org's order."""
        try:
            self.handle_one()
        except Cut:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = do_HEAD = guarded


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("data")
    parser.add_argument("--seed", default="1")
    arguments = parser.parse_args()
    with open(arguments.data, encoding="utf-8") as file:
        data = json.load(file)
    # Logins use one port; the data is on others, under another name of this machine.
    servers = [Server(("127.0.0.1", 0), Handler) for _ in range(3)]
    ports = [server.server_port for server in servers]
    instances = [f"http://localhost:{port}" for port in ports[1:]]
    Server.org = Org(data, arguments.seed, instances)
    for server in servers:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    print(json.dumps({"login": f"http://127.0.0.1:{ports[0]}", "instances": instances}), flush=True)
    # The process ends with its parent.
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(0.5)


if __name__ == "__main__":
    main()
