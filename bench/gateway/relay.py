"""The yardstick: a relay that passes bytes on unread, with the same client library as the gateway.

python -m bench.gateway.relay URL    # prints its port
"""

from __future__ import annotations

import asyncio
import socket
import sys

import aiohttp
from aiohttp import web

__all__ = ["main"]


def main() -> None:
    """Serve until stdin is closed."""
    asyncio.run(_serve(sys.argv[1]))


async def _serve(url: str) -> None:
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def relay(query: web.Request) -> web.StreamResponse:
            body = await query.read()
            async with session.post(url + query.path, data=body, headers={"content-type": "application/json"}) as there:
                response = web.StreamResponse(headers={"content-type": there.headers["content-type"]})
                await response.prepare(query)
                async for data in there.content.iter_any():
                    await response.write(data)
                await response.write_eof()
            return response

        app = web.Application()
        app.router.add_post("/{path:.*}", relay)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        listener = socket.create_server(("127.0.0.1", 0), backlog=4096)
        await web.SockSite(runner, listener).start()
        print(listener.getsockname()[1], flush=True)
        await asyncio.to_thread(sys.stdin.read)
        await runner.cleanup()


if __name__ == "__main__":
    main()
