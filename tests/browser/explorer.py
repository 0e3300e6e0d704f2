"""Starts `eigenspace explore` and a browser, and makes data that may be published."""

import os
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
from PIL import Image
from sklearn import datasets

ROOT = Path(__file__).resolve().parents[2]
BINARY = Path(os.environ.get("EIGENSPACE_BINARY", ROOT / "target/debug/eigenspace"))
NAMES = ["chromium-headless-shell", "chromium", "google-chrome"]
# Root may not use the sandbox, and a machine without a graphics card draws in software.
ARGUMENTS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WAIT_S = 30.0


def browser_path() -> str:
    """The browser to test with, or an error that says what to install."""
    named = os.environ.get("EIGENSPACE_BROWSER")
    for name in [named] if named else NAMES:
        found = shutil.which(name)
        if found:
            return found
    raise RuntimeError(
        f"cannot find a browser ({named or ', '.join(NAMES)}); hint: install one, for example with "
        "`apt-get install chromium-headless-shell`, or name it in EIGENSPACE_BROWSER"
    )


def launch(playwright, *more: str):
    return playwright.chromium.launch(executable_path=browser_path(), args=[*ARGUMENTS, *more])


def command(*arguments, stdin: bytes | None = None) -> str:
    done = subprocess.run(
        [BINARY, *map(str, arguments)], input=stdin, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def until(condition, what: str, seconds: float = WAIT_S):
    """Polls, because Playwright's own waiting evaluates text, which the page forbids."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"waited {seconds} s for {what}"
        time.sleep(0.05)


class Server:
    """A running `eigenspace explore`."""

    def __init__(self, *arguments, **options):
        plain = [BINARY, "explore", *map(str, arguments), "--no-open"]
        self.process = subprocess.Popen(
            plain, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
        )
        self.url = self.process.stdout.readline().decode().strip()
        if not self.url:
            raise RuntimeError(self.process.stderr.read().decode())

    @property
    def port(self) -> int:
        return int(self.url.split(":")[2].split("/")[0])

    def memory(self, which: str = "VmRSS") -> int:
        """Resident bytes; the most so far for `VmHWM`."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return 1024 * int(text.split(f"{which}:")[1].split()[0])

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def write_csv(path: Path, header: list[str], rows, labels=None) -> Path:
    with path.open("w") as out:
        out.write(",".join(header) + "\n")
        for i, row in enumerate(rows):
            cells = [f"{x:.6g}" for x in row] + ([labels[i]] if labels is not None else [])
            out.write(",".join(cells) + "\n")
    return path


def iris(directory: Path) -> Path:
    data = datasets.load_iris()
    names = [name.removesuffix(" (cm)") for name in data.feature_names]
    species = [str(data.target_names[i]) for i in data.target]
    return write_csv(directory / "iris.csv", [*names, "species"], data.data, species)


def digits(directory: Path) -> Path:
    data = datasets.load_digits()
    for i, (image, digit) in enumerate(zip(data.images, data.target, strict=True)):
        target = directory / "digits" / str(digit)
        target.mkdir(parents=True, exist_ok=True)
        Image.fromarray((image * 15).astype(np.uint8)).save(target / f"{i}.png")
    return directory / "digits"


WIDTH, HEIGHT = 48, 60


def face(person: np.random.Generator, image: np.random.Generator) -> np.ndarray:
    """A drawn face: features belong to the person; light, pose and expression to the image."""
    wide, tall = 15 + 4 * person.random(), 21 + 4 * person.random()
    skin, hair, dark = (
        120 + 90 * person.random(),
        20 + 120 * person.random(),
        20 + 40 * person.random(),
    )
    apart, eye, level = (
        5 + 3 * person.random(),
        1.6 + 1.2 * person.random(),
        4 + 4 * person.random(),
    )
    nose, lips, mouth = 3 + 4 * person.random(), 3 + 4 * person.random(), 9 + 3 * person.random()
    fringe, brow = 8 + 8 * person.random(), 3 + 2 * person.random()
    glasses = person.random() < 0.4
    dx, dy = image.normal(0, 0.5, 2)
    smile, light, gain = image.normal(0.5, 1.0), image.normal(0, 0.5), image.normal(1, 0.05)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].astype(float)
    x, y = x - WIDTH / 2 + dx, y - HEIGHT / 2 + dy

    def soft(distance, width=0.8):
        return 1 / (1 + np.exp(np.clip(distance / width, -50, 50)))

    picture = np.full((HEIGHT, WIDTH), 70.0)

    def paint(distance, value, share=1.0, width=0.8):
        nonlocal picture
        a = share * soft(distance, width)
        picture = picture * (1 - a) + value * a

    paint(np.hypot(x / (wide + 2), (y + 3) / (tall + 2)) * 12 - 12, hair)
    paint(np.hypot(x / wide, y / tall) * 12 - 12, skin + 1.2 * light * x)
    paint(np.maximum(np.hypot(x / wide, y / tall) * 12 - 12, y + tall - fringe), hair)
    for side in (-1, 1):
        paint(np.hypot((x - side * apart) / 1.5, y + level) - eye, 235)
        paint(np.hypot(x - side * apart, y + level) - 0.6 * eye, dark)
        paint(np.maximum(abs(x - side * apart) - 3.2, abs(y + level + brow) - 0.5), hair * 0.6, 0.9)
        if glasses:
            paint(abs(np.hypot(x - side * apart, y + level) - 4) - 0.4, 25, 0.8, 0.4)
    paint(np.maximum(abs(x) - 1.2, abs(y - 1 - nose / 2) - nose / 2), skin * 0.75, 0.7)
    paint(np.maximum(abs(x) - lips, abs(y - mouth + smile * (x / lips) ** 2) - 0.9), 90, 0.9)
    return np.clip(picture * gain + image.normal(0, 4, picture.shape), 0, 255).astype(np.uint8)


def faces(directory: Path, people: int = 12, images: int = 10) -> Path:
    """A directory of drawn people, one subdirectory each."""
    for p in range(people):
        target = directory / "people" / f"person {p + 1}"
        target.mkdir(parents=True, exist_ok=True)
        for i in range(images):
            Image.fromarray(portrait(p, i)).save(target / f"{i + 1}.png")
    return directory / "people"


def portrait(person: int, image: int) -> np.ndarray:
    return face(
        np.random.default_rng(1000 + person), np.random.default_rng(10_000 * person + image)
    )
