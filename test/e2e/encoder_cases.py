# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Encoder families of `transformers`, their heads, and the configurations in which they are tested: tiny, with every option far from where it has no effect.

A case is named FAMILY-HEAD or FAMILY-HEAD-DIFFERENCE, where HEAD is the end of the class's name. FAMILIES has the beginning of that name, the configuration and
the heads, CHANGES what the other cases change.
"""
VOCABULARY = 120
# Large enough to be missed.
SIZES = dict(vocab_size=VOCABULARY, hidden_size=48, num_hidden_layers=2, num_attention_heads=4, intermediate_size=80, max_position_embeddings=64,
             layer_norm_eps=0.02, bos_token_id=2, eos_token_id=3)
LABELS = {"id2label": {number: name for number, name in enumerate(["none", "some", "many"])}}
COMMON = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]

FAMILIES = {
    "bert": ("Bert", SIZES, COMMON + ["ForPreTraining", "ForNextSentencePrediction"]),
    "roberta": ("Roberta", SIZES | dict(type_vocab_size=1, pad_token_id=1), COMMON),
    "xlmroberta": ("XLMRoberta", SIZES | dict(type_vocab_size=1, pad_token_id=1), ["ForMaskedLM", "ForSequenceClassification"]),
    "camembert": ("Camembert", SIZES | dict(type_vocab_size=1, pad_token_id=1), ["ForMaskedLM", "ForTokenClassification"]),
    "distilbert": ("DistilBert", dict(vocab_size=VOCABULARY, dim=48, n_layers=2, n_heads=4, hidden_dim=80, max_position_embeddings=64), COMMON),
    "electra": ("Electra", SIZES | dict(embedding_size=24), COMMON + ["ForPreTraining"]),
    "albert": ("Albert", SIZES | dict(embedding_size=24, num_hidden_layers=3), COMMON + ["ForPreTraining"]),
    "mpnet": ("MPNet", SIZES | dict(pad_token_id=1), COMMON),
    "modernbert": ("ModernBert", dict(
        vocab_size=VOCABULARY, hidden_size=48, num_hidden_layers=4, num_attention_heads=4, intermediate_size=80, max_position_embeddings=64, norm_eps=0.02,
        local_attention=8, pad_token_id=0, bos_token_id=2, eos_token_id=3, cls_token_id=2, sep_token_id=3, rope_parameters={
            "full_attention": {"rope_type": "default", "rope_theta": 5000.0}, "sliding_attention": {"rope_type": "default", "rope_theta": 50.0}}), COMMON),
}
CHANGES = {
    "bert-ForMaskedLM-untied": dict(tie_word_embeddings=False),
    "bert-ForMaskedLM-bf16": dict(dtype="bf16"),
    "bert-ForMaskedLM-relu": dict(hidden_act="relu"),
    "bert-ForSequenceClassification-two": dict(id2label=None),
    "roberta-Model-types": dict(type_vocab_size=2),
    "roberta-Model-padding": dict(pad_token_id=5),
    "roberta-Model-bf16": dict(dtype="bf16"),
    "electra-ForMaskedLM-wide": dict(embedding_size=48, hidden_act="relu"),
    "albert-Model-groups": dict(num_hidden_layers=4, num_hidden_groups=2, inner_group_num=2),
    "modernbert-ForSequenceClassification-mean": dict(classifier_pooling="mean"),
    "modernbert-ForMaskedLM-biases": dict(attention_bias=True, mlp_bias=True, norm_bias=True, classifier_bias=True, decoder_bias=False, classifier_activation="relu",
                                          tie_word_embeddings=False),
    # Models of sentences, whatever they were trained for besides.
    "bert-ForMaskedLM-sentences": dict(sentences="mean"),
    "xlmroberta-Model-sentences": dict(sentences="cls"),
    "distilbert-ForMultipleChoice-sentences": dict(sentences="mean"),
    "mpnet-Model-sentences": dict(sentences="mean"),
    "modernbert-Model-sentences": dict(sentences="mean"),
}
CASES = [f"{family}-{head}" for family, (_, _, heads) in FAMILIES.items() for head in heads] + list(CHANGES)
# Those whose configuration is read as older versions of `transformers` wrote it, too.
OLDER = ["modernbert-ForMaskedLM", "distilbert-Model", "bert-Model", "albert-Model"]


def configuration(name):
    """The beginning of the class's name of case `name`, the head, its configuration, the type of its stored weights, and how sentences are pooled."""
    family, head = name.split("-")[:2]
    prefix, settings, _ = FAMILIES[family]
    settings = settings | (LABELS if head.endswith("Classification") else {}) | CHANGES.get(name, {})
    return prefix, head, settings, settings.pop("dtype", "f32"), settings.pop("sentences", None)
