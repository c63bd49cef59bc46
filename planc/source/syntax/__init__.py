"""Reading the text of graph files into trees whose values keep their places."""

from planc.source.syntax.composer import report_hidden
from planc.source.syntax.json_reader import read_json
from planc.source.syntax.text import FORBIDDEN, SourceText, check_text, label_of, read_source
from planc.source.syntax.tree import Mapping, PinnedText, Scalar, Sequence, Text, Tree
from planc.source.syntax.yaml_reader import PureParser, fastest_parser, read_yaml

__all__ = [
    "FORBIDDEN",
    "Mapping",
    "PinnedText",
    "PureParser",
    "Scalar",
    "Sequence",
    "SourceText",
    "Text",
    "Tree",
    "check_text",
    "fastest_parser",
    "label_of",
    "read_json",
    "read_source",
    "read_yaml",
    "report_hidden",
]
