"""llama.cpp's raw completions: its stream read into batches of pieces, and its errors said in our words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from ..errors import Broken, DragomanError, Refused, RequestError, UnsupportedFeature
from .base import Alternative, End, Item, Options, Piece, Progress
from .refusals import bad_grammar, overflow

__all__ = ["Chunks", "body", "failure", "refusal"]

_LARK = "%llguidance {}\n"
_LONGEST = 16 << 20
_DATA = b"data: "
_FINAL = ["content", "tokens", "stop", "stop_type", "tokens_predicted", "tokens_evaluated", "truncated", "timings"]


class _Progress(msgspec.Struct):
    total: int = 0
    cache: int = 0
    processed: int = 0


class _Token(msgspec.Struct):
    token: str = ""
    logprob: float = 0.0
    bytes: list[int] = []
    top_logprobs: list[_Token] = []


class _Chunk(msgspec.Struct):
    content: str = ""
    tokens: list[int] = []
    stop: bool = False
    stop_type: str = ""
    tokens_predicted: int = 0
    tokens_evaluated: int = 0
    truncated: bool = False
    prompt_progress: _Progress | None = None
    completion_probabilities: list[_Token] = []
    timings: dict[str, Any] = {}
    error: dict[str, Any] | None = None


_decode = msgspec.json.Decoder(_Chunk).decode


def body(prompt: str | list[str | int], options: Options, specials: Mapping[str, int]) -> dict[str, Any]:
    """A request for `/completion`.

    It asks for progress because only then a cancel is noticed during prompt evaluation, and it never carries stop
    strings: they make several tokens arrive as one piece.
    """
    wanted: dict[str, Any] = {
        **options.sampling,
        "prompt": prompt,
        "stream": True,
        "return_tokens": True,
        "return_progress": True,
        "n_predict": -1 if options.limit is None else options.limit,
        "preserved_tokens": [mark for mark in options.marks if mark in specials],
        "response_fields": _FINAL,
    }
    wanted.pop("stop", None)
    if options.grammar:
        wanted["grammar"] = _grammar(options)
    if options.logprobs is not None:
        wanted["n_probs"] = max(1, options.logprobs)
    return wanted


def _grammar(options: Options) -> str:
    lark = options.form == "lark" and not options.grammar.startswith("%llguidance")
    return _LARK + options.grammar if lark else options.grammar


class Chunks:
    """Reads the bytes of one stream; `ended` is True once its last chunk was read."""

    def __init__(self, specials: Mapping[str, int], logprobs: int | None, engine: str) -> None:
        self.marks = {token: mark for mark, token in specials.items()}
        self.logprobs, self.engine = logprobs, engine
        self.rest = bytearray()
        self.ended = False

    def feed(self, data: bytes) -> list[Item]:
        """What these bytes complete.

        Raises:
            EngineError: the engine reports an error in the stream.
        """
        rest = self.rest
        begin = max(0, len(rest) - 1)
        rest += data
        end = rest.rfind(b"\n\n", begin)  # never looked for twice in the same bytes: a line may be long
        if end < 0:
            return self._wait()
        whole = bytes(rest[:end])
        del rest[: end + 2]
        items: list[Item] = []
        for line in whole.split(b"\n\n"):
            if (chunk := self._chunk(line)) is not None:
                self._read(chunk, items.append)
        return items

    def _wait(self) -> list[Item]:
        if len(self.rest) > _LONGEST:
            raise Broken(f"llama.cpp sent a line of more than {_LONGEST} bytes", engine=self.engine)
        return []

    def _chunk(self, line: bytes) -> _Chunk | None:
        """A chunk; None for a comment that keeps the connection alive."""
        if not line.startswith(_DATA):
            kind, _, payload = line.partition(b": ")
            if kind == b"error":
                raise refusal(500, failure(payload.decode("utf-8", "replace")), self.engine)
            return None
        try:
            return _decode(line[len(_DATA) :])
        except msgspec.MsgspecError as problem:
            raise Broken(f"llama.cpp sent a chunk that cannot be read: {problem}", engine=self.engine) from problem

    def _read(self, chunk: _Chunk, give: Callable[[Item], None]) -> None:
        if chunk.error is not None:
            raise refusal(500, chunk.error, self.engine)
        if chunk.prompt_progress is not None:  # such a chunk also carries a token, which is not one
            progress = chunk.prompt_progress
            give(Progress(progress.processed, progress.total, progress.cache))
            return
        if chunk.content:
            self._pieces(chunk, give)
        if chunk.stop:
            self.ended = True
            give(_end(chunk))

    def _pieces(self, chunk: _Chunk, give: Callable[[Item], None]) -> None:
        text, ids = chunk.content, chunk.tokens
        mark = self.marks.get(ids[-1], "") if ids else ""
        if not mark and not chunk.completion_probabilities:  # nearly always
            give(Piece(text, ids))
            return
        logprobs = tuple(self._alternative(token) for token in chunk.completion_probabilities)
        if mark and text != mark and text.endswith(mark):  # text that was held back came together with a mark
            give(Piece(text.removesuffix(mark), ids[:-1], logprobs=logprobs[:-1]))
            text, ids, logprobs = mark, ids[-1:], logprobs[-1:]
        give(Piece(text, ids, bool(mark) and text == mark, logprobs))

    def _alternative(self, token: _Token) -> Alternative:
        beside = token.top_logprobs[: self.logprobs]
        top = tuple(Alternative(other.token, other.logprob, tuple(other.bytes)) for other in beside)
        return Alternative(token.token, token.logprob, tuple(token.bytes), top)


def _end(chunk: _Chunk) -> End:
    reason = "length" if chunk.stop_type == "limit" or chunk.truncated else "stop"
    cached = chunk.timings.get("cache_n")
    extra = {"timings": chunk.timings} if chunk.timings else {}
    return End(reason, chunk.tokens_evaluated, chunk.tokens_predicted, cached, extra)


def failure(text: str) -> Mapping[str, Any]:
    """The error in the body of an answer, whatever shape it has."""
    try:
        error = msgspec.json.decode(text)
    except msgspec.MsgspecError:
        return {"message": text[:500]}
    error = error.get("error", error) if isinstance(error, dict) else error
    return error if isinstance(error, dict) else {"message": str(error)}


def refusal(status: int, error: Mapping[str, Any], engine: str, hint: str = "") -> DragomanError:
    """An error that llama.cpp reports, as ours."""
    message = str(error.get("message") or error)
    if error.get("type") == "exceed_context_size_error":
        return overflow(error.get("n_prompt_tokens"), error.get("n_ctx"))
    if "grammar" in message and status == 400:
        return bad_grammar(message)
    if "too large to process" in message or "larger than the max context" in message:
        return RequestError(f"an input is too long: {message}", param="input", code="context_length_exceeded")
    if status == 501:
        return UnsupportedFeature(f"the engine cannot do this: {message}", code="not_offered", status=501)
    if status == 400:
        return RequestError(f"the engine refuses this request: {message}")
    passed_on = status if status in (429, 503) else None
    return Refused(f"llama.cpp answered {status}: {message}", engine=engine, hint=hint, status=passed_on)
