"""The rulebook: what every stream and answer must keep, and who is hurt when it does not.

The ids are those of the protocol reference: S for server-sent events and what all protocols share, C for Chat
Completions, R for Responses, M for Messages, O for Ollama, L for the older and the small endpoints.
`breaks` names the clients that were seen to fail when the rule is broken;
a client that is not named often shows a wrong answer as a good one.
How a fault is cured stands in `cures`.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["RULES", "Finding", "Rule"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule: its id, what must hold, and the clients that break without it.

    `light`: what most clients forgive; a breach is a warning, not an error.
    """

    id: str
    text: str
    breaks: tuple[str, ...] = ()
    light: bool = False


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that is broken, how, and in which frame (counted from 0, None for the whole)."""

    rule: str
    message: str
    frame: int | None = None

    def __str__(self) -> str:
        where = "" if self.frame is None else f" frame {self.frame}"
        return f"{self.rule}{where}: {self.message}"


_PY, _JS, _AI = "openai-py", "openai-js", "ai-sdk"
_AGENTS, _LANG, _PYD, _LITE = "openai-agents", "langchain", "pydantic-ai", "litellm"
_CODEX = "codex"
_ALL = (_PY, _JS, _AI, _AGENTS, _LANG, _PYD, _LITE)
_AGENTIC = ("agents", _CODEX, "claude-code", "opencode")
_OPY = "ollama-py"
_APY, _AJS, _CODE = "anthropic-py", "anthropic-js", "claude-code"
_EVERY = (_APY, _AJS, _AI, _LANG, _PYD, _LITE, _CODE)

RULES = {
    rule.id: rule
    for rule in (
        Rule("S1", "a right request is answered with 200, a wrong one with 4xx; a stream has its media type", _ALL),
        Rule("S2", "each event is one data line of JSON in valid UTF-8, without half characters", _ALL),
        Rule("S4", "no id, no retry, no event without data", (_PY, _AGENTS), light=True),
        Rule("S6", "nothing follows the end of an answer, and its connection is closed in order", _ALL),
        Rule("S7", "a client that leaves stops the work: the next request is answered as quickly as before", _AGENTIC),
        Rule("S9", "unknown fields of a request are ignored", (_CODEX, "claude-code", "opencode")),
        Rule("S10", "paths work with and without /v1, and with a query", (_APY, _AJS, "claude-code"), light=True),
        Rule("S11", "a request's body may come in chunks", ("proxies",), light=True),
        Rule("S12", "the server says quickly that it is well", ("load balancers",), light=True),
        Rule("C1", "every chunk has id, object, created, model and choices, the first four always the same", (_PY, _JS), light=True),
        Rule("C2", "the role comes once, in the first chunk of its choice", (_PY, _JS)),
        Rule("C3", "a choice has index, delta and finish_reason; logprobs are null unless asked for", (_PY, _JS), light=True),
        Rule("C4", "no delta follows the finish of its choice; text does not stand within a call", (_PY, _JS)),
        Rule("C5", "content is text: never empty, never with marks of the model's dialect", _ALL),
        Rule("C6", "reasoning is text of its own, under one name", (_AGENTS,)),
        Rule("C7", "id, type and name come once, in the first delta of a call", (_PY, _JS, _AGENTS, _LANG, _PYD, _LITE)),
        Rule("C8", "calls are counted from 0, and one ends before the next begins", _ALL),
        Rule("C9", "arguments are strings that join to one JSON object", (_PY, _JS, _AI, _AGENTS, _LANG)),
        Rule("C10", "ids of calls are unique in the conversation, up to 40 of A-Z a-z 0-9 _ -", (_PY,), light=True),
        Rule("C11", "each choice has one chunk with a finish_reason of the known words, and an empty delta",
             (_PY, _JS, _AI, _LITE)),
        Rule("C12", "tool_calls if, and only if, a whole call was given", (_PY, _JS, _AI)),
        Rule("C13", "usage comes if asked for: once, after the finishes, in the last chunk, with no choices", (_PY, _JS)),
        Rule("C14", "usage has all its numbers, and they add up", (_PY,), light=True),
        Rule("C15", "a stream that did not fail ends with [DONE], once", (_PY, "curl")),
        Rule("C16", "choices first appear in the order 0, 1, 2, and all that were asked for appear", (_PY,), light=True),
        Rule("C17", "log probabilities have token, logprob, bytes and top_logprobs", (_PY,), light=True),
        Rule("C19", "a stop string ends the text before it", _AGENTIC),
        Rule("C20", "an answer that has to fit a JSON schema is JSON", (_PY, _PYD, _LANG)),
        Rule("C21", "an error is an object with message, type, param and code, and the last thing sent", _ALL),
        Rule("C22", "a call that was cut is not shown as whole", (_LANG, "llm")),
        Rule("C23", "an answer has all its fields; tool_calls is absent if there are none", (_PY, _JS)),
        Rule("C24", "all roles are taken, and content as text or as parts", (_LANG, _CODEX, "claude-code", "opencode")),
        Rule("C25", "the choice of tools is kept: none gives no call, required and a named one give one", (_AI, _PYD, _LANG)),
        Rule("C26", "without parallel calls there is one at most", (_PY, _LANG)),
        Rule("C27", "the limit is kept, and an answer that it cut says so", _AGENTIC),
        Rule("C28", "thinking can be turned off", ("agents", "open-webui"), light=True),
        Rule("C30", "results of tools are matched by the id of their call, in any order", _AGENTIC),
        Rule("M1", "every event has an event line, and it names the type of its data", (_APY, _AJS, _LANG, _PYD, _CODE)),
        Rule("M2", "message_start comes first, once, with all fields and the numbers of its usage", (_APY, _AJS, _AI, _CODE)),
        Rule("M3", "blocks are counted from 0, and one stops before the next begins", (_APY, _AJS, _LANG, _PYD)),
        Rule("M4", "blocks begin empty; calls with a name and an id that is new in the conversation", _EVERY),
        Rule("M5", "deltas fit their block, and their texts are not empty and free of marks of the model's dialect", _EVERY),
        Rule("M6", "a thinking block ends with one signature", (_APY, _AJS)),
        Rule("M7", "the input of a call is a JSON object, unless the limit cut it", _EVERY),
        Rule("M8", "every block stops, once, and nothing follows its stop", (_APY, _AJS, _AI, _CODE)),
        Rule("M9", "message_delta comes once, behind all blocks, with the output's size", (_APY, _AJS, _AI, _LANG, _LITE)),
        Rule("M10", "the stop_reason is a known word; tool_use if, and only if, a whole call was given",
             (_APY, _AJS, _AI)),
        Rule("M11", "a stream that did not fail ends with message_stop, and nothing follows", (_APY, _AJS, _AI)),
        Rule("M12", "no ping comes before message_start", (_APY, _AJS), light=True),
        Rule("M13", "an error has the type error, with a type and a message, and is the last thing sent", _EVERY),
        Rule("M14", "an answer has all its fields, and its calls have objects as their input", (_APY, _AJS, _AI)),
        Rule("M15", "count_tokens tells the size of a prompt", ("claude-code",)),
        Rule("R1", "the first event is response.created, once, with a whole response that is empty yet", (_PY, _JS, _AI)),
        Rule("R2", "the event line equals the type; sequence numbers count from 0 without gaps", (_PY,), light=True),
        Rule("R3", "the response's id is the same all along, and begins with resp_", (_PY,)),
        Rule("R4", "output_index counts items from 0, and is their place in the output", (_PY, _JS, _LANG)),
        Rule("R5", "every event names its item by one id; type and call_id never change", (_PY, _AI)),
        Rule("R6", "a part is added before its deltas, counted from 0", (_PY, _JS, _LANG, _PYD)),
        Rule("R7", "one item is open at a time, and all that was opened is closed", (_PY, _JS, _AI, _CODEX)),
        Rule("R8", "deltas are text, never empty or with marks; done events and items repeat them joined", _ALL),
        Rule("R9", "a call has id, call_id, name and arguments that join to one JSON object", (*_ALL, _CODEX)),
        Rule("R10", "reasoning has a summary, empty unless one was asked for", (_PY, _AI), light=True),
        Rule("R12", "one terminal event, whose status says how it ended; what is incomplete is last", (*_ALL, _CODEX)),
        Rule("R13", "an error is told twice: as an error event and as response.failed", (_CODEX,)),
        Rule("R14", "a response has all its keys", (_PY, _JS, _AI)),
        Rule("R15", "usage comes with the terminal event, with all its numbers, and they add up", (*_ALL, _CODEX)),
        Rule("R16", "the final output repeats all items as they were done", (_PY, _JS)),
        Rule("R17", "a message is the assistant's, with annotations and a known phase", (_PY,), light=True),
        Rule("R25", "a response can be referred to, and is forgotten if it was not to be stored", (_PY, _AGENTS)),
        Rule("R26", "a stored response can be fetched and deleted", (_PY, _JS), light=True),
        Rule("O1", "each line is one JSON object in valid UTF-8, and every line ends", (_OPY,)),
        Rule("O2", "every line has model, created_at in UTC, done, and a text: in message or in response", (_OPY,)),
        Rule("O3", "one last line is done, with its reason, durations that add up and counts, and nothing follows", (_OPY,)),
        Rule("O4", "calls come whole: a name, and arguments that are an object", (_OPY,)),
        Rule("O5", "thinking is text of its own, none if none was wanted; no text has marks of the dialect", (_OPY,)),
        Rule("O6", "the done_reason is stop, length, load or unload, and stands in the last line alone", (_OPY,)),
        Rule("O7", "an error is a text under the key error, and the last line", (_OPY,)),
        Rule("O10", "a request without messages loads the model", (_OPY,), light=True),
        Rule("O11", "models, their abilities and the version are told", (_OPY, "open-webui")),
        Rule("L1", "an answer is a text_completion, streamed or not, and says why it ended", (_PY, _JS)),
        Rule("L2", "the models are listed, and each can be asked for by its name", ("agents", "open-webui"), light=True),
        Rule("L4", "what is not there, and a wrong method, are told as an error of the protocol", (_PY, _APY), light=True),
        Rule("S8", "a stream and an answer to the same request say the same", ("claude-code",)),
    )
}  # fmt: skip
