"""The arrows between the parts point inward: every import in the tree is walked, nested ones too.

Each check is a function of a root folder that returns complaints, so that the checks themselves are tried on
small trees that break one rule each.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TITLE = re.compile(r"(?<!\d)(1817|1830|1851|1870)(?!\d)")

# What each part may import beside the standard library and itself. `engine` here means its public face only.
ALLOWED = {
    "engine": {"msgspec"},
    "renderers": {"engine", "PIL", "font_source_sans_pro"},
    "storage": {"engine", "sqlmodel", "sqlalchemy", "aiosqlite", "alembic", "msgspec"},
    "mail": {"aioimaplib", "aiosmtplib", "jinja2", "markupsafe", "stamina"},
}

# The rules know no clock, no chance and no outside world; a title's facts come through importlib.resources.
IMPURE_MODULES = set(
    """
    asyncio calendar concurrent ctypes datetime fileinput ftplib getpass glob http imaplib io
    logging multiprocessing os pathlib platform poplib queue random sched secrets select selectors
    shelve shutil signal smtplib socket socketserver sqlite3 ssl subprocess tempfile threading time
    urllib uuid zoneinfo
    """.split()
)
IMPURE_CALLS = {"open", "input", "print", "exec", "eval"}
DYNAMIC_IMPORTS = {"import_module", "__import__"}


def modules(root: Path, part: str) -> Iterator[tuple[Path, ast.Module]]:
    """Every Python file of a part, parsed."""
    for path in sorted((root / part).rglob("*.py")):
        yield path, ast.parse(path.read_text(encoding="utf-8"), str(path))


def imported(root: Path, path: Path, tree: ast.Module) -> Iterator[tuple[str, list[str], int]]:
    """(absolute module, names taken from it, line) of every import statement, wherever it stands."""
    package = path.relative_to(root).parent.parts
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, [], node.lineno
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*above, *([node.module] if node.module else [])])
            yield base, [alias.name for alias in node.names], node.lineno


def called(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of every call: `open(…)` gives open, `importlib.import_module(…)` gives import_module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name, node.lineno


def builtins_called(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node.lineno


def public_face(root: Path) -> set[str]:
    """The names in `engine.__all__`."""
    face = root / "engine" / "__init__.py"
    if not face.exists():
        return set()
    for node in ast.parse(face.read_text(encoding="utf-8")).body:
        match node:
            case (
                ast.Assign(targets=[ast.Name(id="__all__")], value=value)
                | ast.AnnAssign(target=ast.Name(id="__all__"), value=ast.expr() as value)
            ):
                return set(ast.literal_eval(value))
    return set()


def is_inner(root: Path, name: str) -> bool:
    """Whether `from engine import name` would reach past the public face into a module."""
    inside = root / "engine" / name
    return (inside.is_dir() or inside.with_suffix(".py").exists()) and name not in public_face(root)


def wrong_imports(root: Path) -> list[str]:
    """Imports that a part may not make."""
    found = []
    for part, allowed in ALLOWED.items():
        for path, tree in modules(root, part):
            where = path.relative_to(root)
            for module, names, line in imported(root, path, tree):
                top = module.partition(".")[0]
                if top != part and top not in allowed and top not in sys.stdlib_module_names:
                    found.append(f"{where}:{line}: {part} may not import {module}")
                elif top == "engine" != part:
                    reached = [module] if module != "engine" else [n for n in names if is_inner(root, n)]
                    found += [f"{where}:{line}: {n} is past the engine's public face" for n in reached]
            found += [
                f"{where}:{line}: {name} hides an import"
                for name, line in called(tree)
                if name in DYNAMIC_IMPORTS
            ]
    return found


def impurities(root: Path) -> list[str]:
    """Clocks, chance and the outside world in the engine."""
    found = []
    for path, tree in modules(root, "engine"):
        where = path.relative_to(root)
        for module, _, line in imported(root, path, tree):
            if module.partition(".")[0] in IMPURE_MODULES:
                found.append(f"{where}:{line}: the engine uses no {module}")
        for name, line in builtins_called(tree):
            if name in IMPURE_CALLS:
                found.append(f"{where}:{line}: the engine calls no {name}()")
    return found


def titles_named_outside(root: Path) -> list[str]:
    """Any mention of a title in bot/ or mail/, be it code, template or text."""
    found = []
    for part in ("bot", "mail"):
        for path in sorted(p for p in (root / part).rglob("*") if p.is_file() and p.suffix != ".pyc"):
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                if TITLE.search(line) or TITLE.search(path.name):
                    found.append(f"{path.relative_to(root)}:{number}: names a title: {line.strip()}")
    return found


def docstrings(tree: ast.Module) -> set[ast.expr]:
    """String statements: docstrings, which may cite a rulebook's section."""
    return {n.value for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}


def words(node: ast.AST) -> list[str]:
    """What a node says by itself: an identifier, a number or a text."""
    match node:
        case ast.Constant(value=str() | int() as value):
            return [str(value)]
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.alias(name=name, asname=asname):
            return [name, asname or ""]
        case ast.ImportFrom(module=str() as module):
            return [module]
        case ast.keyword(arg=str() as name):
            return [name]
    return []


def asks_title(node: ast.AST) -> bool:
    """Whether a comparison or a match asks which title this is: `s.title == …`, `s.title.name in …`."""

    def is_title(side: ast.expr) -> bool:
        match side:
            case ast.Attribute(value=ast.Attribute(attr="title") | ast.Name(id="title"), attr=attr):
                return attr in {"name", "id", "code", "key", "__name__"}
            case ast.Attribute(attr="title"):
                return True
        return False

    match node:
        case ast.Compare(left=left, comparators=others):
            return any(is_title(side) for side in (left, *others))
        case ast.Match(subject=subject):
            return is_title(subject)
    return False


def titles_asked(root: Path) -> list[str]:
    """Rule code outside engine/titles that names a title or asks which one it serves."""
    found = []
    for path, tree in modules(root, "engine"):
        where = path.relative_to(root)
        if where.parts[1] == "titles":
            continue
        cited = docstrings(tree)
        for node in ast.walk(tree):
            line = getattr(node, "lineno", 0)
            if node not in cited and any(TITLE.search(word) for word in words(node)):
                found.append(f"{where}:{line}: names a title")
            if asks_title(node):
                found.append(f"{where}:{line}: asks which title it serves")
    return found


CHECKS: list[Callable[[Path], list[str]]] = [wrong_imports, impurities, titles_named_outside, titles_asked]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_tree(check: Callable[[Path], list[str]]) -> None:
    assert not (found := check(ROOT)), "\n" + "\n".join(found)


def tree_of(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("check", "file", "text"),
    [
        (wrong_imports, "engine/a.py", "import storage"),
        (wrong_imports, "engine/a.py", "def f():\n    from PIL import Image"),
        (wrong_imports, "engine/a.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import bot"),
        (wrong_imports, "engine/a.py", "import importlib\nimportlib.import_module('bot')"),
        (wrong_imports, "engine/board/a.py", "from ... import mail"),
        (wrong_imports, "renderers/a.py", "import sqlmodel"),
        (wrong_imports, "renderers/a.py", "from engine.state import State"),
        (wrong_imports, "renderers/a.py", "import engine.state"),
        (wrong_imports, "renderers/a.py", "from engine import kernel"),
        (wrong_imports, "storage/migrations/env.py", "import discord"),
        (wrong_imports, "mail/a.py", "import engine"),
        (wrong_imports, "mail/a.py", "import discord"),
        (impurities, "engine/a.py", "from datetime import date"),
        (impurities, "engine/a.py", "def f():\n    import os.path"),
        (impurities, "engine/a.py", "x = open('a')"),
        (titles_named_outside, "bot/a.py", "# like 1830"),
        (titles_named_outside, "mail/templates/a.html", "<p>1817 #3</p>"),
        (titles_asked, "engine/a.py", "def f(s):\n    return s.title == 'x'"),
        (titles_asked, "engine/a.py", "def f(s):\n    return s.title.name in ('x', 'y')"),
        (titles_asked, "engine/a.py", "NAME = '1870'"),
        (titles_asked, "engine/a.py", "from engine.titles import t1830"),
        (titles_asked, "engine/a.py", "from engine.titles.t1830 import TITLE"),
    ],
)
def test_check_complains(tmp_path: Path, check: Callable[[Path], list[str]], file: str, text: str) -> None:
    inner = {"engine/__init__.py": "__all__ = ['play']", "engine/kernel.py": ""}
    assert check(tree_of(tmp_path, inner | {file: text}))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("engine/a.py", '"""1830 §18.1"""\nimport re, msgspec\nfrom . import kernel  # 1870 §11.4'),
        ("engine/titles/t1830/composition.py", "from importlib import resources\nNAME = '1830'"),
        ("renderers/a.py", "import engine\nfrom engine import play\nfrom PIL import Image\nfrom . import b"),
        ("storage/a.py", "from engine import play\nfrom sqlalchemy.ext.asyncio import AsyncSession"),
        ("mail/a.py", "import asyncio\nfrom email.message import EmailMessage\nimport jinja2"),
        ("bot/a.py", "import discord, mail, storage\nfrom engine.state import State\nlimit = 18300"),
    ],
)
def test_check_permits(tmp_path: Path, file: str, text: str) -> None:
    inner = {"engine/__init__.py": "__all__ = ['play']", "engine/kernel.py": ""}
    tree = tree_of(tmp_path, inner | {file: text})
    assert not [complaint for check in CHECKS for complaint in check(tree)]
