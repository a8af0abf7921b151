"""Reasoning between marks, and no calls of its own: the many spellings of one idea."""

from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

WORDS = ("thinking", "thought", "reasoning", "reason", "begin_of_thought")

REASONING = Dialect(
    "reasoning-markers",
    reasoning="<think>\n{text}\n</think>\n\n",
    thoughts=(
        *(f"<{word}>{{text}}</{word}>" for word in ("thinking", "thought", "reasoning", "reason")),
        "<|begin_of_thought|>{text}<|end_of_thought|>",
        "[THINK]{text}[/THINK]",
        "◁think▷{text}◁/think▷",
        "<seed:think>{text}</seed:think>",
        "<|START_THINKING|>{text}<|END_THINKING|>",
        "<longcat_think>{text}</longcat_think>",
        "<mm:think>{text}</mm:think>",
        "<|think:start|>{text}<|think:end|>",
        "<|inner_prefix|>{text}<|inner_suffix|>",
        "[unused16]{text}[unused17]",
    ),
    drops=("<|begin_of_solution|>", "<|end_of_solution|>", "<answer>", "</answer>"),
    ends=(*CHATML_ENDS, "</s>"),
    models="Any model that thinks between marks",
)

KIMI_THINK = Dialect(
    "kimi-think-v1",
    reasoning="◁think▷{text}◁/think▷",
    begins="<|im_assistant|>assistant<|im_middle|>",
    ends=("<|im_end|>", "[EOS]"),
    turn="<|im_{role}|>{role}<|im_middle|>{text}<|im_end|>",
    signs=("◁think▷",),
    models="Kimi-VL Thinking, Kimi k1",
)

AYA = Dialect(
    "aya",
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    models="Aya",
)
