// The AI SDK, what opencode and many web applications stand on; the second argument names one of its ways to it.

import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { Output, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { cutAfter, person, play, tools, url } from "./play.mjs";

globalThis.AI_SDK_LOG_WARNINGS = false;
const baseURL = `${url}/v1`, apiKey = "none";
const model = {
  compatible: () => createOpenAICompatible({ name: "dragoman", baseURL, apiKey, supportsStructuredOutputs: true })("demo"),
  chat: () => createOpenAI({ baseURL, apiKey }).chat("demo"),
  responses: () => createOpenAI({ baseURL, apiKey }).responses("demo"),
  messages: () => createAnthropic({ baseURL, apiKey })("demo"),
}[process.argv[3]]();
const offers = Object.fromEntries(
  tools.map(({ name, description, parameters, run }) => [
    name,
    tool({ description, inputSchema: jsonSchema(parameters), execute: async (input) => run(input) }),
  ]),
);
const providerOptions = { openai: { reasoningSummary: "auto", store: false, forceReasoning: true } };
const asked = (prompt, more) => ({ model, prompt, maxRetries: 0, providerOptions, ...more });
const made = (result) => ({
  text: result.text,
  thought: result.reasoningText,
  finish: result.finishReason,
  calls: result.steps.flatMap((step) => step.toolCalls.map((call) => call.input)),
});
const whole = async (words, more) => made(await generateText(asked(words, more)));

async function streamed(words, more) {
  let failure, text = "";
  const result = streamText(asked(words, { onError: ({ error }) => (failure = error), ...more }));
  for await (const part of result.fullStream) if (part.type === "text-delta") text += part.text;
  if (failure) throw failure;
  const [reasoningText, finishReason, steps] = await Promise.all([result.reasoningText, result.finishReason, result.steps]);
  return made({ text, reasoningText, finishReason, steps });
}

const last = (told) => ({ ...told, text: told.text.split("\n").at(-1) });
const looping = { tools: offers, stopWhen: stepCountIs(40) };

await play({
  plain: () => whole("plain"),
  streamed: () => streamed("plain"),
  helped: () => streamed("plain"),
  think: () => whole("think"),
  thinkStreamed: () => streamed("think"),
  weather: async () => last(await whole("weather", looping)),
  loop: () => streamed("loop", looping),
  person: async () => {
    const result = await generateText(asked("person", { output: Output.object({ schema: jsonSchema(person) }) }));
    return { text: JSON.stringify(result.output) };
  },
  cut: () => whole("cut", { maxOutputTokens: cutAfter }),
  cutStreamed: () => streamed("cut", { maxOutputTokens: cutAfter }),
  break: () => whole("break"),
  breakStreamed: () => streamed("break"),
  cancel: async () => {
    const left = new AbortController();
    const result = streamText(asked("stall", { abortSignal: left.signal }));
    for await (const part of result.fullStream) if (part.type === "text-delta") left.abort();
    return { text: "left" };
  },
});
