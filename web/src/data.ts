// What the program writes into a page, and how it is read: arrays of planes of bytes, compressed.

export interface ArrayRef { type: 'f64' | 'f32' | 'u32' | 'u16' | 'u8'; at: number; length: number }

export interface Shape {
  kind: 'plane' | 'sphere' | 'box' | 'capsule' | 'cylinder' | 'cone' | 'mesh';
  pose: number[];
  radius?: number;
  half_height?: number;
  half?: number[];
  points?: ArrayRef;
  triangles?: ArrayRef;
}

export interface Body {
  name: string;
  fixed: boolean;
  mass: number;
  radius: number;
  frame: number[];
  pose?: number[];
  shapes: Shape[];
}

export interface Joint { name: string; bodies: [number, number]; frames: [number[], number[]] }

export interface MotionEvent { t: number; kind: string; contact: string; point?: number[]; [key: string]: unknown }

export interface Series { name: string; group: string; values: Float64Array }

/** A contact of a frame. */
export interface Contact {
  a: number; b: number; name: string;
  point: [number, number, number];
  normal: [number, number, number];
  force: number;
  friction: [number, number, number];
  mu: number;
  mode: number;
  unique: number;
  least: number;
  largest: number;
}

interface RawMotion {
  name: string;
  time: ArrayRef;
  series: { name: string; group: string; values: ArrayRef }[];
  events: MotionEvent[];
  notes: string[];
  failure: string | null;
  running: boolean;
  report: Record<string, unknown> | null;
  bodies?: Body[];
  gravity?: number[];
  plane?: number | null;
  quantum?: number;
  /** Where positions are counted from. */
  centre?: number[];
  positions?: ArrayRef;
  /** The upper halves of their differences, where some do not fit into the lower ones. */
  positions_high?: ArrayRef;
  left_out?: ArrayRef;
  rotations?: ArrayRef;
  velocities?: ArrayRef;
  joints?: Joint[];
  joint_forces?: ArrayRef;
  contacts?: Record<string, ArrayRef>;
}

/** The document of a page; what is not a motion is shown by the part that knows its key. */
export interface Page {
  title: string;
  version: string;
  motions: Motion[];
  /** All arrays, decompressed. */
  blob: Uint8Array;
  [key: string]: unknown;
}

export const MODES = ['open', 'stick', 'slide'] as const;

type Numbers = Float64Array | Float32Array | Uint32Array | Uint16Array | Uint8Array;

const SIZE = { f64: 8, f32: 4, u32: 4, u16: 2, u8: 1 } as const;

/** Puts the planes of bytes of an array together again. */
export function unpack(blob: Uint8Array, ref: ArrayRef): Numbers {
  const size = SIZE[ref.type];
  const { at, length } = ref;
  if (at + size * length > blob.length) throw new Error('an array of its data ends early.');
  if (size === 1) return blob.slice(at, at + length);
  const bytes = new Uint8Array(length * size);
  for (let k = 0; k < size; k++) {
    const from = at + k * length;
    for (let i = 0, to = k; i < length; i++, to += size) bytes[to] = blob[from + i];
  }
  switch (ref.type) {
    case 'f64': return new Float64Array(bytes.buffer);
    case 'f32': return new Float32Array(bytes.buffer);
    case 'u32': return new Uint32Array(bytes.buffer);
    default: return new Uint16Array(bytes.buffer);
  }
}

/** A motion, with its frames by number. */
export class Motion {
  readonly name: string;
  readonly time: Float64Array;
  readonly series: Series[];
  readonly events: MotionEvent[];
  readonly notes: string[];
  readonly failure: string | null;
  readonly running: boolean;
  readonly report: Record<string, unknown>;
  readonly bodies: Body[];
  readonly gravity: number[];
  readonly plane: number | null;
  readonly quantum: number;
  readonly centre: number[];
  readonly joints: Joint[];
  readonly frames: number;
  /** Place of a body among those that move, or -1. */
  readonly slot: Int32Array;
  private readonly positions: Float64Array;
  private readonly leftOut: Uint8Array;
  private readonly rotations: Int16Array;
  readonly velocities: Float32Array | null;
  private readonly jointForces: Float32Array;
  private readonly contacts: Record<string, Numbers> | null;

  constructor(raw: RawMotion, readonly blob: Uint8Array) {
    const get = (ref: ArrayRef) => unpack(blob, ref);
    this.name = raw.name;
    this.time = get(raw.time) as Float64Array;
    this.frames = this.time.length;
    if (this.time.some((t, i) => !Number.isFinite(t) || t < this.time[i - 1])) throw new Error('its times are not numbers in increasing order.');
    this.series = raw.series.map((s) => ({ ...s, values: get(s.values) as Float64Array }));
    this.events = raw.events;
    this.notes = raw.notes;
    this.failure = raw.failure;
    this.running = raw.running;
    this.report = raw.report ?? {};
    this.bodies = raw.bodies ?? [];
    this.gravity = raw.gravity ?? [0, 0, -9.81];
    this.plane = raw.plane ?? null;
    this.quantum = raw.quantum ?? 0;
    this.centre = raw.centre ?? [0, 0, 0];
    this.joints = raw.joints ?? [];
    let moving = 0;
    this.slot = Int32Array.from(this.bodies, (b) => (b.fixed ? -1 : moving++));
    const high = raw.positions_high ? (get(raw.positions_high) as Uint32Array) : null;
    this.positions = raw.positions ? places(get(raw.positions) as Uint32Array, high, this.frames, this.quantum, this.centre) : new Float64Array();
    this.leftOut = raw.left_out ? (get(raw.left_out) as Uint8Array) : new Uint8Array();
    this.rotations = raw.rotations ? sums16(get(raw.rotations) as Uint16Array, this.frames) : new Int16Array();
    this.velocities = raw.velocities ? (get(raw.velocities) as Float32Array) : null;
    this.jointForces = raw.joint_forces ? (get(raw.joint_forces) as Float32Array) : new Float32Array();
    this.contacts = raw.contacts
      ? Object.fromEntries(Object.entries(raw.contacts).map(([key, ref]) => [key, get(ref)]))
      : null;
  }

  get moving(): number {
    return this.frames ? this.positions.length / (3 * this.frames) : 0;
  }

  /** Centre of mass and quaternion x y z w of a body in a frame. */
  pose(body: number, frame: number, out: Float64Array = new Float64Array(7)): Float64Array {
    const slot = this.slot[body];
    if (slot < 0) {
      out.set(this.bodies[body].pose ?? [0, 0, 0, 0, 0, 0, 1]);
      return out;
    }
    const n = this.frames;
    const at = 3 * slot * n + frame;
    out[0] = this.positions[at];
    out[1] = this.positions[at + n];
    out[2] = this.positions[at + 2 * n];
    const left = this.leftOut[slot * n + frame];
    let rest = 1;
    for (let k = 0, c = 0; c < 4; c++) {
      if (c === left) continue;
      const x = this.rotations[at + k++ * n] / (32767 * Math.SQRT2);
      out[3 + c] = x;
      rest -= x * x;
    }
    out[3 + left] = Math.sqrt(Math.max(rest, 0));
    return out;
  }

  /** Where the file wrote the body: position and quaternion x y z w. */
  written(body: number, frame: number): number[] {
    return compose(Array.from(this.pose(body, frame)), this.bodies[body].frame);
  }

  velocity(body: number, frame: number): number[] | null {
    const slot = this.slot[body];
    if (!this.velocities) return null;
    if (slot < 0) return [0, 0, 0, 0, 0, 0];
    const at = 6 * (frame * this.moving + slot);
    return Array.from(this.velocities.subarray(at, at + 6));
  }

  /** Force and moment of a joint on its second body. */
  jointForce(joint: number, frame: number): number[] {
    const at = 6 * (frame * this.joints.length + joint);
    return Array.from(this.jointForces.subarray(at, at + 6));
  }

  get hasContacts(): boolean {
    return this.contacts !== null;
  }

  /** How many contacts carried a force in a frame, also those that are not kept. */
  contactCount(frame: number): number {
    return this.contacts ? this.contacts.counts[frame] : 0;
  }

  contactsAt(frame: number): Contact[] {
    const c = this.contacts;
    if (!c || this.frames === 0) return [];
    const out: Contact[] = [];
    // Quanta in 32 bits, or doubles where these do not reach.
    const place = (list: Numbers, i: number, axis: number) => (list instanceof Float64Array ? list[i] : (list[i] | 0) * this.quantum) + this.centre[axis];
    const part = (x: number) => ((x << 16) >> 16) / 32767;
    for (let i = c.ends[frame]; i < c.ends[frame + 1]; i++) {
      const [a, b] = [c.a[i], c.b[i]];
      const number = c.number[i] ? `#${c.number[i]}` : '';
      out.push({
        a, b,
        name: `${this.bodies[a].name}|${this.bodies[b].name}${number}`,
        point: [place(c.x, i, 0), place(c.y, i, 1), place(c.z, i, 2)],
        normal: [part(c.nx[i]), part(c.ny[i]), part(c.nz[i])],
        force: c.force[i],
        friction: [c.fx[i], c.fy[i], c.fz[i]],
        mu: c.mu[i],
        mode: c.mode[i],
        unique: c.unique[i],
        least: c.least[i],
        largest: c.largest[i],
      });
    }
    return out;
  }

  /** Normal forces, sorted, of all contacts of all frames. */
  sortedForces(): Float32Array {
    const all = this.contacts?.force as Float32Array | undefined;
    return all ? Float32Array.from(all).sort() : new Float32Array();
  }

  /** The last frame at or before a time. */
  frameAt(t: number): number {
    return frameAt(this.time, t);
  }
}

/** The last of increasing times at or before one, but for rounding. */
export function frameAt(times: ArrayLike<number>, t: number): number {
  let [low, high] = [0, times.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (times[middle] <= t + 1e-12 * Math.abs(t)) low = middle;
    else high = middle - 1;
  }
  return Math.max(low, 0);
}

/** Sums of zigzag differences, one row of frames after the other, as places along the axes in turn. Whole numbers below 2⁵³ are exact. */
function places(low: Uint32Array, high: Uint32Array | null, frames: number, quantum: number, centre: number[]): Float64Array {
  const out = new Float64Array(low.length);
  for (let at = 0, row = 0; at < low.length; at += frames, row++) {
    let sum = 0;
    for (let i = at; i < at + frames; i++) {
      const z = high ? high[i] * 2 ** 32 + low[i] : low[i];
      sum += z % 2 ? -(z + 1) / 2 : z / 2;
      out[i] = centre[row % 3] + sum * quantum;
    }
  }
  return out;
}

function sums16(coded: Uint16Array, frames: number): Int16Array {
  const out = new Int16Array(coded.length);
  for (let at = 0; at < coded.length; at += frames) {
    let sum = 0;
    for (let i = at; i < at + frames; i++) {
      const z = coded[i];
      sum += (z >>> 1) ^ -(z & 1);
      out[i] = sum;
      sum = out[i];
    }
  }
  return out;
}

/** The pose that first applies the inner one: position and quaternion x y z w. */
export function compose(outer: number[], inner: number[]): number[] {
  const [qx, qy, qz, qw] = outer.slice(3);
  const [ix, iy, iz, iw] = inner.slice(3);
  const p = rotate(outer, [inner[0], inner[1], inner[2]]);
  return [
    outer[0] + p[0], outer[1] + p[1], outer[2] + p[2],
    qw * ix + qx * iw + qy * iz - qz * iy,
    qw * iy - qx * iz + qy * iw + qz * ix,
    qw * iz + qx * iy - qy * ix + qz * iw,
    qw * iw - qx * ix - qy * iy - qz * iz,
  ];
}

/** A direction of a frame, seen from outside. */
export function rotate(pose: ArrayLike<number>, [x, y, z]: number[]): [number, number, number] {
  const [qx, qy, qz, qw] = [pose[3], pose[4], pose[5], pose[6]];
  const [tx, ty, tz] = [2 * (qy * z - qz * y), 2 * (qz * x - qx * z), 2 * (qx * y - qy * x)];
  return [
    x + qw * tx + qy * tz - qz * ty,
    y + qw * ty + qz * tx - qx * tz,
    z + qw * tz + qx * ty - qy * tx,
  ];
}

async function inflate(base64: string): Promise<Uint8Array> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads a page out of its document and its arrays, both as text. */
export async function readPage(text: string, packed: string): Promise<Page> {
  const raw = JSON.parse(text) as { title: string; version: string; motions: RawMotion[] };
  if (!Array.isArray(raw?.motions)) throw new Error('its data are not those of a page.');
  const blob = packed ? await inflate(packed) : new Uint8Array();
  return { ...raw, blob, motions: raw.motions.map((m) => new Motion(m, blob)) };
}

/** Reads the page out of a file that was opened, or fetched. */
export async function load(root: Document): Promise<Page> {
  const text = root.getElementById('delassus-document')?.textContent;
  if (!text) throw new Error('The page has no data: it was cut off, or it is the viewer alone.');
  return readPage(text, root.getElementById('delassus-arrays')?.textContent?.trim() ?? '');
}
