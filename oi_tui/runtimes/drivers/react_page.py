"""Builds a page that shows a component of React."""

# mypy: ignore-errors

from __future__ import annotations

import os
import pathlib
import re

#: What the page needs, by where it is in a project's node_modules and where it is on the network.
_LIBRARIES = (
    ("react/umd/react.production.min.js", "react@18/umd/react.production.min.js"),
    ("react-dom/umd/react-dom.production.min.js", "react-dom@18/umd/react-dom.production.min.js"),
    ("@babel/standalone/babel.min.js", "@babel/standalone@7/babel.min.js"),
)
NETWORK = "unpkg.com"
_IMPORT = re.compile(
    r"""^[ \t]*import\s+(?P<what>[^;'"]*?\s+from\s+)?["'](?P<from>[^"']+)["'];?[ \t]*$""", re.MULTILINE
)
_KNOWN = ("react", "react-dom", "react-dom/client")
_DEFAULT = re.compile(r"^([ \t]*)export\s+default\s+(?=(?:async\s+)?(?:function|class)\s+([A-Z]\w*))", re.M)
_DEFAULT_NAME = re.compile(r"^[ \t]*export\s+default\s+([A-Za-z_]\w*)\s*;?[ \t]*$", re.M)
_DEFAULT_VALUE = re.compile(r"^([ \t]*)export\s+default\s+", re.M)
_NAMED = re.compile(r"^([ \t]*)export\s+(?=(?:async\s+)?(?:function|class|const|let|var)\b)", re.M)
_LIST = re.compile(r"^[ \t]*export\s*\{([^}]*)\}\s*;?[ \t]*$", re.M)
_AS_DEFAULT = re.compile(r"([A-Za-z_]\w*)\s+as\s+default\b")
_COMPONENT = re.compile(r"^(?:function|class|const|let|var)\s+([A-Z]\w*)", re.M)
_RENDERS = re.compile(r"\b(?:createRoot|hydrateRoot|ReactDOM\s*\.\s*render)\s*\(")

_PAGE = """<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<title>{title}</title>
{scripts}
<script>
window.addEventListener("error", (event) => {{
  const message = document.createElement("pre");
  message.style.color = "#b00020";
  message.textContent = event.message;
  document.body.append(message);
}});
Babel.registerPreset("typed", {{
  presets: [[Babel.availablePresets.typescript, {{ allExtensions: true, isTSX: true }}]],
}});
for (const name of Object.keys(React)) if (/^use[A-Z]/.test(name)) window[name] = React[name];
Object.assign(window, {{ Fragment: React.Fragment, createRoot: ReactDOM.createRoot }});
</script>
</head>
<body>
<div id="root"></div>
<script type="text/babel" data-presets="react,typed">
{code}
{render}
</script>
</body>
</html>
"""


def page(code, folder):
    """Return the page, and the host that it loads React from ("" where the project in `folder` has it).

    Raises ValueError for a component that needs what a page does not have.
    """
    for match in _IMPORT.finditer(code):
        if match["from"] not in _KNOWN and not match["from"].endswith(".css"):
            raise ValueError(
                "A page has react and react-dom and nothing else; it cannot import {}.".format(match["from"])
            )
    # A line stays a line, so that an error names the right one.
    code = _IMPORT.sub(lambda match: "\n" * match.group().count("\n"), code)
    component = None
    if match := _DEFAULT.search(code):
        component = match[2]
        code = _DEFAULT.sub(r"\1", code, count=1)
    elif match := _DEFAULT_NAME.search(code):
        component = match[1]
        code = _DEFAULT_NAME.sub("", code, count=1)
    elif _DEFAULT_VALUE.search(code):
        component = "Component_"
        code = _DEFAULT_VALUE.sub(r"\1const Component_ = ", code, count=1)
    code = _NAMED.sub(r"\1", code)
    for match in _LIST.finditer(code):
        if default_match := _AS_DEFAULT.search(match[1]):
            component = default_match[1]
    code = _LIST.sub(lambda match: "\n" * match.group().count("\n"), code)
    names = _COMPONENT.findall(code)
    if component is None and names:
        component = "App" if "App" in names else names[-1]
    render = ""
    if not _RENDERS.search(code):
        if component is None:
            raise ValueError("There is no component to show: name one with a capital letter, as App.")
        render = (
            'ReactDOM.createRoot(document.getElementById("root")).render(React.createElement({}));'.format(
                component
            )
        )
    scripts, host = _list_scripts(folder)
    safe = re.sub(r"</(script)", r"<\\/\1", code, flags=re.IGNORECASE)
    return _PAGE.format(title=component or "React", scripts=scripts, code=safe, render=render), host


def _list_scripts(folder):
    for parent in (folder, *map(str, pathlib.Path(folder).parents)):
        here = [os.path.join(parent, "node_modules", name) for name, _ in _LIBRARIES]
        if all(map(os.path.isfile, here)):
            return _make_tags(pathlib.Path(path).as_uri() for path in here), ""
    return _make_tags("https://{}/{}".format(NETWORK, name) for _, name in _LIBRARIES), NETWORK


def _make_tags(addresses):
    return "\n".join('<script src="{}"></script>'.format(address) for address in addresses)
