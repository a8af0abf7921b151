"""Seed-OSS: nested tags, one for each parameter, in tags of its own."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .qwen import DECLARE

SEED_OSS = Dialect(
    "seed-oss-xml",
    call="<seed:tool_call>\n<function={name}>\n{args}</function>\n</seed:tool_call>",
    args=Params("<parameter={key}>{value}</parameter>\n"),
    reasoning="<seed:think>{text}</seed:think>",
    begins="<seed:bos>assistant\n",
    ends=("<seed:eos>", "<seed:bos>"),
    special=("<seed:think>", "</seed:think>", "<seed:tool_call>", "</seed:tool_call>", "<seed:eos>", "<seed:bos>"),
    turn="<seed:bos>{role}\n{text}<seed:eos>",
    results="{text}",
    declare=DECLARE.replace("<tool_call>", "<seed:tool_call>").replace("</tool_call>", "</seed:tool_call>"),
    signs=("<seed:tool_call>",),
    aliases=("seed_oss", "seed-oss"),
    models="Seed-OSS-36B",
)
