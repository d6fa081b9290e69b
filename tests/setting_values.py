"""For any setting: values that are right and not the default, and texts that are no value of its kind."""

from oi_tui.engine.settings.setting import Setting, Value

#: Right texts where not any text is right.
_SPECIAL = {
    "api_base": "http://127.0.0.1:1/v1",
    "conversation_history_path": "~/elsewhere",
    "target": "command:env",
}
#: Right words for lists where not any word is right.
RIGHT_WORDS = {
    "pass_environment": ["AWS_PROFILE", "CANARY_*", "_x"],
    "mcp_servers": ["files = server-files .", "docs = http://127.0.0.1:1/mcp A=b", "x = B='c d' y"],
    "sandbox_hosts": ["docs.example.com", "*.example.com", "127.0.0.1:8000"],
}
#: For each kind of setting: texts that are no such value, as YAML.
WRONG_YAML: dict[type, list[str]] = {
    bool: ["'false'", "0", "[]", "maybe", "1.5", "{a: 1}"],
    int: ["many", "'5'", "1.5", "[1]", ".nan", "true", "{}"],
    float: ["hot", "'1'", "[1]", ".inf", "true", ".nan", "{}"],
    str: ["5", "true", "[a]", "2024-01-01 10:00:00", "1.0", "{}"],
    tuple: ["5", "true", "word", "[1]", "['']", "[[a]]", "{}", "2024-01-01 10:00:00"],
}
#: The same, as a person types them. Text and switches cannot be wrong in themselves.
WRONG_TEXT: dict[type, list[str]] = {
    int: ["many", "1.5", "nan", "-1", "1e3", "0x10", "true"],
    float: ["hot", "inf", "nan", "-1", "1,5", "true"],
}


def other_value(setting: Setting) -> Value:
    """A value that is right, and not the default."""
    if setting.kind is bool:
        return not setting.default
    if setting.kind is tuple:
        return tuple(RIGHT_WORDS.get(setting.name, ["python", "shell"])[:2])
    if setting.choices:
        return setting.choices[1] if setting.choices[0] == setting.default else setting.choices[0]
    if setting.name == "keys":
        return "command.new: ctrl+t"
    if setting.kind is str:
        return _SPECIAL.get(setting.name, "see {content} # here: 'x' and \"there\"")
    number = (setting.minimum or 0) + 1.5
    return number if setting.kind is float else int(number)


def wrong_texts(setting: Setting) -> list[str]:
    """Texts that a person could type and that are wrong; none where any text is right."""
    if setting.choices:
        return ["", "nothing of the kind", setting.choices[0].upper() + "x"]
    if setting.name in _SPECIAL:
        return ["nowhere", "./here"]
    if setting.must:
        return ["without it"]
    if setting.kind is str and not setting.optional and not setting.long:
        return ["", "  "]
    too_large = [] if setting.maximum is None else [f"{setting.maximum + 1:g}"]
    too_small = [] if setting.minimum is None else [f"{setting.minimum - 1:g}"]
    return [*WRONG_TEXT.get(setting.kind, []), *too_large, *too_small]


def wrong_yaml(setting: Setting) -> list[str]:
    """Values of a file that are wrong: of another kind, out of bounds, or no choice."""
    found = [text for text in WRONG_YAML[setting.kind] if not (setting.true_means and text == "true")]
    if setting.kind is str:
        found = [
            *found,
            *(repr(text) for text in wrong_texts(setting)),
            *([] if setting.long else ['"a\\nb"']),
        ]
    if setting.maximum is not None:
        found = [*found, f"{setting.maximum + 1:g}"]
    if setting.minimum is not None:
        found = [*found, f"{setting.minimum - 1:g}"]
    return found
