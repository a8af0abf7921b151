"""The command line, run in this process."""

import io
import sys
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from dragoman.cli import main


@dataclass
class Ran:
    status: int
    out: str
    err: str


@pytest.fixture
def cli(capsys, monkeypatch):
    """`cli("decode", "-", stdin=b"...")` runs it."""

    def run(*words, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main([str(word) for word in words])
        out, err = capsys.readouterr()
        return Ran(status, out, err)

    return run


@pytest.fixture
def answering():
    """`answering(b"...")` is the URL of a server that answers everything with that."""
    with ExitStack() as stack:
        yield lambda body: stack.enter_context(_answering(body))


@contextmanager
def _answering(body):
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.rfile.read(int(self.headers.get("content-length") or 0))
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815 (as http.server calls it)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
