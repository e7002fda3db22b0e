// The pieces of a solution in space: drag or arrow keys turn them, sliders draw them apart and replay the disassembly.
"use strict";
(() => {
  const { Renderer, Camera, Transform, Geometry, Program, Mesh, Orbit, Vec3, Sphere } = ogl;
  const data = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const canvas = at("space");
  let renderer;
  try {
    renderer = new Renderer({ canvas, antialias: true, alpha: true, dpr: Math.min(2, devicePixelRatio) });
  } catch (error) {
    at("pieces").textContent = "This browser cannot draw in space (no WebGL): " + error.message;
    return;
  }
  const gl = renderer.gl;
  const FIELD = 35; // degrees
  const camera = new Camera(gl, { fov: FIELD });
  const vertex = `
    attribute vec3 position; attribute vec3 normal;
    uniform mat4 modelViewMatrix; uniform mat4 projectionMatrix; uniform mat3 normalMatrix;
    varying vec3 facing;
    void main() { facing = normalMatrix * normal; gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0); }`;
  const fragment = `
    precision mediump float;
    uniform vec3 tint; uniform float lit; varying vec3 facing;
    void main() {
      vec3 n = normalize(facing);
      float light = mix(1.0, 0.45 + 0.4 * max(dot(n, normalize(vec3(0.3, 0.7, 0.6))), 0.0) + 0.15 * max(n.z, 0.0), lit);
      gl_FragColor = vec4(tint * light, 1.0);
    }`;
  const program = (tint, lit) => new Program(gl, {
    vertex, fragment, cullFace: false, uniforms: { tint: { value: tint }, lit: { value: lit } },
  });

  let shown = 0, root, groups = [], orbit, hidden = new Set();

  function solid(piece) {
    const group = new Transform();
    const tint = piece.colour.map((part) => part / 255);
    const position = [], normal = [];
    for (const face of piece.faces) {
      const [a, b, c] = face;
      const u = b.map((v, i) => v - a[i]), v = c.map((w, i) => w - a[i]);
      const n = [u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]];
      for (let k = 1; k + 1 < face.length; k++)
        for (const corner of [a, face[k], face[k + 1]]) { position.push(...corner); normal.push(...n); }
    }
    if (position.length) {
      const geometry = new Geometry(gl, {
        position: { size: 3, data: new Float32Array(position) }, normal: { size: 3, data: new Float32Array(normal) },
      });
      new Mesh(gl, { geometry, program: program(tint, 1) }).setParent(group);
      const lines = new Float32Array(piece.edges.flat(2));
      const edge = new Geometry(gl, {
        position: { size: 3, data: lines }, normal: { size: 3, data: new Float32Array(lines.length) },
      });
      new Mesh(gl, { mode: gl.LINES, geometry: edge, program: program([0.1, 0.1, 0.1], 0) }).setParent(group);
    }
    for (const [x, y, z, radius] of piece.balls) {
      const ball = new Mesh(gl, {
        geometry: new Sphere(gl, { radius, widthSegments: 24 }), program: program(tint, 1),
      });
      ball.position.set(x, y, z);
      ball.setParent(group);
    }
    return group;
  }

  function show(which) {
    shown = which;
    const solution = data.solutions[which];
    root = new Transform();
    groups = solution.pieces.map((piece) => { const group = solid(piece); group.setParent(root); return group; });
    at("which").textContent = `${which + 1} of ${data.solutions.length}`;
    at("before").disabled = which === 0;
    at("after").disabled = which + 1 === data.solutions.length;
    at("stepping").hidden = solution.frames.length < 2;
    at("step").max = solution.frames.length - 1;
    at("step").value = 0;
    const list = at("pieces");
    list.replaceChildren();
    solution.pieces.forEach((piece, number) => {
      const label = document.createElement("label"), box = document.createElement("input");
      const swatch = document.createElement("span");
      box.type = "checkbox"; box.checked = !hidden.has(piece.name);
      box.addEventListener("change", () => {
        if (box.checked) hidden.delete(piece.name); else hidden.add(piece.name);
        place();
      });
      swatch.className = "swatch"; swatch.style.background = `rgb(${piece.colour.join(",")})`;
      label.append(box, swatch, piece.name);
      list.append(label);
    });
    place();
  }

  function place() {
    const solution = data.solutions[shown], apart = at("spread").value / 60;
    const step = Number(at("step").value), whole = Math.floor(step), part = step - whole;
    const now = solution.frames[whole], next = solution.frames[Math.min(whole + 1, solution.frames.length - 1)];
    at("told").textContent = solution.told[Math.ceil(step)] || "";
    groups.forEach((group, number) => {
      const piece = solution.pieces[number];
      group.visible = !hidden.has(piece.name);
      const shift = [0, 1, 2].map((axis) =>
        now[number][axis] * (1 - part) + next[number][axis] * part + (piece.middle[axis] - data.middle[axis]) * apart);
      group.position.set(...shift);
    });
    document.documentElement.dataset.drawn = `${shown} ${step}`;
  }

  function size() {
    const { clientWidth, clientHeight } = canvas;
    renderer.setSize(clientWidth, clientHeight);
    canvas.style.width = canvas.style.height = "";
    const aspect = clientWidth / clientHeight;
    // The angle is that of the shorter side, so that nothing is cut off on a narrow window.
    const half = Math.tan((FIELD / 2) * (Math.PI / 180)) / Math.min(1, aspect);
    camera.perspective({ fov: 2 * Math.atan(half) * (180 / Math.PI), aspect });
  }

  const middle = new Vec3(...data.middle);
  camera.position.set(data.middle[0] + data.size * 1.6, data.middle[1] - data.size * 2.2, data.middle[2] + data.size * 1.5);
  camera.up.set(0, 0, 1);
  camera.lookAt(middle);
  orbit = new Orbit(camera, { element: canvas, target: middle });
  new ResizeObserver(size).observe(canvas); // lists beside it grow after it is there, windows change
  for (const id of ["spread", "step"]) at(id).addEventListener("input", place);
  at("before").addEventListener("click", () => show(shown - 1));
  at("after").addEventListener("click", () => show(shown + 1));
  canvas.addEventListener("keydown", (event) => {
    const turn = { ArrowLeft: [0, -0.1], ArrowRight: [0, 0.1], ArrowUp: [-0.1, 0], ArrowDown: [0.1, 0] }[event.key];
    if (!turn || !root) return;
    event.preventDefault();
    root.rotation.x += turn[0]; root.rotation.z += turn[1];
  });
  size();
  show(0);
  (function draw() {
    requestAnimationFrame(draw);
    orbit.update();
    renderer.render({ scene: root, camera });
  })();
})();
