"""Headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tempfile
import time
import urllib.request
from itertools import count
from pathlib import Path

import cv2
import numpy as np
import websocket

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--remote-debugging-port=0",
    "--remote-allow-origins=*",
]
PATIENCE_S = 60.0
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class Browser:
    """One tab. What its page reports as an error is kept in `errors`."""

    def __init__(self, width: int = 1440, height: int = 900, dark: bool = True):
        self._size, self._dark = (width, height), dark
        self._numbers, self.errors = count(1), []

    def __enter__(self) -> Browser:
        self._profile = tempfile.mkdtemp()
        flags = [*FLAGS, f"--user-data-dir={self._profile}", "about:blank"]
        self._process = subprocess.Popen([CHROMIUM, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = Path(self._profile, "DevToolsActivePort")
        wait_for(lambda: port_file.exists() and port_file.read_text().count("\n") > 0, "Chromium")
        port = port_file.read_text().split()[0]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/json", timeout=PATIENCE_S) as response:
            tab = next(tab for tab in json.load(response) if tab["type"] == "page")
        self._socket = websocket.create_connection(tab["webSocketDebuggerUrl"], timeout=PATIENCE_S)
        width, height = self._size
        self.command("Runtime.enable")
        self.command("Log.enable")
        self.command("Page.enable")
        self.resize(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if self._dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
        self._process.terminate()
        self._process.wait(PATIENCE_S)
        shutil.rmtree(self._profile, ignore_errors=True)

    def command(self, method: str, **parameters: object) -> dict:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]
            self._note(message)

    def _note(self, message: dict) -> None:
        parameters = message.get("params", {})
        if message.get("method") == "Runtime.exceptionThrown":
            self.errors.append(parameters["exceptionDetails"])
        if message.get("method") == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"])

    def resize(self, width: int, height: int) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )

    def open(self, address: str) -> None:
        self.command("Page.navigate", url=address)

    def run(self, script: str) -> object:
        """Value of an expression in the page; waits for a promise."""
        result = self.command("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, script: str, patience_s: float = PATIENCE_S) -> object:
        return wait_for(lambda: self.run(script), script, patience_s)

    def picture(self, full: bool = False) -> np.ndarray:
        """What the window shows, in BGR."""
        shot = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=full)
        return cv2.imdecode(np.frombuffer(base64.b64decode(shot["data"]), np.uint8), cv2.IMREAD_COLOR)

    def region(self, selector: str) -> np.ndarray:
        """The part of the window that an element fills."""
        place = (f"(() => {{ const b = document.querySelector({selector!r}).getBoundingClientRect();"
                 " return [b.left, b.top, b.right, b.bottom].map(Math.round); })()")
        while True:
            box = self.run(place)
            picture = self.picture()
            # What is above it may have grown meanwhile.
            if self.run(place) == box:
                left, top, right, bottom = (max(0, n) for n in box)
                return picture[top:bottom, left:right]


def wait_for(condition, what: str, patience_s: float = PATIENCE_S):
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        if value := condition():
            return value
        time.sleep(0.1)
    raise AssertionError(f"waited {patience_s} s for: {what}")
