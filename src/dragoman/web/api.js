// Asks the server: JSON there and back, and streams of server-sent events.

const KEY = "dragoman.key";

function headers() {
  const key = sessionStorage.getItem(KEY);
  return { "content-type": "application/json", ...(key ? { authorization: `Bearer ${key}` } : {}) };
}

let refused = false;  // whoever gives no key is not asked again, until the page is loaded anew

async function ask(path, options = {}) {
  const before = sessionStorage.getItem(KEY);
  const answer = await fetch(path, { ...options, headers: headers() });
  if (answer.status === 401 && !refused) {
    if (sessionStorage.getItem(KEY) !== before) return ask(path, options);  // another request has asked meanwhile
    const key = prompt("This server wants an API key");
    refused = !key;
    if (key) {
      sessionStorage.setItem(KEY, key.trim());
      return ask(path, options);
    }
  }
  if (!answer.ok) throw new Error(await problem(answer));
  return answer;
}

async function problem(answer) {
  const text = await answer.text();
  try {
    const error = JSON.parse(text).error;
    return error.message || error;
  } catch {
    return `${answer.status} ${text.slice(0, 200)}`;
  }
}

export const get = async (path) => (await ask(path)).json();

export const post = async (path, body, signal) =>
  (await ask(path, { method: "POST", body: JSON.stringify(body), signal })).json();

export async function* stream(path, options = {}) {
  const answer = await ask(path, options);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const event = { name: "message", data: "" };
      for (const line of block.split("\n")) {
        if (line.startsWith("event: ")) event.name = line.slice(7);
        else if (line.startsWith("data: ")) event.data += line.slice(6);
      }
      if (event.data) yield event;
    }
  }
}
