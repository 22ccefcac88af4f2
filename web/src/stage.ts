// The view of one motion: bodies, contacts, forces, camera.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import { Arrows, Bars, Cones, Dots, type Arrow } from './arrows';
import { bodyColour, JOINT, MODE_COLOURS, NOT_UNIQUE, type Theme } from './colours';
import { rotate, type Motion } from './data';
import { number } from './dom';
import { batches, matrix, outline, reach, type Batch } from './shapes';

export interface Shown { forces: boolean; cones: boolean; joints: boolean; bodies: boolean; scale: number }

/** Shadows cost as much as bodies; many bodies go without. */
const MAX_SHADOWS = 600;
/** Width of the picture over that of what moves. */
const ROOM = 1.15;
/** Sizes of motions that a graphics card can draw, m: it has single precision, and squares lengths. */
const SIZES = [1e-15, 1e15];
/** From so many radii of the largest body on a motion is so wide that its bodies are no more than dots. */
const DOTS = 400;

export class Stage {
  readonly canvas: HTMLCanvasElement;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  /** The body that the camera follows and that panels speak of, or -1. */
  selected = -1;
  following = false;
  onPick: (body: number) => void = () => {};
  onMove: () => void = () => {};
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly meshes: { batch: Batch; mesh: THREE.InstancedMesh }[] = [];
  private readonly floors: THREE.Object3D[] = [];
  private readonly sun = new THREE.DirectionalLight('#ffffff', 2.2);
  private readonly sky = new THREE.HemisphereLight('#ffffff', '#8c939e', 1.5);
  private readonly arrows: Arrows;
  private readonly jointArrows: Arrows;
  private readonly bars: Bars;
  private readonly cones: Cones;
  private readonly dots: Dots;
  /**
   * Where what is drawn is counted from, in the world: a graphics card has single precision, and far from the origin
   * of a scene that is too little. All that three.js knows is relative to it; the numbers here are doubles.
   */
  private readonly origin = new THREE.Vector3();
  /** Radius of all that moves, and its centre and half its box from there. */
  size = 1;
  private readonly centre = new THREE.Vector3();
  private readonly half = new THREE.Vector3();
  /** Radius of the largest body that moves, or what stands for it. */
  private readonly reach: number;
  /** Size of arrows, cones and points: that of the motion, or of its bodies where it is wide. */
  private readonly detail: number;
  /** Length of an arrow per newton. */
  private perNewton = 1;
  private perJointNewton = 1;
  /** Whether somebody has turned the view since it showed the whole scene. */
  private touched = false;
  private readonly up: THREE.Vector3;
  private readonly poses: Float64Array;
  private followed: THREE.Vector3 | null = null;

  constructor(host: HTMLElement, private motion: Motion, label: string) {
    this.reach = reach(motion);
    this.measure();
    this.origin.copy(this.centre);
    this.centre.set(0, 0, 0);
    this.renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
    this.canvas = this.renderer.domElement;
    this.canvas.tabIndex = 0;
    this.canvas.setAttribute('role', 'img');
    this.canvas.setAttribute('aria-label', label);
    host.append(this.canvas);
    const g = new THREE.Vector3(...(motion.gravity as [number, number, number]));
    this.up = g.lengthSq() > 0 ? snapped(g.negate()) : new THREE.Vector3(0, 0, 1);
    this.poses = new Float64Array(7 * motion.bodies.length);
    this.detail = Math.min(this.size, 40 * this.reach);
    const thin = 0.008 * this.detail;
    this.arrows = new Arrows(this.scene, thin);
    this.jointArrows = new Arrows(this.scene, 0.7 * thin);
    this.bars = new Bars(this.scene, 2.4 * thin);
    this.cones = new Cones(this.scene, 0.3 * this.detail);
    this.dots = new Dots(this.scene, 1.2 * thin);
    this.scaleForces();
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.canvas);
    this.controls.addEventListener('change', () => this.onMove());
    this.controls.addEventListener('start', () => (this.touched = true));
    this.lights();
    this.build();
    this.home();
    this.picking();
  }

  /** Shows more of the same bodies' motion; the view stays where somebody has turned it. */
  update(motion: Motion): void {
    this.motion = motion;
    this.measure();
    this.scaleForces();
    this.placeLights();
    if (!this.touched) this.home();
  }

  /** What a user should know of what can be seen. */
  get remark(): string {
    if (this.size <= DOTS * this.reach) return '';
    return `The motion is ${number(Number((2 * this.size).toPrecision(2)))} m wide, its bodies at most ${number(Number((2 * this.reach).toPrecision(2)))} m: select one (Bodies) and follow it (F) to see it.`;
  }

  /** Size and centre of what moves; fails where no graphics card can draw it. */
  private measure(): void {
    const { centre, half, radius } = this.extent();
    if (!(radius >= SIZES[0] && radius <= SIZES[1])) {
      throw new Error(`the motion is ${number(2 * radius)} m wide, and a graphics card draws from ${SIZES[0]} to ${SIZES[1]} m`);
    }
    this.size = radius;
    this.half.copy(half);
    this.centre.copy(centre).sub(this.origin);
  }

  /** How long arrows are. */
  private scaleForces(): void {
    const { motion } = this;
    const forces = motion.sortedForces();
    const typical = forces.length ? forces[Math.floor(0.98 * (forces.length - 1))] : 1;
    this.perNewton = (0.5 * this.detail) / Math.max(typical, 1e-30);
    let joint = 0;
    for (let f = 0; f < motion.frames; f += Math.max(1, Math.floor(motion.frames / 50))) {
      motion.joints.forEach((_, j) => (joint = Math.max(joint, Math.hypot(...motion.jointForce(j, f).slice(0, 3)))));
    }
    this.perJointNewton = (0.4 * this.detail) / Math.max(joint, 1e-30);
  }

  /** The box of what moves, over all frames, and of what stands between. */
  private extent(): { centre: THREE.Vector3; half: THREE.Vector3; radius: number } {
    const box = new THREE.Box3();
    const point = new THREE.Vector3();
    const { motion } = this;
    const every = Math.max(1, Math.floor(motion.frames / 40));
    const pose = new Float64Array(7);
    motion.bodies.forEach((body, b) => {
      const marks = outline(motion, b);
      const count = body.fixed ? Math.min(1, motion.frames) : motion.frames;
      // A large thing that stands still is the surroundings.
      if (body.fixed && (body.radius === 0 || body.shapes.some((s) => s.kind === 'mesh'))) return;
      for (let f = 0; f < count; f += every) {
        motion.pose(b, f, pose);
        if (!Number.isFinite(pose[0] + pose[1] + pose[2])) continue;
        for (const { at, r } of marks) {
          const turned = rotate(pose, at);
          const [x, y, z] = [pose[0] + turned[0], pose[1] + turned[1], pose[2] + turned[2]];
          box.expandByPoint(point.set(x - r, y - r, z - r));
          box.expandByPoint(point.set(x + r, y + r, z + r));
        }
      }
    });
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    const half = box.getSize(new THREE.Vector3()).multiplyScalar(0.5);
    const radius = Math.hypot(half.x, half.y, half.z);
    if (radius === 0) half.setScalar(1);
    return { centre: box.getCenter(new THREE.Vector3()), half, radius: radius || 1 };
  }

  private lights(): void {
    const { sun, sky, scene, up } = this;
    scene.add(sun, sun.target, sky);
    sky.position.copy(up);
    const shapes = this.motion.bodies.reduce((sum, body) => sum + body.shapes.length, 0);
    if (shapes <= MAX_SHADOWS) {
      this.renderer.shadowMap.enabled = true;
      this.renderer.shadowMap.type = THREE.PCFShadowMap;
      sun.castShadow = true;
      sun.shadow.mapSize.set(2048, 2048);
      sun.shadow.bias = -2e-4;
      sun.shadow.radius = 4;
    }
    this.placeLights();
  }

  private placeLights(): void {
    const { sun, size, centre, up } = this;
    sun.position.copy(centre).addScaledVector(up, 3 * size).addScaledVector(new THREE.Vector3(0.5, -0.7, 0.6), 1.6 * size);
    sun.target.position.copy(centre);
    const { shadow } = sun;
    Object.assign(shadow.camera, { left: -1.3 * size, right: 1.3 * size, top: 1.3 * size, bottom: -1.3 * size, near: 0.1 * size, far: 9 * size });
    shadow.camera.updateProjectionMatrix();
    shadow.normalBias = 0.004 * size;
  }

  private build(): void {
    const { motion, scene } = this;
    const material = new THREE.MeshStandardMaterial({ roughness: 0.72, metalness: 0.04, vertexColors: true, side: THREE.DoubleSide });
    for (const batch of batches(motion)) {
      const mesh = new THREE.InstancedMesh(batch.geometry, material, batch.items.length);
      mesh.frustumCulled = false;
      mesh.castShadow = true;
      mesh.receiveShadow = true;
      scene.add(mesh);
      this.meshes.push({ batch, mesh });
    }
    this.paint();
    motion.bodies.forEach((body, b) => {
      for (const shape of body.shapes) {
        if (shape.kind !== 'plane') continue;
        const floor = new THREE.Group();
        const half = 14 * this.size;
        const step = nice(0.35 * this.size);
        const texture = squares();
        texture.repeat.set((2 * half) / step, (2 * half) / step);
        // A corner of the squares stands at the origin of the plane.
        texture.offset.set(-half / step, -half / step);
        texture.anisotropy = this.renderer.capabilities.getMaxAnisotropy();
        // Walls and ceilings let through what is behind them.
        const up = new THREE.Vector3(...motion.gravity).normalize().negate();
        const level = up.length() === 0 || new THREE.Vector3().setFromMatrixColumn(matrix(shape.pose), 2).dot(up) > 0.5;
        const material = new THREE.MeshStandardMaterial({ roughness: 1, map: texture, ...(level ? {} : { transparent: true, opacity: 0.25, depthWrite: false }) });
        const ground = new THREE.Mesh(new THREE.PlaneGeometry(2 * half, 2 * half), material);
        ground.receiveShadow = true;
        floor.add(ground);
        const local = matrix(shape.pose);
        floor.userData = { body: b, local, step };
        this.floors.push(floor);
        scene.add(floor);
      }
    });
  }

  /** Colours of bodies; the selected one stands out. */
  private paint(): void {
    const colour = new THREE.Color();
    for (const { batch, mesh } of this.meshes) {
      batch.items.forEach(({ body }, i) => {
        colour.set(bodyColour(this.motion.slot[body], this.motion.bodies[body].fixed));
        if (body === this.selected) colour.lerp(new THREE.Color('#ffb000'), 0.6);
        mesh.setColorAt(i, colour);
      });
      if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
    }
  }

  select(body: number): void {
    this.selected = body;
    this.followed = null;
    this.paint();
  }

  /** The camera where the whole motion is seen. */
  home(): void {
    const { camera, controls, centre, size, up, motion } = this;
    const view = new THREE.Vector3();
    if (motion.plane !== null) {
      const axis = motion.plane === 1 ? -1 : 1;
      view.setComponent(motion.plane, axis);
    } else {
      // From the side, a little above.
      const side = Math.abs(up.z) > 0.5 ? new THREE.Vector3(0.55, -1, 0) : new THREE.Vector3(0.55, 0, 1);
      view.copy(side).addScaledVector(up, 0.42).normalize();
    }
    const distance = Math.max(this.distance(view), 0.5 * size);
    controls.target.copy(centre);
    camera.position.copy(centre).addScaledVector(view, distance);
    controls.update();
    this.followed = null;
    this.touched = false;
  }

  get turned(): boolean {
    return this.touched;
  }

  /** Where the camera stands and what it looks at, in the world. */
  get view(): { eye: number[]; target: number[] } {
    const world = (v: THREE.Vector3) => v.clone().add(this.origin).toArray();
    return { eye: world(this.camera.position), target: world(this.controls.target) };
  }

  look({ eye, target }: { eye: number[]; target: number[] }): void {
    this.camera.position.fromArray(eye).sub(this.origin);
    this.controls.target.fromArray(target).sub(this.origin);
    this.touched = true;
    this.controls.update();
  }

  /** Turns around what is looked at, by angles, and goes nearer by a factor. */
  turn(around: number, above: number, nearer: number): void {
    const { camera, controls, up } = this;
    const away = camera.position.clone().sub(controls.target).applyAxisAngle(up, around).divideScalar(nearer);
    const axis = new THREE.Vector3().crossVectors(away, up).normalize();
    // Not over the top.
    const tilted = away.clone().applyAxisAngle(axis, above);
    if (tilted.angleTo(up) > 0.05 && tilted.angleTo(up) < Math.PI - 0.05) away.copy(tilted);
    camera.position.copy(controls.target).add(away);
    this.touched = true;
    controls.update();
  }

  /** Looks as another view of the same things does. */
  copyView(other: Stage): void {
    const shift = other.origin.clone().sub(this.origin);
    this.camera.position.copy(other.camera.position).add(shift);
    this.camera.quaternion.copy(other.camera.quaternion);
    this.controls.target.copy(other.controls.target).add(shift);
    this.touched = other.touched;
  }

  /** Goes near the body that is followed where it would be a dot. */
  approach(): void {
    const { camera, controls } = this;
    const radius = this.selected < 0 ? 0 : this.motion.bodies[this.selected].radius || this.reach;
    const away = camera.position.clone().sub(controls.target);
    if (radius > 0 && away.length() > DOTS * radius) camera.position.copy(controls.target).add(away.setLength(8 * radius));
    this.touched = true;
  }

  /** Counts from what the camera looks at, where that is far from here for what is to be seen. */
  private rebase(): void {
    const { camera, controls } = this;
    const shift = controls.target.clone();
    if (shift.length() < 100 * camera.position.distanceTo(shift)) return;
    this.origin.add(shift);
    for (const v of [camera.position, controls.target, this.centre]) v.sub(shift);
    this.followed?.sub(shift);
    this.placeLights();
    controls.update();
  }

  /** So far away in a direction that all corners of the box are seen, with some space around them. */
  private distance(view: THREE.Vector3): number {
    const { camera, half, up } = this;
    const right = new THREE.Vector3().crossVectors(up, view);
    if (right.lengthSq() < 1e-12) right.set(1, 0, 0).cross(view);
    right.normalize();
    const above = new THREE.Vector3().crossVectors(view, right);
    const tall = Math.tan((0.5 * camera.fov * Math.PI) / 180) / ROOM;
    let distance = 0;
    for (let k = 0; k < 8; k++) {
      const corner = new THREE.Vector3(k & 1 ? half.x : -half.x, k & 2 ? half.y : -half.y, k & 4 ? half.z : -half.z);
      const [x, y] = [Math.abs(corner.dot(right)) / camera.aspect, Math.abs(corner.dot(above))];
      distance = Math.max(distance, Math.max(x, y) / tall + corner.dot(view));
    }
    return distance;
  }

  setTheme(theme: Theme): void {
    this.scene.background = new THREE.Color(theme.paper);
    this.scene.fog = new THREE.Fog(theme.paper, 6 * this.size, 16 * this.size);
    this.sun.intensity = theme.dark ? 1.8 : 2.2;
    this.sky.intensity = theme.dark ? 0.9 : 1.5;
    for (const floor of this.floors) {
      for (const part of floor.children) ((part as THREE.Mesh).material as THREE.MeshStandardMaterial).color.set(theme.floor);
    }
  }

  resize(width: number, height: number): void {
    if (width < 2 || height < 2) return;
    this.renderer.setPixelRatio(Math.min(window.devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    const before = this.camera.aspect;
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (before === 1 && this.camera.aspect !== 1) this.home();
  }

  /** Places everything; between two frames bodies are on the way. */
  show(frame: number, part: number, shown: Shown): void {
    const { motion } = this;
    const next = Math.min(frame + 1, motion.frames - 1);
    const [a, b] = [new Float64Array(7), new Float64Array(7)];
    const [q, p] = [new THREE.Quaternion(), new THREE.Quaternion()];
    for (let k = 0; k < motion.bodies.length; k++) {
      motion.pose(k, frame, a);
      if (part > 0 && next > frame && motion.slot[k] >= 0) {
        motion.pose(k, next, b);
        for (let i = 0; i < 3; i++) a[i] += part * (b[i] - a[i]);
        q.set(a[3], a[4], a[5], a[6]).slerp(p.set(b[3], b[4], b[5], b[6]), part);
        [a[3], a[4], a[5], a[6]] = [q.x, q.y, q.z, q.w];
      }
      this.poses.set(a, 7 * k);
    }
    this.follow();
    this.rebase();
    const { origin } = this;
    const [outer, out] = [new THREE.Matrix4(), new THREE.Matrix4()];
    const [at, one] = [new THREE.Vector3(), new THREE.Vector3(1, 1, 1)];
    let last = -1;
    const place = (body: number, local: THREE.Matrix4): THREE.Matrix4 => {
      if (body !== last) {
        const o = 7 * body;
        at.set(this.poses[o] - origin.x, this.poses[o + 1] - origin.y, this.poses[o + 2] - origin.z);
        q.set(this.poses[o + 3], this.poses[o + 4], this.poses[o + 5], this.poses[o + 6]);
        outer.compose(at, q, one);
        last = body;
      }
      return out.multiplyMatrices(outer, local);
    };
    for (const { batch, mesh } of this.meshes) {
      mesh.visible = shown.bodies;
      batch.items.forEach((item, i) => mesh.setMatrixAt(i, place(item.body, item.local)));
      mesh.instanceMatrix.needsUpdate = true;
      mesh.boundingSphere = null;
    }
    for (const floor of this.floors) {
      floor.matrixAutoUpdate = false;
      floor.matrix.copy(place(floor.userData.body, floor.userData.local));
      // A plane has no end: it is drawn around what moves, its squares where they are.
      const at = this.centre.clone().applyMatrix4(floor.matrix.clone().invert()).divideScalar(floor.userData.step).round().multiplyScalar(floor.userData.step);
      floor.children[0].position.set(at.x, at.y, 0);
    }
    this.showForces(frame, shown);
  }

  private showForces(frame: number, shown: Shown): void {
    const contacts = this.motion.contactsAt(frame);
    const scale = this.perNewton * shown.scale;
    const most = 3 * this.detail;
    const arrows: Arrow[] = [];
    const bars: Arrow[] = [];
    const cones: { at: THREE.Vector3; normal: THREE.Vector3; mu: number; colour: string }[] = [];
    const dots: { at: THREE.Vector3; colour: string }[] = [];
    for (const c of contacts) {
      const at = new THREE.Vector3(...c.point).sub(this.origin);
      const normal = new THREE.Vector3(...c.normal).normalize();
      const colour = MODE_COLOURS[c.mode];
      const vector = normal.clone().multiplyScalar(c.force).add(new THREE.Vector3(...c.friction)).multiplyScalar(scale);
      if (!Number.isFinite(vector.lengthSq())) continue;
      if (shown.forces && vector.length() > 1e-4 * this.detail) {
        arrows.push({ from: at, vector: vector.clampLength(0, most), colour: c.unique === 2 ? NOT_UNIQUE : colour });
        if (c.unique === 2) {
          const high = Number.isFinite(c.largest) ? c.largest * scale : most;
          const low = c.least * scale;
          const bar = normal.clone().multiplyScalar(Math.max(Math.min(high, most) - low, 1e-6 * this.detail));
          bars.push({ from: at.clone().addScaledVector(normal, low), vector: bar, colour: NOT_UNIQUE });
        }
      }
      if (shown.cones && c.mu > 0) cones.push({ at, normal, mu: c.mu, colour });
      if (shown.forces) dots.push({ at, colour });
    }
    this.arrows.set(arrows);
    this.bars.set(bars);
    this.cones.set(cones);
    this.dots.set(dots);
    const reactions: Arrow[] = [];
    if (shown.joints) {
      this.motion.joints.forEach((joint, j) => {
        const body = joint.bodies[1];
        const pose = this.poses.subarray(7 * body, 7 * body + 7);
        const arm = rotate(pose, joint.frames[1]);
        const f = this.motion.jointForce(j, frame);
        const vector = new THREE.Vector3(f[0], f[1], f[2]).multiplyScalar(this.perJointNewton * shown.scale);
        if (vector.length() > 1e-4 * this.detail) {
          const from = new THREE.Vector3(pose[0], pose[1], pose[2]).sub(this.origin).add(new THREE.Vector3(...arm));
          reactions.push({ from, vector: vector.clampLength(0, most), colour: JOINT });
        }
      });
    }
    this.jointArrows.set(reactions);
  }

  private follow(): void {
    if (!this.following || this.selected < 0) {
      this.followed = null;
      return;
    }
    const o = 7 * this.selected;
    const now = new THREE.Vector3(this.poses[o], this.poses[o + 1], this.poses[o + 2]).sub(this.origin);
    const moved = now.clone().sub(this.followed ?? this.controls.target);
    this.camera.position.add(moved);
    this.controls.target.add(moved);
    this.followed = now;
    this.controls.update();
  }

  render(): void {
    const { camera, size } = this;
    const away = camera.position.distanceTo(this.controls.target);
    // Near enough for a body that is small beside the motion, far enough for all of it.
    camera.near = Math.min(0.005 * size, 0.05 * away);
    camera.far = 60 * size + away + this.centre.length();
    camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
  }

  private picking(): void {
    const ray = new THREE.Raycaster();
    let down: [number, number] | null = null;
    this.canvas.addEventListener('pointerdown', (e) => (down = [e.clientX, e.clientY]));
    this.canvas.addEventListener('pointerup', (e) => {
      if (!down || Math.hypot(e.clientX - down[0], e.clientY - down[1]) > 5) return;
      const box = this.canvas.getBoundingClientRect();
      const at = new THREE.Vector2(((e.clientX - box.left) / box.width) * 2 - 1, 1 - ((e.clientY - box.top) / box.height) * 2);
      ray.setFromCamera(at, this.camera);
      const hit = ray.intersectObjects(this.meshes.map((m) => m.mesh))[0];
      const found = hit && this.meshes.find((m) => m.mesh === hit.object);
      this.onPick(found && hit.instanceId !== undefined ? found.batch.items[hit.instanceId].body : -1);
    });
  }

  dispose(): void {
    this.controls.dispose();
    this.renderer.dispose();
    this.renderer.forceContextLoss();
    this.canvas.remove();
  }
}

/** A direction along an axis where it nearly is one. */
function snapped(v: THREE.Vector3): THREE.Vector3 {
  v.normalize();
  for (let k = 0; k < 3; k++) {
    if (Math.abs(v.getComponent(k)) > 0.75) {
      const out = new THREE.Vector3();
      return out.setComponent(k, Math.sign(v.getComponent(k)));
    }
  }
  return v;
}

/** A square with a line around it, to be repeated. */
function squares(): THREE.Texture {
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = 256;
  const c = canvas.getContext('2d');
  if (c) {
    c.fillStyle = '#ffffff';
    c.fillRect(0, 0, 256, 256);
    c.strokeStyle = '#b9c0ca';
    c.lineWidth = 5;
    c.strokeRect(0, 0, 256, 256);
  }
  const texture = new THREE.CanvasTexture(canvas);
  texture.wrapS = texture.wrapT = THREE.RepeatWrapping;
  texture.colorSpace = THREE.SRGBColorSpace;
  return texture;
}

/** 1, 2 or 5 times a power of ten, near a length. */
function nice(x: number): number {
  const power = 10 ** Math.floor(Math.log10(x));
  const rest = x / power;
  return power * (rest < 1.5 ? 1 : rest < 3.5 ? 2 : rest < 7.5 ? 5 : 10);
}
