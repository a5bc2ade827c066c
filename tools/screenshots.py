"""Take the pictures of the report page and of the terminal for the documentation.

    python tools/screenshots.py [FOLDER]

Trains on the mails of the examples (real ones where BEARSKETCH_DATA has them), writes a report page
and photographs it with Debian's chromium through playwright; rich draws the terminal itself.
"""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
SIZES = {
    "light": {"color_scheme": "light", "viewport": {"width": 1120, "height": 1180}},
    "dark": {"color_scheme": "dark", "viewport": {"width": 1120, "height": 1180}},
    "phone": {
        "color_scheme": "light",
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
    },
}
COLUMNS = 100


def main() -> None:
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else REPOSITORY / "docs" / "figures").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(REPOSITORY / "examples")
    sys.path.insert(0, str(REPOSITORY / "examples"))
    from example_data import mails

    train, test = mails()
    page = report(train, test)
    photograph(page, folder)
    # In a process of its own, which has the memory of a real run.
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (folder / "terminal.svg").write_text(pool.apply(terminal, (train,)))
    print(f"wrote {folder}/report-*.png and terminal.svg")


def report(train: Path, test: Path) -> Path:
    """Page about a model of mails, as the commands make it."""
    command = str(Path(sys.executable).parent / "bearsketch")
    model, page = train.parent / "mails.bear", train.parent / "mails.html"
    reading = ["--ngrams", "1-2", "--presence"]
    size = ["--memory", "256KiB", "-k", "500"]
    subprocess.run([command, "train", train, "-o", model, *size, *reading, "-q"], check=True)
    subprocess.run([command, "report", model, "--data", test, "-o", page, "-q"], check=True)
    return page


def photograph(page: Path, folder: Path) -> None:
    """Take the first screen of a page, in light and dark and on a phone."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for name, options in SIZES.items():
            shown = browser.new_context(**options).new_page()
            shown.goto(page.as_uri())
            shown.screenshot(path=folder / f"report-{name}.png")
        browser.close()


def terminal(train: Path) -> str:
    """Draw what a terminal shows in the middle of a run, as SVG without web fonts."""
    import io

    from rich.console import Console

    from bearsketch.cli.display import Live
    from bearsketch.cli.terminal import session_view
    from bearsketch.reading import open_stream
    from bearsketch.training.session import Session

    pictures = []
    display = Live()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    with open_stream(
        train, "jsonl", ngrams=(1, 2), presence=True, include_unlabelled=False
    ) as stream:
        training = Session(stream, memory="256KiB", k=500)
        super(Live, display).__enter__()  # the clock alone: nothing is drawn here

        def watch(now: Session) -> None:
            view = session_view(now)
            if (view.share or 0.0) > 0.6 and not pictures:
                pictures.append(display._picture(view))

        training.run(watch)
    line = "$ bearsketch train mails.jsonl -o mails.bear --memory 256KiB -k 500 --ngrams 1-2"
    line += " --presence"
    console.print(line, highlight=False)
    console.print(pictures[0])
    svg = console.export_svg(title="bearsketch train", unique_id="bearsketch")
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


if __name__ == "__main__":
    main()
