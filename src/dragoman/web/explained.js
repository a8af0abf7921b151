// An explanation as elements: the raw text coloured by meaning, and the events, each tied to the piece it came of.

import { h } from "./dom.js";

const ROLES = { content: "content", reasoning: "reasoning", arguments: "arguments", markup: "markup", unread: "unread" };

// Text by UTF-16 units in JavaScript, offsets in characters from the server: this counts characters.
export const letters = (text) => Array.from(text);

export function raw(found, until = Infinity, edges = true) {
  const all = letters(found.raw);
  const steps = found.steps.filter((step) => step.text);
  const box = h("div", { class: "raw" });
  let at = 0;
  let tile = 0;
  steps.forEach((step, number) => {
    const end = Math.min(step.at + letters(step.text).length, until);
    while (at < end) {
      while (tile < found.tiles.length - 1 && found.tiles[tile].end <= at) tile += 1;
      const known = found.tiles[tile];
      const stop = known && known.end > at ? Math.min(end, known.end) : end;
      const last = edges && stop === step.at + letters(step.text).length && steps.length > 1 && steps.length < 3000;
      const kinds = ["step", ROLES[known?.role] || "", step.special ? "special" : "", last ? "edge" : ""];
      box.append(h("span", { class: kinds.filter(Boolean).join(" "), "data-step": number, title: known?.role }, all.slice(at, stop).join("")));
      at = stop;
    }
  });
  return box;
}

export function events(found, until = Infinity) {
  const box = h("div", {});
  let number = -1;
  for (const step of found.steps) {
    if (step.text) number += 1;
    if (step.at + letters(step.text).length > until) break;
    if (!step.text && until !== Infinity) break;
    for (const event of step.events) box.append(line(event, step.text ? number : number + 1, found));
  }
  return box;
}

export function joined(found, until = Infinity) {
  // Neighbours of one kind as one line: what a reader wants to see of many single letters.
  const merged = { ...found, steps: [] };
  let last = null;
  for (const step of found.steps) {
    const made = { ...step, events: [] };
    merged.steps.push(made);
    if (step.at + letters(step.text).length > until || (!step.text && until !== Infinity)) continue;
    for (const event of step.events) {
      const field = { Content: "text", Reasoning: "text", CallArgs: "json" }[event.event];
      if (field && last?.event === event.event && last.part === event.part && last.index === event.index) last[field] += event[field];
      else made.events.push((last = { ...event }));
    }
  }
  return events(merged, until);
}

function line(event, number, found) {
  const kind = { Content: "content", Reasoning: "reasoning", CallStart: "call", CallArgs: "call", CallEnd: "call", Notice: "notice" }[event.event] || "";
  return h("div", { class: `event ${kind}`, "data-step": number, title: event.event === "Notice" ? explained(event, found) : null }, words(event));
}

function explained(notice, found) {
  return found.notices.find((one) => one.code === notice.code)?.explained.join("; ") || "";
}

function words(event) {
  switch (event.event) {
    case "Content": return `content ${JSON.stringify(event.text)}`;
    case "Reasoning": return `reasoning ${JSON.stringify(event.text)}`;
    case "CallStart": return `call ${event.name}${event.id ? ` (${event.id})` : ""}`;
    case "CallArgs": return `arguments ${event.json}`;
    case "CallEnd": return event.complete ? (event.valid ? "call ends" : "call ends, its arguments are not valid") : `call is cut; missing ${event.missing}`;
    case "Notice": return `notice ${event.code}${event.raw ? ` ${JSON.stringify(event.raw)}` : ""}`;
    case "Finish": return `finish ${event.reason}${event.error ? `: ${event.error}` : ""}`;
    case "Usage": return `usage ${event.prompt ?? "?"} + ${event.completion ?? "?"}`;
    default: return event.event;
  }
}

function reveal(pane, element) {
  // Only the pane scrolls: the page under the pointer stays where it is.
  const [outer, inner] = [pane.getBoundingClientRect(), element.getBoundingClientRect()];
  if (inner.top < outer.top) pane.scrollTop -= outer.top - inner.top + 8;
  else if (inner.bottom > outer.bottom) pane.scrollTop += Math.min(inner.bottom - outer.bottom + 8, inner.top - outer.top - 8);
}

export function tie(box) {
  // Hovering or focusing a piece lights up everything that belongs to it.
  const light = (event) => {
    const number = event.target.closest?.("[data-step]")?.dataset.step;
    for (const lit of box.querySelectorAll(".on")) lit.classList.remove("on");
    if (number === undefined) return;
    for (const same of box.querySelectorAll(`[data-step="${number}"]`)) {
      same.classList.add("on");
      const pane = same.closest(".pane");
      if (pane && !pane.contains(event.target)) reveal(pane, same);
    }
  };
  box.addEventListener("mouseover", light);
  box.addEventListener("click", light);
}
