"""From a text to Python's syntax tree, after checks that make ``ast.parse`` safe to call.

Only ASCII passes, so that the byte columns of ``ast`` are character columns; no quotes, so that no
text can hide in an expression; no comment; no number that runs into a word, of which Python would only warn.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from keyword import iskeyword

from planc.source.expressions.fault import Fault
from planc.source.limits import Limits

_NUMBER = (
    r"(?:0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+"
    r"|(?:(?:0|[1-9][0-9_]*)(?![0-9.eE])|[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+"
    r"|\.[0-9]+(?:[eE][+-]?[0-9]+)?))(?![\w.])"
)
_TOKEN = re.compile(
    rf"(?>[A-Za-z_][A-Za-z0-9_]*|\.\.\.|{_NUMBER}|[ \t\n+\-*/%<>=!&|^~,:()\[\]]|\.(?![0-9]))", re.A
)
_CLEAN = re.compile(rf"(?:{_TOKEN.pattern})*+", re.A)
_IN_PARTS = "name parts of it as symbols"
_FOREIGN: Mapping[str, str] = {
    '"': "take the quotes out: an expression holds no text",
    "'": "take the quotes out: an expression holds no text",
    "$": "write the bare name of a symbol",
    "{": "write the bare name of a symbol",
    "}": "write the bare name of a symbol",
    "?": "write `a if condition else b`",
    ";": "write one expression",
    "#": "put a remark after the value, outside of its quotes",
    "\u00d7": "write `*`",
    "\u2212": "write `-`",
}
_WRONG_NUMBER = re.compile(r"[0-9.][\w.]*", re.A)


def parse(text: str, base: int, limits: Limits) -> tuple[ast.expr, int]:
    """Return the syntax tree of ``text`` and what to add to its columns.

    ``base`` is where ``text`` begins in the text that holds it. Raises Fault: PLC131 (no expression),
    PLC133 (too long), PLC134 (nested too deeply).
    """
    body = text.strip()
    lead = base + len(text) - len(text.lstrip())
    end = lead + len(body)
    if len(body) > limits.expression_length:
        message = f"the text has more than {limits.expression_length} characters"
        raise Fault("PLC133", message, lead, lead + 1, _IN_PARTS)
    if not body:
        raise Fault("PLC131", "an expression is missing", base, base + max(len(text), 1), "write a number")
    _check_characters(body, lead)
    _check_brackets(body, lead, limits)
    try:
        return ast.parse(body.replace("\n", " ").replace("\t", " "), mode="eval").body, lead
    except SyntaxError as error:
        at = min((error.offset or len(body)) - 1, len(body) - 1)  # no offset: at the end
        message = "this cannot be read as an expression"
        raise Fault("PLC131", message, lead + at, lead + at + 1, _cure(body)) from None
    except (MemoryError, RecursionError, ValueError):
        raise Fault("PLC134", "the expression is nested too deeply", lead, end, _IN_PARTS) from None


def is_plain_name(text: str) -> bool:
    """Return whether ``text`` is nothing but a name: most texts are, and need no parser."""
    return text.isidentifier() and text.isascii() and not iskeyword(text)


def _cure(body: str) -> str:
    """Say what to mend where Python's grammar refuses ``body``."""
    for open_, close in ("()", "[]"):
        if body.count(open_) > body.count(close):
            return f"close the bracket with `{close}`"
        if body.count(open_) < body.count(close):
            return f"take out a `{close}`, or open it with `{open_}`"
    if "&&" in body or "||" in body or "!" in body.replace("!=", ""):
        return "write `and`, `or` and `not`"
    if re.search(r"[-+*/%<>=&|^~,]\s*\Z", body):
        return "write what belongs after the operator"
    return "put an operator or a comma between two values"


def _check_characters(body: str, lead: int) -> None:
    """Raise PLC131 at the first character or number that no expression can hold."""
    match = _CLEAN.match(body)
    at = match.end() if match else 0
    if at == len(body):
        return
    number = _WRONG_NUMBER.match(body, at)
    if number is None:
        cure = _FOREIGN.get(body[at], "take it out")
        raise Fault("PLC131", f"`{body[at]}` has no place in an expression", lead + at, lead + at + 1, cure)
    word = number.group()
    cure = "write octal numbers as `0o17`" if word.isdigit() else "write it as `12`, `0x1F`, `0.5` or `1e-3`"
    raise Fault("PLC131", f"`{word[:40]}` is not a number", lead + at, lead + number.end(), cure)


def _check_brackets(body: str, lead: int, limits: Limits) -> None:
    if body.count("(") + body.count("[") <= limits.expression_depth:
        return
    depth = 0
    for at, character in enumerate(body):
        depth += (character in "([") - (character in ")]")
        if depth > limits.expression_depth:
            message = f"the expression is nested more than {limits.expression_depth} levels deep"
            raise Fault("PLC134", message, lead + at, lead + at + 1, _IN_PARTS)
