"""The short forms of the language: each a text with a grammar of its own, read to a frozen value.

Offsets count characters of the text; where the text stands in a file is for the caller to say. So one
text is read once, however often it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

from planc.source.expressions import Expression, Fault, compile_text
from planc.source.forms.declarations import (
    BufferForm,
    DataForm,
    FileForm,
    KindForm,
    LiteralForm,
    ScalarForm,
    Word,
    check_dtype,
    parse_buffer,
    parse_data,
    parse_extents,
    parse_global,
    parse_kind,
    parse_scalar,
)
from planc.source.forms.indices import Dots, IndexForm, SliceForm
from planc.source.forms.operations import (
    ArgumentForm,
    CallForm,
    CopyForm,
    FillForm,
    IdForm,
    LoopForm,
    ViewForm,
    parse_call,
    parse_copy,
    parse_fill,
    parse_id,
    parse_loop,
    parse_value,
    parse_view,
)
from planc.source.forms.references import NodeIndex, PartForm, ReferenceForm, parse_references
from planc.source.forms.signature import (
    EFFECTS,
    EntryForm,
    ParameterForm,
    check_function,
    parse_entry,
    parse_parameter,
)
from planc.source.limits import Limits

F = TypeVar("F")
_WORD = re.compile(r"[A-Za-z_]\w*", re.A)


def parse_expression(text: str, limits: Limits) -> Expression:
    """Compile an expression that is a text of its own."""
    return compile_text(text, 0, limits)


class FormReader:
    """Reads short forms, each text of a form once; ``mentioned`` gathers every word of them."""

    def __init__(self, limits: Limits) -> None:
        """Read under ``limits``."""
        self.limits = limits
        self.mentioned: set[str] = set()
        self._known: dict[tuple[Callable[..., Any], str], Any] = {}

    def read(self, parse: Callable[[str, Limits], F], text: str) -> F:
        """Return what ``parse`` makes of ``text``. Raises its Fault, each time anew."""
        key = (parse, text)
        found = self._known.get(key)
        if found is None:
            try:
                found = parse(text, self.limits)
            except Fault as fault:
                found = fault
            self._known[key] = found
            self.mentioned.update(_WORD.findall(text))
        if isinstance(found, Fault):
            raise Fault(found.code, found.message, found.start, found.end, found.help)
        result: F = found
        return result


__all__ = [
    "EFFECTS",
    "ArgumentForm",
    "BufferForm",
    "CallForm",
    "CopyForm",
    "DataForm",
    "Dots",
    "EntryForm",
    "Expression",
    "FileForm",
    "FillForm",
    "FormReader",
    "IdForm",
    "IndexForm",
    "KindForm",
    "LiteralForm",
    "LoopForm",
    "NodeIndex",
    "ParameterForm",
    "PartForm",
    "ReferenceForm",
    "ScalarForm",
    "SliceForm",
    "ViewForm",
    "Word",
    "check_dtype",
    "check_function",
    "parse_buffer",
    "parse_call",
    "parse_copy",
    "parse_data",
    "parse_entry",
    "parse_expression",
    "parse_extents",
    "parse_fill",
    "parse_global",
    "parse_id",
    "parse_kind",
    "parse_loop",
    "parse_parameter",
    "parse_references",
    "parse_scalar",
    "parse_value",
    "parse_view",
]
