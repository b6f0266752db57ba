# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tiny random models of `transformers` for torch.compile: by a name, what makes one, and its inputs in three sizes."""
import torch

TEXT = dict(vocab_size=97, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, max_position_embeddings=128)
GROUPED = TEXT | dict(num_key_value_heads=2, use_cache=False)
NARROW = GROUPED | dict(head_dim=16)
IMAGE = dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, image_size=32, patch_size=8)
PAIR = dict(vocab_size=97, d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=96, decoder_ffn_dim=96,
            max_position_embeddings=64, use_cache=False)
GPT = dict(vocab_size=97, n_embd=64, n_layer=2, n_head=4, n_positions=128, use_cache=False)
HEARD = dict(vocab_size=32, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=96, conv_dim=(32, 32, 32), conv_stride=(5, 2, 2), conv_kernel=(10, 3, 3),
             num_feat_extract_layers=3, num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)


def ids(batch, length):
    return torch.randint(3, 90, (batch, length), generator=torch.Generator().manual_seed(100 * batch + length))


def text(batch, length):
    return {"input_ids": ids(batch, length), "attention_mask": torch.ones(batch, length, dtype=torch.long)}


TEXTS = [text(2, 9), text(2, 13), text(2, 30)]
TRANSLATIONS = [text(2, source) | {"decoder_input_ids": ids(2, length)} for source, length in ((9, 5), (13, 7), (20, 9))]
IMAGES = [{"pixel_values": torch.randn(batch, 3, 32, 32, generator=torch.Generator().manual_seed(batch))} for batch in (2, 3, 4)]
BOTH = [text(2, length) | IMAGES[0] for length in (9, 13, 17)]
SOUNDS = [{"input_values": torch.randn(2, length, generator=torch.Generator().manual_seed(length))} for length in (1000, 1400, 2000)]
MELS = [{"input_features": torch.randn(batch, 16, 100, generator=torch.Generator().manual_seed(batch))} for batch in (2, 3, 4)]

# The beginning of a class's name, what follows it, its configuration, and inputs.
TEXT_MODELS = {
    "bert": ("Bert", "Model", TEXT), "bert-mlm": ("Bert", "ForMaskedLM", TEXT), "bert-qa": ("Bert", "ForQuestionAnswering", TEXT), "roberta": ("Roberta", "Model", TEXT),
    "xlm-roberta": ("XLMRoberta", "Model", TEXT), "distilbert": ("DistilBert", "Model", dict(vocab_size=97, dim=64, n_layers=2, n_heads=4, hidden_dim=96, max_position_embeddings=128)),
    "albert": ("Albert", "Model", TEXT | dict(embedding_size=32)), "electra": ("Electra", "Model", TEXT | dict(embedding_size=32)), "mpnet": ("MPNet", "Model", TEXT),
    "deberta-v2": ("DebertaV2", "Model", TEXT | dict(relative_attention=True, pos_att_type=["p2c", "c2p"], position_buckets=16)),
    "modernbert": ("ModernBert", "Model", TEXT | dict(pad_token_id=0, eos_token_id=1, bos_token_id=2, cls_token_id=2, sep_token_id=1)),
    "gpt2": ("GPT2", "LMHeadModel", GPT), "gptj": ("GPTJ", "ForCausalLM", GPT | dict(rotary_dim=8)), "llama": ("Llama", "ForCausalLM", GROUPED), "qwen2": ("Qwen2", "ForCausalLM", GROUPED),
    "qwen3": ("Qwen3", "ForCausalLM", NARROW), "gemma": ("Gemma", "ForCausalLM", NARROW), "gemma2": ("Gemma2", "ForCausalLM", NARROW),
    "mistral": ("Mistral", "ForCausalLM", GROUPED | dict(sliding_window=8)), "phi": ("Phi", "ForCausalLM", TEXT | dict(use_cache=False)),
    "phi3": ("Phi3", "ForCausalLM", GROUPED | dict(pad_token_id=0)), "gpt-neox": ("GPTNeoX", "ForCausalLM", TEXT | dict(use_cache=False)),
    "bloom": ("Bloom", "ForCausalLM", dict(vocab_size=97, hidden_size=64, n_layer=2, n_head=4, use_cache=False)),
    "mpt": ("Mpt", "ForCausalLM", dict(vocab_size=97, d_model=64, n_layers=2, n_heads=4, max_seq_len=128, use_cache=False)),
    "falcon": ("Falcon", "ForCausalLM", dict(vocab_size=97, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, use_cache=False)),
    "opt": ("OPT", "ForCausalLM", dict(vocab_size=97, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, ffn_dim=96, max_position_embeddings=128, word_embed_proj_dim=64,
                                       use_cache=False)),
    "olmo2": ("Olmo2", "ForCausalLM", GROUPED), "smollm3": ("SmolLM3", "ForCausalLM", GROUPED | dict(pad_token_id=0)), "stablelm": ("StableLm", "ForCausalLM", GROUPED),
    "starcoder2": ("Starcoder2", "ForCausalLM", GROUPED), "cohere": ("Cohere", "ForCausalLM", GROUPED), "granite": ("Granite", "ForCausalLM", GROUPED),
}
MODELS = {name: (*model, TEXTS) for name, model in TEXT_MODELS.items()} | {
    "gemma3": ("Gemma3", "ForCausalLM", NARROW, TEXTS),
    "t5": ("T5", "Model", dict(vocab_size=97, d_model=64, d_kv=16, d_ff=96, num_layers=2, num_heads=4, use_cache=False), TRANSLATIONS),
    "bart": ("Bart", "Model", PAIR, TRANSLATIONS), "marian": ("Marian", "Model", PAIR | dict(pad_token_id=96, decoder_start_token_id=96), TRANSLATIONS),
    "pegasus": ("Pegasus", "Model", PAIR, TRANSLATIONS),
    "vit": ("ViT", "Model", IMAGE, IMAGES), "deit": ("DeiT", "Model", IMAGE, IMAGES), "beit": ("Beit", "Model", IMAGE | dict(use_relative_position_bias=True), IMAGES),
    "dinov2": ("Dinov2", "Model", dict(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8), IMAGES),
    "swin": ("Swin", "Model", dict(image_size=32, patch_size=4, embed_dim=32, depths=[2, 2], num_heads=[2, 4], window_size=4), IMAGES),
    "convnext": ("ConvNext", "Model", dict(hidden_sizes=[16, 32], depths=[1, 1], num_stages=2), IMAGES),
    "segformer": ("Segformer", "Model", dict(num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[16, 32], patch_sizes=[3, 3], strides=[2, 2],
                                             num_attention_heads=[1, 2], mlp_ratios=[2, 2]), IMAGES),
    "clip": ("CLIP", "Model", dict(text_config=TEXT | dict(eos_token_id=2), vision_config=IMAGE), BOTH),
    "siglip": ("Siglip", "Model", dict(text_config=TEXT, vision_config=IMAGE), BOTH),
    "whisper-encoder": ("Whisper", "Model", dict(
        vocab_size=97, num_mel_bins=16, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, d_model=64, encoder_ffn_dim=96, decoder_ffn_dim=96,
        max_source_positions=50, max_target_positions=64, pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1), MELS),
    "wav2vec2": ("Wav2Vec2", "Model", HEARD, SOUNDS), "hubert": ("Hubert", "Model", HEARD, SOUNDS),
}


def make_model(name):
    """The model and its inputs."""
    import transformers

    prefix, head, settings, inputs = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, prefix + head)(getattr(transformers, "Gemma3TextConfig" if prefix == "Gemma3" else prefix + "Config")(**settings)).eval()
    return model.encoder if name == "whisper-encoder" else model, inputs
