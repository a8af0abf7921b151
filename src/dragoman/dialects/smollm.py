"""SmolLM3 with Python tools: calls as code."""

from ..syntax.codecs.python import Python
from ..syntax.dialect import Dialect
from .hermes import CHATML_ENDS

SMOLLM3_CODE = Dialect(
    "smollm3-code",
    call="<code>\n{call}\n</code>",
    args=Python(),
    gated=True,
    reasoning="<think>\n{text}\n</think>\n",
    begins="<|im_start|>assistant\n",
    ends=CHATML_ENDS,
    results="{text}",
    results_role="user",
    signs=("<code>", "python_tools"),
    models="SmolLM3 with Python tools",
)
