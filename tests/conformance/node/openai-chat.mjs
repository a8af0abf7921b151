// OpenAI's client for Node, Chat Completions: plain, streamed, its helper that adds a stream up, and its loop that runs tools.

import OpenAI from "openai";
import { cutAfter, person, play, run, tools, url } from "./play.mjs";

const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: "none", maxRetries: 0 });
const offers = tools.map(({ run, ...tool }) => ({ type: "function", function: tool }));
const said = (content) => [{ role: "user", content }];
const asked = (words, more) => ({ model: "demo", messages: said(words), ...more });
const made = ({ choices: [{ message, finish_reason }] }) => ({
  text: message.content,
  thought: message.reasoning_content,
  finish: finish_reason,
});
const whole = (words, more) => client.chat.completions.create(asked(words, more));
const helped = (words, more) => client.chat.completions.stream(asked(words, more));

async function loop(words) {
  const runnable = tools.map(({ run, ...tool }) => ({
    type: "function",
    function: { ...tool, function: run, parse: JSON.parse },
  }));
  const runner = client.chat.completions.runTools(
    { ...asked(words), stream: true, tools: runnable },
    { maxChatCompletions: 40 },
  );
  const text = await runner.finalContent();
  const calls = runner.messages.flatMap((message) => message.tool_calls ?? []).map((call) => JSON.parse(call.function.arguments));
  return { text, calls };
}

await play({
  plain: async () => made(await whole("plain")),
  streamed: async () => {
    let text = "";
    for await (const chunk of await whole("plain", { stream: true })) text += chunk.choices[0]?.delta.content ?? "";
    return { text };
  },
  helped: async () => made(await helped("plain").finalChatCompletion()),
  think: async () => made(await whole("think")),
  thinkStreamed: async () => {
    let thought = "", text = "";
    for await (const chunk of await whole("think", { stream: true })) {
      thought += chunk.choices[0].delta.reasoning_content ?? "";
      text += chunk.choices[0].delta.content ?? "";
    }
    return { thought, text };
  },
  weather: () => loop("weather"),
  loop: () => loop("loop"),
  person: async () => {
    const format = { type: "json_schema", json_schema: { name: "person", strict: true, schema: person } };
    return made(await whole("person", { response_format: format }));
  },
  cut: async () => made(await whole("cut", { max_tokens: cutAfter })),
  cutStreamed: async () => {
    let text = "", finish;
    for await (const chunk of await whole("cut", { max_tokens: cutAfter, stream: true })) {
      text += chunk.choices[0].delta.content ?? "";
      finish = chunk.choices[0].finish_reason;
    }
    return { text, finish };
  },
  break: async () => made(await whole("break")),
  breakStreamed: async () => made(await helped("break").finalChatCompletion()),
  cancel: async () => {
    const stream = await whole("stall", { stream: true });
    for await (const _ of stream) break; // leaving the loop ends the request
    return { text: "left" };
  },
});
