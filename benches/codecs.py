#!/usr/bin/env python3
"""Times the bridge's PNG and JPEG decoders against OpenCV's on the same files, in one run.

OpenCV's wheel decodes JPEG with libjpeg-turbo. Each decoder gets one thread. Usage: python benches/codecs.py
(needs numpy and opencv-python-headless, as `make venv` installs them).
"""
import os
import re
import subprocess
import tempfile
import time

import cv2
import numpy as np

WIDTH, HEIGHT = 1280, 720
UNITS = {"ns": 1e-6, "µs": 1e-3, "ms": 1.0, "s": 1e3}


def scene():
    """A frame with sky, textured ground and shaded boxes, as a renderer makes it."""
    random = np.random.default_rng(1)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(np.float32)
    image = np.empty((HEIGHT, WIDTH, 3), np.float32)
    image[..., 0], image[..., 1], image[..., 2] = 235 - y / 6, 190 - y / 8, 150 - y / 10
    ground = y > HEIGHT * 0.45
    tiles = ((x // 37 + (y * y / 900) // 1) % 2) * 25 + 80
    for channel, tint in enumerate((0.8, 1.0, 0.9)):
        image[..., channel][ground] = (tiles * tint)[ground]
    image[ground] += random.normal(0, 4, (int(ground.sum()), 1))
    for _ in range(25):
        u, v = int(random.integers(0, WIDTH - 160)), int(random.integers(200, HEIGHT - 160))
        w, h = int(random.integers(30, 160)), int(random.integers(30, 160))
        image[v : v + h, u : u + w] = random.integers(30, 220, 3) + np.linspace(0, 30, w)[None, :, None]
    return np.clip(image, 0, 255).astype(np.uint8)


def fastest_ms(work, repeats=100):
    """The fastest of many runs: what else the machine does only ever adds."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return min(times)


def main():
    cv2.setNumThreads(1)
    bgr = scene()
    depth = (np.mgrid[0:HEIGHT, 0:WIDTH][0] * 40 + 2000).astype(np.uint16)
    depth[:200] = 65535
    with tempfile.TemporaryDirectory() as directory:
        files = {"frame.png": bgr, "frame.jpg": bgr, "depth.png": depth}
        for name, image in files.items():
            cv2.imwrite(f"{directory}/{name}", image, [cv2.IMWRITE_JPEG_QUALITY, 90])
        command = ["cargo", "bench", "-q", "--bench", "sensors", "--", "_to_"]
        ours_text = subprocess.run(
            command, env={**os.environ, "RFLY_BENCH_IMAGES": directory}, check=True, capture_output=True, text=True
        ).stdout
        # name  fastest | slowest | median | mean | samples | iters
        ours = {}
        for line in ours_text.splitlines():
            found = re.search(r"(\w+_to_\w+)\s+([\d.]+) (\S+)", line)
            if found:
                ours[found[1]] = float(found[2]) * UNITS[found[3]]
        rows = [
            ("PNG to bgr8", "png_to_bgr", "frame.png", cv2.IMREAD_COLOR),
            ("JPEG to bgr8", "jpeg_to_bgr", "frame.jpg", cv2.IMREAD_COLOR),
            ("JPEG to mono8", "jpeg_to_grey", "frame.jpg", cv2.IMREAD_GRAYSCALE),
            ("PNG to 16UC1", "png_to_depth", "depth.png", cv2.IMREAD_UNCHANGED),
        ]
        print(f"{WIDTH}x{HEIGHT}, fastest of 100 runs in one thread, OpenCV {cv2.__version__}\n")
        print("| decode | bridge ms | OpenCV ms | OpenCV / bridge |\n|---|---|---|---|")
        for title, key, name, flag in rows:
            data = np.fromfile(f"{directory}/{name}", np.uint8)
            theirs = fastest_ms(lambda data=data, flag=flag: cv2.imdecode(data, flag))
            print(f"| {title} | {ours[key]:.2f} | {theirs:.2f} | {theirs / ours[key]:.2f} |")


if __name__ == "__main__":
    main()
