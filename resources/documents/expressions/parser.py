"""From text to a tree of nodes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NoReturn

from resources.documents.expressions.syntax import (
    DEEPEST,
    ORDER,
    Binary,
    Call,
    Invalid,
    Items,
    Literal,
    Node,
    Path,
    Token,
    Unary,
    tokens,
)

FUNCTIONS = ("has", "size", "level")

_CONSTANTS = {"true": True, "false": False, "null": None}
# Operators from the loosest to the tightest.
_BINDING = (("||",), ("&&",), ("==", "!=", *ORDER, "in"), ("+", "-"), ("*", "/"))
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"\\": "\\", '"': '"', "'": "'", "n": "\n", "r": "\r", "t": "\t"}


class Parser:
    """Reads one expression from the left; each level of binding asks the next tighter one."""

    def __init__(self, text: str, start: int) -> None:
        self._tokens = tuple(tokens(text, start))
        self._next = 0

    def whole(self) -> Node:
        """Read all of the text, or say what is in the way."""
        node = self._binary(0, 1)
        if self._token.kind != "end":
            _refuse(self._token)
        return node

    @property
    def _token(self) -> Token:
        return self._tokens[self._next]

    def _take(self) -> Token:
        token = self._token
        if token.kind == "end":
            raise Invalid("ends too early")
        self._next += 1
        return token

    def _took(self, *words: str) -> bool:
        taken = self._token.text in words
        self._next += taken
        return taken

    def _need(self, mark: str) -> None:
        token = self._take()
        if token.text != mark:
            _refuse(token)

    def _binary(self, level: int, depth: int) -> Node:
        if level == len(_BINDING):
            return self._unary(depth)
        left = self._binary(level + 1, depth)
        operator = self._token
        while self._took(*_BINDING[level]):
            left = Binary(operator.text, left, self._binary(level + 1, depth), operator.at)
            operator = self._token
        return left

    def _unary(self, depth: int) -> Node:
        if depth > DEEPEST:
            raise Invalid(f"must not nest more than {DEEPEST} deep")
        token = self._take()
        if token.text in ("!", "-"):
            return Unary(token.text, self._unary(depth + 1), token.at)
        return self._primary(token, depth)

    def _primary(self, token: Token, depth: int) -> Node:
        if token.kind == "number":
            return Literal(_number(token), token.at)
        if token.kind == "text":
            return Literal(_unquoted(token), token.at)
        if token.kind == "name":
            return self._named(token, depth)
        if token.text == "[":
            return Items(tuple(self._items(depth)), token.at)
        if token.text != "(":
            _refuse(token)
        node = self._binary(0, depth + 1)
        self._need(")")
        return node

    def _named(self, name: Token, depth: int) -> Node:
        if name.text in _CONSTANTS:
            return Literal(_CONSTANTS[name.text], name.at)
        if name.text in FUNCTIONS and self._took("("):
            argument = self._binary(0, depth + 1)
            self._need(")")
            return Call(name.text, argument, name.at)
        return Path(name.text, tuple(self._steps(name)), name.at)

    def _items(self, depth: int) -> Iterator[Node]:
        if self._took("]"):
            return
        yield self._binary(0, depth + 1)
        while self._took(","):
            yield self._binary(0, depth + 1)
        self._need("]")

    def _steps(self, name: Token) -> Iterator[str | int]:
        while True:
            if self._token.text == "(":
                _refuse_call(name)
            if self._took("."):
                name = self._take()
                if name.kind != "name":
                    _refuse(name)
                yield name.text
            elif self._took("["):
                yield _place(self._take())
                self._need("]")
            else:
                return


def _refuse(token: Token) -> NoReturn:
    if token.kind == "end":
        raise Invalid("ends too early")
    raise Invalid(f"does not expect {token.text} at character {token.at}")


def _refuse_call(name: Token) -> NoReturn:
    known = "has(), size() and level()"
    raise Invalid(f"cannot call {name.text}() at character {name.at}; there are only {known}")


def _number(token: Token) -> float:
    number = float(token.text)
    if math.isinf(number):
        raise Invalid(f"has too large a number at character {token.at}")
    return number


def _place(token: Token) -> str | int:
    if token.kind == "text":
        return _unquoted(token)
    if not token.text.isdecimal():
        raise Invalid(f"needs a whole number or a text in brackets at character {token.at}")
    return int(token.text)


def _unquoted(token: Token) -> str:
    def plain(escape: re.Match[str]) -> str:
        if escape[1] not in _ESCAPED:
            raise Invalid(f"has an unknown escape {escape[0]} at character {token.at}")
        return _ESCAPED[escape[1]]

    return _ESCAPE.sub(plain, token.text[1:-1])
