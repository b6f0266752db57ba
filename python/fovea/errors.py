# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong, by whose fault it is. Messages say where, what was expected and what was found; the attributes have the same apart."""
import re

EXPECTATION = re.compile(r"(?:^|: |\b)expects (?P<expected>.*?), got (?P<found>.*)$", re.DOTALL)


class Error(Exception):
    """The base of all errors that Fovea raises.

    Attributes:
        place: where the fault is: a file and a key or tensor in it, or an entry and its argument; "" if the message names none.
        expected, found: the parts of a message that says them; "" otherwise.
    """

    def __init__(self, message):
        super().__init__(message)
        known = EXPECTATION.search(message)
        self.place = message[:known.start()].removesuffix(":") if known else ""
        self.expected, self.found = (known["expected"], known["found"]) if known else ("", "")


class InputError(Error, ValueError):
    """A file, an argument or a text is at fault."""


class ArgumentError(InputError, TypeError):
    """An argument of an entry does not fit.

    Attributes:
        entry, argument: their names.
    """

    def __init__(self, entry, argument, expected, found):
        super().__init__(f"entry '{entry}': argument '{argument}': expects {expected}, got {found}")
        self.entry, self.argument = entry, argument
        self.place, self.expected, self.found = f"entry '{entry}': argument '{argument}'", expected, found


class CompileError(Error):
    """A model does not compile.

    Attributes:
        problems: the compiler's messages, "FILE: PLACE: expects ..., got ...", one for each thing that is wrong.
    """

    def __init__(self, problems):
        super().__init__("\n".join(problems))
        first = Error(problems[0]) if problems else None
        self.problems = problems
        if first:
            self.place, self.expected, self.found = first.place, first.expected, first.found


class UnsupportedError(Error):
    """This machine cannot: the processor lacks what the code was made for, or there is no such device."""


class OutOfMemoryError(Error, MemoryError):
    """There is no memory for a model, its caches or its results."""


class InternalError(Error):
    """Fovea itself is at fault. Please report it, with the model if you can."""
