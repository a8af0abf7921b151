"""The engines that the settings name."""

from __future__ import annotations

from collections.abc import Sequence

from ..engines.base import Engine
from .config import Config

__all__ = ["build"]


def build(config: Config) -> list[Engine]:
    """Make the engines; they are not started.  Where a file names upstreams, a model of our own is served if it is named.

    Raises:
        UsageError: there is no such model; the message says what to type.
    """
    ups = config.file.upstreams
    named = config.upstream or config.model or config.engine == "script"
    own = named or not (ups or (config.embedding_model and not _packaged()))
    engines = [_single(config)] if own else []
    if config.embedding_model:
        engines.append(_embedder(config, taken=[str(getattr(engine, "info", engine).name) for engine in engines]))
    if ups:
        from ..engines.upstream import Upstream  # noqa: PLC0415

        engines += map(Upstream, ups)
    return engines


def _embedder(config: Config, taken: Sequence[str]) -> Engine:
    """A model of this machine that embeds; one that writes may be the same file, and has its name then."""
    from ..engines.embedder import LocalEmbedder  # noqa: PLC0415
    from ..engines.models import PACKAGED, find  # noqa: PLC0415

    model = config.embedding_model
    path = find(model)
    name = model if model in PACKAGED else path.stem
    return LocalEmbedder(
        path,
        name=f"{name}-embedding" if name in taken else name,
        slots=config.slots,
        context=config.embedding_ctx,
        threads=config.threads,
    )


def _packaged() -> str:
    """A packaged model that is on this machine, "" if there is none."""
    from ..engines.models import PACKAGED  # noqa: PLC0415

    return next((name for name, packaged in PACKAGED.items() if packaged.here), "")


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

    model = config.model or _packaged()
    return Embedded(
        find(model),
        name=model if model in PACKAGED else "",
        dialect=config.dialect,
        slots=config.slots,
        context=config.ctx,
        threads=config.threads,
    )
