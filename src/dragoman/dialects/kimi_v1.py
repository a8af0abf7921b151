"""Kimi before K2: only its reasoning has marks."""

from ..syntax.dialect import Dialect

KIMI_V1 = Dialect(
    "kimi-think-v1",
    reasoning="◁think▷{text}◁/think▷",
    begins="<|im_assistant|>assistant<|im_middle|>",
    ends=("<|im_end|>", "<|im_user|>"),
    turn="<|im_{role}|>{role}<|im_middle|>{text}<|im_end|>",
    results="{text}",
    signs=("◁think▷",),
    aliases=("kimi",),
    models="Kimi-VL Thinking, Kimi k1.5",
)
