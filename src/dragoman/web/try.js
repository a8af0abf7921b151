// Paste what a model wrote, and see what it means, up to any character; and a chat box against the served model.

import { get, post } from "./api.js";
import { copy, h, label, later, show } from "./dom.js";
import { chatbox } from "./chat.js";
import * as explained from "./explained.js";

const EXAMPLE = '<think>The user asks for the weather.</think>I look it up.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": 2,}}\n</tool_call>';
const TOOLS = '[{"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}}}]';
const LETTERS = 20000;  // up to here the slider goes letter by letter

const kept = { text: EXAMPLE, tools: TOOLS, dialect: "", prompt: "" };
let box = null;
let found = null;

export async function enter(main) {
  const given = sessionStorage.getItem("dragoman.try");
  if (given) {
    Object.assign(kept, { text: given, tools: "", dialect: "", prompt: "" });
    sessionStorage.removeItem("dragoman.try");
  }
  const raw = h("textarea", { class: "mono", rows: 9, spellcheck: "false", oninput: soon, value: kept.text });
  const tools = h("textarea", { class: "mono", rows: 4, spellcheck: "false", oninput: soon, value: kept.tools });
  const prompt = h("input", { class: "mono", oninput: soon, value: kept.prompt, size: 40 });
  const dialect = h("select", { onchange: soon }, h("option", { value: "" }, "detect by its marks"));
  const slider = h("input", { type: "range", min: 0, value: 0, oninput: () => paint(Number(slider.value)) });
  box = { raw, tools, prompt, dialect, slider, at: h("span", { class: "note" }), result: h("div", { class: "panes" }), problem: h("p", { class: "bad", role: "alert" }) };
  raw.addEventListener("dragover", (event) => event.preventDefault());
  raw.addEventListener("drop", drop);
  const left = h("div", {}, label("What a model wrote, or a case file (drop one here)", raw));
  const right = h("div", {}, label("Dialect", dialect), label("Tools (JSON; empty: unknown)", tools), label("End of the prompt", prompt));
  show(main, h("h2", {}, "What does it mean?"), h("div", { class: "two" }, left, right), box.problem,
    h("div", { class: "card" }, label("Up to this character", slider), h("div", { class: "row" }, box.at, h("button", { type: "button", onclick: () => copy(found?.text || "", "case") }, "Copy as case"))),
    box.result, h("h2", {}, "Talk to the model"), chatbox());
  const { dialects } = await get("/dragoman/dialects");
  dialect.append(...dialects.map(({ name, models }) => h("option", { value: name, title: models, selected: name === kept.dialect }, name)));
  decode();
}

export function leave() { box = null; }

async function drop(event) {
  event.preventDefault();
  const [file] = event.dataTransfer.files;
  if (!file) return;
  box.raw.value = await file.text();
  box.tools.value = "";
  decode();
}

const soon = later(150, () => decode());

async function decode() {
  if (!box) return;
  Object.assign(kept, { text: box.raw.value, tools: box.tools.value, dialect: box.dialect.value, prompt: box.prompt.value });
  try {
    const tools = kept.tools.trim() ? JSON.parse(kept.tools) : null;
    const answer = await post("/dragoman/explain", { text: kept.text, tools, dialect: kept.dialect, prompt: kept.prompt, letters: kept.text.length <= LETTERS });
    if (!box) return;
    found = answer;
    box.problem.textContent = "";
    const length = explained.letters(found.raw).length;
    Object.assign(box.slider, { max: length });
    box.slider.value = length;
    paint(length);
  } catch (error) {
    if (box) box.problem.textContent = error.message;
  }
}

function paint(until) {
  const length = explained.letters(found.raw).length;
  const whole = until >= length;
  const held = found.steps.filter((step) => step.text && step.at + explained.letters(step.text).length <= until).at(-1)?.held ?? 0;
  box.at.textContent = `${until} of ${length} characters · ${found.dialect}${held && !whole ? ` · ${held} held back` : ""}`;
  show(box.result,
    h("section", { class: "pane", "aria-label": "Text" }, h("h3", {}, "Text"), explained.raw(found, until, false)),
    h("section", { class: "pane", "aria-label": "Events" }, h("h3", {}, "Events so far"), explained.joined(found, whole ? Infinity : until)),
    h("section", { class: "pane", "aria-label": "Meaning" }, h("h3", {}, "The whole turn"), h("pre", {}, found.meant.join("\n"))));
  explained.tie(box.result);
}
