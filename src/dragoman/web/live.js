// What runs now, growing; and what has run, as a list of which only the rows in sight exist.

import { get, post } from "./api.js";
import { clock, h, later, say, seconds, show } from "./dom.js";

const ROW = 52;
const KEPT = 5000;
const FLOW = 3000;  // characters of a running turn that are shown

const turns = new Map();  // id -> summary, oldest first
const running = new Map();  // id -> its card
let parts = null;
let found = [];
const filter = { words: "", outcome: "", first: false };

export function enter(main) {
  const search = h("input", { id: "search", type: "search", placeholder: "Search (/)", "aria-label": "Search turns", value: filter.words, class: "grow", oninput: later(120, () => { filter.words = search.value.toLowerCase(); refresh(); }) });
  const outcome = h("select", { "aria-label": "Show", onchange: () => { filter.outcome = outcome.value; refresh(); } },
    [["", "all turns"], ["trouble", "errors and notices"], ["tool_calls", "with calls"], ["length", "cut by the limit"], ["cancelled", "cancelled"]].map(([value, text]) => h("option", { value, selected: value === filter.outcome }, text)));
  const first = h("input", { type: "checkbox", id: "first", checked: filter.first, onchange: () => { filter.first = first.checked; refresh(); } });
  const all = h("div", { class: "all" });
  const list = h("div", { class: "list", tabindex: "0", role: "region", "aria-label": "Turns", onscroll: paint }, all);
  parts = { now: h("section", { "aria-label": "Running" }), list, all, count: h("span", { class: "note" }) };
  list.addEventListener("keydown", move);
  show(main, parts.now, h("h2", {}, "History"), h("div", { class: "row" }, search, outcome, h("span", { class: "row" }, first, h("label", { for: "first" }, "trouble first")), parts.count), h("p", {}), list);
  for (const card of running.values()) parts.now.append(card.element);
  idle();
  refresh();
  if (!turns.size) more();
}

export function leave() { parts = null; }

export function hear(name, data) {
  if (name === "turn") heardTurn(data);
  else if (name === "gone") gone();
  else if (name === "grow") for (const [id, kind, text] of data) grow(id, kind, text);
}

async function more() {
  const answer = await get("/dragoman/turns?limit=5000").catch(() => ({ turns: [] }));
  for (const turn of answer.turns.reverse()) if (!turns.has(turn.id)) turns.set(turn.id, turn);
  const sorted = [...turns.values()].sort((one, other) => one.began - other.began);
  turns.clear();
  for (const turn of sorted) turns.set(turn.id, turn);
  refresh();
}

function heardTurn(turn) {
  turns.set(turn.id, turn);
  while (turns.size > KEPT) turns.delete(turns.keys().next().value);
  if (turn.outcome === "open") begin(turn); else end(turn);
  soon();
}

const soon = later(60, () => refresh());

function begin(turn) {
  if (running.has(turn.id)) return;
  const flow = h("div", { class: "flow raw" });
  const facts = h("span", { class: "facts" });
  const stop = h("button", { type: "button", "aria-label": `Cancel ${turn.id}`, onclick: async () => { await post(`/cancel/${encodeURIComponent(turn.id.replace(/-\d+$/, ""))}`, {}); say("cancelled"); } }, "Cancel");
  const element = h("article", { class: "card", "data-turn": turn.id }, h("div", { class: "row" }, h("a", { href: `#turn/${encodeURIComponent(turn.id)}`, class: "grow" }, turn.asked || turn.id), facts, stop), flow);
  const card = { turn, element, flow, facts, began: performance.now(), first: null, characters: 0 };
  running.set(turn.id, card);
  parts?.now.append(element);
  idle();
  tell(card);
}

function grow(id, kind, text) {
  const card = running.get(id);
  if (!card) return;
  card.first ??= performance.now();
  card.characters += text.length;
  const last = card.flow.lastElementChild;
  if (last?.className === kind) last.textContent = (last.textContent + text).slice(-FLOW);
  else card.flow.append(h("span", { class: kind }, text));
  while (card.flow.childElementCount > 60) card.flow.firstElementChild.remove();
  card.flow.scrollTop = card.flow.scrollHeight;
  tell(card);
}

function tell(card) {
  const now = performance.now();
  const speed = card.first ? ` · ${Math.round(card.characters / Math.max(0.05, (now - card.first) / 1000))} characters/s` : " · waiting for the first token";
  card.facts.textContent = `${card.turn.protocol} · ${card.turn.model} · ${card.turn.dialect} · ${seconds((now - card.began) / 1000)}${speed}`;
}

function end(turn) {
  running.get(turn.id)?.element.remove();
  running.delete(turn.id);
  idle();
}

function gone() {  // the server tells again what runs, if it comes back and anything does
  for (const turn of [...running.values()].map((card) => card.turn)) { turns.delete(turn.id); end(turn); }
}

function idle() {
  if (!parts) return;
  const note = parts.now.querySelector(".note");
  if (running.size) note?.remove();
  else if (!note) parts.now.prepend(h("p", { class: "note" }, "Nothing runs. Send a request, or use the chat box of ", h("a", { href: "#try" }, "Try"), "."));
}

setInterval(() => { for (const card of running.values()) tell(card); }, 500);

const trouble = (turn) => Boolean(turn.error || turn.notices.length);

function refresh() {
  if (!parts) return;
  found = [...turns.values()].reverse().filter(fits);
  if (filter.first) found.sort((one, other) => trouble(other) - trouble(one));
  parts.all.style.height = `${found.length * ROW}px`;
  parts.count.textContent = found.length === turns.size ? `${turns.size} turns` : `${found.length} of ${turns.size} turns`;
  paint();
}

function fits(turn) {
  if (turn.outcome === "open") return false;
  if (filter.outcome === "trouble" ? !trouble(turn) : filter.outcome && turn.outcome !== filter.outcome) return false;
  const words = [turn.id, turn.model, turn.dialect, turn.protocol, turn.asked, turn.answered, ...turn.notices];
  return !filter.words || words.some((word) => word.toLowerCase().includes(filter.words));
}

function paint() {
  if (!parts) return;
  const { list, all } = parts;
  const top = Math.max(0, Math.floor(list.scrollTop / ROW) - 5);
  const rows = found.slice(top, top + Math.ceil(list.clientHeight / ROW) + 10);
  const focused = document.activeElement?.dataset?.turn;
  show(all, rows.map((turn, number) => row(turn, top + number)));
  if (focused) [...all.children].find((child) => child.dataset.turn === focused)?.focus({ preventScroll: true });
}

function row(turn, number) {
  const speed = turn.completion_tokens && turn.seconds > turn.first ? ` · ${(turn.completion_tokens / (turn.seconds - turn.first)).toFixed(1)} tokens/s` : "";
  const tags = [turn.error && h("span", { class: "tag bad" }, "error"), turn.notices.map((code) => h("span", { class: "tag warn" }, code))];
  const link = h("a", { class: "turn", href: `#turn/${encodeURIComponent(turn.id)}`, "data-turn": turn.id, "data-number": number }, h("span", {}, clock(turn.began)), h("span", {}, turn.asked || turn.id), h("span", {}, tags, h("span", { class: "tag" }, turn.outcome)), h("span", { class: "facts" }, `${turn.protocol} · ${turn.model} · ${turn.dialect} · first ${seconds(turn.first)} · ${turn.completion_tokens ?? "?"} tokens${speed}`));
  link.style.top = `${number * ROW}px`;
  return link;
}

function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const at = Number(document.activeElement?.dataset?.number ?? -1) + step;
  if (at < 0 || at >= found.length) return;
  const { list, all } = parts;
  if (at * ROW < list.scrollTop || (at + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = at * ROW - list.clientHeight / 2;
  paint();
  [...all.children].find((child) => Number(child.dataset.number) === at)?.focus({ preventScroll: true });
}
