"""DSML as DeepSeek-V4.1 writes it: a blank behind the mark of every word."""

from ..syntax.codecs.params import Params
from ..syntax.dialect import Dialect
from .deepseek import ENDS, TURN
from .dsml import WORDS

DEEPSEEK_V41 = Dialect(
    "deepseek-v41-dsml",
    section="<｜DSML｜ calls>\n{calls}\n</｜DSML｜ calls>",
    sections=tuple(f"<｜DSML｜ {word}>{{calls}}</｜DSML｜ {word}>" for word in WORDS if word != "calls"),
    call='<｜DSML｜ invoke name="{name}">\n{args}</｜DSML｜ invoke>',
    args=Params('<｜DSML｜ parameter name="{key}" string="{type}">{value}</｜DSML｜ parameter>\n'),
    reasoning="<think>{text}</think>",
    begins="<｜Assistant｜>",
    ends=ENDS,
    turn=TURN,
    results="<result>{text}</result>",
    signs=("｜DSML｜ calls>",),
    aliases=("deepseek_v41", "deepseekv41", "deepseek-v41"),
    models="DeepSeek-V4.1",
)
