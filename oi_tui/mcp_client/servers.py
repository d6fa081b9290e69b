"""The MCP servers of a profile: started when they are needed, with the tools that may be used."""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Literal
from urllib.parse import urlsplit

from oi_tui.engine.credentials.keys import SecretError, Secrets
from oi_tui.engine.credentials.redaction import learn
from oi_tui.engine.llm.hosts import is_near, is_this_machine
from oi_tui.engine.settings import mcp_servers
from oi_tui.engine.settings.mcp_servers import McpServer, McpServerError
from oi_tui.engine.settings.profile import Profile
from oi_tui.engine.tools import McpTool
from oi_tui.mcp_client import definitions
from oi_tui.mcp_client.connection import McpCallError, McpConnection, OnReport, SessionOverError
from oi_tui.mcp_client.definitions import Definition, Pins
from oi_tui.mcp_client.runtime import make_language
from oi_tui.mcp_client.sign_ins import SignIns, can_sign_in, is_over
from oi_tui.runtimes.language import Language
from oi_tui.system.environment import is_secret
from oi_tui.text import clean_line

#: Seconds that a request to the model waits for servers that start.
TIMEOUT = 10.0
State = Literal["not started", "starting", "ready", "changed", "failed"]


@dataclass(slots=True)
class ServerStatus:
    """A server and what is known of it."""

    server: McpServer
    state: State = "not started"
    #: Why it failed, in words that follow its name.
    problem: str = ""
    #: The tools that are used, and all definitions that it offers.
    tools: tuple[McpTool, ...] = ()
    offered: Sequence[Definition] = ()
    used: Sequence[Definition] = ()
    #: What is different here from what the server offers, in sentences: other names, tools that are left out.
    notes: tuple[str, ...] = ()
    settled: threading.Event = field(default_factory=threading.Event)
    #: Held by the attempt to connect that is in progress, and whether it was ended for a newer one.
    connecting: threading.Lock = field(default_factory=threading.Lock)
    gives_way: bool = False
    #: The number of its session: how often it was connected.
    connections: int = 0
    #: Whether the person knows that it takes longer to start than a request waits.
    is_late: bool = False
    #: The sign-in that it is used with, as it is kept; None without one.
    signed_in: Mapping[str, Any] | None = None
    #: Open while this program renews the sign-in, so that no other one does: a token may be taken once only.
    renewal: BinaryIO | None = None
    #: The addresses that a person is to open in a browser.
    addresses: "queue.SimpleQueue[str]" = field(default_factory=queue.SimpleQueue)


class McpServers:
    """Servers and their tools. All methods may be called from any thread.

    `say` gets sentences for the person: that a server ended, or that its tools have changed.
    """

    def __init__(
        self,
        profile: Profile,
        cwd: str,
        say: Callable[[str], None],
        pins: Pins | None = None,
        secrets: Secrets | None = None,
    ) -> None:
        self._profile = profile
        self._cwd = cwd
        self._say = say
        self._pins = pins or Pins()
        self._sign_ins = SignIns(secrets or Secrets())
        self._lock = threading.RLock()
        self._connection = McpConnection(self._handle_notification)
        self._servers: dict[str, ServerStatus] = {}
        self._languages: dict[str, tuple[McpTool, Language]] = {}
        self._closed = False
        self._sign_ins_stopped = False
        self.use(profile)

    @property
    def status(self) -> list[ServerStatus]:
        """Every server."""
        with self._lock:
            return list(self._servers.values())

    def find(self, name: str) -> ServerStatus | None:
        """Return the server of that name."""
        with self._lock:
            return self._servers.get(name)

    def use(self, profile: Profile) -> None:
        """Use the servers of this profile; end those that it no longer has or that it changed."""
        self._profile = profile
        servers = {server.name: server for server in map(mcp_servers.read, profile.mcp_servers)}
        with self._lock:
            before = self._servers
            self._servers = {
                name: before[name]
                if name in before and before[name].server == server
                else ServerStatus(server)
                for name, server in servers.items()
            }
            removed = [
                name
                for name, status in before.items()
                if status.state != "not started" and self._servers.get(name) is not status
            ]
        for name in removed:
            threading.Thread(target=self._end, args=(name,), daemon=True).start()

    def start(self) -> None:
        """Start the servers that were not started yet, without waiting for them."""
        if self._profile.sandbox or self._closed:
            return
        with self._lock:
            waiting = [status for status in self._servers.values() if status.state == "not started"]
            for status in waiting:
                self._begin_session(status)

    def tools(self) -> Sequence[McpTool]:
        """Return the tools that the model may call; waits a moment for servers that start."""
        if not self._servers or self._profile.sandbox:
            return ()
        self.start()
        limit = time.monotonic() + TIMEOUT
        for status in self.status:
            if not status.settled.wait(max(0.0, limit - time.monotonic())):
                self._report_slow(status)
        # Providers refuse a name that comes twice.
        tools = (tool for status in self.status for tool in status.tools)
        return _drop_duplicates(tools, lambda tool: tool.function)[: definitions.MOST_TOOLS]

    def languages(self) -> Sequence[Language]:
        """Return the languages that stand for the tools which are known."""
        with self._lock:
            tools = {
                tool.language: (tool, status.server.shown) for status in self.status for tool in status.tools
            }
            old_languages = self._languages
            # The same tool stays the same language, so that a call in progress can be stopped.
            self._languages = {
                name: old_languages[name]
                if name in old_languages and old_languages[name][0] == tool
                else (tool, self._make_language(tool, reached))
                for name, (tool, reached) in tools.items()
            }
            return [language for _, language in self._languages.values()]

    def call(
        self,
        tool: McpTool,
        arguments: Mapping[str, Any],
        stopped: threading.Event | None = None,
        on_report: OnReport | None = None,
    ) -> Mapping[str, Any]:
        """Call a tool; a server that has ended is started again. Raises McpCallError.

        `on_report` gets what the server says meanwhile; without it, the server cannot ask the person.
        """
        name = tool.original or tool.name
        order = {"do": "call", "tool": name, "arguments": arguments, "may_ask": on_report is not None}
        return dict(self.ask(tool.server, order, stopped, needs=tool, on_report=on_report))

    def answer(self, tool: McpTool, call: int, result: Mapping[str, Any]) -> None:
        """Answer what a server has asked the person during a call."""
        self._connection.answer({"server": tool.server, "id": call, "result": result})

    def ask(
        self,
        name: str,
        order: Mapping[str, Any],
        stopped: threading.Event | None = None,
        needs: McpTool | None = None,
        on_report: OnReport | None = None,
    ) -> Any:
        """Have a server carry out an order. Raises McpCallError; also where it has no tool like `needs`."""
        status = self.find(name)
        if status is None:
            raise McpCallError("it is not in the profile")
        try:
            # The settings may have changed since the server was connected.
            filled = self._require_allowed(status.server)
        except McpServerError as error:
            raise McpCallError(str(error)) from None
        is_ready = status.state in ("ready", "changed")
        with self._renewing(status, filled, is_over(status.signed_in) and is_ready, stopped):
            if is_ready and self._was_renewed_elsewhere(status, filled):
                _end_renewal(status)
                self._connect_again(status)
            try:
                return self._ask_ready(status, order, stopped, needs, on_report)
            except SessionOverError:
                # It has done nothing, so that the call is not made twice.
                return self._ask_ready(status, order, stopped, needs, on_report)

    def _ask_ready(
        self,
        status: ServerStatus,
        order: Mapping[str, Any],
        stopped: threading.Event | None,
        needs: McpTool | None,
        on_report: OnReport | None,
    ) -> Any:
        """Have a server carry out an order, connected first if needed. Raises McpCallError.

        Raises SessionOverError where the next order connects again.
        """
        session = self._make_ready(status, stopped)
        if needs and needs not in status.tools:
            raise McpCallError(f"its tool {needs.name} has changed, or is gone")
        try:
            return self._connection.ask({**order, "server": status.server.name}, stopped, on_report)
        except SessionOverError:
            with self._lock:
                # Another call may have noticed it before, and begun a new session.
                if status.connections == session:
                    self._begin_session(status)
            raise

    def test(self, status: ServerStatus) -> None:
        """Connect again. Raises McpCallError."""
        self._connect_again(status)
        if status.problem:
            raise McpCallError(status.problem)

    def sign_in(self, status: ServerStatus) -> str:
        """Begin to sign in; return the address that the person opens, "" where that is not needed.

        Blocks while the server answers. Raises McpCallError.
        """
        if self._profile.sandbox:
            raise McpCallError("MCP servers run outside of the sandbox, which is on")
        if not can_sign_in(status.server):
            raise McpCallError(
                "it does not use a sign-in, because it is a program or has its key in the profile"
            )
        status.addresses = queue.SimpleQueue()
        attempt = threading.Thread(target=self._connect_again, args=(status, True), daemon=True)
        attempt.start()
        while True:
            try:
                return status.addresses.get(timeout=0.05)
            except queue.Empty:
                if self._sign_ins_stopped:
                    raise McpCallError("it was stopped") from None
                if not attempt.is_alive():
                    self.finish_sign_in(status)
                    return ""

    def finish_sign_in(self, status: ServerStatus) -> None:
        """Wait until the person has signed in. Raises McpCallError."""
        while not status.settled.wait(0.05):
            if self._sign_ins_stopped:
                raise McpCallError("it was stopped")
        if status.problem:
            raise McpCallError(status.problem)

    def stop_sign_ins(self) -> None:
        """Wait for nobody who signs in, from now on."""
        self._sign_ins_stopped = True

    def sign_out(self, status: ServerStatus) -> bool:
        """Forget what a server gave at a sign-in; return whether there was something. Raises SecretError."""
        try:
            filled = status.server.fill(os.environ)
        except McpServerError as error:
            raise SecretError(str(error)) from None
        # A connection that ends may renew the sign-in, which is then saved.
        self._end(status.server.name)
        try:
            return self._sign_ins.forget(filled)
        finally:
            with self._lock:
                status.state = "not started"

    def accept(self, status: ServerStatus, offered: Sequence[Definition]) -> None:
        """Use the tools as the person has seen them; the server may offer others by now. Raises OSError."""
        self._pins.pin(status.server, offered)
        self._accept_tools(status, status.offered)

    def describe_changes(self, status: ServerStatus, offered: Sequence[Definition]) -> list[str]:
        """Return the lines in which what the server offered differs from what is used."""
        return definitions.describe_difference(status.used, offered)

    def close(self) -> None:
        """End all servers."""
        self._closed = True
        self._connection.close()
        for status in self.status:
            status.settled.set()

    def _make_language(self, tool: McpTool, reached: str) -> Language:
        return make_language(tool, reached, self.call, self.answer)

    def _report_slow(self, status: ServerStatus) -> None:
        """Say once that a server is not ready for a request: the model does not know its tools."""
        with self._lock:
            is_new, status.is_late = not status.is_late, True
        if is_new and not self._closed:
            self._say(
                f"The MCP server {status.server.name} is still starting. "
                "The model gets its tools once it is ready."
            )

    # -- connections -----------------------------------------------------------------------------

    def _make_ready(self, status: ServerStatus, stopped: threading.Event | None) -> int:
        """Wait until a server is ready, connected first if needed; return the number of its session.

        Raises McpCallError.
        """
        if self._profile.sandbox:
            raise McpCallError("MCP servers run outside of the sandbox, which is on")
        may_begin = True
        while True:
            with self._lock:
                if status.state in ("ready", "changed"):
                    return status.connections
                if status.state == "failed" and not may_begin:
                    raise McpCallError(status.problem)
                if status.state in ("not started", "failed"):
                    self._begin_session(status)
            may_begin = False
            while not status.settled.wait(0.05):
                if stopped and stopped.is_set():
                    raise McpCallError("it was stopped")

    def _begin_session(self, status: ServerStatus) -> None:
        """Connect a server in the background. The lock is held, so that only one does."""
        status.settled.clear()
        status.state = "starting"
        status.connections += 1
        threading.Thread(target=self._connect_first, args=(status,), daemon=True).start()

    def _connect_first(self, status: ServerStatus) -> None:
        with status.connecting:
            self._connect(status)

    def _connect_again(self, status: ServerStatus, sign_in: bool = False) -> None:
        """Connect once more; an attempt in progress, such as that of the start, gives way."""
        while not status.connecting.acquire(timeout=0.05):
            status.gives_way = True
            self._end(status.server.name)
        try:
            status.gives_way = False
            with self._lock:
                status.settled.clear()
                status.state = "starting"
                status.connections += 1
            self._connect(status, sign_in)
        finally:
            status.connecting.release()

    def _was_renewed_elsewhere(self, status: ServerStatus, server: McpServer) -> bool:
        """Return whether a token is over that another oi-tui has renewed:
        a server may take each one once only.
        """
        own_record = status.signed_in or {}
        stored_record = self._sign_ins.of(server) if is_over(own_record) else None
        return stored_record is not None and stored_record.get("tokens") != own_record.get("tokens")

    @contextmanager
    def _renewing(
        self, status: ServerStatus, server: McpServer, is_due: bool, stopped: threading.Event | None = None
    ) -> Iterator[None]:
        """Let no other oi-tui renew the sign-in while this one does."""
        claim = self._sign_ins.claim(server, stopped) if is_due else None
        if claim:
            status.renewal = claim
        try:
            yield
        finally:
            if claim:
                claim.close()

    def _connect(self, status: ServerStatus, sign_in: bool = False) -> None:
        try:
            server = self._require_allowed(status.server)
            may = can_sign_in(server)
            status.signed_in = self._sign_ins.of(server) if may else None
            spec = {
                "name": server.name,
                "command": list(server.command),
                "url": server.url,
                "values": dict(server.values),
                "cwd": self._cwd,
                "reach": "local" if self._profile.local else "offline" if self._profile.offline else "",
                "may_sign_in": may,
                "sign_in": sign_in,
                "signed_in": status.signed_in,
            }
            is_due = is_over(status.signed_in) and not sign_in
            with self._renewing(status, server, is_due):
                if is_due:
                    spec["signed_in"] = status.signed_in = self._sign_ins.of(server)
                if self.find(server.name) is not status:
                    raise McpCallError("it is no longer in the profile")
                offered = self._connection.ask({"do": "connect", "server": server.name, "spec": spec})
            self._accept_tools(status, offered["tools"])
        except (McpCallError, McpServerError, OSError) as error:
            self._fail(status, clean_line(str(error), 500))
        status.settled.set()

    def _require_allowed(self, server: McpServer) -> McpServer:
        """Return the server with its variables. Raises McpServerError where the profile forbids it."""
        filled = server.fill(os.environ)
        for name, value in filled.values.items():
            if is_secret(name, value) or value != server.values[name]:
                learn(value)
        if filled.url:
            try:
                host = urlsplit(filled.url).hostname
            except ValueError:
                raise McpServerError("The address is not valid.") from None
            if self._profile.local and not is_this_machine(host):
                raise McpServerError("local is on, and the server is on another machine.")
            if self._profile.offline and not is_near(host):
                raise McpServerError("offline is on, and the server is on the internet.")
        return filled

    def _accept_tools(self, status: ServerStatus, given: Sequence[Definition]) -> None:
        """Use those tools whose definition is the one that was used before; all of a new server.

        Raises OSError.
        """
        offered = definitions.limit_definitions(given)
        pinned = self._pins.of(status.server)
        is_new = pinned is None
        if pinned is None:
            self._pins.pin(status.server, offered)
            pinned = [definitions.select_pinned(definition) for definition in offered]
        digests = {definitions.compute_digest(definition) for definition in pinned}
        same = [definition for definition in offered if definitions.compute_digest(definition) in digests]
        other = [str(definition.get("name")) for definition in offered if definition not in same]
        read = [definitions.parse_tool(status.server.name, item) for item in same]
        # Of names that differ in capitals only, the first counts everywhere; one that was changed comes last.
        in_order = sorted(filter(None, read), key=lambda tool: bool(tool.original))
        with self._lock:
            is_known = status.state == "changed" and status.offered == offered
            status.tools = tuple(_drop_duplicates(in_order, lambda tool: tool.language))
            status.notes = tuple(_describe_names(given, offered, read, status.tools))
            status.offered, status.used = offered, pinned
            status.is_late = False
            status.state = "changed" if other else "ready"
            status.problem = ""
        if is_new:
            for note in status.notes:
                self._say(f"The MCP server {status.server.name}: {note}")
        if other and not is_known:
            names = clean_line(", ".join(other), 200)
            self._say(
                f"The MCP server {status.server.name} has changed these tools, which are not used until you "
                f"review them with %mcp trust {status.server.name}: {names}"
            )

    def _fail(self, status: ServerStatus, problem: str) -> None:
        with self._lock:
            status.state, status.problem = "failed", problem
        if not (self._closed or status.gives_way) and self.find(status.server.name) is status:
            self._say(f"The MCP server {status.server.name} is not available: {problem}")

    def _end(self, name: str) -> None:
        try:
            self._connection.ask({"do": "end", "server": name})
        except McpCallError:
            return

    def _handle_notification(self, record: Mapping[str, Any]) -> None:
        """Handle a notification of a server."""
        if record.get("gone"):
            for status in self.status:
                if status.state in ("ready", "changed"):
                    self._fail(status, "the process that talks to it ended")
            return
        about = self.find(str(record["server"]))
        if "signed_in" in record:
            self._save_sign_in(about, record)
        if about is None:
            return
        if "lost" in record:
            self._fail(about, clean_line(record["lost"], 500))
        elif "open" in record:
            about.addresses.put(str(record["open"]))
        elif "refused" in record:
            # Another oi-tui may take seconds to renew it.
            threading.Thread(target=self._claim_renewal, args=(about,), daemon=True).start()
        elif "renewal_over" in record:
            _end_renewal(about)
        elif "offered" in record:
            try:
                self._accept_tools(about, record["offered"]["tools"])
            except OSError as error:
                self._fail(about, f"its tools could not be kept: {error.strerror or error}")

    def _save_sign_in(self, status: ServerStatus | None, record: Mapping[str, Any]) -> None:
        """Save the sign-in that a connection got, which may be ending."""
        # For the address that it came from: the profile may have another one by now, or none.
        origin = McpServer(str(record["server"]), url=str(record["url"]))
        try:
            if status and status.server.fill(os.environ).url == origin.url:
                status.signed_in = record["signed_in"]
            self._sign_ins.save(origin, record["signed_in"])
        except (SecretError, McpServerError) as error:
            self._say(str(error))
        if status:
            _end_renewal(status)

    def _claim_renewal(self, status: ServerStatus) -> None:
        """Renew the sign-in whose token a server refused, once no other oi-tui is doing that."""
        stored_record = None
        try:
            server = self._require_allowed(status.server)
            if status.renewal is None or status.renewal.closed:
                status.renewal = self._sign_ins.claim(server)
            stored_record = self._sign_ins.of(server)
        except McpServerError as error:
            self._say(str(error))
        if stored_record:
            status.signed_in = stored_record
        self._connection.let_renew(status.server.name, stored_record)


def _end_renewal(status: ServerStatus) -> None:
    if status.renewal:
        status.renewal.close()


def _describe_names(
    given: Sequence[Definition],
    offered: Sequence[Definition],
    read: Sequence[McpTool | None],
    used: Sequence[McpTool],
) -> Iterator[str]:
    """Say which tools have another name here, and which are left out."""
    if renamed := [f"“{tool.original[:60]}” is {tool.name[:60]}" for tool in used if tool.original]:
        yield clean_line(f"names without spaces are used for tools: {', '.join(renamed)}", 500)
    if unnamed := read.count(None):
        yield f"tools that have no name are left out: {unnamed}"
    if twice := [tool.original or tool.name for tool in read if tool and tool not in used]:
        yield clean_line(f"tools with the name of another one are left out: {', '.join(twice)}", 500)
    if more := len(given) - len(offered):
        yield (
            f"tools left out because there are too many: {more}. Of one server, {definitions.MOST_TOOLS} "
            f"tools and {definitions.ALL_CHARACTERS:,} characters of definitions are used"
        )


def _drop_duplicates(tools: Iterable[McpTool], key: Callable[[McpTool], str]) -> list[McpTool]:
    """Return the tools without those that are called as an earlier one."""
    tools_by_key: dict[str, McpTool] = {}
    for tool in tools:
        tools_by_key.setdefault(key(tool), tool)
    return list(tools_by_key.values())
