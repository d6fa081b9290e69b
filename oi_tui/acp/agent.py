"""The agent: sessions of the application, driven by an editor."""

import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError, schema

from oi_tui.acp.prompts import make_error
from oi_tui.acp.session import AcpSession
from oi_tui.engine.settings.setting import ProfileError
from oi_tui.engine.storage.store import NoConversationError, StoreError
from oi_tui.runtimes.remote import left_targets
from oi_tui.text import escape_controls
from oi_tui.version import __version__
from oi_tui.workspace import Workspace

#: The protocol's code for what is not there.
_NOT_FOUND = -32002


class OiTuiAgent:
    """Answers the requests of one editor."""

    def __init__(self, open_workspace: Callable[[Sequence[Any]], Workspace]) -> None:
        """`open_workspace` gets the MCP servers that the editor names."""
        self._open = open_workspace
        self._sessions: dict[str, AcpSession] = {}
        self._client: Any = None
        self._can_type = False

    def on_connect(self, conn: Any) -> None:
        """Take the connection to the editor."""
        self._client = conn

    async def initialize(self, client_capabilities: Any = None, **_: Any) -> schema.InitializeResponse:
        """Say what this agent can do."""
        elicitation = getattr(client_capabilities, "elicitation", None)
        self._can_type = bool(elicitation and elicitation.form)
        return schema.InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_info=schema.Implementation(name="oi-tui", title="oi-tui", version=__version__),
            agent_capabilities=schema.AgentCapabilities(
                load_session=True,
                prompt_capabilities=schema.PromptCapabilities(image=True, embedded_context=True),
                mcp_capabilities=schema.McpCapabilities(http=True, sse=True),
                session_capabilities=schema.SessionCapabilities(
                    list=schema.SessionListCapabilities(),
                    resume=schema.SessionResumeCapabilities(),
                    fork=schema.SessionForkCapabilities(),
                    close=schema.SessionCloseCapabilities(),
                ),
            ),
        )

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.NewSessionResponse:
        """Begin a conversation."""
        workspace = self._open_workspace(cwd, mcp_servers)
        session = self._add_session(workspace.conversation.id, workspace)
        session.introduce()
        return schema.NewSessionResponse(session_id=session.id, modes=session.modes)

    async def load_session(
        self, cwd: str, session_id: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.LoadSessionResponse:
        """Continue a saved conversation, and send what it holds."""
        session = await self._save(cwd, session_id, mcp_servers)
        await session.replay()
        session.introduce()
        return schema.LoadSessionResponse(modes=session.modes)

    async def resume_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.ResumeSessionResponse:
        """Continue a saved conversation whose content the editor knows."""
        session = await self._save(cwd, session_id, mcp_servers)
        session.introduce()
        return schema.ResumeSessionResponse(modes=session.modes)

    async def fork_session(
        self, session_id: str, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> schema.ForkSessionResponse:
        """Start a conversation with the content of another one, which does not change."""
        if open_one := self._sessions.get(session_id):
            if open_one.busy:
                raise make_error("This session is busy with a prompt. Wait until it ends, or cancel it.")
            copy = self._open_workspace(cwd, mcp_servers)
            copy.conversation.begin(open_one.workspace.session.messages)
        else:
            copy = await self._resume(cwd, session_id, mcp_servers)
            copy.conversation.branch(copy.session.messages)
        session = self._add_session(copy.conversation.id, copy)
        session.introduce()
        return schema.ForkSessionResponse(session_id=session.id, modes=session.modes)

    async def set_session_mode(
        self, session_id: str, mode_id: str, **_: Any
    ) -> schema.SetSessionModeResponse:
        """Ask before code runs in a session, or do not."""
        await self._find(session_id).set_mode(mode_id)
        return schema.SetSessionModeResponse()

    async def list_sessions(self, cwd: str | None = None, **_: Any) -> schema.ListSessionsResponse:
        """List the saved conversations, of one folder if it is named."""
        workspace = self._open(())
        try:
            summaries = await asyncio.to_thread(workspace.store.list_summaries)
        finally:
            await asyncio.to_thread(workspace.close)
        sessions = [
            schema.SessionInfo(
                session_id=item.id,
                cwd=item.cwd,
                title=escape_controls(item.title),
                updated_at=datetime.fromtimestamp(item.updated, UTC).isoformat(),
            )
            for item in summaries
            if item.problem is None and cwd in (None, item.cwd)
        ]
        return schema.ListSessionsResponse(sessions=sessions)

    async def close_session(self, session_id: str, **_: Any) -> schema.CloseSessionResponse:
        """End a session; its conversation stays saved."""
        session = self._find(session_id)
        del self._sessions[session_id]
        await asyncio.to_thread(session.close)
        return schema.CloseSessionResponse()

    async def prompt(self, session_id: str, prompt: list[Any], **_: Any) -> schema.PromptResponse:
        """Work on a prompt."""
        return await self._find(session_id).prompt(prompt)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop what a session does."""
        if session := self._sessions.get(session_id):
            await session.cancel()

    def close(self) -> None:
        """End all sessions."""
        for session in self._sessions.values():
            session.close()
        self._sessions.clear()

    def _find(self, id: str) -> AcpSession:
        if id not in self._sessions:
            raise make_error(f"There is no open session {escape_controls(id)}.")
        return self._sessions[id]

    def _add_session(self, id: str, workspace: Workspace) -> AcpSession:
        self._sessions[id] = AcpSession(id, workspace, self._client, can_type=self._can_type)
        return self._sessions[id]

    async def _save(self, cwd: str, id: str, servers: Sequence[Any] | None) -> AcpSession:
        if id in self._sessions:
            return self._sessions[id]
        session = self._add_session(id, await self._resume(cwd, id, servers))
        session.is_reopened = not left_targets.list_for_conversation(id)
        session.notices = session.workspace.conversation.notices
        return session

    async def _resume(self, cwd: str, id: str, servers: Sequence[Any] | None) -> Workspace:
        workspace = self._open_workspace(cwd, servers)
        try:
            workspace.conversation.resume(id)
        except StoreError as error:
            await asyncio.to_thread(workspace.close)
            sentence = escape_controls(str(error))
            if isinstance(error, NoConversationError):
                # One without messages is not saved; by this code, clients know to begin a new one.
                raise RequestError(_NOT_FOUND, sentence) from None
            raise make_error(sentence) from None
        return workspace

    def _open_workspace(self, cwd: str, servers: Sequence[Any] | None) -> Workspace:
        """Open a workspace in a folder; it keeps the folder in which it was made."""
        if not Path(cwd).is_absolute():
            raise make_error(f"cwd must be an absolute path, not {escape_controls(cwd)}")
        try:
            os.chdir(cwd)
        except OSError as error:
            raise make_error(f"cwd: {escape_controls(cwd)}: {error.strerror}") from None
        try:
            return self._open(servers or ())
        except ProfileError as error:
            raise make_error(escape_controls(str(error))) from None
