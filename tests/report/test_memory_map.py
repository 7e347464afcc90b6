"""usmp-plan report: the memory map against an XML parser and, as a page, in a headless Chromium.

usage: test_memory_map.py USMP_PLAN TESTDATA [--browser]. The browser is driven through its DevTools; with --browser its
absence is an error, else its tests are left out and the message says so.
"""

import argparse
import base64
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
import xml.etree.ElementTree as ElementTree
from pathlib import Path

HOSTILE = ["</script><b id=evil>", "]]>", "<img src=x onerror=document.title='evil'>", "<!--<script>", "\u202e\x1b[31m", "'\"&amp;"]


def report(program: str, plan: Path, form: str) -> str:
    run = subprocess.run([program, "report", plan, "--format", form], capture_output=True, timeout=120, check=True)
    return run.stdout.decode("utf-8")


def hostile_plan(source: Path, target: Path) -> None:
    plan = json.loads(source.read_text(encoding="utf-8"))
    plan["module"] = plan["archive"] = plan["algorithm"] = HOSTILE[0]
    for index, buffer in enumerate(plan["buffers"]):
        buffer["name"] = buffer["function"] = HOSTILE[index % len(HOSTILE)]
    for index, call in enumerate(plan["calls"]):
        call["callee"] = HOSTILE[index % len(HOSTILE)]
    plan["transformed"] = [{"step": name, "load_before": 1, "load_after": 1, "changes": [{"function": name, "what": name}]}
                           for name in HOSTILE]
    target.write_text(json.dumps(plan), encoding="utf-8")


def check_svg(svg: str, plan: dict) -> None:
    root = ElementTree.fromstring(svg)
    name = "{http://www.w3.org/2000/svg}"
    drawn = [rect for group in root.iter(name + "g") if group.get("class") == "buffers" for rect in group.iter(name + "rect")]
    assert len(drawn) == sum(len(b["live"]) for b in plan["buffers"] if b["pool"]), len(drawn)
    assert {element.tag.removeprefix(name) for element in root.iter()} <= {"svg", "title", "style", "rect", "text", "line", "g", "path"}


class Browser:
    """A page in a Chromium of its own, driven by messages of the DevTools protocol."""

    def __init__(self, chromium: str, folder: str) -> None:
        import websocket

        self.process = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--remote-debugging-port=0",
             "--remote-allow-origins=*", f"--user-data-dir={folder}", "--window-size=1200,900", "about:blank"],
            stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            port_file = Path(folder) / "DevToolsActivePort"
            deadline = time.monotonic() + 60
            while not port_file.exists() or "\n" not in port_file.read_text():
                assert time.monotonic() < deadline and self.process.poll() is None, "chromium does not start"
                time.sleep(0.05)
            port = port_file.read_text().split()[0]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list", timeout=30) as answer:
                target = next(t for t in json.load(answer) if t["type"] == "page")
            self.socket = websocket.create_connection(target["webSocketDebuggerUrl"], timeout=60)
        except BaseException:
            self.close()
            raise
        self.number = 0
        self.events: list[dict] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(30)

    def call(self, method: str, **parameters: object) -> dict:
        self.number += 1
        self.socket.send(json.dumps({"id": self.number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self.socket.recv())
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            self.events.append(message)

    def open(self, page: Path) -> float:
        """Seconds until the page has been drawn."""
        self.events.clear()
        begin = time.monotonic()
        self.call("Page.navigate", url=page.as_uri())
        while self.value("document.readyState + location.protocol") != "completefile:":
            time.sleep(0.02)
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
        return time.monotonic() - begin

    def value(self, expression: str) -> object:
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def mouse(self, kind: str, x: float, y: float) -> None:
        button = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
        self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **button)

    def key(self, key: str) -> None:
        text = {"text": key} if len(key) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, **(text if kind == "keyDown" else {}))
        self.value("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def screenshot(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self) -> list[dict]:
        """Exceptions, console messages, refused or attempted loads of anything but the page."""
        noisy = {"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"}
        loads = [e for e in self.events if e["method"] == "Network.requestWillBeSent"
                 and not e["params"]["request"]["url"].startswith("file:") or e["method"] == "Network.requestWillBeSent"
                 and e["params"]["type"] != "Document"]
        return [e for e in self.events if e["method"] in noisy] + loads


def check_page(browser: Browser, page: Path, plan: dict) -> float:
    seconds = browser.open(page)
    placed = [buffer for buffer in plan["buffers"] if buffer["pool"]]
    assert browser.value("document.querySelectorAll('.buffer').length") == sum(len(b["live"]) for b in placed)
    assert browser.value("document.querySelectorAll('.peak').length") >= 1
    assert browser.value("document.getElementById('tip').hidden") is True

    # Hover over the largest buffer: its card says what the plan says.
    largest = max((b for b in placed if b["kind"] == "tensor"), key=lambda b: (b["size"], -b["id"]))
    x, y = browser.value(f"""(() => {{ const r = document.querySelector('.buffer[data-id="{largest['id']}"]').getBoundingClientRect();
        return [r.left + r.width / 2, r.top + r.height / 2]; }})()""")
    browser.mouse("mouseMoved", x, y)
    card = browser.value("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText.replaceAll('\\u202f', '')")
    begin, end = largest["live"][0]
    for part in (str(largest["size"]) + " byte", hex(largest["offset"]), f"[{begin}, {end})", largest["pool"]):
        assert part in card, (part, card)
    browser.mouse("mousePressed", x, y)
    browser.mouse("mouseReleased", x, y)
    assert browser.value("document.querySelector('.buffer.chosen').dataset.id") == str(largest["id"])

    # Keyboard: other buffers with the arrows, zoom with + and 0.
    browser.value("document.querySelector('svg').focus()")
    browser.key("ArrowRight")
    assert browser.value("document.querySelector('.buffer.chosen')?.dataset.id") not in (None, str(largest["id"]))
    width = f"document.querySelector('.buffer[data-id=\"{largest['id']}\"]').getBoundingClientRect().width"
    before = browser.value(width)
    browser.key("+")
    assert browser.value(width) > 1.3 * before
    browser.key("0")
    assert abs(browser.value(width) - before) < 0.5
    browser.key("Escape")
    assert browser.value("document.getElementById('tip').hidden") is True

    # Search.
    browser.key("/")
    browser.call("Input.insertText", text="scratch")
    browser.key("Shift")
    scratch = sum(len(b["live"]) for b in placed if b["kind"] == "scratch")
    assert browser.value("document.querySelectorAll('.buffer.match').length") >= scratch
    browser.key("Escape")
    assert not browser.complaints(), browser.complaints()
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("testdata", type=Path)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--screenshots", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        archive = arguments.testdata / "ds_cnn.tar"
        subprocess.run([arguments.program, archive, "--transform", "none", "--quiet", "-o", folder / "planned"], check=True, timeout=120)
        good, evil = folder / "planned" / "default.plan.json", folder / "evil.plan.json"
        hostile_plan(good, evil)
        plan = json.loads(good.read_text(encoding="utf-8"))
        pages = []
        for path in (good, evil):
            check_svg(report(arguments.program, path, "svg"), plan)
            html = report(arguments.program, path, "html")
            assert html == report(arguments.program, path, "html") and len(html) < 500_000, len(html)
            pages.append(folder / (path.name + ".html"))
            pages[-1].write_text(html, encoding="utf-8")
        chromium = shutil.which("chromium")
        try:
            import websocket  # noqa: F401
        except ImportError:
            chromium = None
        if chromium is None:
            print("SVG parsed; the page was not tried: packages chromium and python3-websocket are missing (make check-html)")
            return 1 if arguments.browser else 77
        browser = Browser(chromium, str(folder / "profile"))
        try:
            for scheme in ("light", "dark"):
                browser.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
                seconds = check_page(browser, pages[0], plan)
                color = browser.value("getComputedStyle(document.body).backgroundColor")
                assert (color == "rgb(255, 255, 255)") == (scheme == "light"), color
                if arguments.screenshots:
                    browser.screenshot(arguments.screenshots / f"{scheme}.png")
            browser.open(pages[1])
            assert browser.value("document.getElementById('evil')") is None
            assert browser.value("document.title") != "evil"
            assert browser.value("document.querySelectorAll('img, b').length") == 0
            assert browser.value("document.querySelectorAll('.buffer').length") > 0
            assert not browser.complaints(), browser.complaints()
        finally:
            browser.close()
        print(f"SVG parsed, page tried in {chromium}: drawn within {seconds:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
