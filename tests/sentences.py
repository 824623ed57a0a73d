"""How the library speaks of a mistake: in one sentence of its own, without a traceback."""

from __future__ import annotations


def assert_plain_words(message: str) -> None:
    """What scikit-learn says of bad arrays passes too: that may have several lines."""
    assert message.strip()
    assert "Traceback" not in message
    assert "incompatible function arguments" not in message, "that is the compiled core speaking, not the library"


def assert_one_sentence(message: str) -> None:
    assert_plain_words(message)
    assert "\n" not in message
