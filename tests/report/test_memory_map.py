# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
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

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "e2e"))
import golden  # noqa: E402

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
    assert {element.tag.removeprefix(name) for element in root.iter()} <= {"svg", "title", "style", "rect", "text", "line", "g",
                                                                              "path", "defs", "pattern"}


def report_of(program: str, command: str, *plans: Path, form: str = "html") -> str:
    run = subprocess.run([program, command, *plans, "--format", form], capture_output=True, timeout=120)
    assert run.returncode in ((0, 1) if command == "diff" else (0,)), run.stderr
    return run.stdout.decode("utf-8")


def check_diff_svg(svg: str) -> None:
    name = "{http://www.w3.org/2000/svg}"
    root = ElementTree.fromstring(svg)
    assert {element.tag.removeprefix(name) for element in root.iter()} <= {"svg", "title", "style", "rect", "text", "line", "g"}
    assert sum(group.get("class") == "buffers" for group in root.iter(name + "g")) >= 2


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


def check_start(browser: Browser, plan: dict) -> None:
    """Labels in the picture, the peak in view, not a hairline; colours by kind, with a legend beside their selector."""
    peak = browser.value("""(() => { const peak = document.querySelector('.peak').getBoundingClientRect();
        const frame = document.querySelector('.frame').getBoundingClientRect();
        return [peak.left >= frame.left - 1 && peak.right <= frame.right + 1, peak.width]; })()""")
    assert peak[0] and peak[1] >= 2, peak
    in_frame = browser.value("""(() => { const frame = document.querySelector('.frame').getBoundingClientRect();
        return [...document.querySelectorAll('.label')].filter(label => { const box = label.getBoundingClientRect();
            return box.left >= frame.left && box.right <= frame.right; }).length; })()""")
    assert in_frame >= min(6, len(plan["buffers"]) // 2), in_frame
    assert browser.value("document.getElementById('legend').parentElement === document.getElementById('coloring').closest('.coloring')")
    kinds = browser.value("[...document.querySelectorAll('#legend button')].map(one => one.textContent.split(' ×')[0])")
    assert 0 < len(kinds) <= 12 and len(set(kinds)) == len(kinds), kinds
    assert browser.value("document.documentElement.scrollWidth <= innerWidth"), "the page is wider than its window"
    assert browser.value("document.querySelectorAll('section:not([hidden]) .bars tr').length") == len(plan["pools"])


def check_modules(browser: Browser, page: Path, plans: list[dict]) -> None:
    """A page of several modules shows one, which the selector chooses."""
    browser.open(page)
    for index in (0, 1, 0):
        browser.value(f"(() => {{ const one = document.getElementById('module'); one.value = {index};"
                      "one.dispatchEvent(new Event('change')); })()")
        browser.key("Shift")
        headings = browser.value("[...document.querySelectorAll('h1')].filter(one => one.offsetParent !== null).map(one => one.textContent)")
        assert len(headings) == 1 and f"module {plans[index]['module']} of" in headings[0], headings
        drawn = sum(len(b["live"]) for b in plans[index]["buffers"] if b["pool"])
        assert browser.value("document.querySelectorAll('.buffer').length") == drawn
    assert not browser.complaints(), browser.complaints()


def check_diff(browser: Browser, page: Path, hostile: bool) -> None:
    """Two panels side by side, in one scale; no script, no element of a name."""
    browser.open(page)
    panels = browser.value("""[...document.querySelectorAll('.panel')].map(one => { const box = one.getBoundingClientRect();
        return [box.top, box.height]; })""")
    assert len(panels) >= 2 and panels[0] == panels[1], panels
    assert browser.value("document.querySelectorAll('script, img, b').length") == 0
    assert browser.value("document.getElementById('evil')") is None
    assert browser.value("document.querySelectorAll('table').length") >= (1 if hostile else 2)
    assert not browser.complaints(), browser.complaints()


def check_page(browser: Browser, page: Path, plan: dict) -> float:
    seconds = browser.open(page)
    placed = [buffer for buffer in plan["buffers"] if buffer["pool"]]
    assert browser.value("document.querySelectorAll('.buffer').length") == sum(len(b["live"]) for b in placed)
    assert browser.value("document.querySelectorAll('.peak').length") >= 1
    assert browser.value("document.getElementById('tip').hidden") is True

    # At first, the stretch of time around the peak in which labels have room; then all of it.
    check_start(browser, plan)
    browser.key("0")

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

    # A row of the table of the peak shows its buffer; a kind of the legend marks its operators' buffers.
    row = browser.value("(() => { const row = document.querySelector('tr[data-id]'); row.click(); return row.dataset.id; })()")
    browser.key("Shift")
    assert browser.value("document.querySelector('.buffer.chosen').dataset.id") == row
    browser.key("Escape")
    kind = browser.value("(() => { const one = document.querySelector('#legend button'); one.click(); return one.textContent; })()")
    browser.key("Shift")
    marked = browser.value("document.querySelectorAll('.buffer.match').length")
    assert 0 < marked < len(placed), (kind, marked)
    browser.key("Escape")

    # Search.
    browser.key("/")
    browser.call("Input.insertText", text="scratch")
    browser.key("Shift")
    scratch = sum(len(b["live"]) for b in placed if b["kind"] == "scratch")
    assert browser.value("document.querySelectorAll('.buffer.match').length") >= scratch
    browser.key("Escape")
    assert not browser.complaints(), browser.complaints()
    return seconds


def shared_ranges(plan: dict) -> int:
    """How many stretches of time two buffers with a distance share bytes in."""
    count = 0
    for first, second in {tuple(sorted((one["below"], one["above"]))) for one in plan.get("distances", [])}:
        a, b = plan["buffers"][first], plan["buffers"][second]
        if a["pool"] == b["pool"] and max(a["offset"], b["offset"]) < min(a["offset"] + a["size"], b["offset"] + b["size"]):
            count += sum(max(x[0], y[0]) < min(x[1], y[1]) for x in a["live"] for y in b["live"])
    return count


def crowd(count: int) -> dict:
    """A plan of so many buffers, each sharing bytes with the next one; the last is one byte for one tick."""
    buffers, distances, calls = [], [], []
    for i in range(count - 1):
        size = 500 + 37 * (i % 11)
        buffers.append({"id": i, "name": f"sid_{i}", "function": "main", "kind": "tensor", "pool": "sram", "size": size,
                        "offset": 600 * (i % 5) + 100 * (i % 2), "alignment": 1, "live": [[4 * i, 4 * i + 8]]})
        calls.append({"callee": f"f{i}", "ticks": [4 * i, 4 * i + 4], "kind": ["conv2d", "add"][i % 2]})
    for i in range(count - 2):
        distances += [{"below": i, "above": i + 1, "bytes": 0}, {"below": i + 1, "above": i, "bytes": 0}]
    distances.sort(key=lambda one: (one["below"], one["above"]))
    buffers.append({"id": count - 1, "name": "tiny", "function": "main", "kind": "scratch", "pool": "sram", "size": 1, "offset": 3999,
                    "alignment": 1, "live": [[2 * count, 2 * count + 1]]})
    return {"schema": "usmp-plan/plan", "schema_version": 2, "module": "crowd", "archive": "crowd.tar", "horizon": 4 * count + 4,
            "pools": [{"name": "sram", "kind": "workspace", "used": 4000, "alignment": 1}],
            "buffers": buffers, "distances": distances, "calls": calls}


def in_view(browser: Browser, buffer: int) -> tuple[bool, float, float]:
    """Whether some of the buffer is in its panel and in the window, and how large it is."""
    return tuple(browser.value(f"""(() => {{
        const rect = document.querySelector('.buffer[data-id="{buffer}"]'), box = rect.getBoundingClientRect();
        const frame = rect.ownerSVGElement.querySelector('.frame').getBoundingClientRect();
        const inside = (low, high, from, to) => low < to && from < high;
        return [inside(box.left, box.right, frame.left, frame.right) && inside(box.top, box.bottom, frame.top, frame.bottom)
            && inside(box.top, box.bottom, 0, innerHeight), box.width, box.height]; }})()"""))


def check_shared(browser: Browser, page: Path, plan: dict) -> None:
    """Hatches and outlines; both buffers' labels; what is chosen stays in view, what is found comes into it."""
    browser.open(page)
    ranges = shared_ranges(plan)
    assert ranges > 0 and browser.value("document.querySelectorAll('.hatch').length") == ranges
    sharing = browser.value("new Set([...document.querySelectorAll('.outline')].map(r => r.dataset.id)).size")
    assert sharing >= 2, sharing

    # No label starts where another buffer that is not hatched there has its box.
    strays = browser.value("""[...document.querySelectorAll('.label:not(.over)')].filter(label => {
        const at = label.getBoundingClientRect(), x = at.left + 1, y = at.top + at.height / 2;
        return [...document.querySelectorAll('.buffer')].some(rect => { const box = rect.getBoundingClientRect();
            return rect.dataset.id !== label.dataset.id && box.left < x && x < box.right && box.top < y && y < box.bottom; });
    }).length""")
    assert strays == 0, strays

    # The smallest buffer is found, and comes into view; zooming keeps it there.
    smallest = min((b for b in plan["buffers"] if b["pool"]), key=lambda b: (b["size"], b["id"]))
    browser.key("/")
    browser.call("Input.insertText", text=smallest["name"])
    browser.key("Shift")
    browser.value("[...document.querySelectorAll('#matches button')].find(b => b.textContent.startsWith("
                  + json.dumps(smallest["name"] + " ") + ")).click()")
    browser.key("Shift")
    visible, width, height = in_view(browser, smallest["id"])
    assert visible and width >= 14 and height >= 14, (visible, width, height)
    assert browser.value("document.querySelector('.buffer.chosen').dataset.id") == str(smallest["id"])
    for button in ("smaller", "smaller", "larger", "larger", "larger", "larger", "larger", "larger"):
        browser.value(f"document.getElementById('{button}').click()")
        browser.key("Shift")
        assert in_view(browser, smallest["id"])[0], button
    browser.key("Escape")
    browser.key("0")
    assert browser.value("document.getElementById('tip').hidden") is True
    assert not browser.complaints(), browser.complaints()


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
        sharing = folder / "sharing.plan.json"
        sharing.write_text(json.dumps(json.loads(subprocess.run(
            [arguments.program, archive, "--transform", golden.all_steps_but(arguments.program, "rolling"), "--dry-run", "--json"],
            capture_output=True, check=True, timeout=120).stdout)["modules"][0]))
        for count in (10, 300):
            (folder / f"crowd{count}.plan.json").write_text(json.dumps(crowd(count)), encoding="utf-8")
        shared_plans = [sharing, folder / "crowd10.plan.json", folder / "crowd300.plan.json"]
        for path in shared_plans:
            plan_of = json.loads(path.read_text(encoding="utf-8"))
            check_svg(report(arguments.program, path, "svg"), plan_of)
            Path(str(path) + ".html").write_text(report(arguments.program, path, "html"), encoding="utf-8")
        other = json.loads((folder / "crowd300.plan.json").read_text(encoding="utf-8"))
        modules = folder / "modules.html"
        modules.write_text(report_of(arguments.program, "report", good, folder / "crowd300.plan.json"), encoding="utf-8")
        diffs = [(folder / "diff.html", good, sharing), (folder / "evil.html", sharing, evil)]
        for page, before, after in diffs:
            page.write_text(report_of(arguments.program, "diff", before, after), encoding="utf-8")
            check_diff_svg(report_of(arguments.program, "diff", before, after, form="svg"))
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
            for path in shared_plans:
                check_shared(browser, Path(str(path) + ".html"), json.loads(path.read_text(encoding="utf-8")))
                if arguments.screenshots:
                    browser.screenshot(arguments.screenshots / f"{path.name}.png")
            check_modules(browser, modules, [plan, other])
            for page, _, after in diffs:
                check_diff(browser, page, after == evil)
            browser.open(Path(str(shared_plans[2]) + ".html"))
            check_start(browser, other)
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
