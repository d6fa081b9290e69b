"""The names of oi-tui's own environment variables.

Settings declare theirs in the field `variable` (`oi_tui/engine/settings/`).
"""

#: What every name begins with.
PREFIX = "OI_TUI_"
#: One folder for data, settings and state.
HOME = "OI_TUI_HOME"
#: How fast the demo model answers.
DEMO_TOKENS_PER_SECOND = "OI_TUI_DEMO_TOKENS_PER_SECOND"
#: Identifies the processes of one language, so that all of them can be ended.
RUNTIME = "OI_TUI_RUNTIME"
#: Tells a program that it runs in the sandbox. `OI_TUI_SANDBOX` would look like the way to switch it on.
IN_SANDBOX = "OI_TUI_IN_SANDBOX"
#: Tells a language which variables it did not get.
HELD_BACK = "OI_TUI_HELD_BACK"
#: Tells a language where its files are.
FOLDER = "OI_TUI_FOLDER"
#: Tells Python that its cells have the object `computer`.
COMPUTER_API = "OI_TUI_COMPUTER_API"
#: Tells the object `computer` how to reach oi-tui.
COMPUTER = "OI_TUI_COMPUTER"
#: Tells the object `computer` where the accounts for mail and calendars are.
ACCOUNTS = "OI_TUI_ACCOUNTS"
#: Tells the object `computer` where the skills are.
SKILLS = "OI_TUI_SKILLS"

#: Tells Python where a copy of cloudpickle is, for when it has none of its own.
CLOUDPICKLE = "OI_TUI_CLOUDPICKLE"
#: Tells Python how to reach oi-tui for the tools of MCP servers.
TOOLS = "OI_TUI_TOOLS"
#: Tells Python how to reach oi-tui for requests to the model.
MODEL_SOCKET = "OI_TUI_MODEL_SOCKET"

#: Set by users, besides the settings.
FOR_USERS = (HOME, DEMO_TOKENS_PER_SECOND)
#: Set by oi-tui for the programs that it starts. oi-tui may be started by one of them.
FOR_PROGRAMS = (
    RUNTIME,
    IN_SANDBOX,
    HELD_BACK,
    FOLDER,
    COMPUTER_API,
    COMPUTER,
    ACCOUNTS,
    SKILLS,
    CLOUDPICKLE,
    TOOLS,
    MODEL_SOCKET,
)
#: Set for the tests and benchmarks, which start oi-tui with the same environment.
FOR_TESTS = (
    "OI_TUI_BENCHMARK_JUPYTER",
    "OI_TUI_SEED",
    "OI_TUI_SOAK",
    "OI_TUI_SOAK_ROUNDS",
    "OI_TUI_TEST_COMMANDS",
    "OI_TUI_TEST_MCP",
    "OI_TUI_TEST_MODELS",
    "OI_TUI_TEST_RESULTS",
    "OI_TUI_TEST_RUN",
)
ALL = frozenset({*FOR_USERS, *FOR_PROGRAMS, *FOR_TESTS})
