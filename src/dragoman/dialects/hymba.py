"""Hymba: JSON calls between tags."""

from ..syntax.codecs.json_call import JsonCall
from ..syntax.dialect import Dialect

HYMBA = Dialect(
    "hymba",
    call="<toolcall> {call} </toolcall>",
    args=JsonCall(),
    begins="<extra_id_1>Assistant\n",
    ends=("<extra_id_1>", "</s>"),
    turn="<extra_id_1>{role}\n{text}\n",
    results="{text}",
    signs=("<toolcall>",),
    models="Hymba",
)
