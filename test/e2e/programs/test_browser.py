"""What the page says and does at three widths: no simulator, one vehicle, two, twenty cameras, a bridge that is killed (docs/view.md)."""

from __future__ import annotations

import re
import time
from contextlib import contextmanager

import numpy as np
import pytest
from backend import environment
from browser import Browser, wait_for
from foxglove import Client
from page import answers, free_tcp_port
from processes import Process, binary
from programs import Programs
from rosbags.highlevel import AnyReader

from sensors import COMPRESSED, Sensor, with_defaults, write_config

WIDTHS = [390, 1280, 1920]
SENSORS = [with_defaults(0, 1, COMPRESSED, rate=20), with_defaults(1, 2, COMPRESSED), with_defaults(2, 20, COMPRESSED)]
BOTH = [with_defaults(n, type_id, COMPRESSED, vehicle=vehicle) for n, (vehicle, type_id) in enumerate([(1, 1), (1, 20), (2, 1), (2, 20)])]
# With the longest names of sensors.
FLYING = [*SENSORS, with_defaults(3, 4, COMPRESSED), with_defaults(4, 40, COMPRESSED)]
CAMERAS = [with_defaults(n, 1, COMPRESSED) for n in range(20)]

PILL = "document.getElementById('connection').textContent"
NOTICE = "document.getElementById('notice').textContent"
FITS = "document.documentElement.scrollWidth <= innerWidth"
UNBROKEN = "[...document.images].every((image) => image.hidden || image.naturalWidth > 0)"
LIVE = f"window.rfly && {PILL} === 'live'"
VEHICLE = "document.querySelector('.vehicle')"
FOLLOWED = "rfly.frames.pose('base_link') && rfly.scene.boxes.get('/rflysim/scene/vehicles')?.length > 0"

FAULTS = r"""(() => {
    const seen = (e) => e.checkVisibility({ visibilityProperty: true });
    const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
    const name = (e) => `${e.tagName.toLowerCase()} ${e.id || e.className} "${(e.selectedOptions?.[0] ?? e).textContent.trim().slice(0, 40)}"`;
    const faults = [];
    if (document.documentElement.scrollWidth > innerWidth) faults.push(`scrolls sideways: ${document.documentElement.scrollWidth} px`);
    // What shows of an element: without what its panel has scrolled away.
    const place = (e) => {
        let { left, top, right, bottom } = e.getBoundingClientRect();
        for (let p = e.parentElement; p; p = p.parentElement) {
            if (!["auto", "scroll"].includes(getComputedStyle(p).overflowY)) continue;
            const box = p.getBoundingClientRect();
            [left, top, right, bottom] = [Math.max(left, box.left), Math.max(top, box.top), Math.min(right, box.right), Math.min(bottom, box.bottom)];
        }
        return { left, top, right, bottom };
    };
    // The header and the question stay in sight, above what is scrolled.
    const above = (e) => e.closest("header, #goal");
    const items = all("button, select, label, canvas, .frame, h1, h2, .pill, .values, .mode, .rate, #controls, #notice").map((e) => [e, place(e), above(e)]);
    items.forEach(([a, p, up], i) => items.slice(i + 1).forEach(([b, q, over]) => {
        const width = Math.min(p.right, q.right) - Math.max(p.left, q.left), height = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
        if (up === over && width > 1 && height > 1) faults.push(`${name(a)} is over ${name(b)}`);
    }));
    for (const e of all("body *")) {
        const { left, right } = place(e);
        if (right > left && (left < -1 || right > innerWidth + 1)) faults.push(`outside: ${name(e)}`);
        if (e.clientWidth && e.scrollWidth > e.clientWidth + 1) faults.push(`cut off: ${name(e)}, ${e.scrollWidth} of ${e.clientWidth} px`);
    }
    const pen = document.createElement("canvas").getContext("2d");
    for (const e of all("select")) {
        const { fontSize, fontFamily, paddingLeft, paddingRight } = getComputedStyle(e);
        pen.font = `${fontSize} ${fontFamily}`;
        // An arrow is 16 px wide.
        const needed = pen.measureText(e.selectedOptions[0]?.textContent ?? "").width + parseFloat(paddingLeft) + parseFloat(paddingRight) + 16;
        if (needed > e.clientWidth + 1) faults.push(`cut off: ${name(e)}, ${Math.round(needed)} of ${e.clientWidth} px`);
        if (!e.selectedOptions[0]?.textContent) faults.push(`empty: select ${e.ariaLabel}`);
    }
    const least = innerWidth < 900 ? 44 : 28;
    for (const e of all("button, select, #layers label")) {
        const { width, height } = e.getBoundingClientRect();
        if (Math.min(width, height) < least) faults.push(`small: ${name(e)}`);
    }
    for (const image of document.images) if (seen(image) && !image.naturalWidth) faults.push(`broken: ${image.alt}`);
    if (document.body.classList.contains("gone")) {
        for (const e of all(".vehicle button, #record button, #goal button")) if (!e.disabled) faults.push(`can be pressed: ${name(e)}`);
    }
    for (const word of document.body.innerText.match(/undefined|NaN|null|Infinity|\[object/g) ?? []) faults.push(word);
    return faults;
})()"""


@contextmanager
def viewed(directory, domain_id: int, sensors: list[Sensor], *emulator: str, **parameters: object):
    """Emulator and bridge, and the port of the page."""
    port = free_tcp_port()
    own = {"view.port": port, "view.control": True, "record.directory": directory, **parameters}
    with Programs(directory, domain_id, sensors, parameters=own, keep_frames=False, emulator=list(emulator)) as programs:
        wait_for(lambda: answers(port), "the port")
        yield programs, port


@contextmanager
def opened(port: int, width: int = 1280):
    """The page, which must not report errors; those of a bridge that does not answer are the browser's own."""
    with Browser(width, 900) as browser:
        browser.open(f"http://127.0.0.1:{port}/")
        browser.wait("window.rfly !== undefined")
        yield browser
        assert [error for error in browser.errors if "ERR_CONNECTION_REFUSED" not in str(error)] == []


def change(selector: str, value: str) -> str:
    """Script that chooses an option as the user does."""
    return (f"(() => {{ const select = document.querySelector({selector!r}); select.value = {value!r};"
            " select.dispatchEvent(new Event('change')); return select.value; })()")


def press(browser: Browser, text: str, inside: str = "body") -> None:
    """Presses the button with this text."""
    script = f"[...document.querySelectorAll('{inside} button')].filter((b) => b.textContent === {text!r} && !b.disabled).map((b) => b.click()).length"
    assert browser.run(script) == 1, text


def assert_tidy(browser: Browser, *widths: int) -> None:
    """Nothing is cut off, covered, broken or too small, at each width; it may be so for a moment while the page changes."""
    for width in widths:
        browser.resize(width, 900)
        end = time.monotonic() + 5
        while (faults := browser.run(FAULTS)) and time.monotonic() < end:
            time.sleep(0.1)
        assert faults == [], f"at {width} px"


def drag(browser: Browser, start: tuple[float, float], end: tuple[float, float]) -> None:
    """The left button, as a mouse does it; a click where nothing moves."""
    for kind, (x, y), held in (("mousePressed", start, 1), ("mouseMoved", end, 1), ("mouseReleased", end, 0)):
        browser.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=held, clickCount=1)


def scene_middle(browser: Browser) -> tuple[float, float]:
    """A point in the lower half of the 3D view, in the window."""
    place = "(() => { const b = document.getElementById('scene').getBoundingClientRect(); return [b.left + b.width / 2, b.top + b.height * 0.7]; })()"
    browser.run("document.getElementById('scene').scrollIntoView({block: 'center'})")
    x, y = browser.run(place)
    return x, y


def test_without_a_simulator_the_page_says_what_it_awaits(tmp_path, domain_id, simulator_ports):
    port, config = free_tcp_port(), write_config(tmp_path / "Config.json", SENSORS)
    arguments = ["--ros-args", "-p", f"config:={config}", "-p", "simulator_address:=127.0.0.1", "-p", f"view.port:={port}"]
    bridge = Process("rfly_bridge", [binary("rfly_bridge", "RFLY_BRIDGE"), *arguments], tmp_path / "bridge.log", environment(domain_id))
    bridge.start()
    try:
        wait_for(lambda: answers(port), "the port")
        for width in WIDTHS:
            with opened(port, width) as browser:
                browser.wait(f"{PILL} === 'waiting for the simulator'")
                browser.wait("document.querySelectorAll('.picture').length >= 2")
                assert "Awaited: sensor0 img_rgb, sensor1 img_depth" in browser.run(NOTICE)
                assert browser.run(UNBROKEN) and browser.run("[...document.images].length > 2"), "no broken picture"
                assert "no image yet of /rflysim/sensor0/img_rgb" in browser.run("document.querySelector('.picture').innerText")
                # It is the doctor's first finding and its remedy.
                with Client(port) as client:
                    client.subscribe("/diagnostics", 1)

                    def finding() -> str | None:
                        message = client.decode("/diagnostics", client.sample(1))
                        doctor = next(status for status in message.status if status.name.endswith(": doctor"))
                        found = [value.value for value in doctor.values if value.key.startswith("simulator-silent")]
                        return found[0] if found else None

                    remedy = wait_for(finding, "the finding").split("; do: ")[1]
                browser.wait(f"{NOTICE}.includes({remedy!r})")
                assert browser.run(FITS), width
                assert_tidy(browser, width)
    finally:
        assert bridge.stop() == 0, bridge.tail()


def test_a_click_into_3d_asks_and_commands_do_not_wait_for_the_answer(tmp_path, domain_id, simulator_ports):
    with viewed(tmp_path, domain_id, SENSORS[:1]) as (programs, port), opened(port) as browser:
        browser.wait(f"{LIVE} && [...rfly.vehicles.values()][0]?.frame && rfly.connection.services.size > 0")
        browser.wait("document.querySelector('.vehicle .mode').textContent === 'AUTO.MISSION'")
        question, sent = "!document.getElementById('goal').hidden", "command_int"
        middle = scene_middle(browser)
        drag(browser, middle, middle)
        browser.wait(question)
        assert browser.wait("!document.getElementById('send').disabled")
        text = browser.run("document.getElementById('goal').innerText")
        assert re.search(r"to x -?\d+\.\d m, y -?\d+\.\d m at its height of \d+\.\d m\?", text), text
        # The question is in sight, wherever the page is scrolled to.
        assert_tidy(browser, *reversed(WIDTHS))
        for place in ("start", "center"):
            browser.resize(1280, 600)
            browser.run(f"document.getElementById('scene').scrollIntoView({{block: '{place}'}})")
            assert browser.run("document.getElementById('send').getBoundingClientRect().bottom <= innerHeight")
        browser.resize(1280, 900)
        middle = scene_middle(browser)
        # Another command is carried out at once, and takes the question away.
        press(browser, "Hold", ".vehicle")
        browser.wait("document.querySelector('.vehicle .mode').textContent === 'AUTO.LOITER'")
        assert browser.run(question) is False and browser.run("rfly.scene.goal") is None
        drag(browser, middle, middle)
        browser.wait(question)
        press(browser, "Cancel", "#goal")
        assert browser.run(question) is False
        assert sent not in programs.bridge.output(), "nothing was sent until now"
        drag(browser, middle, middle)
        browser.wait(question)
        start = np.array(browser.run("rfly.frames.pose('base_link').position"))
        goal = np.array(browser.run("rfly.scene.goal"))
        assert np.hypot(*(goal - start)[:2]) > 1.5, "the place is elsewhere"
        press(browser, "Send", "#goal")
        programs.bridge.wait_for_output(sent)
        wait_for(lambda: np.hypot(*(np.array(browser.run("rfly.frames.pose('base_link').position")) - goal)[:2]) < 1, "arrival")
        press(browser, "Land", ".vehicle")
        browser.wait("document.querySelector('.vehicle .pill').textContent === 'disarmed'")


def test_a_bridge_that_is_gone_leaves_old_values_and_no_buttons_until_it_is_back(tmp_path, domain_id, simulator_ports):
    with viewed(tmp_path, domain_id, SENSORS) as (programs, port), opened(port) as browser:
        ready = f"""{LIVE} && [...document.querySelectorAll('.picture img')].filter((image) => image.naturalWidth > 0).length >= 3
            && document.querySelectorAll('.vehicle button:not(:disabled)').length === 6 && document.querySelector('.vehicle .values').textContent.includes('m/s')
            && document.querySelectorAll('.age:not([hidden])').length === 0"""
        browser.wait(ready)
        programs.bridge.kill()
        browser.wait(f"{PILL}.startsWith('bridge gone')")
        assert browser.run("document.querySelectorAll('.vehicle button').length === 6 && document.querySelectorAll('.vehicle button:not(:disabled)').length === 0")
        assert browser.run("document.querySelector('#record button').disabled")
        assert "No connection to the bridge" in browser.run(NOTICE)
        ages = "[...document.querySelectorAll('.picture .age:not([hidden])')].map((age) => age.textContent)"
        browser.wait(f"{ages}.length >= 3 && document.getElementById('sensors-panel').classList.contains('old')")
        first = [int(re.fullmatch(r"(\d+) s old", age)[1]) for age in browser.run(ages)]
        browser.wait(f"{ages}.every((age) => parseInt(age) > {max(first)})")
        telemetry = browser.run("document.querySelector('.vehicle .values').textContent")
        assert re.search(r" m \(\d+ s old\).* m/s \(\d+ s old\)", telemetry), telemetry
        assert browser.run("getComputedStyle(document.querySelector('.vehicle .values span')).color") == "rgb(147, 161, 172)", "grey"
        browser.run("scrollTo(0, 0)")
        picture = browser.region(".picture:nth-child(1) img").astype(int)
        picture = picture[: len(picture) // 2]  # above its age
        assert (picture.max(axis=2) - picture.min(axis=2)).max() < 12, "the picture has no colours"
        for width in WIDTHS:
            browser.resize(width, 900)
            assert browser.run(FITS) and browser.run(UNBROKEN), width
        assert_tidy(browser, *WIDTHS)
        # A click asks for nothing that cannot be sent.
        browser.run("rfly.scene.onClick([1, 1, 0])")
        assert browser.run("document.getElementById('goal').hidden")
        programs.bridge.start()
        browser.wait(ready)
        assert browser.run("document.getElementById('notice').hidden")
        assert_tidy(browser, *WIDTHS)
        # Without the simulator the bridge is there and nothing is live.
        programs.emulator.stop()
        browser.wait(f"{PILL} === 'the simulator is silent' && {NOTICE}.includes('→')")
        browser.wait(f"{ages}.length >= 3")
        assert "grayscale" in browser.run("getComputedStyle(document.getElementById('scene')).filter")
        assert_tidy(browser, *WIDTHS)
        # What the bridge has kept is as old for a page that is opened now.
        height = "Number(document.querySelector('.vehicle .values').textContent.match(/ m \\((\\d+) s old\\)/)?.[1])"
        told = browser.wait(height)
        browser.command("Page.reload")
        browser.wait(f"window.rfly && document.readyState === 'complete' && {PILL} === 'the simulator is silent'")
        assert browser.wait(height) >= told
        assert browser.run("rfly.plot.series.every(({ points }) => points.length > 0 && points.every(([at]) => performance.now() - at > 3000))")


@pytest.mark.parametrize("width", WIDTHS)
def test_two_vehicles_are_told_apart_by_name_and_colour(tmp_path, domain_id, simulator_ports, width):
    with viewed(tmp_path, domain_id, BOTH, "--vehicles", "2", vehicles=[1, 2]) as (_, port), opened(port, width) as browser:
        names = "[...document.querySelectorAll('.vehicle > b')].map((b) => b.textContent)"
        browser.wait(f"{LIVE} && rfly.scene.clouds.size === 2 && {names}.join() === 'copter1,copter2'")
        browser.wait("document.querySelectorAll('#layers input').length >= 8")
        browser.run("document.querySelectorAll('#layers input:not(:checked)').forEach((box) => box.click())")
        browser.wait("rfly.scene.clouds.size === 2 && rfly.scene.paths.size >= 2")
        groups = dict(browser.run("[...document.querySelectorAll('#layers .group')].map((g) => [g.querySelector('b')?.textContent, [...g.querySelectorAll('label')].map((l) => l.title)])"))
        for number, lidar in ((1, 1), (2, 3)):
            titles = groups[f"copter{number}"]
            assert f"/rflysim/sensor{lidar}/vehicle_lidar" in titles and f"/rflysim/copter{number}/ground_truth/path" in titles, groups
            assert f"frames of copter{number}" in titles
        colours = browser.run("[...document.querySelectorAll('#layers .group b')].slice(0, 2).map((b) => getComputedStyle(b).color)")
        assert colours == ["rgb(61, 219, 217)", "rgb(255, 138, 92)"]
        header = browser.run("[...document.querySelectorAll('.vehicle')].map((v) => getComputedStyle(v).borderLeftColor)")
        assert header == colours
        owners = browser.run("[...document.querySelectorAll('.picture')].map((p) => [p.querySelector('img').alt, p.querySelector('b').textContent])")
        assert dict(owners) == {"/rflysim/sensor0/img_rgb": "copter1", "/rflysim/sensor2/img_rgb": "copter2"}
        assert browser.run("getComputedStyle([...document.querySelectorAll('#layers .group b')].at(-1)).color") == "rgb(228, 234, 238)", "`all` is to be seen"
        assert_tidy(browser, width)
        browser.run("document.getElementById('scene').scrollIntoView({block: 'center'})")

        def pixels() -> tuple[int, int]:
            """How much is drawn in shades of each colour."""
            picture = browser.region("#scene").astype(float)[:, :, ::-1]
            bright = picture.max(axis=2)
            shades = [picture / bright[:, :, None].clip(1) - np.array(colour) / max(colour) for colour in ((61, 219, 217), (255, 138, 92))]
            first, second = (int(((np.abs(shade).max(axis=2) < 0.06) & (bright > 90)).sum()) for shade in shades)
            return first, second

        toggle = "[...document.querySelectorAll('#layers label')].find((l) => l.title === {!r}).firstChild.click() ?? true"
        for number in (1, 2):
            browser.run(toggle.format(f"/rflysim/copter{number}/ground_truth/path"))
        browser.wait("![...rfly.scene.paths.keys()].some((topic) => topic.endsWith('ground_truth/path'))")
        wait_for(lambda: min(pixels()) > 2000, "points in both colours")
        browser.run(toggle.format("/rflysim/sensor3/vehicle_lidar"))
        browser.wait("rfly.scene.clouds.size === 1")
        # What is left of the second is its body.
        wait_for(lambda: (now := pixels())[0] > 2000 and now[1] < 1000, "the points of the first alone")
        assert browser.run(FITS)


def test_of_twenty_cameras_those_are_streamed_that_are_chosen(tmp_path, domain_id, simulator_ports):
    with viewed(tmp_path, domain_id, CAMERAS) as (_, port), opened(port) as browser, Client(port) as client:
        shown = "[...document.querySelectorAll('.picture')].filter((p) => p.querySelector('img').naturalWidth > 0).length"
        browser.wait(f"{LIVE} && {shown} === 4")

        def streamed() -> set[int]:
            """The cameras whose images were converted for anybody."""
            client.subscribe("/diagnostics", 1)
            message = client.decode("/diagnostics", client.sample(1))
            client.send({"op": "unsubscribe", "subscriptionIds": [1]})
            sources = {int(s.name.split("sensor")[1].split()[0]): {v.key: v.value for v in s.values} for s in message.status if re.search(r": sensor\d+ img_rgb$", s.name)}
            assert sources.keys() == set(range(20))
            return {n for n, values in sources.items() if int(values["converted"]) > 0}

        assert streamed() == {0, 1, 2, 3}
        assert browser.run(change("#add", "/rflysim/sensor7/img_rgb")) == ""
        browser.wait(f"{shown} === 5")
        wait_for(lambda: streamed() == {0, 1, 2, 3, 7}, "the fifth")
        browser.run("document.querySelector('.picture .remove').click()")
        assert browser.run("document.querySelectorAll('.picture').length") == 4
        widths = "[...document.querySelectorAll('.picture')].map((p) => p.getBoundingClientRect().width)"
        assert_tidy(browser, *reversed(WIDTHS), 1280)
        before = browser.run(widths)
        browser.run("document.querySelectorAll('.picture .enlarge')[2].click()")
        after = browser.run(widths)
        assert after[2] > 2 * before[2] and after[2] > 1200
        assert_tidy(browser, *reversed(WIDTHS), 1280)
        browser.run("document.querySelectorAll('.picture .enlarge')[2].click()")
        assert browser.run(widths) == before
        browser.run(change("#add", "*"))
        browser.wait(f"{shown} === 20")
        assert browser.run("document.getElementById('add').disabled")
        for width in WIDTHS:
            browser.resize(width, 900)
            browser.wait(f"{FITS} && {UNBROKEN}")
            tops = browser.run("[...document.querySelectorAll('.picture')].map((p) => Math.round(p.getBoundingClientRect().top))")
            assert len(set(tops)) == {390: 10, 1280: 4, 1920: 3}[width], "rows of pictures"
            assert_tidy(browser, width)


# One vehicle for all that follow: it keeps the simulator's ports until the end of this file.


@pytest.fixture(scope="module")
def flying(tmp_path_factory, domain_id, simulator_ports):
    """One vehicle on its laps."""
    with viewed(tmp_path_factory.mktemp("page"), domain_id, FLYING) as (programs, port):
        yield programs, port


def test_there_is_one_number_for_each_rate(flying):
    with opened(flying[1]) as browser:
        # The page gets at most ten pictures a second of this camera; its rate is 20 Hz.
        browser.wait("parseFloat(document.querySelector('.picture .rate')?.textContent) > 15")
        shown = """(() => {
            const rates = Object.fromEntries([...document.querySelectorAll('#sensors tbody tr')].map((row) => [row.cells[0].textContent, row.cells[1].textContent]));
            const states = [...document.querySelectorAll('#sensors tbody tr')].map((row) => row.cells[5].textContent);
            const pictures = [...document.querySelectorAll('.picture')].map((picture) => [picture.querySelector('img').alt, picture.querySelector('.rate').textContent]);
            return [rates, states, pictures];
        })()"""

        def same() -> bool:
            rates, states, pictures = browser.run(shown)
            assert not any("Hz" in state for state in states), states
            source = {"/rflysim/sensor0/img_rgb": "sensor0 img_rgb", "/rflysim/sensor1/img_depth": "sensor1 img_depth"}
            found = [(rate, f"{rates[source[topic]]} Hz") for topic, rate in pictures if topic in source]
            return len(found) == 2 and all(one == other for one, other in found)

        # Both are shown again twice a second; a rate may change between.
        wait_for(same, "the same rates")


def test_the_box_follows_its_vehicle(flying):
    with opened(flying[1]) as browser:
        browser.wait(f"{LIVE} && {FOLLOWED}")
        places = """(() => {
            const at = rfly.frames.pose('base_link').position;
            const [box] = rfly.scene.boxes.get('/rflysim/scene/vehicles');
            const away = (p) => Math.hypot(...p.map((v, i) => v - at[i]));
            return [away(rfly.scene.placeOf(box).position), away(box.position)];
        })()"""
        drawn, described = [], []

        def has_moved_on() -> bool:
            now, before = browser.run(places)
            drawn.append(now)
            described.append(before)
            return before > 1

        wait_for(has_moved_on, "a description that is old")
        assert max(drawn) < 0.05, "the middle of the box is that of the vehicle"


def test_choices_survive_a_reload(flying):
    with opened(flying[1]) as browser:
        browser.wait(f"{LIVE} && document.querySelectorAll('.picture').length >= 3 && document.querySelectorAll('#layers input').length >= 4")
        box = "[...document.querySelectorAll('#layers label')].find((label) => label.title === '{}').firstChild"
        path, view = box.format("/rflysim/ground_truth/path"), "JSON.stringify(rfly.scene.view)"
        assert browser.run(f"{path}.checked") is True
        browser.run(f"{path}.click()")
        browser.run("document.querySelector('.picture .remove').click()")
        topic = "/rflysim/sensor1/img_depth_float"
        assert browser.run(change(".picture select", topic)) == topic
        assert browser.run(change(".series.s1 select", "/mavros/battery")) == "/mavros/battery"
        assert browser.run(change(".series.s1 select:nth-of-type(2)", "voltage")) == "voltage"
        first = browser.run(view)
        browser.run(change("#follow", ""))
        x, y = scene_middle(browser)
        drag(browser, (x, y), (x + 80, y - 30))
        chosen = browser.wait(f"{view} !== {first!r} && {view}")
        browser.run("document.querySelectorAll('.picture .enlarge')[1].click()")
        pictures = browser.run("[...document.querySelectorAll('.picture img')].map((image) => image.alt)")
        assert pictures[0] == topic and "/rflysim/sensor0/img_rgb" not in pictures

        browser.command("Page.reload")
        browser.wait(f"window.rfly && document.readyState === 'complete' && {LIVE}")
        browser.wait("document.querySelectorAll('#layers input').length >= 4 && document.querySelector('.series.s1 select').value")
        assert browser.run(f"{path}.checked") is False
        assert browser.run("[...document.querySelectorAll('.picture img')].map((image) => image.alt)") == pictures
        assert browser.run("[...document.querySelectorAll('.picture.large img')].map((image) => image.alt)") == [pictures[1]]
        assert browser.run(view) == chosen
        assert browser.run("[...document.querySelectorAll('.series.s1 select')].map((s) => s.value)") == ["/mavros/battery", "voltage"]
        browser.wait("rfly.scene.clouds.size === 1")
        assert browser.run("rfly.scene.paths.size") == 0


def test_two_values_are_plotted(flying):
    with opened(flying[1]) as browser, Client(flying[1]) as client:
        browser.wait(f"{LIVE} && document.querySelector('.series.s0 select').value === '/mavros/local_position/pose'")
        fields = browser.run("[...document.querySelectorAll('.series.s0 select:nth-of-type(2) option')].map((o) => o.value)")
        assert fields == [f"pose.{part}" for part in ("position.x", "position.y", "position.z", *(f"orientation.{k}" for k in "xyzw"))]
        browser.run(change(".series.s1 select", "/mavros/vfr_hud"))
        browser.run(change(".series.s1 select:nth-of-type(2)", "heading"))
        client.subscribe("/mavros/local_position/pose", 1)
        heights = [client.decode("/mavros/local_position/pose", client.sample(1)).pose.position.z for _ in range(20)]
        # Laps are between 2 m and 4 m high.
        values = browser.wait("rfly.plot.series[0].points.length > 40 && rfly.plot.series[1].points.length > 10 && rfly.plot.series.map((s) => s.points.map(([, y]) => y))")
        assert abs(np.mean(heights) - np.mean(values[0])) < 1.5 and np.ptp(values[0]) > 0.1
        assert all(0 <= heading <= 360 for heading in values[1])
        browser.run("document.getElementById('plot').scrollIntoView({block: 'center'})")
        plot = browser.region("#plot").astype(int)
        for colour in ((0xD9, 0xDB, 0x3D), (0x5C, 0x8A, 0xFF)):  # BGR
            assert (np.abs(plot - colour).max(axis=2) < 40).sum() > 40, f"a line of {colour}"


def test_a_recording_begins_and_ends_with_a_button_that_tells_time_and_size(flying):
    programs, port = flying
    with opened(port) as browser:
        browser.wait(f"{LIVE} && document.querySelector('#record button')?.textContent === '● Record' && !document.getElementById('record').hidden")
        press(browser, "● Record")
        text = browser.wait("/^0:0[1-9] · \\d+\\.[1-9] MB/.test(document.querySelector('#record span').textContent) && document.querySelector('#record span').textContent")
        assert text
        press(browser, "■ Stop")
        browser.wait("document.querySelector('#record button').textContent === '● Record' && document.querySelector('#record span').textContent === ''")
    (bag,) = programs.directory.glob("view-*")
    assert re.fullmatch(r"view-\d{8}-\d{6}", bag.name)

    def complete() -> bool:
        return (bag / "metadata.yaml").exists() and "duration" in (bag / "metadata.yaml").read_text()

    wait_for(complete, "the end of the bag")
    with AnyReader([bag]) as reader:
        assert "/rflysim/sensor0/img_rgb" in reader.topics and reader.message_count > 50


@pytest.mark.parametrize("width", WIDTHS)
def test_one_vehicle_fits_and_can_be_touched(flying, width):
    with opened(flying[1], width) as browser:
        browser.wait(f"{LIVE} && [...document.querySelectorAll('.picture img')].filter((image) => image.naturalWidth > 0).length >= 3")
        browser.wait("document.querySelectorAll('#layers input').length >= 4 && document.querySelectorAll('.vehicle button').length === 6")
        assert browser.run(FITS) and browser.run("document.getElementById('notice').hidden")
        assert_tidy(browser, width)
        sizes = browser.run("""[...document.querySelectorAll('#layers label, button, select')].filter((e) => e.checkVisibility()).map((e) => {
            const { width, height } = e.getBoundingClientRect(); return [e.textContent.slice(0, 20), Math.min(width, height)]; })""")
        least = 44 if width < 900 else 28
        assert len(sizes) > 10 and all(size >= least for _, size in sizes), sizes
        boxes = browser.run("[...document.querySelectorAll('#layers input')].map((box) => box.getBoundingClientRect().height)")
        assert min(boxes) >= (24 if width < 900 else 18)
