"""The data folder is the service's alone."""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  asyncio loads it late, when `without_rights` may not read it
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from bot.__main__ import app_for, run_command
from bot.operations.backups import make_private
from storage import open_store

ROOT = Path(__file__).parent.parent.parent


def modes(folder: Path) -> dict[str, int]:
    return {str(path.relative_to(folder)): path.stat().st_mode & 0o777 for path in folder.rglob("*")}


def test_14_7_a_service_leaves_private_files_whatever_the_umask(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "inbound_mail").mkdir(parents=True)
    for name in ("railpost.log", "inbound_mail/a.eml", "mail-secret"):
        (data / name).write_text("x" * 64)
        (data / name).chmod(0o644)
    (data / "inbound_mail").chmod(0o755)
    data.chmod(0o755)
    lines = "table new 1830 Ann, Bob, Cid\ntable start\nAnn: buy SV\nexport text\nmap\nquit\n"
    program = (
        "import os; os.umask(0)\n"
        "from bot.pictures import workers; workers.PATIENCE = dict.fromkeys(workers.PATIENCE, 600.0)\n"
        "from bot.__main__ import main; main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=lines, text=True, cwd=ROOT, capture_output=True, timeout=120, check=False,
        env={**os.environ, "RAILPOST_DATA": str(data), "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = modes(data)
    assert {"railpost.db", "railpost.log", "games", "inbound_mail/a.eml", "pictures"} <= found.keys()
    assert data.stat().st_mode & 0o777 == 0o700
    for name, mode in found.items():
        assert mode == (0o700 if (data / name).is_dir() else 0o600), name


def test_14_7_files_of_others_are_left_alone(tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        (tmp_path / "program").write_text("")
        (tmp_path / "program").chmod(0o755)
        (tmp_path / "elsewhere").write_text("")
        (tmp_path / "elsewhere").chmod(0o644)
        (tmp_path / "backups").mkdir()
        (tmp_path / "backups" / "link").symlink_to(tmp_path / "elsewhere")
        make_private(tmp_path)
        found = modes(tmp_path)
        assert (found["program"], found["elsewhere"], found["backups"]) == (0o755, 0o644, 0o700)
    finally:
        os.umask(umask)


async def test_a_new_store_is_private_whatever_the_umask(tmp_path: Path) -> None:
    umask = os.umask(0)
    try:
        async with await open_store(tmp_path / "data" / "railpost.db"):
            found = modes(tmp_path)
    finally:
        os.umask(umask)
    assert found == {"data": 0o700, "data/railpost.db": 0o600}


@contextmanager
def without_rights(path: Path) -> Iterator[None]:
    """Meanwhile we may not look into the folder or file, also where the tests run as root."""
    is_root, mode = os.geteuid() == 0, path.stat().st_mode
    path.chmod(0)
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        path.chmod(mode)


@pytest.mark.parametrize(
    "words, sentence",
    [
        (["status"], "data may be read by its owner only; ask as the user of the service, or as root."),
        (["backup", "other.db"], "data/railpost.db cannot be read: Permission denied."),
        (["migrate"], "RAILPOST_DATA: data cannot be used as a folder: Permission denied."),
        (["check"], "data/railpost.db cannot be read: Permission denied."),
        (["move-store", "sqlite:///other.db"], "data/railpost.db cannot be read: Permission denied."),
        (["export", "F7G"], "data/railpost.db cannot be read: Permission denied."),
        (["export", "data/game.18xx"], "data/game.18xx cannot be used: Permission denied."),
        (
            ["render", "data/game.18xx", "--map", "map.png"],
            "data/game.18xx cannot be used: Permission denied.",
        ),
        (["import", "data/game.18xx"], "data/game.18xx cannot be used: Permission denied."),
        (["snapshot", "data/game.18xx"], "data/game.18xx cannot be used: Permission denied."),
        (["host", "add", "ann@example.org"], "data/railpost.db cannot be written: Permission denied."),
    ],
)
def test_a_user_without_rights_reads_a_sentence_and_leaves_nothing(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (data := tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAILPOST_DATA", "data")
    tmp_path.chmod(0o755)
    command = app_for(words)
    with without_rights(data):
        try:
            code: object = run_command(partial(command, words))
        except SystemExit as end:
            code = end.code
    told = capsys.readouterr().err
    assert code and told.endswith(f"{sentence}\n") and told.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["data"] and not list(data.iterdir())
