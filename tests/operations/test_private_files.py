"""The data folder is the service's alone."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from bot.operations.backups import make_private

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
    done = subprocess.run(
        [sys.executable, "-c", "import os; os.umask(0); from bot.__main__ import main; main()"],
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
