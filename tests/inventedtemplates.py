"""Chat templates that nobody has ever written: marks, codecs, spacing, reasoning and frames drawn by lot.

`Invented(seed)` is a renderer, as `learn` takes one.  What it writes is regular, as the templates of real models are:
each part of a turn stands in marks of its own, and no mark is the beginning of another.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any

Call = tuple[str, dict[str, Any], str]

_WORDS = [
    "ask",
    "answer",
    "bird",
    "blue",
    "call",
    "cloud",
    "do",
    "done",
    "field",
    "fire",
    "go",
    "green",
    "hear",
    "house",
    "it",
    "know",
    "leaf",
    "look",
    "lot",
    "make",
    "moon",
    "muse",
    "next",
    "note",
    "open",
    "over",
    "part",
    "pass",
    "plan",
    "river",
    "road",
    "say",
    "see",
    "send",
    "sky",
    "snow",
    "soon",
    "speak",
    "stone",
    "sun",
    "talk",
    "tell",
    "tool",
    "tree",
    "turn",
    "use",
    "wave",
    "wind",
    "wish",
    "word",
    "work",
    "yes",
]


class Invented:
    """One template; `kind` says what was drawn."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.words = list(_WORDS)
        self.random.shuffle(self.words)
        self.style = self.one("pipe", "tag", "square", "wide")
        self.role = self.one("assistant", "model", "bot", "ai")
        self.kind: list[str] = [self.style]
        self.framed = self.random.random() < 0.3
        self.write = self._frames() if self.framed else self._plain()

    def __call__(self, messages: list[dict[str, Any]], tools: Any = None, **flags: Any) -> str:
        text = self.bos
        for at, message in enumerate(messages):
            if message["role"] == "assistant":
                text += self.write(message, last=at == len(messages) - 1)
            else:
                text += self.other % (message["role"], message["content"])
        return text + self.prompt * bool(flags.get("add_generation_prompt"))

    # --- what is drawn

    def one(self, *choices: Any) -> Any:
        return self.random.choice(choices)

    def word(self) -> str:
        return self.words.pop()

    def mark(self, word: str = "") -> str:
        word = word or self.word()
        forms = {"pipe": "<|%s|>", "tag": "<%s>", "square": "[%s]", "wide": "<｜%s｜>"}
        return forms[self.style] % (word.upper() if self.style == "square" else word)

    def pair(self) -> tuple[str, str]:
        """A mark that opens and one that closes."""
        word = self.word()
        if self.style == "tag" or self.one(True, False):
            closing = {"tag": f"</{word}>", "square": f"[/{word.upper()}]"}
            return self.mark(word), closing.get(self.style, self.mark(f"/{word}"))
        return self.mark(word), self.mark()

    def gap(self) -> str:
        return self.one("", "", "\n")

    def turn(self) -> None:
        """What stands around a turn."""
        self.bos = self.one("", "", "<s>")
        opened, gap, end = self.mark(), self.gap(), self.mark()
        after = self.one("", "\n", "\n\n")
        self.begins, self.ends = f"{opened}{self.role}{gap}", f"{end}{after}"
        self.prompt = self.begins
        self.other = f"{opened}%s{gap}%s{end}{after}"
        if not gap:
            closing = self.mark()
            self.begins, self.other = f"{opened}{self.role}{closing}", f"{opened}%s{closing}%s{end}{after}"
            self.prompt = self.begins

    # --- turns that are one text

    def _plain(self) -> Callable[..., str]:
        self.turn()
        thought = self._thought()
        calls = self._calls()
        joint = self.one("", "\n", "\n\n")
        answer = self.one(None, None, None, self.pair())
        called = self.one(self.ends, self.ends, self.mark() + self.gap())
        self.kind += [
            word for word, drawn in (("answer in marks", answer), ("another end", called != self.ends)) if drawn
        ]

        def write(message: dict[str, Any], last: bool) -> str:
            said = message["content"] or ""
            said = f"{answer[0]}{said}{answer[1]}" if answer and said else said
            text = thought(message.get("reasoning_content") or "", last) + said
            if found := _called(message):
                return self.begins + text + (joint if said else "") + calls(found) + called
            return self.begins + text + self.ends

        return write

    def _thought(self) -> Callable[[str, bool], str]:
        how = self.one("none", "block", "block", "lines", "opened", "last", "empty")
        self.kind.append(f"thought {how}")
        (opened, closed), gap = self.pair(), self.one("\n", "\n\n", "")
        inner = "\n" if how in ("lines", "opened") else self.gap()
        block = f"{opened}{inner}%s{inner}{closed}{gap}"
        if how == "opened":
            self.prompt = self.begins + opened + inner

        def write(thought: str, last: bool) -> str:
            if how == "none" or (how == "last" and not last) or (not thought and how != "empty"):
                return ""
            return block % thought if thought else f"{opened}{inner}{inner}{closed}{gap}"

        return write

    # --- calls

    def _calls(self) -> Callable[[list[Call]], str]:
        how = self.one("json", "json", "list", "object", "object", "params", "params", "braces", "python", "elements")
        self.kind.append(how)
        make = getattr(self, f"_as_{how}")
        several, one = make()
        if several:
            return one
        section = self.pair() if self.one(True, False, False) else None
        self.kind.append("section" if section else "bare")
        between, inside = self.one("", "\n"), self.gap()

        def write(calls: list[Call]) -> str:
            text = between.join(one([call]) for call in calls)
            return f"{section[0]}{inside}{text}{inside}{section[1]}" if section else text

        return write

    def _json(self) -> Callable[[Any], str]:
        indent, compact = self.one(None, None, None, 2), self.one(False, False, True)
        separators = (",", ":") if compact and indent is None else None
        return lambda value: json.dumps(value, ensure_ascii=False, indent=indent, separators=separators)

    def _around(self) -> tuple[str, str]:
        (opened, closed), gap = self.pair(), self.gap()
        return opened + gap, gap + closed

    def _keys(self) -> Callable[[Call], dict[str, Any]]:
        name, args = self.one(("name", "arguments"), ("name", "parameters"), ("tool_name", "input"), ("fn", "with"))
        how = self.one("flat", "flat", "flat", "id", "nested", "keyed", "double")

        def keys(call: Call) -> dict[str, Any]:
            own = {name: call[0], args: call[1]}
            if how == "keyed":
                return {call[0]: call[1]}
            if how == "double":
                return {name: call[0], args: json.dumps(call[1], ensure_ascii=False)}
            return (
                {"id": call[2], **own}
                if how == "id"
                else {"type": "function", "function": own}
                if how == "nested"
                else own
            )

        self.kind.append(f"keys {how}")
        return (
            keys if how != "nested" or (name, args) == ("name", "arguments") else (lambda c: {name: c[0], args: c[1]})
        )

    def _as_json(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (opened, closed), dump, keys = self._around(), self._json(), self._keys()
        return False, lambda calls: "".join(f"{opened}{dump(keys(call))}{closed}" for call in calls)

    def _as_list(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (opened, closed), dump, keys = self._around(), self._json(), self._keys()
        closed = self.one(closed, closed, "")
        return True, lambda calls: f"{opened}{dump([keys(call) for call in calls])}{closed}"

    def _head(self) -> tuple[str, str]:
        """What stands before the name of a call, and behind it."""
        opened, _ = self._around()
        word = self.word()
        how = self.one("mark", "attribute", "equals", "line", "id", "word")
        self.kind.append(f"head {how}")
        return {
            "mark": (opened, self.mark()),
            "attribute": (f'<{word} name="', '">'),
            "equals": (f"<{word}=", ">"),
            "line": (opened, "\n"),
            "id": (f"{opened}%ID%{self.mark()}", self.mark()),
            "word": (f"{opened}{word}:", self.mark()),
        }[how]

    def _as_object(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (before, after), dump, (_, closed) = self._head(), self._json(), self._around()
        return False, lambda calls: "".join(
            f"{before.replace('%ID%', call[2])}{call[0]}{after}{dump(call[1])}{closed}" for call in calls
        )

    def _as_params(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (before, after), (_, closed) = self._head(), self._around()
        word, gap, inner = self.word(), self.gap(), self.gap()
        shape = self.one("equals", "attribute", "two", "typed")
        self.kind.append(f"params {shape}")
        indent = self.one("", "", "  ") if gap else ""
        end = f"</{word}>{gap}"
        key, value = self.pair(), self.pair()

        def write(name: str, given: Any) -> str:
            text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
            if shape == "two":
                return f"{indent}{key[0]}{name}{key[1]}{gap}{value[0]}{text}{value[1]}{gap}"
            if shape == "equals":
                return f"{indent}<{word}={name}>{inner}{text}{inner}{end}"
            if shape == "typed":
                told = str(isinstance(given, str)).lower()
                return f'{indent}<{word} name="{name}" string="{told}">{text}{end}'
            return f'{indent}<{word} name="{name}">{inner}{text}{inner}{end}'

        lead = "\n" if gap and not after.endswith("\n") else ""
        return False, lambda calls: "".join(
            f"{before.replace('%ID%', call[2])}{call[0]}{after}{lead}{''.join(write(*pair) for pair in call[1].items())}"
            f"{closed}"
            for call in calls
        )

    def _as_elements(self) -> tuple[bool, Callable[[list[Call]], str]]:
        word, (_, closed) = self.word(), self._around()
        lead = f"]<]{self.word()}[>["

        def write(given: dict[str, Any]) -> str:
            return "".join(
                f"{lead}<{key}>{value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}{lead}</{key}>"
                for key, value in given.items()
            )

        return False, lambda calls: "".join(f'<{word} name="{call[0]}">{write(call[1])}{closed}' for call in calls)

    def _as_braces(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (opened, closed), quote, word = self._around(), self.mark(), self.word()

        def write(value: Any) -> str:
            if isinstance(value, dict):
                return "{" + ",".join(f"{key}:{write(one)}" for key, one in value.items()) + "}"
            if isinstance(value, list):
                return "[" + ",".join(map(write, value)) + "]"
            return f"{quote}{value}{quote}" if isinstance(value, str) else json.dumps(value)

        return False, lambda calls: "".join(f"{opened}{word}:{call[0]}{write(call[1])}{closed}" for call in calls)

    def _as_python(self) -> tuple[bool, Callable[[list[Call]], str]]:
        (opened, closed), listed = self._around(), self.one(True, True, False)

        def write(call: Call) -> str:
            return f"{call[0]}({', '.join(f'{key}={value!r}' for key, value in call[1].items())})"

        if listed:
            return True, lambda calls: f"{opened}[{', '.join(map(write, calls))}]{closed}"
        return False, lambda calls: "".join(f"{opened}{write(call)}{closed}" for call in calls)

    # --- turns that are messages

    def _frames(self) -> Callable[..., str]:
        self.bos = self.one("", "<s>")
        how = self.one("channels", "addressed", "lines", "marks", "named", "kinds")
        self.kind.append(f"frame {how}")
        start, message, over, done = self.mark(), self.mark(), self.mark(), self.mark()
        gap = "\n" if how == "lines" or self.one(True, False, False) else ""
        heads = getattr(self, f"_{how}")(start, message)
        self.other = f"{start}%s{message if how != 'lines' else chr(10)}%s{over}{gap}"
        dump = self._json()

        def write(message: dict[str, Any], last: bool) -> str:
            parts = [("thought", "", message["reasoning_content"])] if message.get("reasoning_content") else []
            parts += [("answer", "", message["content"])] if message["content"] else []
            parts += [("call", name, self._payload(how, name, given, dump)) for name, given, _ in _called(message)]
            return (
                (over + gap).join(heads(kind, name) + text for kind, name, text in parts)
                + self._end(how, over, done)
                + gap
            )

        return write

    def _end(self, how: str, over: str, done: str) -> str:
        return over + done if how in ("lines", "marks") else done

    def _payload(self, how: str, name: str, given: dict[str, Any], dump: Callable[[Any], str]) -> str:
        return dump({"name": name, "arguments": given} if how in ("lines", "marks", "kinds") else given)

    def _channels(self, start: str, message: str) -> Callable[[str, str], str]:
        channel, space = self.mark(), self.one("", "tools.", "functions.")
        words = {"thought": self.word(), "answer": self.word()}
        work = self.word()
        self.prompt = start + self.role

        def head(kind: str, name: str) -> str:
            if kind == "call":
                return f"{start}{self.role} to={space}{name}{channel}{work} json{message}"
            return f"{start}{self.role}{channel}{words[kind]}{message}"

        return head

    def _addressed(self, start: str, message: str) -> Callable[[str, str], str]:
        words = {"thought": self.word(), "answer": self.word()}
        self.prompt = start + self.role
        return lambda kind, name: f"{start}{self.role} to={words.get(kind, name)}{message}"

    def _lines(self, start: str, message: str) -> Callable[[str, str], str]:
        words = {"thought": f"/{self.word()}", "answer": "", "call": f" -> {self.word()}"}
        self.prompt = start + self.role
        return lambda kind, name: f"{start}{self.role}{words[kind]}\n"

    def _marks(self, start: str, message: str) -> Callable[[str, str], str]:
        words = {"thought": self.mark(), "answer": self.mark(), "call": self.mark()}
        self.prompt = start
        return lambda kind, name: f"{start}{words[kind]}"

    def _named(self, start: str, message: str) -> Callable[[str, str], str]:
        channel = self.mark()
        words = {"thought": self.word(), "answer": self.word()}
        self.prompt = f"{start}{self.role}\n{channel}"
        return lambda kind, name: f"{start}{self.role}\n{channel}{words.get(kind, name)}\n{message}"

    def _kinds(self, start: str, message: str) -> Callable[[str, str], str]:
        words = {"thought": self.word(), "answer": self.role, "call": f"{self.word()} call"}
        self.prompt = start
        return lambda kind, name: f"{start}{words[kind]}{message}"


def _called(message: dict[str, Any]) -> list[Call]:
    return [
        (call["function"]["name"], call["function"]["arguments"], call["id"])
        for call in message.get("tool_calls") or ()
    ]


__all__ = ["Invented"]
