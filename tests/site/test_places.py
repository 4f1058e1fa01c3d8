"""Where data is kept: where it is told to, in the clone, or with what is the person's."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from ioa_site import places

pytestmark = pytest.mark.sqlite


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Give a home folder on Linux, and none of our variables."""
    monkeypatch.delenv("IOA_DATA_DIR", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    return tmp_path


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pretend to run from an installed package."""
    monkeypatch.setattr(places, "INSTALLED", True)


def test_a_clone_keeps_its_data_in_its_own_folder() -> None:
    assert places.data_folder() == Path(__file__).resolve().parent.parent.parent / "var"


@pytest.mark.usefixtures("installed")
def test_a_package_keeps_data_in_the_home_folder(home: Path) -> None:
    assert places.data_folder() == home / ".local" / "share" / "ioa-control"


@pytest.mark.usefixtures("installed")
def test_a_package_on_a_mac_keeps_data_where_its_programs_do(
    monkeypatch: pytest.MonkeyPatch, home: Path
) -> None:
    monkeypatch.setattr("sys.platform", "darwin")

    assert places.data_folder() == home / "Library" / "Application Support" / "ioa-control"


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    ("named", "expected"),
    [("/srv/data", Path("/srv/data/ioa-control")), ("relative", None), ("", None)],
)
def test_the_folder_that_the_desktop_names_is_used_when_it_is_absolute(
    monkeypatch: pytest.MonkeyPatch, home: Path, named: str, expected: Path | None
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", named)

    assert places.data_folder() == (expected or home / ".local" / "share" / "ioa-control")


@pytest.mark.usefixtures("installed")
def test_the_folder_that_we_are_told_wins(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/srv/data")
    monkeypatch.setenv("IOA_DATA_DIR", "here")
    monkeypatch.chdir(home)

    assert places.data_folder() == home / "here"


@pytest.mark.usefixtures("installed")
def test_no_home_folder_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)

    with pytest.raises(ImproperlyConfigured, match="IOA_DATA_DIR"):
        places.data_folder()


def test_this_tree_itself_is_no_installed_package() -> None:
    assert not places.INSTALLED
    assert places.PACKAGE.parent == places.PAGES
