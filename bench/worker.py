# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program on one case, in a process of its own: reads a JSON line a command, answers a JSON line.

{"peer", "case", "paths", "threads"} makes it ready; {"result": FILE} runs once and writes what came out (.npy), or gives {"told": the tokens that the program chose};
{"run": N} gives the seconds of N runs. The peer "reference" computes in f64; {"told", "model"} gives the error of such tokens.
"""
import json
import os
import sys

import numpy as np

import cases
import language_peers
import peers

PROGRAMS = {**peers.PEERS, **language_peers.PEERS}


def serve(respond):
    """Answers each line of standard input by what `respond` gives for it."""
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = respond(json.loads(line))
        except peers.Unable as reason:
            answer = {"unable": str(reason)}
        except Exception as error:  # whatever a library throws; the others go on
            answer = {"failed": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


class Cases:
    peer = None

    def respond(self, command):
        if "peer" in command:
            self.case = cases.CASES[command["case"]]
            self.peer = cases if command["peer"] == "reference" else PROGRAMS[command["peer"]](self.case, command["paths"], command["threads"])
            return {}
        if "told" in command:
            return {"error": cases.told_error(self.case, command["model"], command["told"])}
        if "result" in command:
            if self.peer is cases:
                np.save(command["result"], cases.reference(self.case, command["model"]))
            else:
                self.peer.run()
                out = self.peer.result()
                if isinstance(out, dict):
                    return {"told": out}
                np.save(command["result"], out)
            return {}
        return {"seconds": [self.peer.run() for _ in range(command["run"])]}


if __name__ == "__main__":
    serve(Cases().respond)
