"""The codes of notices, each with what happened and what became of it; the reference page is made from this."""

from __future__ import annotations

__all__ = ["NOTICES"]

NOTICES: dict[str, tuple[str, str]] = {
    "after-end": ("text came after the model had ended its turn", "dropped; the notice carries its beginning"),
    "bad-json": (
        "the arguments of a call on offer cannot be read",
        "the call is delivered with its arguments verbatim, and is not `valid`",
    ),
    "cut": (
        "the text ended in the middle of a call, a header or a mark",
        "the call is not `complete` and says what is `missing`; before its name was known, the notice carries the text",
    ),
    "draft": ("a call stood in open reasoning, and reasoning went on after it", "it is reasoning"),
    "dropped": ("noise stood where only markup may stand", "dropped; the notice carries it"),
    "duplicate-key": ("a parameter was given twice", "both are in the arguments; a JSON reader takes the last"),
    "foreign-mark": (
        "text of users, tools or documents spelled a special token, and the engine takes nothing but text",
        "a blank was put behind the mark's first character",
    ),
    "gave-back": ("what began like a call was none", "it is content, as written"),
    "no-call": ("an empty list stood between the marks of a call", "there is no call"),
    "recovered": ("a call stood there without its opening mark", "the call is delivered"),
    "repaired": (
        "a small fault of the arguments was mended: a trailing comma, Python's words or quotes, a raw newline, arguments encoded twice, a list around one object",
        "the call is delivered and `valid`",
    ),
    "spelled-mark": (
        "a mark that is a special token came spelled in ordinary letters",
        "it counts, because a tool on offer follows",
    ),
    "stray-mark": ("a mark stood where it means nothing", "dropped; the notice carries it"),
    "too-deep": ("arguments are nested more than 64 deep", "the call is delivered, and is not `valid`"),
    "typed": (
        "a quoted value stood where the tool allows no text",
        "it became the number, truth value or null that it spells",
    ),
    "unclosed": (
        "closing marks or brackets are missing, but everything they close is there",
        "closed; a call is `complete`",
    ),
    "unknown-tool": ("a tool was called that is not on offer", "by the policy `unknown`: delivered, text, or refused"),
    "unnamed": (
        "a call did not say which tool it calls, and only one tool on offer has all its parameters",
        "the call is delivered, to that tool",
    ),
    "untyped": ("a value fits none of the types that the tool allows", "it is a text"),
    "variant": ("a call was written in another form than the dialect's own, with marks", "the call is delivered"),
}
