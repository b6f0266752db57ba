# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One program on one case, in a process of its own: reads a JSON line a command, answers a JSON line.

{"peer", "case", "paths", "threads"} makes it ready; {"result": FILE} runs once and writes what came out (.npy); {"run": N} gives the seconds of N runs.
"""
import json
import os
import sys

import numpy as np

import cases
import peers


def main():
    # What libraries print must not come between the answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    peer = None
    for line in sys.stdin:
        command = json.loads(line)
        try:
            if "peer" in command:
                case = cases.CASES[command["case"]]
                peer = cases if command["peer"] == "reference" else peers.PEERS[command["peer"]](case, command["paths"], command["threads"])
                answer = {}
            elif "result" in command:
                if peer is cases:
                    np.save(command["result"], cases.reference(case, command["model"]))
                else:
                    peer.run()
                    np.save(command["result"], peer.result())
                answer = {}
            else:
                answer = {"seconds": [peer.run() for _ in range(command["run"])]}
        except peers.Unable as reason:
            answer = {"unable": str(reason)}
        except Exception as error:  # whatever a library throws; the others go on
            answer = {"failed": f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}"[:300]}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
