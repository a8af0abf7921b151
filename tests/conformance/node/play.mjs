// Lets a client play scenes against the server and tells what came of each: one JSON object a line.
// Arguments: the server's address, the client's way to it (if it has several), and the scenes (all, if none is named).

export const url = process.argv[2];
export const cutAfter = 30; // pieces: enough to begin, too few to end
const patience = 60_000; // milliseconds; a client that waits for longer hangs

const city = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const number = { type: "object", properties: { number: { type: "integer" } }, required: ["number"] };
export const tools = [
  { name: "get_weather", description: "The weather of a city.", parameters: city, run: ({ city }) => (city === "Paris" ? "sun" : "snow") },
  { name: "step", description: "One of many steps.", parameters: number, run: ({ number }) => `done ${number}` },
];
export const run = (name, input) => tools.find((tool) => tool.name === name).run(input);

export const person = {
  type: "object",
  properties: { name: { type: "string" }, age: { type: "integer" }, tags: { type: "array", items: { type: "string" } } },
  required: ["name", "age", "tags"],
  additionalProperties: false,
};

export async function play(scenes) {
  const wanted = process.argv.slice(4);
  for (const [scene, act] of Object.entries(scenes)) {
    if (wanted.length && !wanted.includes(scene)) continue;
    let timer;
    const hangs = new Promise((_, reject) => (timer = setTimeout(reject, patience, new Error("it hangs"))));
    try {
      console.log(JSON.stringify({ scene, ...(await Promise.race([act(), hangs])) }));
    } catch (error) {
      console.log(JSON.stringify({ scene, error: `${error.name}: ${error.message}` }));
    } finally {
      clearTimeout(timer);
    }
  }
  process.exit(0); // whatever a client keeps open
}
