"""Beam: Harmony's layout, with the arguments of a call as one tagged block for each."""

from ..syntax.codecs.header import Header
from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect

BEAM = Dialect(
    "beam",
    call=" to={name}<|channel|>analysis <|constrain|>xml<|message|>{args}<|call|>",
    args=Params('<rfl:parameter name="{key}">\n{value}\n</rfl:parameter>\n'),
    reasoning="<|channel|>analysis<|message|>{text}<|end|>",
    content=("<|channel|>final<|message|>{text}<|end|>",),
    frame=Header(
        start="<|start|>",
        role="assistant",
        channel="<|channel|>",
        message="<|message|>",
        noise=("<|constrain|>",),
        closes=("<|end|>", "<|call|>"),
        channels={"analysis": ("reasoning", ""), "final": ("content", "final")},
    ),
    begins="<|start|>assistant",
    ends=("<|return|>", "<|endoftext|>"),
    special=("<|start|>", "<|end|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|return|>", "<|call|>"),
    turn="<|start|>{role}<|message|>{text}<|end|>",
    results="<|start|>{name} to=assistant<|channel|>analysis<|message|>{text}<|end|>",
    results_role="",
    signs=("<rfl:parameter", "<|channel|>", "<|message|>"),
    models="Beam",
)
