import json
import logging

from dragoman.cli.logs import _Json


def test_a_line_is_an_object():
    record = logging.LogRecord("dragoman", logging.INFO, "", 1, "a %s", ("b",), None)
    line = json.loads(_Json().format(record))
    assert (line["level"], line["logger"], line["message"]) == ("info", "dragoman", "a b")


def test_a_turn_is_its_facts():
    record = logging.LogRecord("dragoman.turns", logging.WARNING, "", 1, "id", (), None)
    record.facts = {"id": "x", "outcome": "error", "error": "died"}
    line = json.loads(_Json().format(record))
    assert (line["id"], line["outcome"], line["error"], line["level"]) == ("x", "error", "died", "warning")
