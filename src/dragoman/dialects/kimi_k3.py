"""Kimi K3: tags made of three tokens, with typed arguments."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

KIMI_K3 = Dialect(
    "kimi-k3-xtml",
    call='<|open|>call tool="{name}" index="{number}"<|sep|>{args}<|close|>call<|sep|>',
    args=Params(
        '<|open|>argument key="{key}" type="{type}"<|sep|>{value}<|close|>argument<|sep|>',
        ("string",),
        json='<|open|>json type="object"<|sep|>{args}<|close|>json<|sep|>',
    ),
    also=('<|open|>call index="{index}" tool="{name}"<|sep|>{args}<|close|>call<|sep|>',),
    section="<|open|>tools<|sep|>{calls}<|close|>tools<|sep|>",
    reasoning="<|open|>think<|sep|>{text}<|close|>think<|sep|>",
    content=("<|open|>response<|sep|>{text}<|close|>response<|sep|>",),
    drops=(
        '<|open|>message role="assistant"<|sep|>',
        "<|open|>response<|sep|>",
        "<|close|>response<|sep|>",
        "<|close|>message<|sep|>",
    ),
    noise=("<|open|>*<|sep|>", "<|close|>*<|sep|>"),
    begins='<|open|>message role="assistant"<|sep|>',
    ends=("<|end_of_msg|>",),
    special=("<|open|>", "<|close|>", "<|sep|>", "<|end_of_msg|>"),
    turn='<|open|>message role="{role}"<|sep|>{text}<|close|>message<|sep|><|end_of_msg|>',
    results='<|open|>message role="tool" tool="{name}"<|sep|>{text}<|close|>message<|sep|><|end_of_msg|>',
    results_role="",
    signs=("<|open|>", "<|sep|>"),
    aliases=("kimi_k3", "kimi-k3"),
    models="Kimi K3",
)
