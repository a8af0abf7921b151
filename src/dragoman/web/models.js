// The models and their engines, and the last hour in numbers.

import { get } from "./api.js";
import { h, show } from "./dom.js";
import { line } from "./plot.js";

const PLOTS = [["Tokens per second", 2], ["Turns in ten seconds", 1], ["Seconds to the first token", 4], ["Errors", 3]];
let parts = null;
let last = null;

export async function enter(main) {
  parts = { models: h("section", { "aria-label": "Models" }), plots: h("div", { class: "plots" }) };
  parts.canvases = PLOTS.map(([title]) => {
    const canvas = h("canvas", { role: "img", "aria-label": title });
    parts.plots.append(h("div", { class: "card" }, h("h3", {}, title), canvas));
    return canvas;
  });
  show(main, h("h2", {}, "Models and engines"), parts.models, h("h2", {}, "The last hour"), parts.plots);
  hear("state", last || (await get("/dragoman/state")));
}

export function leave() { parts = null; }

export function hear(name, data) {
  if (name === "state") last = data;
  if (!parts || !last || (name !== "state" && name !== "theme")) return;
  if (name === "state") show(parts.models, last.models.map(card), !last.ready && h("p", { class: "bad" }, last.problem));
  const now = Date.now() / 1000;
  PLOTS.forEach(([, field], number) => line(parts.canvases[number], last.history.map((slot) => [slot[0], slot[field]]), now - 3600, now));
}

function card(model) {
  const rows = [
    ["Dialect", `${model.dialect || "none"}${model.chosen ? ` (${model.chosen})` : ""}`],
    ["Engine", model.engine],
    ["Context", model.context ? `${model.context} tokens` : "unknown"],
    ["Places", model.places === null ? `no limit, ${model.taken} taken` : `${model.taken} of ${model.places} taken, ${model.waiting} waiting`],
    ["Turns", `${model.turns}, ${model.tokens} tokens written`],
    ["Speed", model.tokens_per_second === null ? "–" : `${model.tokens_per_second} tokens/s`],
    ["Prompt cache", model.cached_share === null ? "–" : `${Math.round(model.cached_share * 100)} % of prompt tokens were cached`],
    ["Special tokens", Object.entries(model.marks).map(([mark, id]) => h("code", { class: "tag", title: `token ${id}` }, mark))],
  ];
  return h("div", { class: "card" }, h("h3", {}, model.name), h("table", {}, h("tbody", {}, rows.map(([name, value]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value))))));
}
