"""Data of the examples: real where it is at hand, else made up in the same form."""

from __future__ import annotations

import gzip
import json
import os
import random
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

SPECIES = (
    "haemophilus_influenzae",
    "neisseria_meningitidis",
    "legionella_pneumophila",
    "staphylococcus_aureus",
    "streptococcus_pneumoniae",
)
HERE = Path.cwd()


def folder() -> Path | None:
    """Folder of real data, if there is one."""
    given = os.environ.get("BEARSKETCH_DATA")
    places = (
        [Path(given)]
        if given
        else [HERE.parent.parent / "shared/data", HERE.parent / "shared/data"]
    )
    return next((place for place in places if (place / "text").is_dir()), None)


def workspace() -> Path:
    """Make a folder for the files of an example."""
    return Path(tempfile.mkdtemp(prefix="bearsketch-example-"))


def _write_lines(path: Path, records: list[dict[str, str]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def mails() -> tuple[Path, Path]:
    """JSON Lines of mails with a label, spam or ham, to train and to test on."""
    records = list(_real_mails()) or list(_made_mails())
    random.Random(0).shuffle(records)
    cut, place = len(records) * 4 // 5, workspace()
    parts = (records[:cut], records[cut:])
    train, test = (
        _write_lines(place / f"{name}.jsonl", part)
        for name, part in zip(("train", "test"), parts, strict=True)
    )
    return train, test


def _real_mails() -> Iterator[dict[str, str]]:
    data = folder()
    if data is None:
        return
    with tarfile.open(data / "text" / "spamassassin-raw.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            head, _, body = file.read().decode("latin-1").partition("\n\n")
            # The body and the subject only: other headers tell how the mails were collected.
            subject = [x[9:] for x in head.splitlines() if x.lower().startswith("subject: ")]
            label = "spam" if member.name.startswith("spam") else "ham"
            yield {"label": label, "text": " ".join([*subject, body])[:20_000]}


def _made_mails() -> Iterator[dict[str, str]]:
    rng = random.Random(1)
    telling = {
        "spam": "free prize winner click offer cash cheap guarantee".split(),
        "ham": "meeting patch notes thanks regards lunch report wrote".split(),
    }
    for i in range(6000):
        label = ("ham", "ham", "spam")[i % 3]
        filler = [f"word{int(10 ** (4 * rng.random()))}" for _ in range(40)]
        text = filler + rng.sample(telling[label], 2)
        if rng.random() < 0.1:
            text.append(rng.choice(telling["spam"]))
        yield {"label": label, "text": " ".join(text)}


def urls() -> tuple[Path, Path]:
    """JSON Lines of addresses with a label, phishing or honest, to train and to test on."""
    records = list(_real_urls()) or list(_made_urls())
    random.Random(0).shuffle(records)
    cut, place = len(records) * 4 // 5, workspace()
    train = _write_lines(place / "train.jsonl", records[:cut])
    return train, _write_lines(place / "test.jsonl", records[cut:])


def _real_urls() -> Iterator[dict[str, str]]:
    data = folder()
    if data is None:
        return
    for label, name in (("honest", "legitimate_36400"), ("phishing", "phishing_37175")):
        with gzip.open(data / "text" / "urls" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
            for url in sorted(set(json.load(file))):
                bare = url.removeprefix("https://").removeprefix("http://").removeprefix("www.")
                yield {"label": label, "text": f"^{bare}$"}


def _made_urls() -> Iterator[dict[str, str]]:
    rng = random.Random(1)
    ends = {"honest": [".org/wiki/", ".edu/~", ".com/news/"], "phishing": [".tk/login", "/secure-"]}
    for i in range(20_000):
        label = ("honest", "phishing")[i % 2]
        name = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(8))
        page = "".join(rng.choice("abcdefghijklmnopqrstuvwxyz0123456789") for _ in range(10))
        yield {"label": label, "text": f"^{name}{rng.choice(ends[label])}{page}$"}


def genomes() -> dict[str, str]:
    """Bases of five species by name."""
    data = folder()
    if data is not None:
        return {
            name: _read_genome(data / "genomes" / "bacteria15" / f"{name}.fna.gz")
            for name in SPECIES
        }
    rng = random.Random(1)
    made = {}
    for name in SPECIES:
        motif = "".join(rng.choices("ACGT", k=12))
        pieces = ["".join(rng.choices("ACGT", k=500)) + motif for _ in range(400)]
        made[name] = "".join(pieces)
    return made


def _read_genome(path: Path) -> str:
    with gzip.open(path, "rt") as file:
        return "".join("N" if line.startswith(">") else line.strip().upper() for line in file)


def reads(bases: dict[str, str], n: int, seed: int, length: int = 150) -> Path:
    """FASTA of reads drawn from anywhere, in a mixed order; the species is in the header."""
    rng = random.Random(seed)
    path = workspace() / f"reads-{seed}.fa"
    names = list(bases)
    with path.open("w") as file:
        for i in range(n):
            name = rng.choice(names)
            start = rng.randrange(len(bases[name]) - length)
            file.write(f">{i} species={name}\n{bases[name][start : start + length]}\n")
    return path


def clicks() -> tuple[Path, list[Path], list[str]]:
    """CSV of advertisements shown, test files of the same columns, and their names."""
    data = folder()
    if data is not None:
        place = data / "clicks" / "avazu-sample"
        with gzip.open(place / "train.csv.gz", "rt") as file:
            columns = file.readline().strip().split(",")
        return place / "train.csv.gz", [place / "dev.csv.gz", place / "test.csv.gz"], columns
    columns = "id,click,hour,site_id,app_id,device_model,banner_pos".split(",")
    place, rng = workspace(), random.Random(1)
    for name, n, head in (("train", 8000, True), ("test", 1000, False)):
        lines = [",".join(columns)] if head else []
        for i in range(n):
            site, model = rng.randrange(200), rng.randrange(1000)
            click = int(rng.random() < (0.5 if site < 10 else 0.12 if model > 100 else 0.02))
            lines.append(f"{i},{click},1,s{site},a{rng.randrange(50)},m{model},{rng.randrange(3)}")
        (place / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return place / "train.csv", [place / "test.csv"], columns
