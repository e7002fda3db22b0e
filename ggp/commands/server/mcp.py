"""``ggp mcp``: rules validated, played, solved and verified by tools of language models."""

from __future__ import annotations

from gdl.errors import GdlError


def command() -> None:
    """Serve tools of language models over stdio.

    The Model Context Protocol on standard input and output: validate, state, legal, next, goals, playouts,
    solve, verify. Strangers' rules are worked on in processes with limits. Ends when the other side hangs up.
    """
    import asyncio

    try:
        import mcp.server.lowlevel  # noqa: F401
    except ImportError:
        raise GdlError(
            "ggp mcp needs the mcp package, 2 or later", remedy="pip install 'kaskade-ggp[mcp]'"
        ) from None
    from ggp.answers.mcp_tools import serve_tools

    asyncio.run(serve_tools())
