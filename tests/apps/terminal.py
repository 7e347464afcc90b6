# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: 2026 usmp-plan contributors
"""A program on a terminal of its own, whose keys are typed and whose screen is read to the last byte."""

import os
import pty
import re
import select
import signal
import time
from typing import Callable, Mapping, Optional, Sequence

PATIENCE = 300.0  # seconds, a limit that no machine should meet

# A shell says behind what the program wrote that it is done. Without it the end would be an error of a read from a terminal
# that nobody has open any more, which Linux may report before all that was written has been read.
SHELL = r"""trap : INT; "$@"; printf '\0status %d\0' $?"""
STATUS = re.compile(rb"\0status (\d+)\0$")


class Terminal:
    """Standard input, output and error of a command are a new terminal, which controls it: Ctrl-C is its SIGINT."""

    def __init__(self, *command: object, environment: Optional[Mapping[str, str]] = None) -> None:
        self.shown = b""
        self.done: Optional[int] = None
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            try:
                words = ["sh", "-c", SHELL, "sh", *map(str, command)]
                os.execve("/bin/sh", words, os.environ if environment is None else environment)
            finally:
                os._exit(127)

    def read(self, until: Optional[Callable[[bytes], bool]] = None) -> None:
        """Until the program is done, or what it has shown is what is waited for."""
        end = time.monotonic() + PATIENCE
        while self.done is None and (until is None or not until(self.shown)):
            ready, _, _ = select.select([self.screen], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                os.killpg(self.pid, signal.SIGKILL)
                raise AssertionError(f"nothing for {PATIENCE} s: {self.shown!r}")
            self.shown += os.read(self.screen, 1 << 16)
            if status := STATUS.search(self.shown):
                self.shown, self.done = self.shown[: status.start()], int(status[1])
        assert until is None or until(self.shown), f"the program is done: {self.shown!r}"

    def type(self, keys: bytes) -> None:
        os.write(self.screen, keys)

    def status(self) -> int:
        """As a shell says it, when the program is done."""
        self.read()
        os.close(self.screen)
        os.waitpid(self.pid, 0)
        assert self.done is not None
        return self.done
