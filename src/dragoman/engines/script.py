r"""The scripted engine: plays written outputs piece by piece, for exact tests and for demonstrations without a model.

A script is a TOML (or JSON) file:

    model = "demo"                    # what clients call it
    dialect = "hermes-json"           # what the outputs are written in
    cut = "words"                     # pieces: characters, words, whole, or sizes such as [3, 1, 20]
    pause = 0.02                      # seconds before each piece

    [[turn]]
    when = { user = "weather", tool = "get_weather", results = false }
    output = '''
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Paris"}}
    </tool_call><|im_end|>'''

    [[turn]]
    when = { results = true }
    output = ["It is sunny in Paris.<|im_end|>", "Sunny.<|im_end|>"]     # one after the other, then again

    [[turn]]                          # no `when`: fits everything that got this far
    output = "I cannot help with that."
    after = 2                         # after two pieces ...
    error = "the machine caught fire" # ... it breaks (or `stall = true`: nothing more comes)

The first turn that fits a request is played.  `when` may ask for:

    user      a pattern (regular expression) found in the last message of the user, or in the raw prompt
    tool      the name of a tool on offer; true: any; false: none
    results   true or false: the conversation ends with tool results; or a pattern found in them
    choice    the request's tool choice: auto, none, required, name:NAME; forced is the last two
    limit     the request's limit is at most this

A turn may also have `cut`, `pause`, `batch` (pieces that arrive together), `finish` (stop or length), and
`special = false` (its marks arrive spelled in letters, not as special tokens).  A request's limit counts pieces.
On top may stand `template` (a Jinja chat template), `context` (in words) and `specials` (mark = token id, or false);
by default the special tokens are those of the dialect.
With `places` it plays so many turns at once, and further requests wait.
"""

from __future__ import annotations

import asyncio
import json
import tomllib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import Broken, Refused, UsageError
from ..messages import Request
from .base import Alternative, End, Item, ModelInfo, Options, Piece, Prompt
from .refusals import overflow
from .scenes import Scene, cut, scene, words

__all__ = ["Asked", "Script"]

_KEYS = ("model", "dialect", "template", "context", "specials", "cut", "pause", "places", "turn")

Asked = tuple[Prompt, Options, Request | None]


class Script:
    """Plays a script.

    `asked` keeps what it was asked (the last 100), `running` counts the streams that are open now.

    Args:
        data: the script's content, as it stands in a file.
        name: what clients call its model; by default what the script says, else `script`.
        source: where it comes from, for messages.

    Raises:
        UsageError: something in it is not understood.
    """

    name = "script"

    def __init__(self, data: Mapping[str, Any], *, name: str = "", source: str = "script") -> None:
        for key in data:
            if key not in _KEYS:
                raise UsageError(f"{source}: unknown key {key!r}; known are {', '.join(_KEYS)}")
        self.info = _info(data, name or data.get("model", "script"))
        defaults = {key: data[key] for key in ("cut", "pause") if key in data}
        turns = enumerate(data.get("turn", ()), 1)
        self.scenes: list[Scene] = [scene(turn, defaults, f"{source}: turn {number}") for number, turn in turns]
        self.asked: list[Asked] = []
        self.running = 0
        self.places: int | None = data.get("places")

    @classmethod
    def read(cls, path: str | Path, *, name: str = "") -> Script:
        """The script in a file.

        Raises:
            UsageError: there is no such file, or it is not understood.
        """
        try:
            text = Path(path).read_text("utf-8")
            data = json.loads(text) if str(path).endswith(".json") else tomllib.loads(text)
        except OSError as problem:
            raise UsageError(f"the script {str(path)!r} cannot be read: {problem.strerror}") from problem
        except ValueError as problem:
            raise UsageError(f"the script {str(path)!r} is not valid: {problem}") from problem
        return cls(data, name=name, source=str(path))

    async def start(self) -> None:
        """Nothing has to be made ready."""

    async def stop(self) -> None:
        """Nothing has to be released."""

    async def models(self) -> Sequence[ModelInfo]:
        """The one model it plays."""
        return (self.info,)

    async def count(self, prompt: Prompt) -> int | None:
        """The words of a prompt."""
        return len(words(prompt.text))

    async def stream(self, prompt: Prompt, options: Options, request: Any = None) -> AsyncIterator[list[Item]]:
        """Play the first turn that fits."""
        self.asked = [*self.asked[-99:], (prompt, options, request)]
        size = len(words(prompt.text))
        if self.info.context and size > self.info.context:
            raise overflow(size, self.info.context)
        played = self._pick(request)
        self.running += 1
        try:
            async for batch in self._play(played, options, size):
                yield batch
        finally:
            self.running -= 1

    def _pick(self, request: Request | None) -> Scene:
        for candidate in self.scenes:
            if candidate.fits(request):
                return candidate
        raise Refused(
            "the script has no turn for this request", engine=self.name, hint="a turn without `when` fits everything"
        )

    async def _play(self, played: Scene, options: Options, size: int) -> AsyncIterator[list[Item]]:
        pieces = list(self._pieces(played, options))
        given = pieces[: options.limit] if options.limit is not None else pieces
        reason = "length" if len(given) < len(pieces) else played.finish
        until = len(given) if played.after is None else min(played.after, len(given))
        for at in range(0, until, played.batch):
            await asyncio.sleep(played.pause)
            yield [*given[at : min(at + played.batch, until)]]
        if played.fails(len(given)):
            await self._fail(played)
        yield [End(reason, size, len(given))]

    async def _fail(self, played: Scene) -> None:
        if played.stall:
            await asyncio.Event().wait()
        raise Broken(played.error, engine=self.name)

    def _pieces(self, played: Scene, options: Options) -> Iterator[Piece]:
        specials = self.info.specials if played.special else {}
        for text in cut(played.next(), played.cut, tuple(specials)):
            ids = (specials[text],) if text in specials else ()
            yield Piece(text, ids, text in specials, _logprobs(text, options.logprobs))


def _logprobs(text: str, beside: int | None) -> tuple[Alternative, ...]:
    """A made-up log probability: the engine was sure of what was written."""
    if beside is None:
        return ()
    sure = Alternative(text, 0.0, tuple(text.encode("utf-8", "replace")))
    return (Alternative(sure.token, sure.logprob, sure.bytes, (sure,)[:beside]),)


def _info(data: Mapping[str, Any], name: str) -> ModelInfo:
    dialect = data.get("dialect", "")
    specials = data.get("specials", _specials(dialect) if dialect else {}) or {}
    return ModelInfo(name, dialect, data.get("template", ""), specials, data.get("context"))


def _specials(dialect: str) -> dict[str, int]:
    from ..api import get  # noqa: PLC0415 - a script that names its special tokens needs no dialect

    known = get(dialect)
    return {mark: number for number, mark in enumerate(dict.fromkeys((*known.special, *known.ends)), 1)}
