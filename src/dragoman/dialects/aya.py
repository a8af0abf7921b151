"""Aya: neither reasoning nor calls."""

from ..syntax.dialect import Dialect

AYA = Dialect(
    "aya",
    begins="<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>",
    ends=("<|END_OF_TURN_TOKEN|>", "<|START_OF_TURN_TOKEN|>"),
    turn="<|START_OF_TURN_TOKEN|><|{role}|>{text}<|END_OF_TURN_TOKEN|>",
    results="{text}",
    models="Aya",
)
