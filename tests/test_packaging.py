"""What is installed: the public names, a core without dependencies, a typed wheel."""

import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import dragoman
from dragoman.version import __version__

ROOT = Path(__file__).parent.parent
CORE = ["dragoman", "dragoman.generation", "dragoman.checks", "dragoman.dialects", "dragoman.syntax.constrain"]


def python(*args):
    return subprocess.run([sys.executable, *args], check=True, capture_output=True, text=True).stdout


def test_the_reference_has_exactly_the_public_names():
    page = (ROOT / "docs/library.md").read_text("utf-8")
    reference = page.partition("<!-- generated: public -->")[2].partition("<!-- end -->")[0]
    assert re.findall(r"^### (\w+)$", reference, re.MULTILINE) == list(dragoman.__all__)


def test_every_public_name_is_there_and_described():
    for name in dragoman.__all__:
        value = getattr(dragoman, name)
        assert isinstance(value, str) or value.__doc__, name


@pytest.mark.parametrize("module", CORE)
def test_the_core_needs_the_standard_library_only(module):
    """The protocols take msgspec where it is; here it is not."""
    code = f"import sys; sys.modules['msgspec'] = None; before = set(sys.modules); import {module}"
    code += "; print(*(set(sys.modules) - before))"
    roots = {name.partition(".")[0] for name in python("-I", "-c", with_path(code)).split()}
    assert roots - set(sys.stdlib_module_names) == {"dragoman"}


@pytest.mark.parametrize("module", CORE)
def test_the_core_has_no_clock_loop_or_log(module):
    code = f"import sys; before = set(sys.modules); import {module}; print(*(set(sys.modules) - before))"
    assert not {"asyncio", "logging", "random", "socket"} & set(python("-I", "-c", with_path(code)).split())


def with_path(code):
    """The same package that is under test, in an interpreter that looks nowhere else for it."""
    return f"import sys; sys.path.insert(0, {str(Path(dragoman.__file__).parent.parent)!r}); {code}"


def test_the_command_line_imports_a_command_when_it_runs():
    code = "import sys, dragoman.cli; dragoman.cli.main(['--help']); print(*sys.modules)"
    loaded = set(python("-c", code).split())
    assert not {"dragoman.cli.serve", "dragoman.cli.decode", "starlette", "uvicorn", "aiohttp"} & loaded


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder], check=True, cwd=ROOT)
    (path,) = folder.glob("*.whl")
    return path


def test_the_wheel_holds_the_package(wheel):
    assert wheel.name == f"dragoman-{__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as file:
        names = set(file.namelist())
    source = {str(path.relative_to(ROOT / "src")) for path in (ROOT / "src").rglob("*.py")}
    assert source | {"dragoman/py.typed"} <= names
    assert not [name for name in names if name.startswith("tests")]
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_wheel_works_alone(wheel):
    code = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import dragoman; print(dragoman.__file__, *dragoman.names())"
    )
    file, *names = python("-I", "-S", "-c", code).split()
    assert file.startswith(str(wheel))
    assert names == list(dragoman.names())
