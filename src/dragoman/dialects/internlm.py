"""InternLM: JSON calls of a plugin, code for an interpreter."""

from ..syntax.codecs.code import Code
from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect, Form
from .hermes import CHATML_ENDS

THINK = "<think>\n{text}\n</think>\n\n"

INTERNLM2 = Dialect(
    "internlm2",
    call="<|action_start|><|plugin|>\n{call}<|action_end|>",
    args=JsonCall(args=("parameters", "arguments", "args", "input")),
    also=(Form("<|action_start|><|interpreter|>\n{call}<|action_end|>", Code()),),
    reasoning=THINK,
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    special=("<|action_start|>", "<|plugin|>", "<|action_end|>", "<|interpreter|>"),
    results="{text}",
    results_role="environment",
    signs=("<|action_start|>",),
    aliases=("internlm", "intern-s1", "interns1"),
    models="InternLM2, 2.5 and 3, Intern-S1",
)
