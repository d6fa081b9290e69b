"""The fields of a Jupyter client's messages, with their types."""

from collections.abc import Mapping

from oi_tui.server.fields import OBJECT, SWITCH, TEXT, Fields, make_choice, make_whole

_CURSOR: Fields = {"code": TEXT, "cursor_pos": make_whole(0)}
#: By the type of the message.
REQUEST_FIELDS: Mapping[str, Fields] = {
    "execute_request": {
        "code": TEXT,
        "silent": SWITCH,
        "store_history": SWITCH,
        "user_expressions": OBJECT,
        "allow_stdin": SWITCH,
        "stop_on_error": SWITCH,
    },
    "complete_request": _CURSOR,
    "inspect_request": {**_CURSOR, "detail_level": make_whole(0, 1)},
    "is_complete_request": {"code": TEXT},
    "history_request": {
        "output": SWITCH,
        "raw": SWITCH,
        "hist_access_type": make_choice("range", "tail", "search"),
        "session": make_whole(),
        "start": make_whole(),
        "stop": make_whole(),
        "n": make_whole(),
        "pattern": TEXT,
        "unique": SWITCH,
    },
    "input_reply": {"value": TEXT},
    "shutdown_request": {"restart": SWITCH},
}
#: What a client sends to start a kernel.
START: Fields = {"name": TEXT, "path": TEXT, "env": OBJECT, "ends_with_client": SWITCH}
