# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a model's heads found: labels of texts and images, masked words, answers, tagged tokens. The same as the command line's verbs."""
import os
import pathlib

import numpy as np

from . import errors


def softmax(scores):
    scores = np.exp(scores.astype(np.float64) - scores.max(-1, keepdims=True))
    return scores / scores.sum(-1, keepdims=True)


class Heads:
    """The part of fovea.Model that reads its heads."""

    def _refuse(self, verb, expected):
        raise errors.InputError(f"{self.path}: cannot {verb}: expects {expected}, got {self.architecture or self.kind}")

    def _forward(self, verb):
        for entry in self.entries.values():
            if entry.kind == "forward":
                return entry
        self._refuse(verb, "a model with an entry 'forward'")

    def _encode_texts(self, verb, entry, texts):
        """One row: its tokens, which of the texts they are of, and the entry's arguments by name."""
        ids, types, owners, _ = self._module.encode_texts(list(texts), max(entry._max_positions, 0))
        rows = {"token_ids": ids, "token_types": types, "attention_mask": [1] * len(ids)}
        values = {}
        for argument in entry.arguments:
            if argument["role"] not in rows:
                self._refuse(verb, f"arguments that are made of texts, not '{argument['name']}'")
            values[argument["name"]] = np.array([rows[argument["role"]]], np.int64)
        return ids, owners, values

    def _run_texts(self, verb, texts):
        """One row: its tokens, which of the texts they are of, and the results by their roles and names."""
        entry = self._forward(verb)
        ids, owners, values = self._encode_texts(verb, entry, texts)
        found = dict(zip(entry._names, entry.run(**values)))
        for result in entry.results:
            if result["role"] == "logits":
                found.setdefault("logits", found[result["name"]])
        return ids, owners, found

    def _scores(self, verb, found, axes, wanted):
        if "logits" not in found or found["logits"].ndim != axes:
            self._refuse(verb, wanted)
        return found["logits"][0]

    def _labelled(self, scores):
        if len(self.labels) != scores.shape[-1]:
            raise errors.InputError(f"{self.path}: expects names for its {scores.shape[-1]} labels, got {len(self.labels)}")
        function = self._info["score_function"]
        values = softmax(scores) if function == "softmax" else 1 / (1 + np.exp(-scores.astype(np.float64))) if function == "sigmoid" else scores
        return {self.labels[i]: float(values[i]) for i in np.argsort(-values, kind="stable")}

    def _takes_images(self):
        """The images' shape [batch, channels, height, width] if that is what `forward` takes, else None."""
        shapes = [argument["shape"] for argument in self._forward("classify").arguments]
        return shapes[0] if len(shapes) == 1 and len(shapes[0]) == 4 else None

    def classify(self, what, pair=None):
        """The labels of a text, of two texts together (`pair`), or of an image as preprocess() takes it, the likeliest first: a dictionary of probabilities by label.
        Of a list of texts or images a list."""
        if isinstance(what, (list, tuple)):
            pairs = pair if pair is not None else [None] * len(what)
            return [self.classify(each, other) for each, other in zip(what, pairs, strict=True)]
        if self._takes_images():
            entry = self._forward("classify images")
            found = dict(zip(entry._names, entry.run(self.preprocess(what))))
            return self._labelled(self._scores("classify images", found, 2, "a model that classifies images"))
        _, _, found = self._run_texts("classify", [what] if pair is None else [what, pair])
        return self._labelled(self._scores("classify", found, 2, "a model that classifies texts"))

    def preprocess(self, image):
        """An image as the model reads it, f32 [1, channels, height, width]: resized, cropped and normalised as its source says, by the command line's own arithmetic.

        Args:
            image: a PNG or JPEG file's path, a picture of Pillow, or an array of bytes [height, width, 3].
        """
        shape = self._takes_images()
        if shape is None:
            self._refuse("read images", "a model of images")
        try:
            if isinstance(image, (str, os.PathLike)):
                prepared = self._module.prepare_image(pathlib.Path(image).read_bytes(), shape[1])
            else:
                picture = np.asarray(image.convert("RGB")) if hasattr(image, "convert") else image
                prepared = self._module.prepare_image(picture, shape[1])
        except OSError as error:
            raise errors.InputError(f"{image}: {error.strerror}") from None
        if prepared is None:
            self._refuse("read images", "a model whose source says how images are made ready (preprocessor_config.json)")
        return prepared

    def fill_mask(self, text, top=5, mask=None):
        """For each mask in the text ([MASK] or <mask>, as the model calls it, or `mask`) a list of the `top` likeliest tokens: dictionaries with `token`, `id`,
        `probability` and the filled `text`."""
        names = [mask] if mask else ["[MASK]", "<mask>"]
        token = next((found for name in names if (found := self._module.find_token(name)) >= 0), None)
        if token is None:
            raise errors.InputError(f"{self.path}: cannot fill masks: expects a tokenizer with {' or '.join(names)}, got one without")
        ids, _, found = self._run_texts("fill masks", [text])
        probabilities = softmax(self._scores("fill masks", found, 3, "a masked language model"))
        masks = []
        for place in [i for i, each in enumerate(ids) if each == token]:
            best = np.argsort(-probabilities[place], kind="stable")[:top]
            masks.append([{"token": self.decode([i]), "id": int(i), "probability": float(probabilities[place, i]),
                           "text": self.decode([*ids[:place], i, *ids[place + 1:]])} for i in best])
        if not masks:
            raise errors.InputError(f"expects a mask in the text, got none: {text}")
        return masks

    def answer(self, question, passage, longest=15):
        """The part of a passage that answers a question, at most `longest` tokens: a dictionary with `answer` and `probability`."""
        ids, owners, found = self._run_texts("answer", [question, passage])
        if "start_logits" not in found or "end_logits" not in found:
            self._refuse("answer", "a model that answers questions")
        places = [i for i, owner in enumerate(owners) if owner == 1]
        if not places:
            raise errors.InputError("expects a passage, got none that fits behind the question")
        starts, ends = (softmax(found[name][0][places]) for name in ("start_logits", "end_logits"))
        scores = np.triu(np.outer(starts, ends)) - np.triu(np.outer(starts, ends), longest)
        start, end = np.unravel_index(np.argmax(scores), scores.shape)
        return {"answer": self.decode(ids[places[start]:places[end] + 1]), "probability": float(scores[start, end])}

    def tag(self, text, entities=False):
        """The label of each token: dictionaries with `text`, `label` and `probability`. `entities`: neighbours whose labels differ in B- and I- alone are one, and those
        of label O are left out."""
        ids, owners, found = self._run_texts("tag", [text])
        probabilities = softmax(self._scores("tag", found, 3, "a model that classifies tokens"))
        spans = []
        for i in [i for i, owner in enumerate(owners) if owner >= 0]:
            best = int(np.argmax(probabilities[i]))
            label, marked = self.labels[best], self.labels[best][:2] in ("B-", "I-")
            kind = label[2:] if entities and marked else label
            if not entities or not spans or label.startswith("B-") or spans[-1][0] != kind:
                spans.append((kind, [], []))
            spans[-1][1].append(ids[i])
            spans[-1][2].append(float(probabilities[i, best]))
        return [{"text": self.decode(tokens), "label": kind, "probability": sum(scores) / len(scores)} for kind, tokens, scores in spans if not (entities and kind == "O")]
