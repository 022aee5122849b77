"""speedscope, a public viewer of traces, in a headless Chromium that is told what to do through a pipe."""

import base64
import contextlib
import fcntl
import itertools
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import time

import pytest

from processes import LIMIT_S

FOLDER = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "edgewire/viewers"
PAGE = FOLDER / "node_modules/speedscope/dist/release/index.html"


def find_browser():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    pytest.skip("no chromium here (apt-get install chromium)")


class Browser:
    """The DevTools protocol, JSON that ends with a zero byte, over descriptors 3 and 4 of the browser."""

    def __init__(self, folder):
        pipes = [*os.pipe(), *os.pipe()]
        from_us, self.to, self.back, from_it = (fcntl.fcntl(one, fcntl.F_DUPFD_CLOEXEC, 10) for one in pipes)  # not 3 or 4
        for one in pipes:
            os.close(one)
        command = (f'exec "$0" --headless --no-sandbox --disable-gpu --allow-file-access-from-files --user-data-dir="{folder}" '
                   f"--remote-debugging-pipe about:blank 3<&{from_us} 4>&{from_it}")
        self.process = subprocess.Popen(["bash", "-c", command, find_browser()], pass_fds=(from_us, from_it),
                                        start_new_session=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(from_it)
        self.numbers = itertools.count(1)
        self.received = b""
        self.deadline = time.monotonic() + LIMIT_S
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(one["targetId"] for one in targets if one["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]

    session = None

    def call(self, method, **parameters):
        number = next(self.numbers)
        message = {"id": number, "method": method, "params": parameters, **({"sessionId": self.session} if self.session else {})}
        os.write(self.to, json.dumps(message).encode() + b"\0")
        while True:
            while b"\0" not in self.received:
                ready, _, _ = select.select([self.back], [], [], max(0, self.deadline - time.monotonic()))
                piece = os.read(self.back, 1 << 20) if ready else b""
                assert piece, f"no answer to {method}"
                self.received += piece
            one, _, self.received = self.received.partition(b"\0")
            answer = json.loads(one)
            if answer.get("id") == number:
                assert "result" in answer, answer
                return answer["result"]

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, returnByValue=True)["result"].get("value")

    def wait_for_value(self, expression):
        while not (value := self.value(expression)):
            assert time.monotonic() < self.deadline, self.value("document.body.innerText")
            time.sleep(0.1)
        return value

    def close(self):
        os.close(self.to)
        os.close(self.back)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


def view(trace, folder):
    """What speedscope makes of a trace: its own format's JSON, a profile for each thread."""
    if not PAGE.exists():
        pytest.skip("speedscope is not installed (tools/install-packages --all)")
    load = folder / "load.js"
    content = base64.b64encode(trace.read_bytes()).decode()
    load.write_text(f'speedscope.loadFileFromBase64("{trace.name}", "{content}")')
    browser = Browser(folder / "browser")
    try:
        browser.call("Page.enable")
        browser.call("Runtime.enable")
        browser.call("Page.navigate", url=f"{PAGE.as_uri()}#localProfilePath={load}")
        browser.wait_for_value(f"document.title.startsWith('{trace.name} - ')")
        browser.value("URL.createObjectURL = blob => (blob.text().then(text => window.saved = text), 'blob:none')")
        save = "window.dispatchEvent(new KeyboardEvent('keydown', {key: 's', ctrlKey: true}))"
        return json.loads(browser.wait_for_value(f"window.saved || ({save}, '')"))
    finally:
        browser.close()
