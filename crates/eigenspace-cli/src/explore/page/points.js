// Points by WebGL2. They arrive shuffled, so every prefix is a fair sample: while the camera moves, as
// many are drawn as fit into a frame; when it rests, the others follow in slices. One fence at a time
// tells how long a slice took.

import { clamp } from "./dom.js";

const VERTEX = `#version 300 es
in vec3 place; in float value; in float mark;
uniform mat4 camera; uniform float size, alpha, low, span, dim; uniform bool byValue; uniform int last;
uniform highp sampler2D palette;
out vec4 color; flat out int shape; flat out float soft;
void main() {
  int i = byValue ? int(clamp((value - low) / span, 0., 1.) * 255.) : min(int(value), last);
  vec4 c = texelFetch(palette, ivec2(i, 0), 0);
  shape = int(c.a * 255. + .5);
  bool bad = isnan(value) || isnan(place.x + place.y + place.z);
  color = vec4(c.rgb, 1.) * (dim < 1. ? (mark > .5 ? max(alpha, .8) : alpha * dim) : alpha);
  gl_Position = shape == 0 || bad ? vec4(2., 2., 2., 1.) : camera * vec4(place, 1.);
  gl_PointSize = size; soft = 2. / size;
}`;
const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 color; flat in int shape; flat in float soft; out vec4 paint;
void main() {
  vec2 q = 2. * gl_PointCoord - 1.;
  float d = shape == 2 ? max(q.y / .75, abs(q.x) * 1.84 - q.y) : shape == 3 ? 1.15 * max(abs(q.x), abs(q.y)) : length(q);
  float a = 1. - smoothstep(1. - soft, 1., d);
  if (a <= 0.) discard;
  paint = color * a;
}`;
/**
 * How long a slice may take while the camera moves, and while it rests. The end of a slice is seen in the
 * next frame of the screen, so that one that takes longer than a frame costs three of them instead of two.
 */
const [MOVING_MS, RESTING_MS] = [16, 45];
/** Some browsers never report a fence when they are busy; then every frame draws a fixed number. */
const [STUCK_MS, UNFENCED] = [1000, 20000];
/** Smallest slices: a busy machine is slow whatever the size. */
const [MOVING_LEAST, RESTING_LEAST] = [4000, 40000];

/**
 * A renderer, or null without WebGL2.
 * @param {HTMLCanvasElement} canvas @param {() => void} changed called when more was drawn, or the context was lost or restored
 * @returns {Renderer | null}
 */
export function webgl(canvas, changed) {
  const found = canvas.getContext("webgl2", { antialias: false, preserveDrawingBuffer: true, premultipliedAlpha: true });
  if (!found) return null;
  const gl = found;
  /** @type {Cloud | null} */
  let cloud = null;
  /** @type {Look | null} */
  let look = null;
  /** @type {Record<string, WebGLUniformLocation | null>} */
  let where = {};
  /** @type {WebGLBuffer[]} */
  let buffers = [];
  let [camera, moving, dirty, lost, unfenced] = [new Float32Array(16), false, false, false, false];
  let [budget, drawn, uploaded, frame, started] = [40000, 0, 0, 0, 0];
  /** @type {WebGLSync | null} */
  let fence = null;

  function setUp() {
    const program = gl.createProgram();
    for (const [kind, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]])) {
      const shader = gl.createShader(kind);
      if (!shader) return;
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    ["place", "value", "mark"].forEach((name, i) => gl.bindAttribLocation(program, i, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "cannot link");
    gl.useProgram(program);
    for (const name of ["camera", "size", "alpha", "low", "span", "dim", "byValue", "last"]) where[name] = gl.getUniformLocation(program, name);
    buffers = [0, 1, 2].map(() => gl.createBuffer());
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, gl.NEAREST], [gl.TEXTURE_MAG_FILTER, gl.NEAREST]])
      gl.texParameteri(gl.TEXTURE_2D, /** @type {number} */ (key), /** @type {number} */ (value));
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(0, 0, 0, 0);
  }

  /** Binds attribute `i` to new storage. @param {number} i @param {AllowSharedBufferSource} data @param {number} parts @param {number} type */
  function attribute(i, data, parts, type) {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[i] ?? null);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(i);
    gl.vertexAttribPointer(i, parts, type, false, 0, 0);
  }

  function uploadLook() {
    if (!cloud || !look || lost) return;
    const { palette, values, marks, low, high } = look;
    const entries = Math.min(palette.length / 4, 2048);
    const texels = entries * 4 === palette.length ? palette : new Uint8Array([...palette.subarray(0, 4 * entries - 4), ...palette.subarray(-4)]);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, entries, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, texels);
    gl.uniform1i(where.last ?? null, entries - 1);
    gl.uniform1i(where.byValue ?? null, values ? 1 : 0);
    gl.uniform1f(where.low ?? null, low);
    gl.uniform1f(where.span ?? null, high - low || 1);
    gl.uniform1f(where.dim ?? null, marks ? 0.2 : 1);
    if (values) attribute(1, values, 1, gl.FLOAT);
    else if (cloud.classes) attribute(1, cloud.classes, 1, gl.UNSIGNED_SHORT);
    else {
      gl.disableVertexAttribArray(1);
      gl.vertexAttrib1f(1, 65535);
    }
    if (marks) attribute(2, marks, 1, gl.UNSIGNED_BYTE);
    else gl.disableVertexAttribArray(2);
  }

  function uploadPoints() {
    // Without new points, the classes that are there may still be those of the points before.
    if (!cloud || lost || (uploaded > 0 && uploaded === cloud.n)) return;
    if (uploaded === 0) attribute(0, new Float32Array(0), cloud.d, gl.FLOAT);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[0] ?? null);
    if (uploaded === 0) gl.bufferData(gl.ARRAY_BUFFER, cloud.places.byteLength, gl.STATIC_DRAW);
    gl.bufferSubData(gl.ARRAY_BUFFER, 4 * uploaded * cloud.d, cloud.places, uploaded * cloud.d, (cloud.n - uploaded) * cloud.d);
    if (look && !look.values && cloud.classes && uploaded > 0) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffers[1] ?? null);
      gl.bufferSubData(gl.ARRAY_BUFFER, 2 * uploaded, cloud.classes, uploaded, cloud.n - uploaded);
    }
    uploaded = cloud.n;
  }

  function step() {
    frame = 0;
    if (lost || !cloud) return;
    if (fence) {
      if (gl.clientWaitSync(fence, gl.SYNC_FLUSH_COMMANDS_BIT, 0) === gl.TIMEOUT_EXPIRED && performance.now() - started < STUCK_MS) {
        setTimeout(schedule, 2);
        return;
      }
      unfenced ||= performance.now() - started >= STUCK_MS;
      gl.deleteSync(fence);
      fence = null;
      const took = Math.max(performance.now() - started, 1);
      budget = unfenced ? UNFENCED : clamp(budget * clamp((moving ? MOVING_MS : RESTING_MS) / took, 0.5, 1.5), MOVING_LEAST, 4e6);
      changed();
    }
    if (dirty) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clear(gl.COLOR_BUFFER_BIT);
      [dirty, drawn] = [false, 0];
    } else if (moving && drawn > 0) return;
    const slice = Math.min(Math.round(moving ? budget : Math.max(budget, RESTING_LEAST)), cloud.n - drawn);
    if (slice <= 0) return;
    const sample = moving ? Math.sqrt(slice / cloud.n) : 1;
    gl.uniformMatrix4fv(where.camera ?? null, false, camera);
    gl.uniform1f(where.size ?? null, 2 * (look?.radius ?? 2) * devicePixelRatio + 1);
    gl.uniform1f(where.alpha ?? null, Math.min(0.9, (look?.alpha ?? 1) / sample));
    gl.drawArrays(gl.POINTS, drawn, slice);
    drawn += slice;
    started = performance.now();
    if (!unfenced) fence = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0);
    else changed();
    gl.flush();
    schedule();
  }

  function schedule() {
    if (!frame) frame = requestAnimationFrame(step);
  }

  function redraw() {
    dirty = true;
    schedule();
  }

  canvas.addEventListener("webglcontextlost", (event) => {
    event.preventDefault();
    [lost, fence, drawn] = [true, null, 0];
    changed();
  });
  canvas.addEventListener("webglcontextrestored", () => {
    [lost, uploaded, where] = [false, 0, {}];
    setUp();
    uploadPoints();
    uploadLook();
    redraw();
  });
  setUp();
  return {
    get name() { return lost ? "WebGL2, graphics context lost" : "WebGL2"; },
    get drawn() { return drawn; },
    get lost() { return lost; },
    setCloud(next) {
      [cloud, uploaded] = [next, 0];
      uploadPoints();
    },
    grow() {
      uploadPoints();
      schedule();
    },
    setLook(next) {
      look = next;
      uploadLook();
      redraw();
    },
    draw(matrix, isMoving) {
      [camera, moving] = [matrix, isMoving];
      redraw();
    },
    destroy() {
      cancelAnimationFrame(frame);
      cloud = null;
      gl.getExtension("WEBGL_lose_context")?.loseContext();
    },
  };
}
