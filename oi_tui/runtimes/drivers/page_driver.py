"""The driver of pages: saves each as a file, and takes a screenshot of it if there is a browser."""

# mypy: ignore-errors

from __future__ import annotations

import base64
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import react_page
from plain_channel import Channel, find_working_directory

_TIMEOUT = 20.0
#: Nothing is loaded for a screenshot: all that is not a file goes to a proxy that is not there.
_OFFLINE = [
    "--proxy-server=127.0.0.1:9",
    "--proxy-bypass-list=<-loopback>",
    "--disable-background-networking",
]
_QUIET = [
    "--headless",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-component-update",
    "--disable-extensions",
    "--disable-sync",
    "--virtual-time-budget=3000",
    "--window-size=1024,768",
]
_LOADED = re.compile(
    r"""(?:src|href|url)\s*[=(]\s*["']?\s*(?:https?:)?//|\bimport\b[^;\n]*["']https?://""", re.I
)


class Pages:
    """Makes a page of each cell."""

    def __init__(self, channel, kind, browser, folder):
        self._channel = channel
        self._kind = kind
        self._browser = browser
        self._folder = folder

    def run(self, code):
        if not code.strip():
            return "finished", None
        needs = ""
        if self._kind == "react":
            try:
                code, needs = react_page.page(code, find_working_directory())
            except ValueError as error:
                return "failed", str(error)
        try:
            path = self._save(code)
        except OSError as error:
            return "failed", "the page cannot be saved in {}: {}".format(self._folder, error.strerror)
        print("Saved as {}".format(path))
        if needs:
            print("It loads React and Babel from {} whenever it is opened.".format(needs))
        self._channel.send("display", placed=True, format="page", content=path)
        if needs:
            print("No screenshot of it: screenshots are made without the network.")
        elif self._browser:
            self._show(path, code)
        return "finished", None

    def _save(self, code):
        os.makedirs(self._folder, mode=0o700, exist_ok=True)
        moment = time.strftime("%Y%m%d-%H%M%S")
        number = 0
        while True:
            number += 1
            path = os.path.join(self._folder, "page-{}-{}.html".format(moment, number))
            try:
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            except FileExistsError:
                continue
            with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace", newline="") as file:
                file.write(code)
            return path

    def _show(self, path, code):
        # TemporaryDirectory fails on what the browser still writes; before 3.10 it cannot ignore that.
        folder = tempfile.mkdtemp(prefix="oi-tui-page-")
        try:
            screenshot = os.path.join(folder, "page.png")
            words = [self._browser, *_QUIET, *_OFFLINE]
            words += ["--no-sandbox"] if os.geteuid() == 0 else []
            words += ["--user-data-dir=" + os.path.join(folder, "profile"), "--screenshot=" + screenshot]
            words.append("file://" + path)
            problem = self._wait(words, folder)
            try:
                with open(screenshot, "rb") as file:
                    data = file.read()
            except OSError:
                data = b""
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        if not data:
            print("No screenshot of it: {}".format(problem or "the browser made none"))
            return
        self._channel.send(
            "display", placed=True, format="base64.png", content=base64.b64encode(data).decode()
        )
        if _LOADED.search(code):
            print("The screenshot is made without the network: what the page loads from there is not in it.")

    @staticmethod
    def _wait(words, folder):
        """Run the browser, whose files are in the folder. Returns what went wrong, if anything."""
        null = subprocess.DEVNULL
        try:
            # It leaves some behind where it is ended.
            env = {**os.environ, "TMPDIR": folder}
            browser = subprocess.Popen(words, stdin=null, stdout=null, stderr=null, env=env)
        except OSError as error:
            return "{}: {}".format(words[0], error.strerror)
        try:
            status = browser.wait(_TIMEOUT)
        except subprocess.TimeoutExpired:
            return "the page was not done within {:.0f} s".format(_TIMEOUT)
        finally:
            if browser.poll() is None:
                browser.kill()
                browser.wait()
        return "{} ended with exit status {}".format(os.path.basename(words[0]), status) if status else None


def main(folder, kind, browser, pages):
    channel = Channel(folder)
    channel.serve(Pages(channel, kind, browser, pages).run)


main(*sys.argv[1:])
