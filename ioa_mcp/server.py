"""The MCP server: an agent's calls to the product as tools, each with the caller's own token.

Deciding, lifting and resuming are not among them: those are for people.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import Parameter, signature
from typing import Any, get_type_hints

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError

from ioa_client import Client, Document, Failure, Problem
from ioa_mcp import admission_tools, resource_tools, run_tools, work_tools

INSTRUCTIONS = (
    "IOA Control: report how you are, ask before you act, redeem the permit, report what you"
    " spent, claim work and steps, propose changes, read what people answered and said no to."
    " People decide; you never do. When a call is refused, do as the sentence says."
)
TOOLS = (*resource_tools.TOOLS, *admission_tools.TOOLS, *work_tools.TOOLS, *run_tools.TOOLS)
UNSIGNED = "Send an agent's token as Authorization: Bearer ioa_…"
SCHEME = "bearer "

Tool = Callable[..., Any]
TokenOf = Callable[[Mapping[str, str] | None], str]


def build(url: str, token_of: TokenOf, version: str) -> MCPServer[Any]:
    """Return the server of one product; `token_of` finds the token of a call in its headers."""
    server: MCPServer[Any] = MCPServer(
        "ioa-control",
        title="IOA Control",
        instructions=INSTRUCTIONS,
        version=version,
        log_level="WARNING",
    )
    for tool in TOOLS:
        server.add_tool(bound(tool, url, token_of), structured_output=True)
    return server


def bound(tool: Tool, url: str, token_of: TokenOf) -> Tool:
    """Give a tool the client of its caller, and turn what is refused into a tool's error."""

    @wraps(tool)
    def call(ctx: Context[Any, Any], **arguments: Any) -> Document:
        token = token_of(ctx.headers)
        if not token:
            raise ToolError(UNSIGNED)
        try:
            with Client(url, token) as product:
                found: Document = tool(product, **arguments)
                return found
        except Failure as failure:
            raise ToolError(sentence(failure)) from None

    # The client is ours to give, the context the package's: the model sees only the rest.
    given, *others = signature(tool).parameters.values()
    hints = get_type_hints(tool)
    others = [each.replace(annotation=hints[each.name]) for each in others]
    own = Parameter("ctx", Parameter.KEYWORD_ONLY, annotation=Context)
    call.__annotations__ = {**hints, "ctx": Context}
    del call.__annotations__[given.name]
    call.__signature__ = signature(tool).replace(  # type: ignore[attr-defined]
        parameters=[*others, own], return_annotation=hints["return"]
    )
    return call


def sentence(failure: Failure) -> str:
    """Say what the product said, where it was wrong, and what would be right."""
    if not isinstance(failure, Problem):
        return str(failure)
    parts = [failure.detail]
    if failure.pointer:
        parts.append(f"At {failure.pointer}.")
    if allowed := failure.document.get("allowed"):
        parts.append(f"Allowed: {', '.join(map(str, allowed))}.")
    if failure.retry_after is not None:
        parts.append(f"Try again in {failure.retry_after:.0f} s.")
    return " ".join(parts)


def bearer(headers: Mapping[str, str] | None) -> str:
    """Return the token that a request carries itself."""
    given = (headers or {}).get("authorization", "")
    return given[len(SCHEME) :].strip() if given.lower().startswith(SCHEME) else ""
