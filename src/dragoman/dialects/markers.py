"""Reasoning alone: its marks in many spellings, and no way to call tools."""

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
