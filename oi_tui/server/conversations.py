"""Saved conversations: lists and searches them, and opens one as a session."""

import asyncio

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from oi_tui.server.context import find_context

#: Characters of a search that count.
_LONGEST_SEARCH = 200


async def list_conversations(request: Request) -> Response:
    """Return saved conversations, the newest first; `?search=` finds those that contain all its words."""
    sessions = find_context(request).sessions
    words = request.query_params.get("search", "")[:_LONGEST_SEARCH]
    backend = (await sessions.find()).backend
    summaries = await asyncio.to_thread(backend.search_saved, words)
    session_ids = {session.backend.conversation: session.id for session in sessions.all}
    return JSONResponse(
        {
            "conversations": [
                {
                    "id": item.id,
                    "title": item.title,
                    "updated": item.updated,
                    "messages": item.messages,
                    "folder": item.cwd,
                    "session": session_ids.get(item.id),
                }
                for item in summaries
            ]
        }
    )
