# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A compiled model, and what can be done with it."""
import collections.abc
import contextlib
import json
import os
import pathlib
import queue
import shutil
import sys
import tempfile
import threading

import numpy as np

from . import _runtime, compiler, errors, heads

# Entries that the compiler adds to show another one, by the kinds of what they give.
PROBES = {"attention": "attention_maps", "masks": "attention_masks", "positions": "position_encodings", "inputs": "linear_inputs"}


class Entry:
    """One function of a model. Call it with arrays, in the order of its arguments or by their names; it gives a dictionary of arrays by the results' names.

    numpy arrays and tensors of torch (on the CPU, or on the device of a model on CUDA), and whatever else has `__dlpack__`, are read where they are; lists and numbers
    become arrays of the argument's type. If an argument is a torch tensor, so are the results. Results are not copied: their memory is used again when nothing refers to
    them any longer. Caches (keys and values) are the model's and no arguments.

    Raises:
        fovea.ArgumentError: names the argument, what it expects and what it got: type, shape, strides, device, requires_grad.

    Attributes:
        name: its name.
        kind: "forward", "prefill", "decode", "embed", "encode" or "generic".
        arguments, results: a dictionary for each, with `name`, `dtype`, `shape` (open sizes by their names or -1) and `role`.
    """

    def __init__(self, context, description, profiles=False):
        self.name, self.kind, self._max_positions = description["name"], description["kind"], description["max_positions"]
        self.arguments = [value for value in description["arguments"] if not value["is_cache"]]
        self.results = [value for value in description["results"] if not value["is_cache"]]
        self._names = tuple(value["name"] for value in self.results)
        self._context, self._entry = context, _runtime.Entry(context, self.name)
        self._is_on_cuda, self._profiles = context.describe()["device_type"] == 2, profiles

    def __call__(self, *values, **named):
        return dict(zip(self._names, self.run(*values, **named)))

    def run(self, *values, **named):
        """As calling it, but gives a tuple of the results in their order."""
        names = None
        if named:
            names = tuple(value["name"] for value in self.arguments[:len(values)]) + tuple(named)
            values += tuple(named.values())
        torch = sys.modules.get("torch")
        tensors = [value for value in values if isinstance(value, torch.Tensor)] if torch else []
        stream = torch.cuda.current_stream().cuda_stream if self._is_on_cuda and any(tensor.is_cuda for tensor in tensors) else None
        return self._entry.run(values, names, bool(tensors), stream)

    def measure(self, *values, runs=10):
        """Seconds that one run of the entry's kernels takes, the mean of `runs`, without planning it."""
        return self._entry.measure(values, runs)

    @property
    def steps(self):
        """The kernels that a run starts, in order: a dictionary for each, with `kernel`, `description`, `location` in the source, `schedule`, `is_fallback` (plain loops);
        and for a model that profiles `seconds`, `flops` and `bytes` of all runs until now (-1 where nobody knows)."""
        steps = self._context.steps(self.name)
        if self._profiles:
            for step, (seconds, flops, size) in zip(steps, self._entry.profile()):
                step |= {"seconds": seconds, "flops": flops, "bytes": size}
        return steps

    def __repr__(self):
        def names(values):
            return ", ".join(f"{value['name']}: {value['dtype']}{list(value['shape'])}" for value in values).replace("'", "")

        return f"{self.name}({names(self.arguments)}) -> {names(self.results)}"


class Generation(collections.abc.Iterator):
    """Pieces of a text as they are made. What has been made by the end is in `text`; `result` says how it went.

    Attributes:
        text: all pieces so far.
        tokens: their token ids.
        result: None until the end; then a dictionary with `stop` ("count", "end", "context", "text" or "callback"), `prompt_tokens`, `new_tokens`, `prompt_seconds`,
            `new_seconds`, and what drafts did (`draft_tokens`, `accepted_tokens`).
    """

    def __init__(self, run):
        self.text, self.tokens, self.result = "", [], None
        # The model waits for the reader: a text that nobody reads costs nothing.
        self._pieces, self._is_closed = queue.Queue(maxsize=16), threading.Event()
        self._thread = threading.Thread(target=self._work, args=(run,), name="fovea-generate", daemon=True)
        self._thread.start()

    def _put(self, item):
        # Until it is taken, or nobody will.
        while not self._is_closed.is_set():
            try:
                return self._pieces.put(item, timeout=0.05)
            except queue.Full:
                pass

    def _work(self, run):
        def on_piece(token, text):
            self._put((token, text))
            return self._is_closed.is_set()

        try:
            self._put(run(on_piece))
        except BaseException as error:
            self._put(error)

    def __next__(self):
        while self.result is None and not self._is_closed.is_set():
            item = self._pieces.get()
            if item is None:
                break
            if isinstance(item, BaseException):
                self.close()
                raise item
            if isinstance(item, dict):
                self.result = item
                break
            token, text = item
            if token >= 0:
                self.tokens.append(token)
            if text:
                self.text += text
                return text
        raise StopIteration

    def close(self):
        """Ends the text here, and waits until the model has."""
        self._is_closed.set()
        self._thread.join()
        # Whoever waits for a piece in another thread waits no longer; who does not finds none.
        with contextlib.suppress(queue.Full):
            self._pieces.put_nowait(None)

    def __del__(self):
        if hasattr(self, "_thread"):
            self._is_closed.set()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __str__(self):
        """All of the text, to its end."""
        for _ in self:
            pass
        return self.text


class Model(heads.Heads):
    """An artifact, opened, with threads and caches of its own. Made by fovea.compile and fovea.load.

    Calling it runs its entry `forward`, or its only one, and gives the result's array, or a dictionary of them if there are several. One thread at a time computes;
    others wait. After a fork, the parent's model is of use to the child only if it has one thread: load it there again.

    Attributes:
        path: the artifact's.
        name, architecture, kind ("decoder", "encoder", "encoder-decoder", "generic"), labels: what its source says.
        entries: its functions by their names (fovea.Entry).
    """

    def __init__(self, path, *, threads=0, capacity=0, device="cpu", profile=False, copy=False):
        self.path = pathlib.Path(path)
        self._module = _runtime.Module(os.fspath(path), copy)
        self._context = _runtime.Context(self._module, threads, capacity, device, profile)
        self._info = self._module.describe()
        self.name, self.architecture, self.kind, self.labels = (self._info[key] for key in ("name", "architecture", "kind", "labels"))
        self._settings = {"threads": threads, "capacity": capacity, "device": device, "profile": profile, "copy": copy}
        self.entries = {described["name"]: Entry(self._context, described, profile) for described in self._module.entries()}
        self._source, self._flags, self._report, self._stages, self._call = None, [], None, None, None
        self._probed = {}

    # What it is -------------------------------------------------------------------------------------------------------------------------------------------

    @property
    def threads(self):
        return self._context.describe()["threads"]

    @property
    def device(self):
        """In words: "the CPU", "CUDA device 0 (NVIDIA H200)"."""
        return self._context.describe()["device"]

    @property
    def capacity(self):
        """Positions that the caches hold."""
        return self._context.describe()["capacity"]

    @property
    def report(self):
        """All that the artifact says of itself: targets, kernels, entries, which attentions were fused and how."""
        if self._report is None:
            self._report = compiler.inspect(self.path)
        return self._report

    @property
    def stages(self):
        """The IR at every stage of compiling, text by stage, in order. Compiles once more; for models that fovea.compile made of a file or a module."""
        if self._stages is None:
            if self._source is None:
                raise errors.InputError(f"{self.path}: has no stages: they are made of the source; expects a model from fovea.compile, got one from fovea.load")
            with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
                compiler.invoke("compile", self._source, "-o", pathlib.Path(folder) / "model.fovea", "--dump-ir", pathlib.Path(folder) / "ir", *self._flags)
                files = sorted((pathlib.Path(folder) / "ir").iterdir())
                self._stages = {file.stem: file.read_text() for file in files if file.suffix == ".mlir"}
        return self._stages

    def save(self, path):
        """Copies the artifact to `path`, which needs nothing of what it was made from."""
        shutil.copyfile(self.path, path)

    def clone(self, **settings):
        """The same model once more, with its own threads and caches; weights are shared. Takes what fovea.load takes."""
        return self._share(Model(self.path, **{**self._settings, **settings}))

    def _share(self, other):
        """Another one of the same artifact knows its source too."""
        other._source, other._flags = self._source, self._flags
        return other

    def reset(self):
        """Empties the caches."""
        self._context.reset()

    # Running it -------------------------------------------------------------------------------------------------------------------------------------------

    def _main_entry(self):
        chosen = [entry for entry in self.entries.values() if entry.kind == "forward"] or [entry for name, entry in self.entries.items() if name not in PROBES.values()]
        if len(chosen) != 1:
            raise errors.InputError(f"{self.path}: cannot be called: expects an entry 'forward' or one entry, got {', '.join(self.entries)}; call one of `entries`")
        return chosen[0]

    def __call__(self, *values, **named):
        if self._call is None:
            self._call = self._main_entry()
        results = self._call.run(*values, **named)
        return results[0] if len(results) == 1 else dict(zip(self._call._names, results))

    def probe(self, kind, *values, **named):
        """What the model computes on its way: a dictionary of arrays by name, in the order of the program.

        Args:
            kind: "attention": the probabilities of each attention, [batch, heads, queries, keys]; "masks": which keys its queries see, bool of that shape;
                "positions": vectors that are added for positions, [1, length, width], and of rotary embeddings the cosines and sines by which pairs of a head's elements
                are turned, [1, length, 1, width]; of scores what ALiBi, T5 and others add to a product of 0, [batch, heads, queries, keys].
            values, named: what the entry `forward`, or the only one, takes; or one text.

        A model of fovea.compile is compiled once more for it, and that is kept; one of fovea.load must have been compiled for it (`probe` of fovea.compile, `--probe`).

        Raises:
            fovea.InputError: it was not. fovea.CompileError: there is no such thing in the model, or it stands in a branch or a loop.
        """
        entry = self._probe_entry(kind)
        if len(values) == 1 and isinstance(values[0], str):
            _, _, named = self._encode_texts("read texts", entry, values)
            values = ()
        return entry(*values, **named)

    def _probe_entry(self, kind):
        if kind not in PROBES:
            raise errors.InputError(f"probe: expects one of {', '.join(PROBES)}, got {kind!r}")
        if PROBES[kind] in self.entries:
            return self.entries[PROBES[kind]]
        if kind not in self._probed:
            if self._source is None:
                raise errors.InputError(f"{self.path}: expects an artifact that shows {kind}, got one that was compiled without: fovea.compile(..., probe={kind!r})")
            from .compilation import compile_file

            self._probed[kind] = Model(compile_file(self._source, None, [*self._flags, f"--probe={kind}"]), **self._settings)
        return self._probed[kind].entries[PROBES[kind]]

    def encode(self, text, special=True):
        """Token ids of a text; `special` adds what the model wants around it."""
        return self._module.encode(text, special)

    def decode(self, ids):
        """The text of token ids, special ones left out."""
        return self._module.decode([int(i) for i in ids])

    def generate(self, prompt, *, max_tokens=None, temperature=0.8, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.0, seed=0, stop=(), ignore_end=False,
                 keep_caches=False, draft=None, draft_tokens=4, on_logprobs=None, top_logprobs=0):
        """Continues `prompt`, a text or token ids, and gives the pieces of text as they are made (fovea.Generation); str() of that is all of it.

        Args:
            max_tokens: ends after so many; None: when the model ends it or the caches are full.
            temperature: 0 takes the likeliest token always; top_k, top_p, min_p: of which tokens one is drawn.
            repetition_penalty: of tokens in prompt or text; 1 is none (Keskar et al. 2019).
            stop: texts that end it, and are not given out.
            keep_caches: what the caches hold of the prompt from calls before is not read again.
            draft: another decoder with the same tokens that guesses `draft_tokens` tokens, or "lookup" for guesses from the text itself; the text stays the same
                (Leviathan et al. 2023).
            on_logprobs: called with each token, the logarithm of its probability, and a list of pairs of the `top_logprobs` likeliest.
        """
        options = dict(prompt=prompt if isinstance(prompt, str) else [int(i) for i in prompt], max_tokens=-1 if max_tokens is None else max_tokens,
                       temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, repetition_penalty=repetition_penalty, seed=seed,
                       stop=[stop] if isinstance(stop, str) else list(stop), ignore_end=ignore_end, keep_caches=keep_caches, draft_lookup=draft == "lookup",
                       draft_tokens=draft_tokens, top_logprobs=top_logprobs)
        if on_logprobs is not None:
            options["on_logprobs"] = on_logprobs
        other = draft._context if isinstance(draft, Model) else None
        return Generation(lambda on_piece: self._context.generate({**options, "on_piece": on_piece}, other))

    def render_chat(self, messages, *, add_generation_prompt=True, template=None, **variables):
        """The conversation as the text that the model continues, by the checkpoint's own template: `messages` are dictionaries with `role` and `content`."""
        return self._module.render_chat(template, json.dumps({"messages": list(messages), "add_generation_prompt": add_generation_prompt, **variables}))

    def chat(self, messages, *, template=None, tools=None, **options):
        """Answers a conversation, as generate() does: messages as render_chat takes them, or the user's first as a text."""
        messages = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        text = self.render_chat(messages, template=template, **({} if tools is None else {"tools": tools}))
        return self.generate(self.encode(text, special=False), keep_caches=True, **options)

    def _choose(self, choices):
        """The prompt's tokens, -1 where the model says or finds them."""
        prompt, ids = self._module.prompt(), [-1] * len(self._module.prompt())
        for what, value in choices.items():
            place = next((i for i, each in enumerate(prompt) if each["name"] == what), None)
            if place is None:
                raise errors.InputError(f"{self.path}: expects choices of {', '.join(filter(None, (each['name'] for each in prompt))) or 'nothing'}, got {what}")
            if value is not None:
                if value not in prompt[place]["values"]:
                    raise errors.InputError(f"{what}: expects one of {', '.join(prompt[place]['values'])}, got {value!r}")
                ids[place] = prompt[place]["values"][value]
        return ids

    def _translate(self, source, prompt, *, beams=1, count=None, max_tokens=None, length_penalty=1.0, early_stopping=False, min_tokens=None, no_repeat_ngram=None):
        if not isinstance(source, (str, np.ndarray)):
            source = [int(i) for i in source]
        elif isinstance(source, np.ndarray):
            source = np.ascontiguousarray(source, np.float32)
        options = dict(source=source, beams=beams, count=1 if count is None else count, max_tokens=-1 if max_tokens is None else max_tokens, length_penalty=length_penalty,
                       early_stopping={False: 0, True: 1, "never": 2}[early_stopping], min_tokens=-1 if min_tokens is None else min_tokens,
                       no_repeat_ngram=-1 if no_repeat_ngram is None else no_repeat_ngram, prompt_ids=prompt)
        return [dict(zip(("text", "score", "ended", "tokens", "prompt"), each)) for each in self._context.translate(options)]

    def translate(self, source, *, beams=1, count=None, max_tokens=None, length_penalty=1.0, early_stopping=False, min_tokens=None, no_repeat_ngram=None, **choices):
        """What an encoder-decoder makes of a text, of token ids, or of sound (an array of f32 samples at `sampling_rate`): the text, or with `count` a list of the best
        so many, each a dictionary with `text`, `score`, `ended`, `tokens` and `prompt`, the tokens that it stands behind.

        Args:
            beams: of the search; 1 is greedy.
            length_penalty, early_stopping: as in `transformers`; early_stopping may be "never".
            min_tokens, no_repeat_ngram: what texts must be; None: as the model says.
            choices: what the model has a choice of, language="de"; None: as the model says, or finds.
        """
        found = self._translate(source, self._choose(choices), beams=beams, count=count, max_tokens=max_tokens, length_penalty=length_penalty,
                                early_stopping=early_stopping, min_tokens=min_tokens, no_repeat_ngram=no_repeat_ngram)
        return found if count is not None else found[0]["text"]

    def transcribe(self, sound, *, language=None, task=None, **options):
        """What is said in sound of any length, an array of f32 samples at `sampling_rate`: the text. It is cut into clips as long as the model hears; the first one's
        language is that of all. `options` are those of translate()."""
        if not self.sampling_rate:
            self._refuse("transcribe", "a model that reads sound")
        sound = np.asarray(sound, np.float32)
        if sound.ndim != 1:
            raise errors.InputError(f"sound: expects samples of one channel, [samples], got {list(sound.shape)}")
        prompt = self._choose({name: value for name, value in (("language", language), ("task", task)) if value is not None})
        clip = next(entry for entry in self.entries.values() if entry.kind == "encode").arguments[0]["shape"][-1]
        text = ""
        for first in range(0, len(sound), clip):
            found = self._translate(sound[first:first + clip], prompt, **options)[0]
            text, prompt = text + found["text"], found["prompt"]
        return text.removeprefix(" ")

    @property
    def sampling_rate(self):
        """Samples a second of the sound that translate() takes; 0: it takes texts."""
        return self._info["sampling_rate"]

    def embed(self, texts):
        """A vector for each text, [texts, width]; of one text alone, [width]. Longer texts than the model takes are cut."""
        alone = isinstance(texts, str)
        vectors, _ = self._context.embed([texts] if alone else list(texts))
        return vectors[0] if alone else vectors

    def __repr__(self):
        return f"<fovea.Model {self.name or self.path.name} ({self.architecture or self.kind}) on {self.device}: {', '.join(map(repr, self.entries.values()))}>"

    def _repr_html_(self):
        """Notebooks: what was fused, and where the time goes if the model profiles."""
        from .notebook import describe

        return describe(self)


def load(path, *, threads=0, capacity=0, device="cpu", profile=False, copy=False):
    """Opens an artifact (.fovea). An artifact is code: open only what you would run as a program.

    Args:
        threads: to compute with; 0: one for each core that this process may use.
        capacity: positions that the caches hold; 0: the model's longest, at most 4096.
        device: "cpu", or "cuda", "cuda:1" for artifacts with code for GPUs (fovea.compile(gpu="all")).
        profile: measure each kernel (Entry.steps).
        copy: read the file into memory instead of mapping it, so that it may be changed.
    """
    return Model(path, threads=threads, capacity=capacity, device=device, profile=profile, copy=copy)
