// Points without WebGL: a fair sample on a plain canvas.

/** Most points that are drawn here; the footer says how many of how many. */
const SAMPLE = 20000;

/** @param {HTMLCanvasElement} canvas @param {() => void} changed @returns {Renderer} */
export function canvas2d(canvas, changed) {
  const context = canvas.getContext("2d");
  /** @type {Cloud | null} */
  let cloud = null;
  /** @type {Look | null} */
  let look = null;
  let [camera, frame, drawn] = [new Float32Array(16), 0, 0];

  /** @param {number} i */
  function colorOf(i) {
    if (!look || !cloud) return -1;
    const last = look.palette.length / 4 - 1;
    if (!look.values) return Math.min(cloud.classes?.[i] ?? 65535, last);
    const x = (look.values[i] - look.low) / (look.high - look.low || 1);
    return Number.isNaN(x) ? -1 : Math.round(255 * Math.min(1, Math.max(0, x)));
  }

  function paint() {
    frame = 0;
    if (!context || !cloud || !look) return;
    const { width, height } = canvas;
    context.clearRect(0, 0, width, height);
    const radius = look.radius * devicePixelRatio;
    const m = camera;
    drawn = Math.min(cloud.n, SAMPLE);
    for (let i = 0; i < drawn; i++) {
      const c = colorOf(i);
      const shape = look.palette[4 * c + 3];
      if (c < 0 || !shape) continue;
      const j = i * cloud.d;
      const [x, y, z] = [cloud.places[j], cloud.places[j + 1], cloud.d > 2 ? cloud.places[j + 2] : 0];
      const line = (/** @type {number} */ r) => m[r] * x + m[4 + r] * y + m[8 + r] * z + m[12 + r];
      const [px, py] = [((line(0) + 1) / 2) * width, ((1 - line(1)) / 2) * height];
      if (!(px > -9 && py > -9 && px < width + 9 && py < height + 9)) continue;
      context.globalAlpha = look.marks ? (look.marks[i] ? Math.max(0.8, look.alpha) : 0.2 * look.alpha) : look.alpha;
      context.fillStyle = `rgb(${look.palette.slice(4 * c, 4 * c + 3).join(" ")})`;
      context.beginPath();
      if (shape === 3) context.rect(px - 0.9 * radius, py - 0.9 * radius, 1.8 * radius, 1.8 * radius);
      else if (shape === 2) {
        context.moveTo(px, py - radius);
        context.lineTo(px + radius, py + 0.8 * radius);
        context.lineTo(px - radius, py + 0.8 * radius);
      } else context.arc(px, py, radius, 0, 7);
      context.fill();
    }
    changed();
  }
  const schedule = () => { frame ||= requestAnimationFrame(paint); };
  return {
    name: "2-D canvas (no WebGL)",
    lost: false,
    get drawn() { return drawn; },
    setCloud(next) { cloud = next; },
    grow: schedule,
    setLook(next) {
      look = next;
      schedule();
    },
    draw(matrix) {
      camera = matrix;
      schedule();
    },
    destroy() { cancelAnimationFrame(frame); },
  };
}
