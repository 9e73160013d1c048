"""An S3 store without AWS: moto's server on loopback, and a proxy before it that does what networks and busy stores do."""

import collections
import http.client
import http.server
import logging
import os
import re
import socket
import struct
import threading
import time
import urllib.parse

ENVIRONMENT = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "hidden-in-tests", "AWS_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true"}


class Store:
    """moto, with one bucket."""

    bucket = "bucket"

    def __init__(self):
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.ERROR)
        self._server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        self.host, self.port = self._server.get_host_and_port()
        self.environment = {**ENVIRONMENT, "AWS_ENDPOINT_URL": f"http://{self.host}:{self.port}"}
        self._ask("POST", "/moto-api/reset")
        self._ask("PUT", f"/{self.bucket}")

    def _ask(self, method, path, body=b""):
        connection = http.client.HTTPConnection(self.host, self.port, timeout=30)
        connection.request(method, path, body, {"Authorization": "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request"})
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        assert answer.status < 300, (method, path, answer.status, data[:300])
        return data

    def put(self, key, data):
        self._ask("PUT", f"/{self.bucket}/{urllib.parse.quote(key)}", data)

    def get(self, key):
        return self._ask("GET", f"/{self.bucket}/{urllib.parse.quote(key)}")

    def keys(self, prefix=""):
        listed = self._ask("GET", f"/{self.bucket}?list-type=2&prefix={urllib.parse.quote(prefix)}").decode()
        return re.findall(r"<Key>(.*?)</Key>", listed)

    def saved(self, folder):
        """{file: bytes} of what a manifest names."""
        lines = self.get(f"{folder}/__manifest__").decode().splitlines()
        files = [line.split() for line in lines if line.startswith("file ")]
        return {urllib.parse.unquote(name): self.get(f"{folder}/{urllib.parse.unquote(place)}") for _, name, _, _, place in files}

    def close(self):
        self._server.stop()


class Proxy:
    """Passes requests on to a store, but where fault(method, path, number) says what goes wrong with them: an HTTP status, "reset", "truncate"
    (half of an answer's body, then a reset), "stall" (no answer until let_go())."""

    def __init__(self, store, fault=lambda method, path, number: None):
        self.fault, self.asked, self._go = fault, collections.Counter(), threading.Event()
        self.faults, self._lock, self._number = 0, threading.Lock(), 0
        proxy = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def answer(self):
                proxy._answer(self, store)

            do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, name="s3-proxy", daemon=True).start()
        self.environment = {**store.environment, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{self._server.server_address[1]}"}

    def _answer(self, request, store):
        body = _body_of(request)
        with self._lock:
            self._number += 1
            self.asked[request.command] += 1
            fault = self.fault(request.command, request.path, self._number)
            self.faults += fault is not None
        if fault == "stall":
            self._go.wait(60)
        if fault in ("stall", "reset"):
            return _reset(request)
        if isinstance(fault, int):
            text = b"" if request.command == "HEAD" else b"<Error><Code>%s</Code><Message>as the test says</Message></Error>" % _CODES.get(fault, b"Other")
            return _send(request, fault, [("Content-Type", "application/xml")], text)
        connection = http.client.HTTPConnection(store.host, store.port, timeout=60)
        headers = {name: value for name, value in request.headers.items() if name.lower() not in ("expect", "transfer-encoding", "connection")}
        connection.request(request.command, request.path, body, {**headers, "Content-Length": str(len(body))} if body else headers)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if fault == "truncate" and data:
            _send(request, answer.status, answer.getheaders(), data, sent=len(data) // 2)
            return _reset(request)
        _send(request, answer.status, answer.getheaders(), data)

    def let_go(self):
        self._go.set()

    def close(self):
        self.let_go()
        self._server.shutdown()
        self._server.server_close()


_CODES = {403: b"AccessDenied", 503: b"SlowDown", 500: b"InternalError"}


def _body_of(request):
    if request.headers.get("Transfer-Encoding", "").lower() == "chunked":
        body = b""
        while size := int(request.rfile.readline().split(b";")[0], 16):
            body += request.rfile.read(size)
            request.rfile.readline()
        while request.rfile.readline().strip():
            pass
        return body
    return request.rfile.read(int(request.headers.get("Content-Length") or 0))


def _send(request, status, headers, data, sent=None):
    request.send_response_only(status)
    for name, value in headers:
        if name.lower() not in ("transfer-encoding", "connection", "content-length"):
            request.send_header(name, value)
    length = dict((name.lower(), value) for name, value in headers).get("content-length") if request.command == "HEAD" else None
    request.send_header("Content-Length", length or str(len(data)))
    request.end_headers()
    request.wfile.write(data[:sent])
    request.wfile.flush()


def _reset(request):
    """Ends the connection without a word."""
    request.close_connection = True
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()


def every(count, *faults):
    """A fault at every count-th request, one kind after the other."""

    def fault(_method, _path, number):
        return faults[number // count % len(faults)] if number % count == 0 else None

    return fault


if __name__ == "__main__":  # for documents: a store that lives until its input ends; prints what a shell sets
    made = Store()
    print("\n".join(f"export {name}={value}" for name, value in made.environment.items()), flush=True)
    while os.read(0, 100):
        time.sleep(0.01)
    made.close()
