"""RWKV: only its reasoning has marks."""

from ..syntax.dialect import Dialect

RWKV = Dialect(
    "rwkv-g1",
    reasoning="<think>\n{text}\n</think>\n",
    begins="Assistant:",
    ends=("<|endoftext|>", "\n\nUser:"),
    turn="{role}: {text}\n\n",
    results="{text}",
    models="RWKV-7 G1",
)
