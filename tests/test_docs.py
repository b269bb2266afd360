"""The pages say what is so: examples are run, links lead somewhere, names exist.

Examples of a page run in order, in one empty folder. ```python blocks are doctests, or plain code
that must run. In ```console blocks "$ command" goes to bash, and what follows is what it prints;
"$ cat FILE" of a file that is not there yet shows a file the reader has. Text is compared as it is
("..." stands for anything), but below `<!-- noisy -->` or `<!-- timed -->` numbers and spaces may
differ. Options stand in docs/command-line.md word for word as in --help.
"""

import ast
import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.main import get_command

import leastnoise as ln
from leastnoise.cli.app import app

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")]
PAGES += sorted((ROOT / "docs").glob("*.md"))
RELEASE = ROOT / "src/leastnoise/release"
LEDGER = [ROOT / f"src/leastnoise/{name}.py" for name in ("records/ledger", "records/chain")]
LEDGER += [ROOT / "src/leastnoise/accounting.py"]


def verbs() -> dict[str, Any]:
    """Every command by its name; one that has commands of its own stands for the hidden one."""
    found = {}
    for name, command in get_command(app).commands.items():  # type: ignore[attr-defined]
        own = getattr(command, "commands", {"": command})
        for more, one in own.items():
            found[name if not more or one.hidden else f"{name} {more}"] = one
    return found


VERBS = verbs()

FENCED = re.compile(r"^(<!-- (?:noisy|timed) -->\n)?```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"[-+]?\d[\d,.]*(?:e[-+]?\d+)?")
SHOWN_ONLY = ("make", "git", "cd", "pip")  # commands that are not run, so they may print nothing


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def named(pages: list[Path]) -> Any:
    return pytest.mark.parametrize("page", pages, ids=[page.name for page in pages])


# Examples


class Block(NamedTuple):
    """A fenced block; `place` says where it is, `is_loose` whether its numbers may differ."""

    place: str
    language: str
    is_loose: bool
    text: str


def blocks(name: str, page: str) -> list[Block]:
    return [
        Block(f"{name}:{page.count(chr(10), 0, one.start()) + 1}", one[2], bool(one[1]), one[3])
        for one in FENCED.finditer(page)
    ]


def commands(text: str) -> Iterator[tuple[str, str]]:
    """Each command of a console block and what it prints.

    A command goes on after a backslash, and to the end of its here-document.
    """
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        end = re.search(r"<<\s*'?(\w+)", command)
        while command.endswith("\\") or (end and command.splitlines()[-1] != end[1]):
            command += "\n" + lines.pop(0).removeprefix("> ")
        yield command, "\n".join(lines)


def loosened(text: str) -> str:
    return re.sub(" +", "", NUMBER.sub("#", text))


def agree(want: str, got: str, is_loose: bool) -> bool:
    texts = [loosened(text) if is_loose else text for text in (want, got)]
    want, got = ("\n".join(map(str.rstrip, text.strip("\n").splitlines())) for text in texts)
    return doctest.OutputChecker().check_output(want, got, doctest.ELLIPSIS)


def in_bash(command: str, want: str) -> str:
    """What a command prints, or what it is taken to print."""
    if command == "make demo":
        command = "leastnoise demo"
    program, *arguments = command.split()
    if program in SHOWN_ONLY:
        return ""
    if program == "cat" and len(arguments) == 1 and not Path(arguments[0]).exists():
        Path(arguments[0]).write_text(want + "\n")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        ["bash", "-c", command],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env=os.environ | {"PATH": path, "PYTHONIOENCODING": "utf-8"},
    )
    return done.stdout


def check_console(block: Block) -> None:
    for command, want in commands(block.text):
        got = in_bash(command, want)
        assert agree(want, got, block.is_loose), f"{block.place}: {command} prints\n{got}"


class Checker(doctest.OutputChecker):
    def __init__(self, is_loose: bool) -> None:
        self.is_loose = is_loose

    def check_output(self, want: str, got: str, flags: int) -> bool:
        texts = (loosened(want), loosened(got)) if self.is_loose else (want, got)
        return super().check_output(*texts, flags)


def check_python(block: Block, names: dict[str, Any]) -> None:
    """Run a block; `names` are what earlier blocks defined, and this one adds to them."""
    if ">>>" not in block.text:
        exec(compile(block.text, block.place, "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block.text, names, block.place, block.place, 0)
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    report: list[str] = []
    runner = doctest.DocTestRunner(Checker(block.is_loose), verbose=False, optionflags=flags)
    failed = runner.run(test, out=report.append, clear_globs=False).failed
    assert not failed, "".join(report)
    names |= test.globs


def check_page(name: str, page: str) -> None:
    names: dict[str, Any] = {}
    for block in blocks(name, page):
        if block.language == "console":
            check_console(block)
        elif block.language == "python":
            check_python(block, names)


@named([page for page in PAGES if blocks(page.name, read(page))])
def test_examples(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_page(page.name, read(page))


PAGE = """
```python
>>> x = 2 + 1
>>> print(f"{x}   apples")
3 apples
```

<!-- noisy -->
```python
>>> print(f"  {x}.25 apples of {10**6:,}")
-10,123.5 apples of 3
```

```python
assert x == 3
```

```console
$ cat here.txt
7
$ cat > there.txt << 'EOF'
> a  1
EOF
$ cat \\
    there.txt
a  1
$ make test
```

<!-- timed -->
```console
$ echo took   0.25 s
took 13 s
$ echo 1; echo any; echo 2
1
...
2
```
"""


def test_examples_that_are_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    check_page("PAGE", PAGE)
    assert Path("here.txt").read_text() == "7\n"


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("3 apples", "4 apples"),
        ("-10,123.5 apples", "-10,123.5 pears"),
        ("<!-- noisy -->\n", ""),
        ("assert x == 3", "assert x == 4"),
        ("there.txt\na  1", "there.txt\na 1"),
        ("there.txt\na  1", "there.txt\na  2"),
        ("there.txt\na  1\n", "there.txt\n"),
        ("make test\n", "make test\n7 passed\n"),
        ("took 13 s", "took 13 h"),
        ("<!-- timed -->\n", ""),
        ("...\n2", "...\ntwo"),
    ],
)
def test_examples_that_are_wrong(
    right: str, wrong: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert right in PAGE
    with pytest.raises(AssertionError):
        check_page("PAGE", PAGE.replace(right, wrong))


@named(PAGES)
def test_no_fence_is_overlooked(page: Path) -> None:
    """A fence that is indented, or marked with anything else, would go unchecked."""
    text = read(page)
    assert len(re.findall("```", FENCED.sub("", text))) == 0
    assert len(re.findall("<!-- ", FENCED.sub("", text))) == 0


@named(PAGES)
def test_make_targets_exist(page: Path) -> None:
    targets = set(re.findall(r"^(\w+):", read(ROOT / "Makefile"), re.MULTILINE))
    assert set(re.findall(r"^(?:\$|   ) make (\w+)", read(page), re.MULTILINE)) <= targets


# Links and names


def anchors(page: Path) -> set[str]:
    """GitHub's names for the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", read(page)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", one.lower()).replace(" ", "-") for one in headings}


@named(PAGES)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", FENCED.sub("", read(page))):
        if re.match(r"https?://|mailto:", target):
            continue
        name, _, anchor = target.partition("#")
        linked = page.parent / name if name else page
        assert linked.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}"


def paths(text: str) -> set[str]:
    """Files and folders of the repository that a text mentions from its root."""
    return set(re.findall(r"(?<![\w/.-])((?:docs|src|tests|benchmarks)/[\w./-]*[\w/])", text))


SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])


def test_mentioned_paths_exist() -> None:
    assert paths("see docs/a.md, `src/b/` or benchmarks/c.py.") == {
        "docs/a.md",
        "src/b/",
        "benchmarks/c.py",
    }
    mentions = {(text.name, path) for text in [*PAGES, *SOURCES] for path in paths(read(text))}
    assert {(name, path) for name, path in mentions if not (ROOT / path).exists()} == set()


@pytest.mark.parametrize("name", ln.__all__)
def test_exported_names_are_documented(name: str) -> None:
    doc = getattr(ln, name).__doc__
    assert doc
    assert not doc.startswith(f"{name}(")  # what a dataclass writes by itself
    pages = read(ROOT / "README.md") + read(ROOT / "docs/api.md")
    assert re.search(rf"(`|\bln\.){name}\b", pages)


def table_row(parameter: Any) -> str:
    """The line of docs/command-line.md that tells of an argument or option."""
    is_option = parameter.param_type_name == "option"
    names = parameter.opts if is_option else [parameter.metavar]
    default = "required" if parameter.required else parameter.default
    shown = "" if default is None or default is False else default
    return f"| {', '.join(f'`{name}`' for name in names)} | {parameter.help} | {shown} |"


@pytest.mark.parametrize("verb", VERBS)
def test_the_command_line_is_documented(verb: str) -> None:
    """A section for each verb, with a table of exactly its arguments and options."""
    command = VERBS[verb]
    assert command.help
    assert all(one.help and one.help.endswith(".") for one in command.params)
    section = re.split("^## ", read(ROOT / "docs/command-line.md"), flags=re.MULTILINE)
    [text] = [part for part in section if part.startswith(f"leastnoise {verb}\n")]
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    assert rows == [table_row(one) for one in command.params]


def test_no_verb_is_documented_that_is_gone() -> None:
    headings = re.findall(r"^## leastnoise ([\w ]+)$", read(ROOT / "docs/command-line.md"), re.M)
    assert headings == list(VERBS)


def defined(module: Path) -> set[str]:
    """Functions, classes, methods, fields and arguments of a module, and what it calls."""
    names = set()
    for node in ast.walk(ast.parse(read(module))):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.arg):
            names.add(node.arg)
        elif isinstance(node, ast.AnnAssign | ast.Call):
            target = node.target if isinstance(node, ast.AnnAssign) else node.func
            names.add(getattr(target, "id", getattr(target, "attr", "")))
    return names


def test_the_privacy_proof_names_what_is_there() -> None:
    page = read(ROOT / "docs/privacy.md")
    modules = {path.stem: defined(path) for path in [*RELEASE.glob("*.py"), *LEDGER]}
    everything = set().union(*modules.values(), modules, ["release"])
    for name in re.findall(r"`([.\w]+)(?:\.py)?`", page):
        assert set(name.split(".")) - {""} <= everything, name
    for line in page.split("## 1.")[0].splitlines():
        for module, names in re.findall(r"`(\w+)(\.\w+`(?:, `\.\w+`)*)", line):
            assert set(re.findall(r"\.(\w+)", names)) <= modules[module], line


def test_nothing_points_to_a_registry_or_to_this_machine() -> None:
    listing = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    names = subprocess.run(listing, cwd=ROOT, capture_output=True, check=True).stdout
    wrong = re.compile(rb"py(?:pi\.org|thonhosted)|index[-]url|/(?:work|home|root|Users)/")
    files = [ROOT / os.fsdecode(name) for name in names.split(b"\0") if name]
    assert len(files) > 50
    assert [one for one in files if one.is_file() and wrong.search(one.read_bytes())] == []
