// Anthropic's client for Node: plain, streamed, and its helper that adds a stream up.

import Anthropic from "@anthropic-ai/sdk";
import { cutAfter, person, play, run, tools, url } from "./play.mjs";

const client = new Anthropic({ baseURL: url, apiKey: "none", maxRetries: 0 });
const offers = tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
const asked = (words, more) => ({
  model: "demo",
  max_tokens: 4096,
  messages: typeof words === "string" ? [{ role: "user", content: words }] : words,
  ...more,
});
const made = ({ content, stop_reason }) => ({
  text: content.find((block) => block.type === "text")?.text,
  thought: content.find((block) => block.type === "thinking")?.thinking,
  finish: stop_reason,
});
const whole = (words, more) => client.messages.create(asked(words, more));
const helped = (words, more) => client.messages.stream(asked(words, more)).finalMessage();

async function loop(words) {
  const messages = [{ role: "user", content: words }], calls = [];
  for (;;) {
    const message = await helped(messages, { tools: offers, thinking: { type: "adaptive" } });
    if (message.stop_reason !== "tool_use") return { ...made(message), calls };
    const asks = message.content.filter((block) => block.type === "tool_use");
    calls.push(...asks.map((call) => call.input));
    const results = asks.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: run(call.name, call.input) }));
    messages.push({ role: "assistant", content: message.content }, { role: "user", content: results.reverse() });
  }
}

await play({
  plain: async () => made(await whole("plain")),
  streamed: async () => {
    let text = "";
    for await (const event of await whole("plain", { stream: true }))
      if (event.type === "content_block_delta") text += event.delta.text;
    return { text };
  },
  helped: async () => made(await helped("plain")),
  think: async () => made(await whole("think", { thinking: { type: "enabled", budget_tokens: 1024 } })),
  thinkStreamed: async () => made(await helped("think")),
  weather: () => loop("weather"),
  loop: () => loop("loop"),
  person: async () =>
    made(await whole("person", { output_config: { format: { type: "json_schema", schema: person } } })),
  cut: async () => made(await whole("cut", { max_tokens: cutAfter })),
  cutStreamed: async () => made(await helped("cut", { max_tokens: cutAfter })),
  break: async () => made(await whole("break")),
  breakStreamed: async () => made(await helped("break")),
  cancel: async () => {
    for await (const _ of await whole("stall", { stream: true })) break;
    return { text: "left" };
  },
});
