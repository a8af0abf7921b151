"""The outline of a turn, read off its renderings: what begins it, what ends it, and what stands around its parts."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import UsageError
from ..messages import Reasoning, Text, Turn
from .dialect import Dialect
from .framing import Framing, framing
from .probes import AGAIN, ANSWER, ARGUMENTS, NAMES, RESULT, THOUGHT, Probes, behind, calling
from .template import marks

__all__ = ["Outline"]

_PAIRS = (("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("<thinking>", "</thinking>"), ("<thought>", "</thought>"))
_TAG = re.compile(r"<[^<>\n]*>|\[[^\[\]\s]*\]")


_BEGINS, _ENDS = "the prompt, an old answer", "text, a call, an old answer"


class Outline:
    """What stands around a turn and its parts; `found` says which probe told."""

    def __init__(self, probes: Probes) -> None:
        self.probes = probes
        self.found: dict[str, str] = {}
        self.asked = behind(probes.prompt())
        self.still = behind(probes.prompt(ask=False))
        self.last = probes.turn(Turn((Text(ANSWER),)))
        self.old = probes.turn(Turn((Text(ANSWER),)), goes_on=True) or self.last
        self.thought = probes.turn(Turn((Reasoning(THOUGHT), Text(ANSWER))))
        self.called = probes.turn(calling(ARGUMENTS["a string"]))
        if not (self.asked or self.last or self.called):
            why = f" (it said: {probes.refusal})" if probes.refusal else ""
            raise UsageError(f"nothing could be told: the template shows neither a question nor an answer{why}")
        self.thinks = self._thinks()
        self.framing = self._framing()
        self.begins = self.framing.begins if self.framing else self._begins()
        self.opened, self.closed = self._around_thought()
        self.wrapped = self._wrapped()
        self.ends = self.framing.ends if self.framing else tuple(dict.fromkeys(self._ends()))

    def dialect(self, name: str) -> Dialect:
        """All but the calls."""
        opened, closed = self.wrapped
        return Dialect(
            name,
            begins=self.begins,
            ends=self.ends,
            reasoning=f"{self.opened}{{text}}{self.closed}" if self.opened else "",
            label=_TAG.sub("", self.opened).strip(),
            drops=(*marks(opened), *marks(closed)),
        )

    def inner(self, text: str, turn: Turn) -> str:
        """A turn's text without what begins and ends it, and without a block of no thoughts."""
        text = self._behind(text)
        text = text if turn.reasoning else self._without_thought(text)
        words = (*NAMES, ANSWER, THOUGHT, *(call.id for call in turn.calls))
        last = max(text.rfind(word) for word in words)
        ends = [at for mark in self.ends if (at := text.find(mark, max(last, 0))) >= 0]
        return text[: min(ends, default=len(text))]

    def hidden(self, text: str, turn: Turn) -> bool:
        """Whether an answer stands where a thought would, or a thought where an answer would: then it says nothing."""
        if turn.reasoning:
            return self.framing is not None and self.framing.thought is None
        if ANSWER not in text:
            return False
        head = self._behind(text).partition(ANSWER)[0]
        if self.framing:
            thought = self.framing.thought
            return thought is not None and head.endswith(thought[0])
        return bool(self.opened) and self.opened in head and self.closed.strip() not in head.rpartition(self.opened)[2]

    def _without_thought(self, text: str) -> str:
        """A text without a block of no thoughts at its beginning, or the mark that closes one."""
        opened, closed = (re.escape(mark) for mark in self.thinks)
        return re.sub(rf"\A\s*(?:{opened})?\s*{closed}\s*", "", text) if closed else text

    # --- each part

    def _framing(self) -> Framing | None:
        """The messages of a turn, where it has several."""
        shown = {
            "text": self.last,
            "old": self.old,
            "thought": self.thought,
            "called": self.called,
            "told": self.probes.turn(calling(ARGUMENTS["a string"], text=ANSWER)),
        }
        found = framing(shown, self.asked, self.still)
        if found:
            self.found["messages"] = "reasoning and text" if found.thought else "text and a call"
            self.found |= {"begins": _BEGINS, "ends": _ENDS}
        return found

    def _behind(self, text: str) -> str:
        """What stands behind the turn's beginning."""
        if self.begins and (at := text.find(self.begins)) >= 0:
            return text[at + len(self.begins) :]
        return text.removeprefix(self.still)

    def _thinks(self) -> tuple[str, str]:
        """The marks of reasoning, as the shown thought, the prompt or an old answer tells."""
        for shown, what in (
            (self.thought, "reasoning and text"),
            (self.probes.turn(_thinking_call()), "reasoning and a call"),
        ):
            if THOUGHT in shown:
                before, _, after = shown.partition(THOUGHT)
                tags, closing = [*_TAG.finditer(before)], marks(after.partition(ANSWER)[0])
                if tags and closing:
                    self.found["reasoning"] = what
                    self.thought = shown
                    return before[tags[-1].start() :].strip().splitlines()[-1], closing[0]
        self.thought = ""
        for opened, closed in _PAIRS:
            if opened in self.asked or self._hides(opened, closed):
                self.found["reasoning"] = (
                    "the prompt" if opened in self.asked else "an old answer, whose thought is left out"
                )
                return opened, closed
        return "", ""

    def _hides(self, opened: str, closed: str) -> bool:
        """Whether a thought in an old answer's own text is left out."""
        said = Turn((Text(f"{opened}\n{THOUGHT}\n{closed}\n\n{ANSWER}"),))
        shown = self.probes.turn(said, goes_on=True)
        return bool(shown) and ANSWER in shown and THOUGHT not in shown

    def _begins(self) -> str:
        """What a prompt ends with and answers begin with."""
        known = [text.partition(ANSWER)[0] for text in (self.old, self.last) if ANSWER in text]
        if self.thought:
            known.append(self.thought.partition(THOUGHT)[0])
        if self.asked.strip() and self.asked != self.still:
            known.append(self.asked)
        if self.called and not known:
            known.append(self.called.partition(NAMES[0])[0])
        heads = [self._unopened(text) for text in known]
        begun = _alike(heads) if heads else self.asked
        self.found["begins"] = _BEGINS
        if self.asked in known and not marks(begun[len(_alike([begun, self.still])) :]):
            return self._fresh(_tail_of([head.rstrip() for head in heads]))
        cut = begun.removeprefix(self.still)
        if cut.strip():
            return cut
        tail = marks(begun)
        return tail[-1] if tail else ""

    def _unopened(self, text: str) -> str:
        """A head without the mark of thinking, and what stands behind it."""
        return text.partition(self.thinks[0])[0] if self.thinks[0] else text

    def _fresh(self, begun: str) -> str:
        """What begins a turn, without what ended the question."""
        sizes = range(min(len(begun), len(self.still)), 0, -1)
        shared = next((size for size in sizes if self.still.endswith(begun[:size])), 0)
        return begun[shared:] if begun[shared:].strip() else begun

    def _around_thought(self) -> tuple[str, str]:
        """What stands before and behind a thought, white space too."""
        opened, closed = self.thinks
        if not opened:
            return "", ""
        if not self.thought:
            gap = "\n" if f"{opened}\n" in self.asked or opened not in self.asked else ""
            return f"{opened}{gap}", f"{gap}{closed}{gap * 2}"
        before, _, after = self._behind(self.thought).partition(THOUGHT)
        after, _, said = after.partition(ANSWER) if ANSWER in after else (after, "", "")
        if not said and ANSWER not in self.thought:
            after = after[: after.find(closed) + len(closed)] if closed in after else after
        return before[max(before.rfind(opened), 0) :] if opened in before else opened, after

    def _wrapped(self) -> tuple[str, str]:
        """Marks around an answer's text, which mean nothing."""
        before, _, after = self._without_thought(self._behind(self.old)).partition(ANSWER)
        if self.opened and before.strip() and self.closed.endswith(before):
            self.closed = self.closed.removesuffix(before)
        behind_last = self.last.partition(ANSWER)[2]
        tail = _tail(behind_last, self.called)
        after = behind_last.removesuffix(tail) if tail.strip() and before.strip() else ""
        return before, after or (self._closing(behind_last) if before.strip() else "")

    def _closing(self, behind_last: str) -> str:
        """What closes an answer whether its turn ends there or a call follows."""
        told = self.probes.turn(calling(ARGUMENTS["a string"], text=ANSWER)).partition(ANSWER)[2]
        shared = _alike([behind_last, told]) if told else ""
        return shared if marks(shared) else ""

    def _ends(self) -> Iterator[str]:
        """The mark that ends both answers and calls; then what begins another's turn."""
        tail = _tail(self.last.partition(ANSWER)[2], self.called) if self.called else self.last.partition(ANSWER)[2]
        between = self.old.partition(ANSWER)[2].partition(AGAIN)[0]
        self.found["ends"] = _ENDS
        first = _first(tail)
        yield from first
        after = [mark for mark in marks(between) if mark not in marks("".join(self.wrapped))]
        rest = after[after.index(first[0]) + 1 :] if first and first[0] in after else after
        yield from [mark for mark in rest if _TAG.fullmatch(mark)][:1]
        if not first:
            yield from self._of_results()

    def _of_results(self) -> Iterator[str]:
        """What begins a result, where nothing else ends a call."""
        before = self.probes.answered(calling(ARGUMENTS["a string"])).partition(RESULT)[0]
        base = self.called.rstrip()
        if base and before.startswith(base):
            yield from [mark for mark in marks(before[len(base) :])[:1] if _TAG.fullmatch(mark)]


def _first(text: str) -> tuple[str, ...]:
    """The first mark of a text: a tag, or all up to the next blank."""
    text = text.strip()
    tag = _TAG.match(text)
    return (tag[0] if tag else text.split()[0],) if text else ()


def _thinking_call() -> Turn:
    return calling(ARGUMENTS["a string"], reasoning=THOUGHT)


def _alike(texts: list[str]) -> str:
    """What all of them begin with; no mark is cut in two."""
    low, high = min(texts), max(texts)
    size = next((at for at, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), min(len(low), len(high)))
    if size < max(len(low), len(high)):
        for tag in _TAG.finditer(high if len(high) > size else low):
            if tag.start() < size < tag.end():
                return low[: tag.start()]
    return low[:size]


def _tail_of(texts: list[str]) -> str:
    """What all of them end with; no mark is cut in two."""
    found = texts[0]
    for text in texts[1:]:
        found = _tail(found, text)
    return found


def _tail(one: str, other: str) -> str:
    """What both end with; no mark is cut in two."""
    size = next(
        (at for at, (a, b) in enumerate(zip(one[::-1], other[::-1], strict=False)) if a != b), min(len(one), len(other))
    )
    start = len(one) - size
    inside = next((tag.end() for tag in _TAG.finditer(one) if tag.start() < start < tag.end()), start)
    return one[inside:]
