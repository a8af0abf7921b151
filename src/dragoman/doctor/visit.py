"""One visit: a scenario in one protocol, with what it asks, what it sees and what it finds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ..checks import Finding
from ..checks.heard import Heard
from ..messages import Message, Request, Text
from .clients import Client
from .probe import Probe, Reply

__all__ = ["Skip", "Visit", "said"]

# Marks of reasoning and of turns in the dialects of many models; in no answer they are text.
MARKS = (
    *("<think>", "</think>", "<|im_start|>", "<|im_end|>", "<|eot_id|>", "<|end|>", "<|channel|>", "<|message|>"),
    *("<|endoftext|>", "<end_of_turn>", "<|turn>", "<turn|>", "<|channel>", "<channel|>", "</s>", "[/INST]"),
)
STEADY: Mapping[str, Any] = {"temperature": 0, "seed": 1}


class Skip(Exception):
    """The scenario does not apply, and why."""


@dataclass
class Visit:
    """What a scenario gets.

    `optional`: a server may refuse a right request; `limit`: tokens of a usual answer.
    `rule`: which one is broken by a right request that is not answered.
    """

    client: Client
    probe: Probe
    model: str
    optional: bool = False
    limit: int = 48
    rule: str = "S1"
    findings: list[Finding] = field(default_factory=list)
    seen: str = ""

    def find(self, rule: str, message: str) -> None:
        """A rule is broken."""
        self.findings.append(Finding(rule, message))

    def request(self, *messages: str | Message, **facts: Any) -> Request:
        """A request; a string is the user's."""
        given = tuple(said("user", item) if isinstance(item, str) else item for item in messages)
        return Request(**{"model": self.model, "messages": given, "limit": self.limit, "sampling": STEADY, **facts})

    def body(self, request: Request, *, stream: bool = False) -> dict[str, Any]:
        """The request as this protocol writes it."""
        body = self.client.write(request, stream)
        return {key: value for key, value in body.items() if value is not None}

    async def ask(self, request: Request, *, stream: bool = False, **more: Any) -> Heard:
        """Ask, hold the answer against all rules, and give what it says; `more` goes into the body."""
        return await self.send({**self.body(request, stream=stream), **more})

    async def send(self, body: Mapping[str, Any], *, path: str = "") -> Heard:
        """The same for a body."""
        stream = body.get("stream") is True
        reply = await self.post(body, path=path)
        self.answered(reply, stream=stream)
        if stream:
            self.findings += self.client.check_stream(reply.body, request=body, **self._marks)
            heard = self.client.hear(reply.body, streamed=True)
        else:
            self.findings += self.client.check_answer(reply.json, request=body, **self._marks)
            heard = self.client.hear(reply.json, streamed=False)
        self.halves(heard)
        self.seen = str(heard)
        return heard

    async def post(self, body: Any, *, path: str = "", headers: Mapping[str, str] | None = None) -> Reply:
        """Send a body, and take what comes."""
        sent = {**(self.client.headers or {}), **(headers or {})}
        return await self.probe.post(path or self.client.path, body, headers=sent)

    def answered(self, reply: Reply, *, stream: bool) -> None:
        """A right request must have been answered."""
        self.seen = str(reply)
        if reply.status != 200:
            if self.optional and (reply.status < 500 or reply.status == 501):
                self.refused(reply)
                raise Skip(f"refused: {reply}")
            self.find(self.rule, f"a right request was answered with {reply}")
            raise Skip
        wanted = self.client.stream_type if stream else "application/json"
        if reply.kind != wanted:
            self.find("S1", f"the media type is {reply.kind!r}, not {wanted}")
        if not stream and not isinstance(reply.json, dict):
            self.find("S2", f"the answer is no JSON object: {reply}")
            raise Skip

    def refused(self, reply: Reply) -> None:
        """A refusal must be in the protocol's shape."""
        self.seen = str(reply)
        if reply.json is None:
            self.find(self.client.error_rule, f"the error is no JSON: {reply}")
        else:
            self.findings += self.client.check_error(reply.json)

    def halves(self, heard: Heard) -> None:
        """No character of an answer was cut in two."""
        if "\ufffd" in heard.content + heard.reasoning:
            self.find("S2", f"a character was cut in two: {heard}")

    @property
    def _marks(self) -> dict[str, Any]:
        return {} if self.client.name == "completions" else {"marks": MARKS}


def said(role: str, text: str) -> Message:
    """A message of text."""
    return Message(role, (Text(text),))
