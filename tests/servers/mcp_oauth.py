"""An MCP server for tests that wants a sign-in by OAuth, made with the real library; at a local port.

It says yes to everybody, or no where the variable REFUSE is set. With FORGET, it knows no token that it gave.
With GARBLE, what it sends in place of a token is none. SECONDS is how long a token is valid, RENEWING_SECONDS
how long it takes to renew one. FORGETS adds a tool that forgets all tokens, or those for access only.
"""

import asyncio
import os
import secrets
import sys
import time
from urllib.parse import urlencode

import uvicorn
from mcp.server.auth.provider import AccessToken, AuthorizationCode, RefreshToken
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions
from mcp.server.mcpserver import MCPServer
from mcp.shared.auth import OAuthToken
from starlette.responses import JSONResponse
from starlette.routing import Route

PORT = int(sys.argv[1])


class Provider:
    """Remembers everything until it ends."""

    def __init__(self):
        self.clients, self.codes, self.access, self.refresh = {}, {}, {}, {}
        self.counts = {"registered": 0, "signed_in": 0, "refreshed": 0}

    async def get_client(self, client_id):
        return self.clients.get(client_id)

    async def register_client(self, client_info):
        self.counts["registered"] += 1
        self.clients[client_info.client_id] = client_info

    async def authorize(self, client, params):
        if os.environ.get("REFUSE"):
            values = {"error": "access_denied", "error_description": "Not today.", "state": params.state}
            return f"{params.redirect_uri}?{urlencode(values)}"
        code = secrets.token_urlsafe(32)
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=params.redirect_uri_provided_explicitly,
            resource=params.resource,
        )
        return f"{params.redirect_uri}?{urlencode({'code': code, 'state': params.state})}"

    async def load_authorization_code(self, client, authorization_code):
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(self, client, authorization_code):
        del self.codes[authorization_code.code]
        self.counts["signed_in"] += 1
        return self._tokens(client)

    async def load_refresh_token(self, client, refresh_token):
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(self, client, refresh_token, scopes):
        del self.refresh[refresh_token.token]
        self.counts["refreshed"] += 1
        await asyncio.sleep(float(os.environ.get("RENEWING_SECONDS", "0")))
        return self._tokens(client)

    async def load_access_token(self, token):
        if os.environ.get("FORGET"):
            return None
        return self.access.get(token)

    async def revoke_token(self, token): ...

    def _tokens(self, client):
        access, refresh = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self.access[access] = AccessToken(token=access, client_id=client.client_id, scopes=[])
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client.client_id, scopes=[])
        seconds = int(os.environ.get("SECONDS", "3600"))
        return OAuthToken(access_token=access, expires_in=seconds, refresh_token=refresh)


provider = Provider()
address = f"http://127.0.0.1:{PORT}"
server = MCPServer(
    "private",
    auth_server_provider=provider,
    auth=AuthSettings(
        issuer_url=address,
        resource_server_url=f"{address}/mcp",
        validate_token_resource=False,
        client_registration_options=ClientRegistrationOptions(enabled=True),
    ),
)


@server.tool(description="Says how often what was asked for.", structured_output=False)
def counts() -> str:
    return " ".join(f"{name}={number}" for name, number in provider.counts.items())


if os.environ.get("FORGETS"):

    @server.tool(description="Forgets everybody who has signed in.", structured_output=False)
    def forget() -> str:
        provider.access.clear()
        if os.environ["FORGETS"] != "access":
            provider.refresh.clear()
        return "done"


application = server.streamable_http_app()
if os.environ.get("GARBLE"):
    application.router.routes.insert(0, Route("/token", lambda _: JSONResponse({}), methods=["POST"]))
uvicorn.run(application, port=PORT, log_level="error")
