"""Write the generated parts of the pages anew, or with `--check` say which of them are out of date.

A page has its generated parts between `<!-- generated: NAME -->` and `<!-- end -->`; NAME is a function here.
"""

from __future__ import annotations

import dataclasses
import difflib
import inspect
import io
import re
import runpy
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

import dragoman
from dragoman import api, errors, events, messages
from dragoman.checks import CURES, RULES
from dragoman.cli.app import COMMANDS, run
from dragoman.cli.dialects import directions, facts
from dragoman.doctor import SCENARIOS
from dragoman.notices import NOTICES
from dragoman.protocols.tables import VOCABULARY
from dragoman.server.config import Config, environment_name
from dragoman.server.configfile import HELP, Upstream

ROOT = Path(__file__).parent.parent
PART = re.compile(r"(<!-- generated: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def main() -> int:
    """Write or check all pages."""
    check = "--check" in sys.argv[1:]
    stale = [page for page in pages() if refresh(page, write=not check)]
    for page in stale:
        print(f"{page.relative_to(ROOT)}: {'out of date, run `make docs`' if check else 'written'}")
    return int(check and bool(stale))


def pages() -> list[Path]:
    """All pages, the front ones first."""
    return [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def refresh(page: Path, *, write: bool) -> bool:
    """Whether a page's generated parts differ from what they should be; writes them if asked to."""
    old = page.read_text("utf-8")
    new = PART.sub(lambda part: f"{part[1]}\n{PARTS[part[2]]()}\n{part[3]}", old)
    if write and new != old:
        page.write_text(new, "utf-8")
    elif new != old:
        sys.stdout.writelines(difflib.unified_diff(old.splitlines(keepends=True), new.splitlines(keepends=True), n=1))
    return new != old


def commands() -> str:
    """The help page of every command."""
    return "".join(f"## dragoman {name}\n\n```text\n{_help([name])}\n```\n\n" for name in COMMANDS)


def _help(words: list[str]) -> str:
    with redirect_stdout(io.StringIO()) as out:
        run([*words, "--help"])
    return re.sub(r" +$", "", out.getvalue().strip(), flags=re.MULTILINE)


def event_table() -> str:
    """The events, their fields and their meaning."""
    return "\n".join(_record(getattr(events, name)) for name in _classes(events))


def message_table() -> str:
    """The values of requests and turns."""
    return "\n".join(_record(getattr(messages, name)) for name in _classes(messages))


def _classes(module: ModuleType) -> list[str]:
    return [name for name, value in vars(module).items() if inspect.isclass(value) and name in module.__all__]


def _record(kind: type) -> str:
    fields = ", ".join(_field(field) for field in dataclasses.fields(kind))
    return f"### {kind.__name__}\n\n`{kind.__name__}({fields})`\n\n{prose(kind)}\n"


def _field(field: dataclasses.Field[object]) -> str:
    if field.default is not dataclasses.MISSING:
        return f"{field.name}: {field.type} = {field.default!r}"
    if field.default_factory is not dataclasses.MISSING:
        return f"{field.name}: {field.type} = {field.default_factory()!r}"
    return f"{field.name}: {field.type}"


def error_tree() -> str:
    """The error classes as an indented list, with status and meaning."""
    return "\n".join(_branch(errors.DragomanError, 0))


def _branch(kind: type[Exception], depth: int) -> Iterator[str]:
    status = getattr(kind, "status", None)
    note = f" (status {status})" if isinstance(status, int) else ""
    yield f"{'  ' * depth}- `{kind.__name__}`: {prose(kind)}{note}"
    for child in kind.__subclasses__():
        if child.__name__ in errors.__all__:
            yield from _branch(child, depth + 1)


def public() -> str:
    """The public names, with signature and description."""
    return "\n".join(_entry(name) for name in dragoman.__all__)


def _entry(name: str) -> str:
    value = getattr(dragoman, name)
    if isinstance(value, str):
        return f"### {name}\n\nThe version, as text.\n"
    text = [f"### {name}", _signature(name, value), prose(value)]
    if inspect.isclass(value):
        text += [_member(key, item) for key, item in vars(value).items() if not key.startswith("_") and item.__doc__]
    return "\n\n".join(part for part in text if part) + "\n"


def _member(name: str, item: object) -> str:
    if inspect.isfunction(item):
        return f"{_signature(f'.{name}', item)}\n\n{prose(item)}"
    return f"`.{name}`: {prose(item)}" if isinstance(item, property) else ""


def _signature(name: str, value: Callable[..., object]) -> str:
    if inspect.isclass(value) and issubclass(value, Exception) and "__init__" not in vars(value):
        return ""  # it takes what every exception takes
    parameters = [part for part in inspect.signature(value).parameters.values() if part.name != "self"]
    words = [_parameter(part) for part in parameters]
    stars = [at for at, part in enumerate(parameters) if part.kind is part.KEYWORD_ONLY]
    if stars:
        words.insert(stars[0], "*")
    line = f"{name}({', '.join(words)}){_returned(value)}"
    if len(line) > 100:
        line = f"{name}(\n{''.join(f'    {word},{chr(10)}' for word in words)}){_returned(value)}"
    return f"```text\n{line}\n```"


def _parameter(part: inspect.Parameter) -> str:
    default = "" if part.default is part.empty else f" = {part.default!r}"
    return f"{part.name}: {part.annotation}{default}"


def _returned(value: Callable[..., object]) -> str:
    return "" if inspect.isclass(value) else f" -> {inspect.signature(value).return_annotation}"


def prose(value: object) -> str:
    """A docstring as Markdown: what it lists by name becomes a list."""
    doc = re.sub(r"\n {8}", " ", inspect.getdoc(value) or "")  # continued items
    doc = re.sub(r"^ {4}(\w+): ", r"- `\1`: ", doc, flags=re.MULTILINE)
    doc = re.sub(r"^(`\w+`(?:, `\w+`| and `\w+`|/`\w+`)*:)", r"- \1", doc, flags=re.MULTILINE)
    return re.sub(r"^(Args|Raises):\n", r"\1:\n\n", doc, flags=re.MULTILINE)


def dialects() -> str:
    """A table of the dialects."""
    rows = ["| dialect | models | also known as |", "|---|---|---|"]
    for name in api.names():
        fact = facts(api.get(name))
        also = ", ".join(f"`{alias}`" for alias in fact["aliases"])
        rows.append(f"| `{name}` | {fact['models']} | {also} |")
    return "\n".join(rows)


def notices() -> str:
    """A table of the notices."""
    rows = ["| code | what happened | what became of it |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{code}` | {' | '.join(facts)} |" for code, facts in sorted(NOTICES.items()))])


def settings() -> str:
    """A table of the server's settings."""
    rows = ["| option | variable | default | meaning |", "|---|---|---|---|"]
    for field in dataclasses.fields(Config):
        fact = field.metadata
        option = f"--{field.name.replace('_', '-')}"
        rows.append(f"| `{option}` | `{environment_name(field.name)}` | {_preset(fact['preset'])} | {fact['help']} |")
    return "\n".join(rows)


def upstream_settings() -> str:
    """A table of what the configuration file may say of an upstream."""
    rows = ["| name | default | meaning |", "|---|---|---|"]
    for field in msgspec.structs.fields(Upstream):
        preset = "" if field.default in (msgspec.NODEFAULT, "") else f"`{field.default}`"
        rows.append(f"| `{field.name}` | {preset} | {HELP[field.name]} |")
    return "\n".join(rows)


def _preset(value: object) -> str:
    if value is False:
        return "off"
    return "" if value == "" else f"`{value:g}`" if isinstance(value, float) else f"`{value}`"


def examples() -> str:
    """What each dialect writes for one and the same turn."""
    return "\n".join(f"### {name}\n\n```text\n{facts(api.get(name))['example']}\n```\n" for name in api.names())


def scenarios() -> str:
    """What the doctor plays."""
    rows = ["| scenario | what is done | only in |", "|---|---|---|"]
    return "\n".join([*rows, *(f"| `{one.name}` | {one.title} | {', '.join(one.only)} |" for one in SCENARIOS)])


def rules() -> str:
    """The rulebook."""
    rows = ["| rule | what must hold | who breaks without it | cure |", "|---|---|---|---|"]
    for rule in RULES.values():
        name = f"*{rule.id}*" if rule.light else rule.id
        rows.append(f"| {name} | {rule.text} | {', '.join(rule.breaks)} | {CURES[rule.id]} |")
    return "\n".join(rows)


def fields() -> str:
    """What becomes of every field of every protocol."""
    lines = []
    for title, table in VOCABULARY.items():
        lines += [f"\n## {title}\n", "| field | type | what becomes of it | what it means |", "|---|---|---|---|"]
        for field in table:
            kinds = field.type.replace("|", " or ")
            lines.append(f"| `{field.name}` | {kinds} | {field.fate} | {field.meaning} |")
    return "\n".join(lines)


def musts() -> str:
    """Every numbered MUST, and the files of its tests."""
    found = runpy.run_path(str(ROOT / "tests/musts.py"))
    held: dict[str, set[str]] = found["held"]()
    lines = []
    for letter, family in found["families"]().items():
        lines += [f"\n## {family['title']}\n", "| number | what must be | tests |", "|---|---|---|"]
        for key, text in family.items():
            files = sorted({test.partition("::")[0] for test in held.get(f"{letter}{key}", ())})
            links = ", ".join(f"[{Path(file).stem}](../{file})" for file in files)
            lines += [f"| {letter}{key} | {text} | {links} |"] if key != "title" else []
    return "\n".join(lines)


def matrix() -> str:
    """Each dialect in every direction, and the real chat templates that speak it."""
    real = _templates()
    rows = [_directions(name, real.get(name, [])) for name in api.names()]
    head = "| dialect | decode | encode | constrain | real templates | read in full | written alike | learnt as well |"
    return "\n".join([head, "|---|---|---|---|---|---|---|---|", *rows])


def peers() -> str:
    """How many answers of each of the other engines' parsers are right."""
    found = runpy.run_path(str(ROOT / "tests/peers/expected.py"))
    head = "| dialect | their parsers | answers | right | wrong | raises | kinds of difference |"
    rows = map(_peer, found["load"](found["FILE"].read_text("utf-8")))
    return "\n".join([head, "|---|---|---|---|---|---|---|", *rows])


def _peer(pair: Any) -> str:
    kinds = ", ".join(f"[{kind}](#{kind})" for kind in sorted({one.kind for one in pair.differences}))
    wrong, raised = pair.count(raised=False), pair.count(raised=True)
    words = f"{'vLLM' if pair.peer == 'vllm' else 'SGLang'} {pair.reads.strip(' +').replace('!', '')}"
    cells = (
        f"`{pair.dialect}`",
        words,
        pair.answers,
        pair.answers - wrong - raised,
        wrong or "-",
        raised or "-",
        kinds,
    )
    return f"| {' | '.join(map(str, cells))} |"


def _directions(name: str, real: list[list[int]]) -> str:
    can = directions(api.get(name)) if (ROOT / "tests" / "corpus" / f"{name}.txt").is_file() else []
    read = sum(probes == one > 0 for probes, one, *_ in real)
    written = sum(ours >= probes - excused > 0 for probes, _, ours, *_, excused in real)
    learnt = sum(again >= one for _, one, _, again, *_ in real)
    cells = [f"`{name}`", *("yes" if way in can else "-" for way in ("decode", "encode", "constrain"))]
    return f"| {' | '.join(map(str, (*cells, len(real) or '-', read or '-', written or '-', learnt or '-')))} |"


def _templates() -> dict[str, list[list[int]]]:
    """The results of tests/templates.txt by dialect."""
    found: dict[str, list[list[int]]] = {}
    for line in (ROOT / "tests" / "templates.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            _, name, numbers, _, *excuses = line.split("  ")
            excused = sum(int(one.partition(":")[2]) for one in " ".join(excuses).split())
            found.setdefault(name, []).append([*map(int, numbers.split()), excused])
    return found


PARTS: dict[str, Callable[[], str]] = {
    part.__name__: part
    for part in (
        commands,
        event_table,
        message_table,
        error_tree,
        public,
        dialects,
        matrix,
        notices,
        settings,
        upstream_settings,
        examples,
        scenarios,
        rules,
        musts,
        fields,
        peers,
    )
}

if __name__ == "__main__":
    sys.exit(main())
