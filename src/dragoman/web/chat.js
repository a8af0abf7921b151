// A chat box: reasoning dimmed, calls as they grow; a result typed for a call goes back to the model.

import { stream } from "./api.js";
import { h, label, show } from "./dom.js";

const WEATHER = '[{"type": "function", "function": {"name": "get_weather", "description": "The weather in a city", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}]';

export function chatbox() {
  const messages = [];
  let stop = null;
  const log = h("div", { "aria-live": "polite", "aria-label": "Conversation" });
  const text = h("textarea", { rows: 2, onkeydown: (event) => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); send(); } } });
  const tools = h("textarea", { class: "mono", rows: 3, spellcheck: "false", value: "" });
  const go = h("button", { type: "button", class: "main", onclick: () => (stop ? stop.abort() : send()) }, "Send");
  const again = h("button", { type: "button", onclick: () => { messages.length = 0; show(log); } }, "New conversation");
  const weather = h("button", { type: "button", onclick: () => { tools.value = WEATHER; } }, "Example tool");
  const box = h("div", { class: "card" }, log, label("Your message (Enter sends)", text), h("div", { class: "row" }, go, again), h("details", {}, h("summary", {}, "Tools"), label("Tools as JSON", tools), weather));

  async function send() {
    const said = text.value.trim();
    if (!said || stop) return;
    text.value = "";
    messages.push({ role: "user", content: said });
    log.append(h("p", { class: "said" }, h("span", { class: "who" }, "you  "), said));
    await answer();
  }

  async function answer() {
    const turn = { role: "assistant", content: "", tool_calls: [] };
    const line = h("p", { class: "said" }, h("span", { class: "who" }, "model  "));
    log.append(line);
    const part = (kind) => { const last = line.lastElementChild; if (last.className === kind) return last; const made = h("span", { class: kind }); line.append(made); return made; };
    stop = new AbortController();
    go.textContent = "Stop";
    const began = performance.now();
    let first = null, count = 0;
    try {
      const body = { messages, stream: true, ...(tools.value.trim() ? { tools: JSON.parse(tools.value) } : {}) };
      for await (const { data } of stream("/v1/chat/completions", { method: "POST", body: JSON.stringify(body), signal: stop.signal })) {
        if (data === "[DONE]") break;
        const chunk = JSON.parse(data);
        if (chunk.error) throw new Error(chunk.error.message);
        const delta = chunk.choices?.[0]?.delta;
        if (!delta) continue;
        if (delta.reasoning_content || delta.content || delta.tool_calls) { first ??= performance.now(); count += 1; }
        if (delta.reasoning_content) part("reasoning").append(delta.reasoning_content);
        if (delta.content) { turn.content += delta.content; part("content").append(delta.content); }
        for (const call of delta.tool_calls || []) {
          const known = (turn.tool_calls[call.index] ||= { id: call.id, type: "function", function: { name: "", arguments: "" } });
          if (call.function.name) { known.function.name = call.function.name; part("call").append(`\n${call.function.name} `); }
          if (call.function.arguments) { known.function.arguments += call.function.arguments; part("call").append(call.function.arguments); }
        }
      }
      const spent = (performance.now() - (first ?? began)) / 1000;
      line.append(h("span", { class: "who" }, `  first ${(((first ?? began) - began) / 1000).toFixed(2)} s, ${spent > 0.05 ? (count / spent).toFixed(1) : count} pieces/s`));
    } catch (error) {
      line.append(h("span", { class: "bad" }, error.name === "AbortError" ? " stopped" : ` ${error.message}`));
      stop = null;
      go.textContent = "Send";
      return;
    }
    stop = null;
    go.textContent = "Send";
    if (!turn.tool_calls.length) delete turn.tool_calls;
    messages.push(turn);
    if (turn.tool_calls) log.append(results(turn.tool_calls));
  }

  function results(calls) {
    const fields = calls.map((call) => ({ call, field: h("input", { class: "grow", placeholder: "what the tool gives back" }) }));
    const form = h("div", { class: "card" }, fields.map(({ call, field }) => label(`Result of ${call.function.name}`, field)), h("button", { type: "button", onclick: () => {
      for (const { call, field } of fields) messages.push({ role: "tool", tool_call_id: call.id, content: field.value });
      form.remove();
      answer();
    } }, "Give the results"));
    return form;
  }
  return box;
}
