# SPDX-License-Identifier: Apache-2.0
"""Small configurations of models as people write them, each a function that gives export()'s arguments, and before them
the function that makes optimizer and scheduler.

MODELS has {name: (source, function)}. A batch is the whole data set, so that the order in which rows are drawn does not
matter. Each is written as its library's documents do, and not for the exporter.
"""
import torch
from torch import nn
from torch.nn import functional


def _task(module, dataset, loss=None, lr=0.01, train=None):
    """`train` gives a module's optimizer and scheduler."""

    def sgd(of):
        return torch.optim.SGD([p for p in of.parameters() if p.requires_grad], lr=lr, momentum=0.9), None

    train = train or sgd
    optimizer, scheduler = train(module)
    first = next(iter(dataset.values())) if isinstance(dataset, dict) else dataset[0]
    return train, dict(
        module=module, dataset=dataset, loss=loss, optimizer=optimizer, scheduler=scheduler, batch_size=len(first), steps=12,
        checkpoint_interval=4, reward="2 ASY", verification_fee="1 ASY")


# --- torch -----------------------------------------------------------------------------------------------------------

class EncoderLm(nn.Module):
    """nn.TransformerEncoder with the causal mask that torch makes, of minus infinities."""

    def __init__(self, dropout):
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=dropout, batch_first=True)
        self.embedding, self.head = nn.Embedding(11, 16), nn.Linear(16, 11)
        self.encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.encoder(self.embedding(tokens), mask=mask)).flatten(0, 1)


def _next_tokens(logits, targets):
    return functional.cross_entropy(logits, targets.flatten())


def _tokens(samples, length, vocabulary):
    tokens = torch.randint(vocabulary, (samples, length + 1))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def encoder(dropout=0.0):
    return _task(EncoderLm(dropout), _tokens(4, 8, 11), _next_tokens)


def encoder_dropout():
    return encoder(0.1)


class Lstm(nn.Module):
    def __init__(self, dropout):
        super().__init__()
        self.embedding, self.head = nn.Embedding(13, 8), nn.Linear(12, 13)
        self.lstm = nn.LSTM(8, 12, num_layers=2, batch_first=True, dropout=dropout)

    def forward(self, tokens):
        return self.head(self.lstm(self.embedding(tokens))[0]).flatten(0, 1)


def lstm(dropout=0.0):
    return _task(Lstm(dropout), _tokens(4, 64, 13), _next_tokens)


def lstm_dropout():
    return lstm(0.2)


class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode, self.decode = nn.Linear(20, 16), nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 20))
        self.mean, self.log_variance = nn.Linear(16, 4), nn.Linear(16, 4)

    def forward(self, x):
        hidden = functional.relu(self.encode(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        std = torch.exp(0.5 * log_variance)
        restored = self.decode(mean + torch.randn_like(std) * std)
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        return functional.binary_cross_entropy_with_logits(restored, x, reduction="sum") + divergence


def vae():
    return _task(Vae(), (torch.rand(256, 20),), lr=1e-5)


def _double(ins, outs):
    return nn.Sequential(
        nn.Conv2d(ins, outs, 3, padding=1), nn.GroupNorm(2, outs), nn.SiLU(),
        nn.Conv2d(outs, outs, 3, padding=1), nn.GroupNorm(2, outs), nn.SiLU())


class Unet(nn.Module):
    def __init__(self):
        super().__init__()
        self.down1, self.down2, self.bottom = _double(1, 4), _double(4, 8), _double(8, 16)
        self.up2, self.up1 = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.join2, self.join1, self.out = _double(16, 8), _double(8, 4), nn.Conv2d(4, 1, 1)

    def forward(self, x):
        one = self.down1(x)
        two = self.down2(functional.max_pool2d(one, 2))
        x = self.bottom(functional.max_pool2d(two, 2))
        x = self.join2(torch.cat([two, self.up2(x)], dim=1))
        return self.out(self.join1(torch.cat([one, self.up1(x)], dim=1)))


def unet():
    return _task(Unet(), (torch.randn(2, 1, 16, 16), torch.randn(2, 1, 16, 16)), nn.MSELoss())


class Mixture(nn.Module):
    """Every expert sees every token, and a token has the two that its gate scores highest."""

    def __init__(self):
        super().__init__()
        self.gate, self.head = nn.Linear(8, 4), nn.Linear(8, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.Linear(16, 8)) for _ in range(4))

    def forward(self, x):
        scores, chosen = torch.topk(self.gate(x), 2, dim=-1)
        weights = torch.zeros(x.shape[0], 4).scatter(1, chosen, torch.softmax(scores, dim=-1))
        outputs = torch.stack([expert(x) for expert in self.experts], dim=1)
        return self.head((outputs * weights[:, :, None]).sum(dim=1))


def mixture():
    return _task(Mixture(), (torch.randn(12, 8), torch.arange(12) % 3), nn.CrossEntropyLoss())


class Augmented(nn.Module):
    """Noise, brightness and a random shift of scale, drawn within the model."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Flatten(), nn.Linear(144, 3))

    def forward(self, x):
        if self.training:
            x = x * (0.9 + 0.2 * torch.rand(x.shape[0], 1, 1, 1)) + 0.05 * torch.randn_like(x)
            flipped = torch.rand(x.shape[0], 1, 1, 1) < 0.5
            x = torch.where(flipped, x.flip(3), x)
        return self.body(x)


def augmented():
    return _task(Augmented(), (torch.rand(64, 1, 8, 8), torch.arange(64) % 3), nn.CrossEntropyLoss())


class Differing(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(6, 6)

    def forward(self, x):
        x = self.inner(x)
        return torch.diff(x, n=2, dim=1) + torch.diff(x[:, :4], prepend=x[:, :1])


def differing():
    return _task(Differing(), (torch.randn(3, 6), torch.randn(3, 4)), nn.MSELoss())


def smoothed():
    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
    return _task(module, (torch.randn(20, 8), torch.arange(20) % 5), nn.CrossEntropyLoss(label_smoothing=0.1))


class Padded(nn.Module):
    """A row that pads, which a head with the same weights trains, and numbers that are held."""

    def __init__(self):
        super().__init__()
        self.words, self.inner = nn.Embedding(9, 6, padding_idx=2), nn.Linear(6, 6)

    def forward(self, tokens):
        x = self.words(tokens)
        hidden = torch.tanh(self.inner(x)) * x.detach() + x.mean(dim=1, keepdim=True)
        return (hidden @ self.words.weight.t()).flatten(0, 1)


def padded():
    tokens, targets = _tokens(4, 7, 9)
    tokens[:, -3:] = 2
    return _task(Padded(), (tokens, targets), _next_tokens, lr=0.1)


def groups():
    """Rates by group, everything decayed, one cycle."""

    def train(of):
        optimizer = torch.optim.AdamW(
            [{"params": of[0].parameters(), "lr": 0.004}, {"params": of[2].parameters(), "lr": 0.02}], weight_decay=0.1)
        return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, [0.01, 0.05], total_steps=12, cycle_momentum=False)

    module = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 5))
    return _task(module, (torch.randn(20, 8), torch.arange(20) % 5), nn.CrossEntropyLoss(), train=train)


# --- transformers and peft --------------------------------------------------------------------------------------------

def _language(config_class, model_class, **config):
    import transformers
    module = getattr(transformers, model_class)(getattr(transformers, config_class)(**config))
    tokens = torch.randint(1, config["vocab_size"], (2, 8))  # 0 pads
    return _task(module, {"input_ids": tokens, "labels": tokens.clone()})


def gpt2(dropout=0.0):
    return _language(
        "GPT2Config", "GPT2LMHeadModel", vocab_size=32, n_positions=16, n_embd=16, n_layer=2, n_head=2, resid_pdrop=dropout,
        embd_pdrop=dropout, attn_pdrop=dropout, bos_token_id=0, eos_token_id=0)


def gpt2_dropout():
    return gpt2(0.1)


def llama():
    return _language(
        "LlamaConfig", "LlamaForCausalLM", vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=16)


def bert():
    return _language(
        "BertConfig", "BertForMaskedLM", vocab_size=32, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=32, max_position_embeddings=16, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)


def hf_vit():
    import transformers
    module = transformers.ViTForImageClassification(transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=16, patch_size=4,
        num_channels=3, num_labels=3, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    return _task(module, {"pixel_values": torch.randn(6, 3, 16, 16), "labels": torch.arange(6) % 3})


def t5():
    return _language(
        "T5Config", "T5ForConditionalGeneration", vocab_size=32, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2,
        dropout_rate=0.0, decoder_start_token_id=0, pad_token_id=0)


def mixtral():
    """Two of four experts for each token, of the implementation that transformers takes by itself."""
    return _language(
        "MixtralConfig", "MixtralForCausalLM", vocab_size=32, hidden_size=16, intermediate_size=32, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=16, num_local_experts=4, num_experts_per_tok=2,
        output_router_logits=True)


def opt():
    """With tokens that pad: their row is trained where the tied head uses it, and not where it is looked up."""
    train, made = _language(
        "OPTConfig", "OPTForCausalLM", vocab_size=32, hidden_size=16, ffn_dim=32, num_hidden_layers=2, num_attention_heads=2,
        max_position_embeddings=16, word_embed_proj_dim=16, dropout=0.0, pad_token_id=1)
    made["dataset"]["input_ids"][:, -2:] = 1
    return train, made


def lora():
    import peft
    _, made = llama()
    config = peft.LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    return _task(peft.get_peft_model(made["module"], config), made["dataset"], lr=0.1)


# --- torchvision -------------------------------------------------------------------------------------------------------

def _vision(make, side=64, samples=2):
    module = make(num_classes=4)
    images = torch.randn(samples, 3, side, side)
    return _task(module, (images, torch.arange(samples) % 4), nn.CrossEntropyLoss(), lr=0.001)


def resnet18():
    import torchvision
    return _vision(torchvision.models.resnet18, samples=4)


def resnet18_224():
    import torchvision
    return _vision(torchvision.models.resnet18, side=224)


def resnet50():
    import torchvision
    return _vision(torchvision.models.resnet50, samples=4)


def convnext():
    import torchvision
    from torchvision.models.convnext import CNBlockConfig
    setting = [CNBlockConfig(8, 16, 1), CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 1)]
    return _vision(lambda num_classes: torchvision.models.ConvNeXt(setting, num_classes=num_classes))


def mobilenet():
    import torchvision
    return _vision(lambda num_classes: torchvision.models.mobilenet_v2(num_classes=num_classes, width_mult=0.25, dropout=0.0), samples=4)


def vision_vit():
    import torchvision
    return _vision(lambda num_classes: torchvision.models.VisionTransformer(
        image_size=32, patch_size=8, num_layers=2, num_heads=2, hidden_dim=16, mlp_dim=32, num_classes=num_classes), side=32)


MODELS = {
    "nn.TransformerEncoder, causal": ("torch", encoder),
    "nn.TransformerEncoder, causal, dropout": ("torch", encoder_dropout),
    "nn.LSTM, 2 layers, 64 steps": ("torch", lstm),
    "nn.LSTM, 2 layers, 64 steps, dropout": ("torch", lstm_dropout),
    "VAE": ("torch", vae),
    "UNet": ("torch", unet),
    "mixture of experts, top 2": ("torch", mixture),
    "CNN, augmentation in the model": ("torch", augmented),
    "MLP, label smoothing": ("torch", smoothed),
    "MLP, torch.diff": ("torch", differing),
    "embedding that pads, tied, detach": ("torch", padded),
    "MLP, AdamW with rates by group, OneCycleLR": ("torch", groups),
    "GPT-2": ("transformers", gpt2),
    "GPT-2, dropout": ("transformers", gpt2_dropout),
    "Llama": ("transformers", llama),
    "BERT": ("transformers", bert),
    "ViT": ("transformers", hf_vit),
    "T5": ("transformers", t5),
    "Mixtral": ("transformers", mixtral),
    "OPT": ("transformers", opt),
    "LoRA of Llama": ("peft", lora),
    "ResNet-18, 3x64x64": ("torchvision", resnet18),
    "ResNet-18, 3x224x224": ("torchvision", resnet18_224),
    "ResNet-50": ("torchvision", resnet50),
    "ConvNeXt": ("torchvision", convnext),
    "MobileNetV2": ("torchvision", mobilenet),
    "ViT, torchvision": ("torchvision", vision_vit),
}
