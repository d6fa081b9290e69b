"""Found by every Python that the tests start: some processes let a process of a fork server do their work.

See tests/quick_starts/fork_server.py. Any other Python goes on as if this were not here.
"""

import os
import sys

for _variable, _program in (
    ("OI_TUI_TEST_MODELS", "oi_tui.engine.llm.transport.process import"),
    ("OI_TUI_TEST_MCP", "oi_tui.mcp_client.child.main import"),
):
    if (_address := os.environ.get(_variable)) and any(_program in word for word in sys.orig_argv):
        from asking import hand_over

        hand_over(_address)

# A terminal can be that of one session only: there `program.py` starts the program.
if (_address := os.environ.get("OI_TUI_TEST_COMMANDS")) and "oi_tui" in sys.orig_argv:
    _after = sys.orig_argv.index("oi_tui") + 1
    if sys.orig_argv[_after - 2] == "-m" and not os.isatty(0):
        from asking import hand_over

        hand_over(_address, sys.orig_argv[_after:], pass_signals=True)
