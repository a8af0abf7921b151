// Small plots on a canvas: bars of pieces over time, lines of numbers over the last hour.

function begin(canvas) {
  const scale = devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  canvas.width = width * scale;
  canvas.height = height * scale;
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.clearRect(0, 0, width, height);
  pen.font = "11px system-ui, sans-serif";
  return { pen, width, height };
}

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);

export function bars(canvas, points) {
  const { pen, width, height } = begin(canvas);
  if (!points.length) return;
  const end = Math.max(...points.map(([at]) => at), 0.001);
  const most = Math.max(...points.map(([, size]) => size));
  pen.fillStyle = colour("--bar");
  for (const [at, size] of points) {
    const tall = Math.max(2, (size / most) * (height - 18));
    pen.fillRect((at / end) * (width - 3), height - 14 - tall, 2, tall);
  }
  pen.fillStyle = colour("--soft");
  pen.fillText("0 s", 0, height - 2);
  pen.textAlign = "right";
  pen.fillText(`${end.toFixed(2)} s`, width, height - 2);
}

export function line(canvas, points, from, to) {
  const { pen, width, height } = begin(canvas);
  const most = Math.max(...points.map(([, value]) => value ?? 0), 0);
  pen.strokeStyle = colour("--line");
  pen.strokeRect(0.5, 0.5, width - 1, height - 15);
  pen.strokeStyle = colour("--bar");
  pen.fillStyle = colour("--bar");
  pen.lineWidth = 1.5;
  pen.beginPath();
  let before = null;
  for (const [at, value] of points) {
    if (value === null) continue;
    const x = ((at - from) / (to - from)) * width;
    const y = height - 16 - (most ? (value / most) * (height - 32) : 0);
    if (before !== null && at - before <= 30) pen.lineTo(x, y); else pen.moveTo(x, y);
    pen.fillRect(x - 1, y - 1, 2, 2);
    before = at;
  }
  pen.stroke();
  pen.fillStyle = colour("--soft");
  pen.fillText(most ? String(Math.round(most * 100) / 100) : "", 4, 12);
  pen.fillText("an hour ago", 0, height - 2);
  pen.textAlign = "right";
  pen.fillText("now", width, height - 2);
}
