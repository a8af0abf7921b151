// The page: which view is shown, the live stream that feeds them, the keys, the theme.

import { stream } from "./api.js";
import { h, seconds, show } from "./dom.js";
import * as live from "./live.js";
import * as models from "./models.js";
import * as trial from "./try.js";
import * as turn from "./turn.js";

const views = { live, models, try: trial, turn };
const main = document.getElementById("main");
let current = null;

function route() {
  const [name, ...rest] = location.hash.slice(1).split("/");
  const view = Object.hasOwn(views, name) ? views[name] : live;
  for (const link of document.querySelectorAll("nav a")) {
    const here = views[link.dataset.view] === view || (view === turn && link.dataset.view === "live");
    if (here) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  }
  current?.leave?.();
  current = view;
  show(main);
  view.enter(main, plain(rest.join("/")));
}

function plain(text) {
  try { return decodeURIComponent(text); } catch { return text; }  // somebody typed a stray %
}

async function follow() {
  const state = document.getElementById("state");
  for (;;) {
    try {
      for await (const event of stream("/dragoman/live")) {
        const data = JSON.parse(event.data);
        if (event.name === "state") {
          const names = data.models.map((model) => `${model.name} (${model.dialect})`).join(", ");
          state.textContent = data.ready ? `${names} · ${data.running} running` : data.problem;
        }
        for (const view of Object.values(views)) view.hear?.(event.name, data);
      }
      state.textContent = "the server has ended";
    } catch (error) {
      state.textContent = `no live view: ${error.message}`;
    }
    for (const view of Object.values(views)) view.hear?.("gone");
    await new Promise((resolve) => setTimeout(resolve, 2000));
  }
}

function theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  localStorage.setItem("dragoman.theme", root.dataset.theme);
  current?.hear?.("theme");
}

const kept = localStorage.getItem("dragoman.theme");
if (kept) document.documentElement.dataset.theme = kept;
document.getElementById("theme").addEventListener("click", theme);
addEventListener("hashchange", route);
addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const to = { 1: "#live", 2: "#try", 3: "#models" }[event.key];
  if (to) location.hash = to;
  else if (event.key === "Escape" && current === turn) location.hash = "#live";
  else if (event.key === "/" && current === live) { event.preventDefault(); document.getElementById("search").focus(); }
});
addEventListener("unhandledrejection", (event) => { event.preventDefault(); show(main, h("p", { class: "bad" }, event.reason?.message || String(event.reason))); });
route();
follow();

export { seconds };
