"""Config: every setting of the server, from keyword arguments, else the environment, else a file, else its default.

`Config(port=9000)` reads `DRAGOMAN_PORT` for nothing, and `Config()` does; the command line makes its flags from the same
fields, so a setting has one name, one default, one help text and one check.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal, get_args, get_type_hints

from ..errors import UsageError
from ..syntax.decode import Policy
from .deadlines import read as read_deadlines

if TYPE_CHECKING:
    from .configfile import File

__all__ = ["Config", "environment_name"]


class _Preset:
    """Marks a value that nobody gave: neither an argument nor the environment.  A file may still replace it."""


class _Text(_Preset, str):
    __slots__ = ()


class _Whole(_Preset, int):
    pass


class _Number(_Preset, float):
    pass


_PRESETS: Mapping[type, Callable[[Any], Any]] = {str: _Text, int: _Whole, float: _Number}
_SECRETS = ("api_key", "upstream_key")
_TRUE, _FALSE = ("1", "true", "yes", "on"), ("0", "false", "no", "off", "")


def _setting(default: Any, text: str, *, least: float | None = None, most: float | None = None) -> Any:
    """A field that the environment can set; `least` and `most` are the limits of a number."""
    facts = {"preset": default, "help": text, "least": least, "most": most}
    made = field(default_factory=lambda: _from_environment(facts), metadata=facts)
    facts["field"] = made
    return made


def _secret(text: str) -> Any:
    """A field that is read from the environment late, so that no help text and no log shows it."""
    return field(default="", repr=False, metadata={"preset": "", "help": text, "least": None, "most": None})


@dataclass(slots=True, kw_only=True)
class Config:
    """The settings of a server.

    Raises:
        UsageError: a value cannot be; the message names the setting, its flag and its environment variable.
    """

    config: str = _setting("", "File with settings, upstreams and further names of models (YAML).")
    model: str = _setting("", "Model to serve: a GGUF file or a name; by default the packaged one that is here.")
    embedding_model: str = _setting("", "Model to serve for embeddings: a GGUF file or a name; by default none.")
    upstream: str = _setting("", "Address of a server that runs models already, such as http://localhost:8080.")
    upstream_way: Literal["auto", "llamacpp", "completions", "generate", "chat", "responses", "messages", "ollama"] = (
        _setting("auto", "How to speak with it; auto finds out.")
    )
    upstream_tokenizer: str = _setting(
        "", "GGUF file or folder of the upstream's model, where it does not tell its template itself."
    )
    upstream_key: str = _secret("Key that the upstream wants.")
    engine: Literal["embedded", "script"] = _setting(
        "embedded", "What runs the model: llama.cpp inside, or a script that plays given outputs."
    )
    script: str = _setting("", "File that the script engine plays.")
    dialect: str = _setting(
        "", "Dialect the model writes, if it should not be detected (`dragoman dialects` lists them)."
    )
    strict_model: bool = _setting(default=False, text="Refuse requests for another model than the one served.")

    host: str = _setting("127.0.0.1", "Address to listen on; 0.0.0.0 is every interface (then set an API key).")
    port: int = _setting(8000, "Port to listen on; 0 takes any free one.", least=0, most=65535)
    api_key: str = _secret("Key that clients must send, as `Authorization: Bearer` or `x-api-key`.")
    keys: str = _setting("", "File of the keys that clients may send, hashed (`dragoman keys` makes one).")
    tls_cert: str = _setting("", "File of the certificate, with its chain, for HTTPS.")
    tls_key: str = _setting("", "File of the certificate's private key.")
    body_limit: int = _setting(64 << 20, "Bytes a request may have.", least=1024)

    tools_limit: int = _setting(512, "Tools a request may have.", least=0)
    schema_limit: int = _setting(256 << 10, "Bytes the schema of a tool or of an answer may have.", least=0)
    media_hosts: str = _setting(
        "", "Hosts that images and files may be fetched from, with blanks between them; `*` is every public one."
    )
    cors_origins: str = _setting("", "Web pages that may use the server: origins with blanks between them, or `*`.")
    hosts: str = _setting(
        "",
        "Names under which the server is asked for, with blanks between them; by default any, but on loopback only "
        "local ones.",
    )

    ctx: int = _setting(0, "Tokens of context per request; 0 is what the model takes, at most 8192.", least=0)
    embedding_ctx: int = _setting(0, "Tokens of a text to embed; 0 is what the model takes, at most 2048.", least=0)
    embedding_inputs: int = _setting(2048, "Texts that a request for embeddings may have.", least=1)
    slots: int = _setting(2, "Requests that run at once; further ones wait.", least=1, most=256)
    queue: int = _setting(64, "Requests that may wait for a place in an engine; more are refused.", least=0)
    threads: int = _setting(0, "Threads of the engine; 0 is one per core.", least=0, most=1024)

    reasoning_field: Literal["reasoning_content", "reasoning", "both", "none", "inline"] = _setting(
        "reasoning_content", "Field of a chat answer that carries reasoning."
    )
    tool_arguments: Literal["live", "buffered"] = _setting(
        "live", "Send a call's arguments as they are written, or each call when it is whole."
    )
    finish_reason_named: Literal["tool_calls", "stop"] = _setting(
        "tool_calls", "Finish of a chat answer whose call the request named; the vendor and vLLM say stop."
    )
    recover: Literal["strict", "turn-start", "anywhere"] = _setting(
        "turn-start", "Where calls without their marks are looked for."
    )
    unknown: Literal["deliver", "text", "refuse"] = _setting(
        "deliver", "What to do with a call of a tool that was not offered."
    )
    no_repair: bool = _setting(
        default=False, text="Do not repair small faults in arguments (a repair leaves a notice)."
    )

    responses_names: Literal["openai", "open-responses"] = _setting(
        "openai", "What the events of reasoning are called in Responses streams."
    )
    state: str = _setting(
        "", "File that keeps responses; by default one in the user's data folder; `memory` or `off` for none."
    )
    state_count: int = _setting(10_000, "Responses to keep; 0 is no limit.", least=0)
    state_days: float = _setting(30.0, "Days to keep a response after its last use; 0 is no limit.", least=0)
    state_bytes: int = _setting(1 << 30, "Bytes that all responses may have; 0 is no limit.", least=0)

    turn_log: Literal["all", "notices", "off"] = _setting(
        "all", "Turns to remember: all, those with errors or notices, or none."
    )
    turn_log_count: int = _setting(500, "Turns to remember in memory.", least=1)
    turn_log_to: str = _setting(
        "", "Where turns are kept for good: a folder (a case file each), or a file named *.sqlite; by default nowhere."
    )

    keep_alive: float = _setting(10.0, "Seconds of silence after which a stream gets a comment.", least=0.01)
    first_token: float = _setting(600.0, "Seconds from the request to the first token; 0 is no limit.", least=0)
    stall: float = _setting(120.0, "Seconds between two tokens; 0 is no limit.", least=0)
    total: float = _setting(0.0, "Seconds for a whole answer; 0 is no limit.", least=0)
    deadlines: str = _setting("", "Deadlines of single models, as `big-*: first-token=1800 stall=300; tiny: total=20`.")
    slow_client: float = _setting(
        300.0, "Seconds that a client may leave an answer unread; then it is cut off. 0 is no limit.", least=0
    )
    shutdown: float = _setting(5.0, "Seconds that running answers get when the server is stopped.", least=0)
    log_format: Literal["text", "json"] = _setting("text", "How log lines are written.")
    log_level: Literal["debug", "info", "warning", "error"] = _setting("info", "How much to log.")

    def __post_init__(self) -> None:
        for secret in _SECRETS:
            setattr(self, secret, getattr(self, secret) or os.environ.get(environment_name(secret), ""))
        hints = get_type_hints(Config)
        self._fill()
        for setting in fields(self):
            _check(setting, getattr(self, setting.name), get_args(hints[setting.name]))
        self._check_deadlines()
        if self.engine == "script" and not self.script:
            raise UsageError(f"{_where('script')}: the script engine needs a file to play")

    def _fill(self) -> None:
        """Take from the file what nobody gave; what is off, too, was given by nobody: there is no argument for it."""
        given = self.file.settings
        for setting in fields(self):
            name, value = setting.name, getattr(self, setting.name)
            unset = isinstance(value, _Preset) or value is False or (name in _SECRETS and not value)
            if unset and name in given and environment_name(name) not in os.environ:
                setattr(self, name, given[name])
            elif isinstance(value, _Preset):
                setattr(self, name, setting.metadata["preset"])

    @property
    def file(self) -> File:
        """What the configuration file says."""
        from .configfile import File, read  # noqa: PLC0415 (it knows the engines, which a help page need not)

        if not self.config:
            return File({}, (), {})
        return read(self.config, fields(self), get_type_hints(Config))

    def _check_deadlines(self) -> None:
        try:
            read_deadlines(self.deadlines)
        except UsageError as error:
            raise UsageError(f"{_where('deadlines')}: {error}") from None

    @property
    def local(self) -> bool:
        """Only programs on this machine can reach it."""
        return self.host in ("localhost", "::1") or self.host.startswith("127.")

    @property
    def policy(self) -> Policy:
        """How lenient models are read."""
        return Policy(recover=self.recover, unknown=self.unknown, repair=not self.no_repair)


def environment_name(setting: str) -> str:
    """The environment variable of a setting."""
    return f"DRAGOMAN_{setting.upper()}"


def _where(name: str) -> str:
    return f"setting {name!r} (--{name.replace('_', '-')}, {environment_name(name)})"


def _from_environment(facts: dict[str, Any]) -> Any:
    name, default = facts["field"].name, facts["preset"]
    text = os.environ.get(environment_name(name))
    if text is None:
        return _PRESETS.get(type(default), type(default))(default)
    try:
        return _truth(name, text) if isinstance(default, bool) else type(default)(text)
    except ValueError:
        raise UsageError(f"{_where(name)}: {text!r} is no number") from None


def _truth(name: str, text: str) -> bool:
    if text.lower() not in _TRUE + _FALSE:
        raise UsageError(f"{_where(name)}: {text!r} is neither true nor false")
    return text.lower() in _TRUE


def _check(setting: Field[Any], value: Any, names: tuple[str, ...]) -> None:
    facts = setting.metadata
    wanted = type(facts["preset"])
    if not isinstance(value, (int, float) if wanted is float else wanted) or (
        wanted is int and isinstance(value, bool)
    ):
        raise UsageError(f"{_where(setting.name)}: {value!r} is no {wanted.__name__}")
    if names and value not in names:
        raise UsageError(f"{_where(setting.name)}: {value!r} is none of {', '.join(names)}")
    least, most = facts["least"], facts["most"]
    if (least is not None and value < least) or (most is not None and value > most):
        limits = f"at least {least}" if most is None else f"between {least} and {most}"
        raise UsageError(f"{_where(setting.name)}: {value!r} is not {limits}")
