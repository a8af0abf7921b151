"""Dialects without a way to call tools: only their reasoning has marks, in one of many spellings."""

from ..syntax.dialect import Dialect

MARKERS = Dialect(
    "reasoning-markers",
    reasoning="<think>\n{text}\n</think>\n\n",
    thoughts=(
        "<thinking>{text}</thinking>",
        "<thought>{text}</thought>",
        "<reasoning>{text}</reasoning>",
        "<reason>{text}</reason>",
        "<begin_of_thought>{text}<end_of_thought>",
        "<|begin_of_thought|>{text}<|end_of_thought|>",
        "<|think:start|>{text}<|think:end|>",
        "<|inner_prefix|>{text}<|inner_suffix|>",
        "<|START_THINKING|>{text}<|END_THINKING|>",
        "<seed:think>{text}</seed:think>",
        "<mm:think>{text}</mm:think>",
        "<longcat_think>{text}</longcat_think>",
        "<ifm|think>{text}</ifm|think>",
        "<ifm|think_fast>{text}</ifm|think_fast>",
        "<ifm|think_faster>{text}</ifm|think_faster>",
        "[THINK]{text}[/THINK]",
        "[unused16]{text}[unused17]",
        "◁think▷{text}◁/think▷",
    ),
    drops=(
        "<|begin_of_solution|>",
        "<|end_of_solution|>",
        "<begin_of_solution>",
        "<end_of_solution>",
    ),
    begins="<|im_start|>assistant\n",
    ends=("<|im_end|>", "<|im_start|>", "<|endoftext|>"),
    suffix=True,
    results="{text}",
    aliases=("basic",),
    models="Models that reason and call no tools: OpenThoughts, Sky-T1, distilled ones",
)

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

AYA = Dialect(
    "aya",
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="{text}",
    models="Aya",
)

RWKV = Dialect(
    "rwkv-g1",
    reasoning="<think>\n{text}\n</think>\n",
    begins="Assistant:",
    ends=("<|endoftext|>",),
    turn="{role}: {text}\n\n",
    results="{text}",
    models="RWKV-7 G1",
)
