"""The documentation is true: its examples run, its generated parts are fresh, its links lead somewhere.

A `python` block runs (a page's blocks in order, in one namespace); a `text` block right behind it is what it prints.
A `console` block runs in a shell: `$ command`, then what it prints.  `<!-- file: NAME -->` makes the next block a file.
"""

import ast
import io
import os
import re
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

import pytest

import dragoman
from dragoman.notices import NOTICES

ROOT = Path(__file__).parent.parent
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:<!-- (?P<mark>[^>]+) -->\n)?```(?P<kind>\w*)\n(?P<text>.*?)```\n", re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#]*)(?:#([^)]+))?\)")
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]


def blocks(page):
    """Kind, mark, text, and whether nothing but white space stands between a block and the one before it."""
    text, end = page.read_text("utf-8"), -1
    for block in BLOCK.finditer(text):
        follows = end >= 0 and not text[end : block.start()].strip()
        end = block.end()
        yield block["kind"], block["mark"] or "", block["text"], follows


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace, printed = {"__name__": "example"}, None
    for kind, mark, text, follows in blocks(page):
        if mark == "needs: server":
            continue  # see test_examples_for_a_server_run
        if mark.startswith("file: "):
            Path(mark.removeprefix("file: ")).write_text(text.removesuffix("\n"), "utf-8")
        if kind == "text" and follows and printed is not None:
            assert printed == text
        printed = None
        if kind == "python":
            printed = run_python(text, namespace, page)
        elif kind == "console":
            run_console(text)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """The address of a server that plays the script of the first page."""
    script = tmp_path_factory.mktemp("script") / "demo.toml"
    (text,) = (text for _, mark, text, _ in blocks(ROOT / "docs/getting-started.md") if mark == "file: demo.toml")
    script.write_text(text, "utf-8")
    command = [sys.executable, "-m", "dragoman", "serve", "--engine", "script", "--script", script, "--port", "0"]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as process:
        url = next((found[1] for line in process.stdout if (found := re.search(r"at (http://\S+)/v1", line))), None)
        yield url
        process.terminate()


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_examples_for_a_server_run(page, request):
    examples = [text for kind, mark, text, _ in blocks(page) if mark == "needs: server" and kind == "python"]
    url = request.getfixturevalue("server") if examples else ""
    for text in examples:
        assert run_python(text.replace("http://127.0.0.1:8000", url), {"__name__": "example"}, page).strip()


def run_python(text, namespace, page):
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(text, str(page), "exec"), namespace)
    return out.getvalue()


def run_console(text):
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for step in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, printed = re.match(r"((?:[^\n]*\\\n)*[^\n]*\n)(.*)", step, re.DOTALL).groups()
        done = subprocess.run(
            ["bash", "-c", command], check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={**os.environ, "PATH": path, "NO_COLOR": "1"},
        )  # fmt: skip
        assert done.stdout == printed, command


def test_a_console_block_is_compared():
    run_console("$ echo one \\\n  two\none two\n$ true\n$ echo three\nthree\n")
    with pytest.raises(AssertionError, match="echo one"):
        run_console("$ echo one\ntwo\n")


def test_generated_parts_are_fresh():
    done = subprocess.run(
        [sys.executable, ROOT / "docs/generate.py", "--check"], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_lead_somewhere(page):
    for path, anchor in LINK.findall(page.read_text("utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            assert anchor in anchors(target), f"{path}#{anchor}"


def anchors(page):
    titles = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_one_sentence_a_line(page):
    prose = re.sub("<!-- generated: .*?<!-- end -->", "", page.read_text("utf-8"), flags=re.DOTALL)
    prose = BLOCK.sub("", prose)
    two = [line for line in prose.splitlines() if re.search(r"[a-z)`]\. [A-Z]", line) and not line.startswith("|")]
    assert not two


def codes_in_source():
    """All codes of notices that the source can make: what is given to a `notice`, or kept for one."""
    found = set()
    for file in (ROOT / "src/dragoman").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            match node:
                case ast.Call(ast.Name("Notice") | ast.Attribute(_, "notice"), [code, *_]):
                    found |= texts(code)
                case ast.Assign([target, *_], value) if name(target) in KEPT and "syntax" in file.parts:
                    found |= texts(value)
                case ast.FunctionDef() if node.name in KEPT:
                    found |= {
                        code for part in ast.walk(node) if isinstance(part, ast.Return) for code in texts(part.value)
                    }
    return found - {""}


KEPT = {"noted", "flawed", "code", "lenience"}


def name(node):
    return getattr(node, "attr", "") or getattr(node, "id", "")


def texts(node):
    found = (part.value for part in ast.walk(node) if isinstance(part, ast.Constant))
    return {value for value in found if isinstance(value, str)}


def test_every_notice_is_explained():
    assert set(NOTICES) == codes_in_source()


def test_names_of_other_servers_are_accepted():
    page = (ROOT / "docs/dialects.md").read_text("utf-8")
    section = next(part for part in page.split("\n## ") if "| `json_tools` |" in part)
    table = re.findall(r"^\| `([\w-]+)` \| [^`|]+ \| `([\w-]+)` \|$", section, re.MULTILINE)
    assert len(table) > 10
    assert {name: dragoman.get(name).name for name, _ in table} == dict(table)
