// One turn: what the model wrote beside the events beside the frames, tied together; when the pieces came; copies of it.

import { get } from "./api.js";
import { copy, clock, h, label, seconds, show } from "./dom.js";
import * as explained from "./explained.js";
import { bars } from "./plot.js";

let shown = null;

export async function enter(main, id) {
  show(main, h("p", { class: "note" }, "…"));
  let turn;
  try {
    turn = await get(`/dragoman/turns/${encodeURIComponent(id)}`);
  } catch (error) {
    show(main, h("p", { class: "bad" }, error.message), h("p", {}, h("a", { href: "#live" }, "Back to the list")));
    return;
  }
  const found = turn.explanation;
  const frames = h("div", {});
  const protocol = h("select", { onchange: () => paintFrames(frames, turn, protocol.value) }, [["", `as sent (${turn.protocol})`], ...["chat", "responses", "messages", "ollama"].map((name) => [name, name])].map(([value, text]) => h("option", { value }, text)));
  const panes = h("div", { class: "panes" },
    h("section", { class: "pane", tabindex: "0", "aria-label": "What the model wrote" }, h("h3", {}, "What the model wrote"), explained.raw(found)),
    h("section", { class: "pane", tabindex: "0", "aria-label": "Events" }, h("h3", {}, "Events"), explained.events(found)),
    h("section", { class: "pane", tabindex: "0", "aria-label": "Frames" }, h("h3", {}, "Frames"), label("Protocol", protocol), frames));
  explained.tie(panes);
  paintFrames(frames, turn, "");
  const canvas = h("canvas", { role: "img", "aria-label": "When the pieces came" });
  show(main, head(turn), buttons(turn), notices(found), panes, h("h2", {}, "When the pieces came"), h("div", { class: "card" }, canvas, h("p", { class: "facts" }, pauses(found))),
    details("Request", pretty(turn.request)), details("End of the prompt", turn.prompt), details("Case file", turn.text));
  shown = () => bars(canvas, found.steps.filter((step) => step.text).map((step) => [step.seconds || 0, step.text.length]));
  shown();
}

export function leave() { shown = null; }

export function hear(name) { if (name === "theme") shown?.(); }

addEventListener("resize", () => shown?.());

function head(turn) {
  const facts = [clock(turn.began), turn.protocol, turn.model, turn.dialect, `first token after ${seconds(turn.first)}`, `${seconds(turn.seconds)} in all`, `${turn.prompt_tokens ?? "?"} prompt tokens (${turn.cached_tokens ?? 0} cached)`, `${turn.completion_tokens ?? "?"} written`];
  return [h("h2", {}, turn.asked || turn.id), h("p", { class: "facts" }, h("span", { class: `tag ${turn.error ? "bad" : ""}` }, turn.outcome), facts.join(" · ")), turn.error && h("p", { class: "bad" }, turn.error)];
}

function buttons(turn) {
  const url = `${location.origin}${turn.path}`;
  return h("div", { class: "row" },
    h("button", { type: "button", onclick: () => copy(turn.text, "case") }, "Copy as case"),
    h("button", { type: "button", onclick: () => copy(curl(url, turn.request), "curl command") }, "Copy as curl"),
    h("button", { type: "button", onclick: () => copy(python(url, turn.request), "Python") }, "Copy as Python"),
    h("button", { type: "button", onclick: () => { sessionStorage.setItem("dragoman.try", turn.text); location.hash = "#try"; } }, "Open in Try"));
}

const curl = (url, body) => `curl ${url} -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;

const python = (url, body) => `import json\nimport urllib.request\n\nbody = json.loads(${JSON.stringify(body)})\nrequest = urllib.request.Request(${JSON.stringify(url)}, json.dumps(body).encode(), {"content-type": "application/json"})\nwith urllib.request.urlopen(request) as answer:\n    for line in answer:\n        print(line.decode(), end="")\n`;

function notices(found) {
  if (!found.notices.length) return null;
  return h("ul", { class: "card notice", "aria-label": "Notices" }, found.notices.map((one) => h("li", {}, h("strong", {}, one.code), ` at ${one.at}: ${one.explained.join("; ")}${one.raw ? ` (${JSON.stringify(one.raw)})` : ""}`)));
}

async function paintFrames(box, turn, protocol) {
  if (!protocol) {
    show(box, turn.sent.length ? turn.sent.map((one) => h("pre", { title: seconds(one.seconds) }, one.text)) : h("p", { class: "note" }, "This answer was not streamed."));
    return;
  }
  const { frames } = await get(`/dragoman/turns/${encodeURIComponent(turn.id)}/frames/${protocol}`);
  show(box, frames.map((text, number) => text && h("pre", { class: "event", "data-step": number }, text)));
}

function pauses(found) {
  const times = found.steps.filter((step) => step.text).map((step) => step.seconds || 0);
  const gaps = times.slice(1).map((time, number) => time - times[number]);
  const longest = Math.max(0, ...gaps);
  const held = Math.max(0, ...found.steps.map((step) => step.held));
  return `${times.length} pieces · longest pause ${seconds(longest)} · at most ${held} characters held back`;
}

const pretty = (text) => { try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; } };

const details = (title, text) => text && h("details", { class: "card" }, h("summary", {}, title), h("pre", { class: "said" }, text));
