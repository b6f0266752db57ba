# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chat templates as transformers renders them, and as fovea-render does.

The reference is transformers' own environment (utils/chat_template_utils.py), with the one difference that `strftime_now` tells a time that is given.
"""
import datetime
import json
import os
import struct
import subprocess

from transformers.utils import chat_template_utils

NOW = 1753660800  # 2025-07-28


class Tool:
    """A fovea-render that goes on until it is closed."""

    def __init__(self, path):
        self.path = path
        self.start()

    def start(self):
        self.process = subprocess.Popen([str(self.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "TZ": "UTC"})

    def render(self, template, variables):
        """(how it ended, text or message): 0 rendered, 1 refused when parsed, 2 failed when rendered; the code of a signal is negative."""
        source, values = template.encode(), json.dumps(variables, ensure_ascii=False).encode()
        try:
            self.process.stdin.write(struct.pack("<qI", NOW, len(source)) + source + struct.pack("<I", len(values)) + values)
            self.process.stdin.flush()
            head = self.process.stdout.read(5)
            code, size = struct.unpack("<BI", head)
        except (BrokenPipeError, struct.error):
            code = self.process.wait()
            self.start()
            return code, ""
        return code, self.process.stdout.read(size).decode()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait() == 0


def compile_template(template):
    compiled = chat_template_utils._compile_jinja_template(template)
    compiled.globals["strftime_now"] = lambda format: datetime.datetime.fromtimestamp(NOW, datetime.timezone.utc).replace(tzinfo=None).strftime(format)
    return compiled


def render(template, variables):
    """The text, or the exception."""
    try:
        return compile_template(template).render(**variables)
    except Exception as error:  # whatever Python raises: the other side has to fail too
        return error
