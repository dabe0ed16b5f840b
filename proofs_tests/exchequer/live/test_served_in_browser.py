"""The served pages in a real browser: styled under their policy, nothing runs, and a picture of each tone."""

import re
from pathlib import Path

import pytest

from exchequer.live import Access, new_token
from proofs_tests.support.ledgers.durable import behind_its_back
from proofs_tests.support.ledgers.hostile import written
from proofs_tests.support.programs.browser import browser, colours, pixels
from proofs_tests.support.programs.served import serving

pytestmark = pytest.mark.browser


def test_pages_are_styled_and_nothing_runs(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    written(f"sqlite:///{path}")
    chromium = browser(tmp_path)
    with serving(str(path)) as served:
        for target in ("", "spent?by=user", "entries", "spent?where.user=ada"):
            address = f"http://127.0.0.1:{served.port}/{target}"
            look = chromium.dom(address)
            assert not look.console, look.console  # a refused style or script would be told there
            assert "live-bar" in look.dom
            assert not re.search(r"<(script|img|iframe)\b", look.dom)
        picture = tmp_path / "spent.png"
        chromium.screenshot(f"http://127.0.0.1:{served.port}/spent?by=user", picture, width=1200, height=900)
        assert colours(picture) > 50
        bar = pixels(picture)[5, 5].tolist()
        assert bar == [0xF4, 0xF6, 0xF9], "the bar has its colour, so its style was not refused"
        phone = tmp_path / "phone.png"
        chromium.screenshot(f"http://127.0.0.1:{served.port}/spent?by=user", phone, width=500, height=900)
        assert colours(phone) > 50


def test_a_rewritten_ledger_is_red_in_the_picture(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    written(f"sqlite:///{path}")
    chromium = browser(tmp_path)
    with serving(str(path)) as served:
        with behind_its_back(f"sqlite:///{path}", disarmed=True) as connection:
            connection.exec_driver_sql("UPDATE exchequer_entries SET line = '{}' WHERE number = 3")
        served.wait(lambda: bool(served.follower.seen.lost))
        address = f"http://127.0.0.1:{served.port}/"
        look = chromium.dom(address)
        assert not look.console
        assert "This is not the ledger that was read." in look.dom
        picture = tmp_path / "red.png"
        chromium.screenshot(address, picture, width=1200, height=600)
        shown = pixels(picture).reshape(-1, 3).tolist()
        assert shown.count([0xFB, 0xEB, 0xEC]) > 10_000


def test_the_form_is_a_page_too(tmp_path: Path) -> None:
    path = tmp_path / "study.db"
    written(f"sqlite:///{path}")
    chromium = browser(tmp_path)
    with serving(str(path), Access((), new_token())) as served:
        look = chromium.dom(f"http://127.0.0.1:{served.port}/login")
        assert not look.console
        assert 'type="password"' in look.dom
        assert "ada" not in look.dom
