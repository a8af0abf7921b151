"""The engines that the settings name."""

from __future__ import annotations

from ..engines.base import Engine
from .config import Config

__all__ = ["build"]


def build(config: Config) -> list[Engine]:
    """Make the engines; they are not started.  Where a file names upstreams, a model of our own is served if it is named.

    Raises:
        UsageError: there is no such model; the message says what to type.
    """
    ups = config.file.upstreams
    if not ups:
        return [_single(config)]
    from ..engines.upstream import Upstream  # noqa: PLC0415

    own = config.upstream or config.model or config.engine == "script"
    return [*([_single(config)] if own else []), *map(Upstream, ups)]


def _single(config: Config) -> Engine:
    # Each engine brings packages of its own, so only the one that is wanted is imported.
    if config.upstream:
        from ..engines.upstream import Settings, Upstream  # noqa: PLC0415

        return Upstream(
            Settings(
                url=config.upstream,
                way=config.upstream_way,
                key=config.upstream_key,
                models=[config.model] if config.model else [],
                tokenizer=config.upstream_tokenizer,
                dialect=config.dialect,
            )
        )
    if config.engine == "script":
        from ..engines.script import Script  # noqa: PLC0415

        return Script.read(config.script, name=config.model)
    from ..engines.embedded import Embedded  # noqa: PLC0415
    from ..engines.models import PACKAGED, find  # noqa: PLC0415

    model = config.model or next((name for name, packaged in PACKAGED.items() if packaged.here), "")
    return Embedded(
        find(model),
        name=model if model in PACKAGED else "",
        dialect=config.dialect,
        slots=config.slots,
        context=config.ctx,
        threads=config.threads,
    )
