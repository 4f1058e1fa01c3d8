"""The build of the package: templates and static files go into it, beside the settings."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from setuptools.command.build_py import build_py

FOLDERS = ("templates", "static")
PACKAGE = "ioa_site"


class WithPages(build_py):
    """Builds the modules, and copies what the pages are made of into `ioa_site`."""

    def run(self) -> None:
        """Build everything; an editable installation reads the pages where they are."""
        super().run()
        if not self.editable_mode:
            for target, source in self.pages().items():
                self.mkpath(str(Path(target).parent))
                self.copy_file(source, target)

    def pages(self) -> dict[str, str]:
        """Return where each file goes, and where it comes from."""
        place = Path(self.build_lib) / PACKAGE
        return {str(place / source): str(source) for source in files()}

    def get_source_files(self) -> list[str]:
        """Return what a source distribution needs to be built again."""
        own = Path(__file__).relative_to(Path.cwd())
        return [*super().get_source_files(), *self.pages().values(), str(own)]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        """Return what is built."""
        return [*super().get_outputs(include_bytecode), *self.pages()]

    def get_output_mapping(self) -> dict[str, str]:
        """Return what is built, and of what."""
        return super().get_output_mapping() | self.pages()


def files() -> Iterator[Path]:
    """Yield every file of the pages, relative to the root of the repository."""
    for folder in FOLDERS:
        yield from sorted(path for path in Path(folder).rglob("*") if path.is_file())
