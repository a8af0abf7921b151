"""Whatever an upstream does, the client gets a proper end in its protocol, and nothing is left of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .clients import CLIENTS
from .conftest import PAIRS, bench, descriptors
from .scripts import FAULTS
from .upstream import TEXT


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "whole"])
@pytest.mark.parametrize(("kind", "protocol"), PAIRS)
async def test_every_fault(kind: str, protocol: str, stream: bool, folder: Path) -> None:
    client = CLIENTS[protocol]
    async with bench(kind, folder) as here:
        await here.ask(client, stream=stream)
        await here.quiet()
        before = descriptors()
        for name, fault in FAULTS.items():
            here.upstream.plays += [fault.play] * 5  # what fails before its first word is tried again
            here.patience(0.15 if fault.stalls else 600.0)
            status, body = await here.ask(client, stream=stream)
            if fault.good:
                assert status == 200, name
            else:
                assert (status != 200) or (stream and client.failed(body)), (name, status, body[-300:])
                assert status != 200 or not fault.early, (name, body)
                assert status not in (200, 500) or stream, (name, body)
                assert status != 500, (name, body)
            await here.quiet()
            here.upstream.plays.clear()
            here.patience(600.0)
            status, body = await here.ask(client, stream=stream)
            text = client.joined(body) if stream else client.text(json.loads(body))
            assert (status, text) == (200, TEXT), name
            await here.quiet()
        assert descriptors() <= before + 2
