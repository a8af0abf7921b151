"""The endpoints of the turn log: which turns there were, one of them explained or as a case file, and any text explained."""

from __future__ import annotations

from asyncio import to_thread
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from starlette.requests import Request as Query
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from .. import api
from ..cases.case import BadCase, Case
from ..cases.expect import describe
from ..cases.read import is_case, read
from ..cases.write import brief, write
from ..errors import DragomanError, RequestError, UnsupportedFeature, UsageError
from ..events import CallArgs, Content, Reasoning
from ..explanation import as_data, explain
from ..notices import NOTICES
from ..protocols import chat
from ..rendition import PROTOCOLS, frames
from ..state.log import Record, TurnLog
from ..state.redact import redact
from ..syntax.calls import tool_of
from ..syntax.dialect import Dialect
from .endpoints import Replies, Reports, allow, refuse
from .http import send_text
from .service import Service

__all__ = ["mine", "routes", "summary"]

_PAGE = 200  # turns that are listed unless another number is asked for
_SHOWN = 120  # characters of what was asked and answered, in a list
_TEXT = 1_000_000  # characters of a text that is explained here
_LETTERS = 50_000  # letter by letter


def routes(service: Service) -> list[Route]:
    """All paths below /dragoman that look at turns."""
    return [
        Route("/dragoman/turns", Reports(service, _turns)),
        Route("/dragoman/turns/{turn}.txt", _Text(service)),
        Route("/dragoman/turns/{turn}/frames/{protocol}", Reports(service, _frames)),
        Route("/dragoman/turns/{turn}", Reports(service, _turn)),
        Route("/dragoman/explain", Replies(service, _explain)),
        Route("/dragoman/dialects", Reports(service, _dialects)),
    ]


def mine(service: Service, scope: Scope) -> Iterator[Record]:
    """The turns that this request's key asked for, the newest first.

    Raises:
        UnsupportedFeature: the server remembers none.
    """
    key = service.authorize(scope)
    return (record for record in _log(service) if record.key == key.name)


def _log(service: Service) -> TurnLog:
    if service.log is None:
        raise UnsupportedFeature("this server remembers no turns (--turn-log off)", code="no_turn_log", status=501)
    return service.log


def _turns(service: Service, scope: Scope) -> tuple[int, Any]:
    query = Query(scope).query_params
    wanted, outcome = query.get("q", "").lower(), query.get("outcome", "")
    count, before = _number(query.get("limit"), _PAGE), query.get("before", "")
    found: list[dict[str, Any]] = []
    passed = not before
    for record in mine(service, scope):
        if passed and _fits(record, wanted, outcome):
            found.append(summary(record))
        passed = passed or record.id == before
        if len(found) == count:
            break
    return 200, {"turns": found, "more": len(found) == count}


def _number(text: str | None, default: int) -> int:
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or not 0 < int(text) <= 10_000:
        raise RequestError(f"limit is a number from 1 to 10000, not {text!r:.40}", param="limit")
    return int(text)


def _fits(record: Record, wanted: str, outcome: str) -> bool:
    if outcome == "trouble" and not (record.error or record.noticed):
        return False
    if outcome not in ("", "trouble", record.outcome):
        return False
    words = (record.id, record.model, record.dialect, record.protocol, asked(record), record.raw, *record.noticed)
    return not wanted or any(wanted in word.lower() for word in words)


def summary(record: Record) -> dict[str, Any]:
    """What a list shows of a turn."""
    usage, raw = record.usage, record.raw
    return {
        "id": record.id,
        "began": record.began,
        "model": record.model,
        "dialect": record.dialect,
        "protocol": record.protocol,
        "path": record.path,
        "outcome": record.outcome,
        "error": redact(record.error),
        "notices": record.noticed,
        "first": record.first,
        "seconds": record.seconds,
        "prompt_tokens": usage.prompt if usage else None,
        "cached_tokens": usage.cached if usage else None,
        "completion_tokens": usage.completion if usage else None,
        "characters": len(raw),
        "asked": _start(asked(record)),
        "answered": _start(raw),
    }


def _start(text: str) -> str:
    """Its beginning, without secrets: the longest of them are not cut before they are known as such."""
    return redact(text[: 20 * _SHOWN])[:_SHOWN]


def asked(record: Record) -> str:
    """The last thing that the user said, from whatever protocol's request."""
    body = record.body
    messages = body.get("messages") or body.get("input") or body.get("prompt") or ""
    if isinstance(messages, list):
        users = [one for one in messages if isinstance(one, Mapping) and one.get("role") == "user"]
        said = [one for one in messages if isinstance(one, str)]
        messages = users[-1].get("content", "") if users else " ".join(said)
    if isinstance(messages, list):
        texts = (part.get("text", "") for part in messages if isinstance(part, Mapping))
        messages = " ".join(text for text in texts if isinstance(text, str))
    return messages if isinstance(messages, str) else ""


def _turn(service: Service, scope: Scope) -> Awaitable[tuple[int, Any]]:
    record = _named(service, scope)
    return to_thread(_shown, record, record.case(), summary(record))


def _shown(record: Record, case: Case, told: Mapping[str, Any]) -> tuple[int, Any]:
    """A turn as the page shows it.  A long one takes seconds: this runs in a thread, so that no stream waits for it."""
    return 200, {
        **told,
        "request": case.request,
        "prompt": case.prompt,
        "text": write(brief(case)),
        "sent": [{"seconds": seconds, "text": text} for seconds, text in case.frames],
        "told": list(map(_plain, _masked(record.told))) if record.decoded else [],
        "explanation": _explained(case),
    }


_NONE = Dialect("")  # without marks
_FIELDS: dict[Any, str] = {Content: "text", Reasoning: "text", CallArgs: "json"}


def _masked(told: Sequence[Any]) -> list[Any]:
    """The events without secrets, which may stand in several of them."""
    masked = list(told)
    for kind, name in _FIELDS.items():
        places = [number for number, event in enumerate(told) if type(event) is kind]
        texts = [getattr(told[number], name) for number in places]
        text, at = redact("".join(texts)), 0
        for number, old in zip(places, texts, strict=True):
            masked[number] = replace(told[number], **{name: text[at : at + len(old)]})
            at += len(old)
    return masked


def _plain(event: Any) -> dict[str, Any]:
    error = getattr(event, "error", None)  # an exception is told of in its words; it may be none that can be copied
    bare = asdict(event if error is None else replace(event, error=None))
    return {"event": type(event).__name__, **bare, **({} if error is None else {"error": redact(str(error))})}


def _named(service: Service, scope: Scope) -> Record:
    wanted = scope["path_params"]["turn"]
    for record in mine(service, scope):
        if record.id == wanted:
            return record
    problem = f"there is no turn {wanted!r:.80} here: it was never recorded, or is forgotten"
    raise RequestError(problem, code="turn_not_found", status=404)


def _explained(case: Case) -> dict[str, Any]:
    return as_data(case, explain(case, _dialect(case.dialect)))


def _frames(service: Service, scope: Scope) -> Awaitable[tuple[int, Any]]:
    """What clients of any protocol would be sent, a text for each step."""
    return to_thread(_rendered, _named(service, scope).case(), scope["path_params"]["protocol"])


def _rendered(case: Case, protocol: str) -> tuple[int, Any]:
    found = explain(case, _dialect(case.dialect))
    try:
        sent = [frame.decode("utf-8", "replace") for frame in frames(case, found, protocol)]
    except UsageError as error:
        raise RequestError(str(error), code="unknown_protocol", status=404) from None
    return 200, {"frames": sent}


def _dialect(name: str) -> Dialect:
    try:
        return api.get(name) if name else _NONE
    except UsageError as error:
        raise RequestError(str(error), param="dialect", code="unknown_dialect") from None


async def _explain(_: Service, data: Mapping[str, Any]) -> dict[str, Any]:
    """Explain a text or a case file."""
    text = data.get("text")
    if not isinstance(text, str):
        raise RequestError("`text` is what a model wrote, or a case file", param="text")
    if len(text) > _TEXT:
        raise RequestError(f"the text has {len(text)} characters; {_TEXT} are the most", param="text", status=413)
    if data.get("letters") is True and len(text) > _LETTERS:
        problem = f"the text has {len(text)} characters; letter by letter {_LETTERS} are the most"
        raise RequestError(problem, param="letters", status=413)
    try:
        return await to_thread(_told, text, data)
    except UsageError as error:
        raise RequestError(str(error), param="text") from None


def _told(text: str, data: Mapping[str, Any]) -> dict[str, Any]:
    case = _with(_case(text, data), data, known=is_case(text))
    found = explain(case, _dialect(case.dialect))
    meant = describe(found.turn)
    report = write(brief(replace(case, expect=tuple(meant))))
    return {**as_data(case, found), "text": report, "prompt": case.prompt, "meant": meant}


def _case(text: str, data: Mapping[str, Any]) -> Case:
    if not is_case(text):
        return Case("", "text", _pieces(text, data), None)
    try:
        case = read(text)[0]
    except BadCase as error:
        raise RequestError(f"the case file cannot be read: {error}", param="text") from None
    return replace(case, pieces=_pieces(case.raw, data), moments=()) if data.get("letters") and not case.marks else case


def _pieces(text: str, data: Mapping[str, Any]) -> tuple[tuple[str, bool], ...]:
    """The text whole, or letter by letter for a page that walks through it."""
    return tuple((letter, False) for letter in text) if data.get("letters") is True else ((text, False),)


def _with(case: Case, data: Mapping[str, Any], *, known: bool) -> Case:
    """The case, with what the request says of it; `known`: a case that names no dialect is a raw completion."""
    for name in ("prompt", "finish", "dialect"):
        if data.get(name):
            if not isinstance(data[name], str):
                raise RequestError(f"`{name}` is a text", param=name)
            case = replace(case, **{name: data[name]})
    if data.get("tools") is not None:
        case = replace(case, tools=_tools(data["tools"]))
    if not case.dialect and not known:
        found = api.detect(text=case.prompt + case.raw)
        if found is None:
            problem = "no dialect's marks are in this text; choose the dialect"
            raise RequestError(problem, param="dialect", code="unknown_dialect")
        case = replace(case, dialect=found)
    return case


def _tools(data: Any) -> tuple[Any, ...]:
    if not isinstance(data, list) or not all(isinstance(tool, Mapping) for tool in data):
        raise RequestError("`tools` is a list of tools", param="tools")
    return tuple(map(tool_of, data))


def _dialects(_: Service, __: Scope) -> tuple[int, Any]:
    names = [{"name": name, "models": api.get(name).models} for name in api.names()]
    return 200, {"dialects": names, "protocols": list(PROTOCOLS), "notices": NOTICES}


class _Text:
    """A turn as a case file; with `?brief=1` without what was only recorded."""

    def __init__(self, service: Service) -> None:
        self.service = service

    async def __call__(self, scope: Scope, _: Receive, send: Send) -> None:
        """Answer."""
        try:
            allow(scope, "GET", "HEAD")
            case = _named(self.service, scope).case()
        except DragomanError as error:
            await refuse(scope, send, chat, error)
            return
        case = brief(case) if Query(scope).query_params.get("brief") else case
        await send_text(send, write(case))
