// Elements from plain values.  Text is only ever set as text: what a model wrote is never read as HTML.

export function h(tag, facts = {}, ...children) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(facts)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value") element.value = value;
    else if (key === "class") element.className = value;
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function show(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
}

export function say(text) {
  const toast = document.getElementById("said");
  toast.textContent = text;
  clearTimeout(say.timer);
  say.timer = setTimeout(() => { toast.textContent = ""; }, 4000);
}

export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {  // no clipboard without https: a field to copy from
    const field = h("textarea", { value: text, readonly: true });
    document.body.append(field);
    field.select();
    document.execCommand("copy");
    field.remove();
  }
  say(`${what} copied`);
}

export function label(text, field) {
  field.id ||= `f${(label.count = (label.count || 0) + 1)}`;
  return [h("label", { for: field.id }, text), field];
}

export const seconds = (value) => (value === null || value === undefined ? "–" : value < 10 ? `${value.toFixed(2)} s` : `${value.toFixed(1)} s`);

export const clock = (unix) => new Date(unix * 1000).toLocaleTimeString([], { hour12: false });

export function later(wait, work) {
  let timer;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => work(...given), wait); };
}
