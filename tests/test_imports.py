"""The parts import only what they may: every import in the tree is checked, nested ones too.

Each check is a function from a root folder to complaints. So the checks themselves are tested, on small trees
that break one rule each.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

TITLE = re.compile(r"(?<!\d)(1817|1830|1851|1870)(?!\d)")
CITATION = re.compile(r"(1817|1830|1851|1870) (§[\d.]+|Table \d+|[A-Z][a-z].*)")
"""A section, a table or a chapter of a rulebook."""

PARTS = ("engine", "renderers", "storage", "mail", "bot")

TABLE_ROW = re.compile(r"\| `([\w/]+)` \| [^|]+ \| ([^|]*)\|")


def allowed_imports() -> dict[str, set[str]]:
    """What each part may import besides the standard library and itself, by docs/architecture.md."""
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    return {part: set(re.findall(r"`([\w/]+)`", named)) for part, named in TABLE_ROW.findall(text)}


ALLOWED = allowed_imports()

# Rules have no clock, random numbers, input or output. Components are read by importlib.resources.
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
        yield path, parsed(path.read_text(encoding="utf-8"))


parsed = cache(ast.parse)
"""Most checks read every file."""


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Every node of a file."""
    return tuple(ast.walk(tree))


def imported(root: Path, path: Path, tree: ast.Module) -> Iterator[tuple[str, list[str], int]]:
    """(absolute module, imported names, line) of every import statement, nested ones too."""
    package = path.relative_to(root).parent.parts
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, [], node.lineno
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield base, [alias.name for alias in node.names], node.lineno


def called(tree: ast.Module) -> Iterator[tuple[str, int]]:
    """(name, line) of every call: `open(…)` gives open, `importlib.import_module(…)` gives import_module."""
    for node in nodes(tree):
        if isinstance(node, ast.Call):
            match node.func:
                case ast.Name(id=name) | ast.Attribute(attr=name):
                    yield name, node.lineno


def builtins_called(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in nodes(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.func.id, node.lineno


def is_module_of_engine(root: Path, name: str) -> bool:
    """Whether `from engine import name` would import a module instead of a public name."""
    path = root / "engine" / name
    return path.is_dir() or path.with_suffix(".py").exists()


def forbidden_imports(root: Path) -> list[str]:
    """Imports that a part may not have."""
    found = []
    for part in PARTS[:-1]:
        allowed = ALLOWED[part]
        for path, tree in modules(root, part):
            where = path.relative_to(root)
            for module, names, line in imported(root, path, tree):
                top = module.partition(".")[0]
                if top != part and top not in allowed and top not in sys.stdlib_module_names:
                    found.append(f"{where}:{line}: {part} may not import {module}")
                elif top == "engine" != part:
                    private = (
                        [module] if module != "engine" else [n for n in names if is_module_of_engine(root, n)]
                    )
                    found += [f"{where}:{line}: {n} is not a public name of the engine" for n in private]
            found += [
                f"{where}:{line}: {name} hides an import"
                for name, line in called(tree)
                if name in DYNAMIC_IMPORTS
            ]
    return found


def impurities(root: Path) -> list[str]:
    """Clocks, random numbers, input and output in the engine."""
    found = []
    for path, tree in modules(root, "engine"):
        where = path.relative_to(root)
        for module, _, line in imported(root, path, tree):
            if module.partition(".")[0] in IMPURE_MODULES:
                found.append(f"{where}:{line}: the engine may not use {module}")
        for name, line in builtins_called(tree):
            if name in IMPURE_CALLS:
                found.append(f"{where}:{line}: the engine may not call {name}()")
    return found


def title_names_outside_engine(root: Path) -> list[str]:
    """Any mention of a title in bot/ or mail/, in code, templates or text."""
    found = []
    for part in ("bot", "mail"):
        for path in sorted(p for p in (root / part).rglob("*") if p.is_file() and p.suffix != ".pyc"):
            text = path.read_text(encoding="utf-8", errors="replace")
            for number, line in enumerate(text.splitlines(), 1):
                if TITLE.search(line) or TITLE.search(path.name):
                    found.append(f"{path.relative_to(root)}:{number}: names a title: {line.strip()}")
    return found


def docstrings(tree: ast.Module) -> set[ast.expr]:
    """String statements such as docstrings, which may cite a rulebook."""
    return {n.value for n in nodes(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}


def citations(tree: ast.Module) -> set[ast.expr]:
    """The arguments of `g.cite("1830 §18")`: the rulebook and section that a sentence to players cites."""
    calls = (n for n in nodes(tree) if isinstance(n, ast.Call))
    return {
        arg for n in calls if isinstance(n.func, ast.Attribute) and n.func.attr == "cite" for arg in n.args
    }


def node_words(node: ast.AST) -> list[str]:
    """The identifiers, numbers and strings of a node itself."""
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


def is_title_test(node: ast.AST) -> bool:
    """Whether a comparison or match tests the title: `s.title == …`, `s.title.name in …`."""

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


def title_checks_in_rules(root: Path) -> list[str]:
    """Rule code outside engine/titles that names a title (but in citations), or tests which one is played."""
    found = []
    for path, tree in modules(root, "engine"):
        where = path.relative_to(root)
        if where.parts[1] == "titles":
            continue
        cited = docstrings(tree) | citations(tree)
        for node in nodes(tree):
            line = getattr(node, "lineno", 0)
            if node not in cited and any(TITLE.search(CITATION.sub("", word)) for word in node_words(node)):
                found.append(f"{where}:{line}: names a title")
            if is_title_test(node):
                found.append(f"{where}:{line}: tests which title is played")
    return found


def runtime_imports(tree: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Import statements, nested ones too, but without those for the type checker only."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.Import() | ast.ImportFrom():
                yield node
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=orelse):
                for branch in orelse:
                    yield from runtime_imports(branch)
            case _:
                yield from runtime_imports(node)


def engine_dependencies(root: Path) -> dict[str, set[str]]:
    """By package or module directly in engine/ those that it imports."""
    members = {path.stem for path in (root / "engine").glob("*") if path.is_dir() or path.suffix == ".py"}
    found: dict[str, set[str]] = {}
    for path, tree in modules(root, "engine"):
        member = path.relative_to(root / "engine").with_suffix("").parts[0]
        for node in runtime_imports(tree):
            names = [a.name for a in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [f"{node.module}.{name}" for name in names]
            imported_members = {name.split(".")[1] for name in names if name.startswith("engine.")}
            found.setdefault(member, set()).update(imported_members & members - {member})
    return found


def package_cycles(root: Path) -> list[str]:
    """Packages and modules directly in engine/ that import one another in a circle."""
    left = engine_dependencies(root)
    while free := [member for member, imports in left.items() if not imports & left.keys()]:
        for member in free:
            del left[member]
    return [
        f"engine/{name} is part of a circle with {', '.join(sorted(left[name] & left.keys()))}"
        for name in sorted(left)
    ]


def arrows_of_bot(root: Path) -> Iterator[tuple[Path, int, str]]:
    """(file, line, module) of each import of ours in bot/."""
    for path, tree in modules(root, "bot"):
        if path.parent == root / "bot" and path.name == "__init__.py":
            continue
        for module, names, line in imported(root, path, tree):
            if module == "bot":
                yield from ((path.relative_to(root / "bot"), line, f"bot.{name}") for name in names)
            elif module.partition(".")[0] in PARTS:
                yield path.relative_to(root / "bot"), line, module


def forbidden_arrows(root: Path) -> list[str]:
    """Imports of ours in bot/ that no row of the table names, or from one feature to another."""
    found = []
    for path, line, module in arrows_of_bot(root):
        own, other = path.with_suffix("").parts, module.split(".")
        part = "/".join(other[:2]) if other[0] == "bot" else other[0]
        is_own = part == f"bot/{own[0]}"
        between = is_own and own[0] == "features" and own[1:2] != tuple(other[2:3])
        if between or not (is_own or part in ALLOWED[f"bot/{own[0]}"]):
            why = "one feature imports no other" if between else "see the table in docs/architecture.md"
            found.append(f"bot/{path}:{line}: may not import {module}: {why}")
    return found


def file_imports(root: Path) -> dict[str, set[str]]:
    """By module the modules of ours that it imports, those for the type checker and nested ones too."""
    found: dict[str, set[str]] = {}
    for part in PARTS:
        for path, tree in modules(root, part):
            name = ".".join(path.relative_to(root).with_suffix("").parts)
            targets = found.setdefault(name.removesuffix(".__init__"), set())
            for module, names, _ in imported(root, path, tree):
                if module.partition(".")[0] in PARTS:
                    targets.update([module, *(f"{module}.{each}" for each in names)])
    return {name: targets & found.keys() - {name} for name, targets in found.items()}


def file_circles(root: Path) -> list[str]:
    """Files that import one another in a circle. A package is not counted: it only names its parts."""
    packages = {
        ".".join(path.relative_to(root).parts[:-1])
        for part in PARTS
        for path in (root / part).rglob("__init__.py")
    }
    left = {name: imports - packages for name, imports in file_imports(root).items() if name not in packages}
    while free := [name for name, imports in left.items() if not imports & left.keys()]:
        for name in free:
            del left[name]
    while used := set().union(*left.values()) if left else set():
        if not (unused := left.keys() - used):
            break
        for name in unused:
            del left[name]
    return [
        f"{name} is part of a circle with {', '.join(sorted(left[name] & left.keys()))}"
        for name in sorted(left)
    ]


CHECKS: list[Callable[[Path], list[str]]] = [
    forbidden_arrows,
    file_circles,
    forbidden_imports,
    impurities,
    title_names_outside_engine,
    title_checks_in_rules,
    package_cycles,
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_tree(check: Callable[[Path], list[str]]) -> None:
    assert not (found := check(ROOT)), "\n" + "\n".join(found)


def unused_permissions(root: Path) -> list[str]:
    """What a row of the table permits and no import of the part needs; the font is named by a string."""
    found = []
    for part, permitted in ALLOWED.items():
        files = (root / part).rglob("*.py") if (root / part).is_dir() else [root / f"{part}.py"]
        text = "\n".join(path.read_text(encoding="utf-8") for path in files)
        for name in sorted(permitted):
            above, _, last = name.replace("/", ".").rpartition(".")
            module = re.escape(f"{above}.{last}".strip("."))
            ways = [rf"(?:from|import) {module}\b", rf"[\"']{module}[\"']"]
            ways += [rf"from {re.escape(above)} import .*\b{last}\b"] if above else []
            if not re.search("|".join(ways), text):
                found.append(f"{part} does not import {name}")
    return found


def test_the_table_permits_only_what_is_imported() -> None:
    assert unused_permissions(ROOT) == []


def tree_of(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("check", "file", "text"),
    [
        (forbidden_imports, "engine/a.py", "import storage"),
        (forbidden_imports, "engine/a.py", "def f():\n    from PIL import Image"),
        (
            forbidden_imports,
            "engine/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import bot",
        ),
        (forbidden_imports, "engine/a.py", "import importlib\nimportlib.import_module('bot')"),
        (forbidden_imports, "engine/board/a.py", "from ... import mail"),
        (forbidden_imports, "renderers/a.py", "import sqlmodel"),
        (forbidden_imports, "renderers/a.py", "from engine.state import State"),
        (forbidden_imports, "renderers/a.py", "import engine.state"),
        (forbidden_imports, "renderers/a.py", "from engine import kernel"),
        (forbidden_imports, "storage/migrations/env.py", "import discord"),
        (forbidden_imports, "mail/a.py", "import engine"),
        (forbidden_imports, "mail/a.py", "import discord"),
        (impurities, "engine/a.py", "from datetime import date"),
        (impurities, "engine/a.py", "def f():\n    import os.path"),
        (impurities, "engine/a.py", "x = open('a')"),
        (title_names_outside_engine, "bot/a.py", "# like 1830"),
        (title_names_outside_engine, "mail/templates/a.html", "<p>1817 #3</p>"),
        (title_checks_in_rules, "engine/a.py", "def f(s):\n    return s.title == 'x'"),
        (title_checks_in_rules, "engine/a.py", "def f(s):\n    return s.title.name in ('x', 'y')"),
        (title_checks_in_rules, "engine/a.py", "NAME = '1870'"),
        (title_checks_in_rules, "engine/a.py", "from engine.titles import t1830"),
        (title_checks_in_rules, "engine/a.py", "from engine.titles.t1830 import TITLE"),
        (forbidden_arrows, "bot/hub/a.py", "from bot.features.undo import rewind"),
        (forbidden_arrows, "bot/features/undo/a.py", "def f():\n    from bot.features.votes.b import c"),
        (forbidden_arrows, "bot/email/a.py", "from bot.discord import client"),
        (file_circles, "engine/kernel.py", "from engine.board.a import x"),
        (
            file_circles,
            "mail/a.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mail import a_b",
        ),
        (package_cycles, "engine/kernel.py", "import engine.kernel_helper\nfrom engine.board import x"),
    ],
)
def test_check_complains(tmp_path: Path, check: Callable[[Path], list[str]], file: str, text: str) -> None:
    inner = {
        "engine/__init__.py": "",
        "engine/kernel.py": "",
        "engine/board/a.py": "def f():\n    from engine.kernel import g",
        "mail/a_b.py": "from mail import a",
    }
    assert check(tree_of(tmp_path, inner | {file: text}))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("engine/a.py", '"""1830 §18.1"""\nimport re, msgspec\nfrom . import kernel  # 1870 §11.4'),
        ("engine/a.py", "def f(g):\n    return g.cite('1830 §18.1', '1830 Table 7')"),
        ("engine/titles/t1830/composition.py", "from importlib import resources\nNAME = '1830'"),
        ("renderers/a.py", "import engine\nfrom engine import play\nfrom PIL import Image\nfrom . import b"),
        ("storage/a.py", "from engine import play\nfrom sqlalchemy.ext.asyncio import AsyncSession"),
        ("mail/a.py", "import asyncio\nfrom email.message import EmailMessage\nimport jinja2"),
        ("bot/cli/a.py", "import discord, mail, storage\nfrom engine.state import State\nlimit = 18300"),
    ],
)
def test_check_permits(tmp_path: Path, file: str, text: str) -> None:
    inner = {"engine/__init__.py": "", "engine/kernel.py": ""}
    tree = tree_of(tmp_path, inner | {file: text})
    assert not [complaint for check in CHECKS for complaint in check(tree)]
