"""Ends a reply at once when its server sends bytes that are not valid HTTP in the middle of it."""

from functools import wraps
from typing import Any


def report_at_once() -> None:
    """Have aiohttp raise at once, for the reader of a body, when the rest of it is not valid HTTP.

    It closes the connection, but reports the error only to whoever waits for the next response. A reader of
    the body would wait for the whole timeout.
    """
    from aiohttp import ClientPayloadError
    from aiohttp.client_proto import ResponseHandler
    from aiohttp.http_exceptions import HttpProcessingError

    fail = ResponseHandler.set_exception

    @wraps(fail)
    def fail_with_body(handler: ResponseHandler, error: BaseException, *cause: Any) -> None:
        body = getattr(handler, "_payload", None)
        fail(handler, error, *cause)
        if isinstance(error, HttpProcessingError) and body is not None and not body.is_eof():
            body.set_exception(ClientPayloadError(f"Response payload is not completed: {error!r}"))

    ResponseHandler.set_exception = fail_with_body  # type: ignore[assignment,method-assign]
