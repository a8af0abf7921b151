// OpenAI's client for Node, Responses: plain, streamed, and its helper that adds a stream up.

import OpenAI from "openai";
import { cutAfter, person, play, run, tools, url } from "./play.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const offers = tools.map(({ run, ...tool }) => ({ type: "function", strict: false, ...tool }));
const asked = (input, more) => ({ model: "demo", input, ...more });
const made = (response) => ({
  text: response.output_text,
  thought: response.output.find((item) => item.type === "reasoning")?.content[0].text,
  finish: response.incomplete_details?.reason ?? response.status,
});
const whole = (input, more) => client.responses.create(asked(input, more));
const helped = (input, more) => client.responses.stream(asked(input, more)).finalResponse();

async function loop(words) {
  const input = [{ role: "user", content: words }], calls = [];
  for (;;) {
    const response = await helped(input, { tools: offers, store: false, include: ["reasoning.encrypted_content"] });
    const asks = response.output.filter((item) => item.type === "function_call");
    if (!asks.length) return { ...made(response), calls };
    input.push(...response.output);
    for (const call of asks.reverse()) {
      const output = run(call.name, JSON.parse(call.arguments));
      input.push({ type: "function_call_output", call_id: call.call_id, output });
    }
    calls.push(...asks.reverse().map((call) => JSON.parse(call.arguments)));
  }
}

await play({
  plain: async () => made(await whole("plain")),
  streamed: async () => {
    let text = "";
    for await (const event of await whole("plain", { stream: true }))
      if (event.type === "response.output_text.delta") text += event.delta;
    return { text };
  },
  helped: async () => made(await helped("plain")),
  think: async () => made(await whole("think")),
  thinkStreamed: async () => made(await helped("think", { reasoning: { summary: "auto" } })),
  weather: () => loop("weather"),
  loop: () => loop("loop"),
  person: async () => {
    const format = { type: "json_schema", name: "person", strict: true, schema: person };
    return made(await whole("person", { text: { format } }));
  },
  cut: async () => made(await whole("cut", { max_output_tokens: cutAfter })),
  cutStreamed: async () => {
    let last;
    for await (const event of await whole("cut", { max_output_tokens: cutAfter, stream: true })) last = event.response;
    return { text: last.output[0].content[0].text, finish: last.incomplete_details.reason };
  },
  break: async () => made(await whole("break")),
  breakStreamed: async () => {
    for await (const event of await whole("break", { stream: true }))
      if (event.type === "response.failed") throw new Error(event.response.error.message);
    return { text: "no error" };
  },
  cancel: async () => {
    for await (const _ of await whole("stall", { stream: true })) break;
    return { text: "left" };
  },
});
