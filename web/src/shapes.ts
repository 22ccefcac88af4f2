// Geometries of shapes, shared by all that look alike: one instanced mesh for all spheres of a scene.
import * as THREE from 'three';
import { compose, Motion, unpack, type Shape } from './data';

/** Shapes that share a geometry, and their places. */
export interface Batch {
  key: string;
  geometry: THREE.BufferGeometry;
  /** Body and place on it, with the scale. */
  items: { body: number; local: THREE.Matrix4 }[];
}

/** Two shades around the axis, so that rotation is seen. */
function shaded(geometry: THREE.BufferGeometry, pattern: (x: number, y: number, z: number) => boolean): THREE.BufferGeometry {
  const place = geometry.getAttribute('position');
  const colours = new Float32Array(3 * place.count);
  for (let i = 0; i < place.count; i++) {
    const shade = pattern(place.getX(i), place.getY(i), place.getZ(i)) ? 1 : 0.8;
    colours.fill(shade, 3 * i, 3 * i + 3);
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
  return geometry;
}

function sphere(fine: boolean): THREE.BufferGeometry {
  // Corners are not shared between faces of different shade.
  const geometry = new THREE.SphereGeometry(1, fine ? 32 : 14, fine ? 20 : 8).toNonIndexed();
  const place = geometry.getAttribute('position');
  const colours = new Float32Array(3 * place.count);
  for (let face = 0; face < place.count; face += 3) {
    let [x, y, z] = [0, 0, 0];
    for (let i = face; i < face + 3; i++) {
      x += place.getX(i);
      y += place.getY(i);
      z += place.getZ(i);
    }
    colours.fill(x * y * z > 0 ? 1 : 0.82, 3 * face, 3 * face + 9);
  }
  geometry.setAttribute('color', new THREE.BufferAttribute(colours, 3));
  return geometry;
}

/** Turns what three.js draws around y to z. */
function upright(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return shaded(geometry.rotateX(Math.PI / 2), () => true);
}

function build(shape: Shape, motion: Motion, fine: boolean): { key: string; scale: number[]; make: () => THREE.BufferGeometry } {
  const r = shape.radius ?? 1;
  const h = shape.half_height ?? 1;
  const around = fine ? 40 : 16;
  switch (shape.kind) {
    case 'sphere':
      return { key: 'sphere', scale: [r, r, r], make: () => sphere(fine) };
    case 'box':
      return { key: 'box', scale: shape.half ?? [1, 1, 1], make: () => shaded(new THREE.BoxGeometry(2, 2, 2), () => true) };
    case 'cylinder':
      return { key: 'cylinder', scale: [r, r, h], make: () => upright(new THREE.CylinderGeometry(1, 1, 2, around)) };
    case 'cone':
      return { key: 'cone', scale: [r, r, h], make: () => upright(new THREE.ConeGeometry(1, 2, around)) };
    case 'capsule':
      return {
        key: `capsule ${r} ${h}`, scale: [1, 1, 1],
        make: () => upright(new THREE.CapsuleGeometry(r, 2 * h, fine ? 10 : 4, around)),
      };
    default:
      return {
        key: `mesh ${shape.points?.at} ${shape.triangles?.at}`, scale: [1, 1, 1],
        make: () => {
          const geometry = new THREE.BufferGeometry();
          if (shape.points && shape.triangles) {
            geometry.setAttribute('position', new THREE.BufferAttribute(unpack(motion.blob, shape.points) as Float32Array, 3));
            geometry.setIndex(new THREE.BufferAttribute(unpack(motion.blob, shape.triangles) as Uint32Array, 1));
          }
          // Every face its own normal: edges stay edges.
          const flat = geometry.toNonIndexed();
          flat.computeVertexNormals();
          return shaded(flat, () => true);
        },
      };
  }
}

/** How far bodies reach: their radius, or where joints hold them. */
export function reach(motion: Motion): number {
  let far = 0;
  for (const { fixed, radius } of motion.bodies) if (!fixed && Number.isFinite(radius)) far = Math.max(far, radius);
  for (const { frames } of motion.joints) for (const f of frames) far = Math.max(far, Math.hypot(f[0], f[1], f[2]));
  return Number.isFinite(far) && far > 0 ? far : 1;
}

/** Balls on a body that cover what is drawn of it. */
export function outline(motion: Motion, body: number): { at: number[]; r: number }[] {
  const { fixed, radius, shapes } = motion.bodies[body];
  const out: { at: number[]; r: number }[] = [];
  for (const shape of shapes) {
    const on = (x: number, y: number, z: number, r: number) => out.push({ at: compose(shape.pose, [x, y, z, 0, 0, 0, 1]).slice(0, 3), r });
    const [r, h] = [shape.radius ?? 0, shape.half_height ?? 0];
    if (shape.kind === 'sphere') on(0, 0, 0, r);
    else if (shape.kind === 'box') {
      const [a, b, c] = shape.half ?? [0, 0, 0];
      for (let k = 0; k < 8; k++) on(k & 1 ? a : -a, k & 2 ? b : -b, k & 4 ? c : -c, 0);
    } else if (shape.kind === 'mesh') {
      const points = shape.points ? unpack(motion.blob, shape.points) : [];
      if (points.length > 600) out.push({ at: [0, 0, 0], r: radius });
      else for (let i = 0; i < points.length; i += 3) on(points[i], points[i + 1], points[i + 2], 0);
    } else if (shape.kind !== 'plane') [-h, h].forEach((z) => on(0, 0, z, r));
  }
  if (fixed) return out;
  const held = motion.joints.flatMap((j) => j.bodies.flatMap((x, side) => (x === body ? [{ at: j.frames[side].slice(0, 3), r: 0 }] : [])));
  // Rods begin at the centre of mass.
  return [...out, ...held, { at: [0, 0, 0], r: shapes.length ? 0 : ballRadius(motion) }];
}

/** Radius of the ball that stands for a body without a shape. */
function ballRadius(motion: Motion): number {
  return 0.12 * reach(motion);
}

function addBall(all: Map<string, Batch>, body: number, radius: number, fine: boolean): void {
  const batch = all.get('sphere') ?? { key: 'sphere', geometry: sphere(fine), items: [] };
  all.set('sphere', batch);
  batch.items.push({ body, local: matrix([0, 0, 0, 0, 0, 0, 1], [radius, radius, radius]) });
}

function addBone(all: Map<string, Batch>, body: number, to: number[], radius: number): void {
  const along = new THREE.Vector3(to[0], to[1], to[2]);
  const length = along.length();
  if (length < radius) return;
  let batch = all.get('bone');
  if (!batch) {
    batch = { key: 'bone', geometry: shaded(new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), () => true), items: [] };
    all.set('bone', batch);
  }
  const turn = new THREE.Quaternion().setFromUnitVectors(new THREE.Vector3(0, 1, 0), along.clone().normalize());
  batch.items.push({ body, local: new THREE.Matrix4().compose(new THREE.Vector3(), turn, new THREE.Vector3(radius, length, radius)) });
}

export function matrix(pose: ArrayLike<number>, scale: number[] = [1, 1, 1]): THREE.Matrix4 {
  return new THREE.Matrix4().compose(
    new THREE.Vector3(pose[0], pose[1], pose[2]),
    new THREE.Quaternion(pose[3], pose[4], pose[5], pose[6]).normalize(),
    new THREE.Vector3(scale[0], scale[1], scale[2]),
  );
}

/** Rods from the centre of mass to what a body is held by or stands on, where its shapes do not show how they hang together. */
function bones(motion: Motion, body: number): number[][] {
  const { shapes } = motion.bodies[body];
  if (motion.bodies[body].fixed) return [];
  const solid = shapes.filter((s) => s.kind !== 'plane');
  const joints = motion.joints.flatMap((joint) =>
    joint.bodies.flatMap((b, side) => (b === body && motion.bodies[joint.bodies[1 - side]] ? [joint.frames[side].slice(0, 3)] : [])));
  if (solid.length === 0) return joints;
  const [first] = solid;
  const size = first.half ? Math.hypot(...first.half) : Math.hypot(first.radius ?? Infinity, first.half_height ?? 0);
  const away = solid.length === 1 && Math.hypot(...first.pose.slice(0, 3)) > 1.5 * size;
  return solid.length > 1 || away ? [...solid.map((s) => s.pose.slice(0, 3)), ...joints] : joints.filter((p) => Math.hypot(...p) > 1.2 * motion.bodies[body].radius);
}

/** All shapes of a motion but planes. */
export function batches(motion: Motion): Batch[] {
  const all = new Map<string, Batch>();
  const count = motion.bodies.reduce((sum, body) => sum + body.shapes.length, 0);
  const bone = 0.018 * reach(motion);
  motion.bodies.forEach((body, index) => {
    for (const shape of body.shapes) {
      if (shape.kind === 'plane') continue;
      const { key, scale, make } = build(shape, motion, count < 400);
      let batch = all.get(key);
      if (!batch) {
        batch = { key, geometry: make(), items: [] };
        all.set(key, batch);
      }
      batch.items.push({ body: index, local: matrix(shape.pose, scale) });
    }
    const arms = count < 400 ? bones(motion, index) : [];
    for (const to of arms) addBone(all, index, to, bone);
    // What has neither a shape nor an arm would not be seen at all.
    const seen = body.fixed || body.shapes.length > 0 || arms.some((to) => Math.hypot(...to) >= bone);
    if (!seen) addBall(all, index, ballRadius(motion), count < 400);
  });
  return [...all.values()];
}
