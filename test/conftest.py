# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all Python tests share: the --all flag, and where things lie."""
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def pytest_addoption(parser):
    parser.addoption("--all", action="store_true", help="run the long tests too (marked `long`)")


def pytest_configure(config):
    config.addinivalue_line("markers", "long: takes more than a few seconds; only run with --all, as CI does")


def pytest_collection_modifyitems(config, items):
    if not config.getoption("--all"):
        kept = [item for item in items if "long" not in item.keywords]
        config.hook.pytest_deselected(items=[item for item in items if "long" in item.keywords])
        items[:] = kept


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def build():
    return ROOT / "build"
