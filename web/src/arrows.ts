// Forces as arrows, drawn as two instanced meshes; intervals of forces as bars beside them.
import * as THREE from 'three';

const UP = new THREE.Vector3(0, 1, 0);

/** An arrow: where it begins, where it points to, its colour. */
export interface Arrow { from: THREE.Vector3; vector: THREE.Vector3; colour: string }

/** Rods of one thickness between points. */
class Rods {
  mesh: THREE.InstancedMesh | null = null;

  constructor(
    private readonly scene: THREE.Object3D,
    private readonly geometry: THREE.BufferGeometry,
    private readonly material: THREE.Material,
  ) {}

  /** Room for so many. */
  private reserve(count: number): THREE.InstancedMesh {
    const had = this.mesh?.instanceMatrix.count ?? 0;
    if (this.mesh && had >= count) return this.mesh;
    if (this.mesh) {
      this.scene.remove(this.mesh);
      this.mesh.dispose();
    }
    this.mesh = new THREE.InstancedMesh(this.geometry, this.material, Math.max(16, 2 * count));
    this.mesh.frustumCulled = false;
    this.mesh.setColorAt(0, new THREE.Color());
    this.scene.add(this.mesh);
    return this.mesh;
  }

  set(count: number, place: (i: number, out: THREE.Matrix4, colour: THREE.Color) => void): void {
    const mesh = this.reserve(count);
    const [matrix, colour] = [new THREE.Matrix4(), new THREE.Color()];
    for (let i = 0; i < count; i++) {
      place(i, matrix, colour);
      mesh.setMatrixAt(i, matrix);
      mesh.setColorAt(i, colour);
    }
    mesh.count = count;
    mesh.instanceMatrix.needsUpdate = true;
    if (mesh.instanceColor) mesh.instanceColor.needsUpdate = true;
  }
}

export class Arrows {
  private readonly shafts: Rods;
  private readonly heads: Rods;

  constructor(scene: THREE.Object3D, private readonly thickness: number) {
    const material = new THREE.MeshBasicMaterial();
    this.shafts = new Rods(scene, new THREE.CylinderGeometry(1, 1, 1, 10).translate(0, 0.5, 0), material);
    this.heads = new Rods(scene, new THREE.ConeGeometry(1, 1, 14).translate(0, 0.5, 0), material);
  }

  set(arrows: Arrow[]): void {
    const r = this.thickness;
    const turn = new THREE.Quaternion();
    const [at, size, direction] = [new THREE.Vector3(), new THREE.Vector3(), new THREE.Vector3()];
    const parts = arrows.map(({ vector }) => {
      const length = vector.length();
      const head = Math.min(6 * r, 0.5 * length);
      return { length, head, wide: r * Math.min(1, length / (8 * r)) };
    });
    this.shafts.set(arrows.length, (i, out, colour) => {
      const { from, vector, colour: name } = arrows[i];
      const { length, head, wide } = parts[i];
      turn.setFromUnitVectors(UP, direction.copy(vector).normalize());
      out.compose(from, turn, size.set(wide, length - head, wide));
      colour.set(name);
    });
    this.heads.set(arrows.length, (i, out, colour) => {
      const { from, vector, colour: name } = arrows[i];
      const { length, head, wide } = parts[i];
      direction.copy(vector).normalize();
      turn.setFromUnitVectors(UP, direction);
      at.copy(from).addScaledVector(direction, length - head);
      out.compose(at, turn, size.set(2.6 * wide, head, 2.6 * wide));
      colour.set(name);
    });
  }
}

/** Translucent bars along directions: intervals of forces. */
export class Bars {
  private readonly rods: Rods;

  constructor(scene: THREE.Scene, private readonly thickness: number) {
    const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.35, depthWrite: false });
    this.rods = new Rods(scene, new THREE.CylinderGeometry(1, 1, 1, 12).translate(0, 0.5, 0), material);
  }

  set(bars: Arrow[]): void {
    const [turn, direction, size] = [new THREE.Quaternion(), new THREE.Vector3(), new THREE.Vector3()];
    this.rods.set(bars.length, (i, out, colour) => {
      const { from, vector, colour: name } = bars[i];
      turn.setFromUnitVectors(UP, direction.copy(vector).normalize());
      out.compose(from, turn, size.set(this.thickness, vector.length(), this.thickness));
      colour.set(name);
    });
  }
}

/** Friction cones: apex at the contact, opening along the normal. */
export class Cones {
  private readonly rods: Rods;

  constructor(scene: THREE.Scene, private readonly height: number) {
    const material = new THREE.MeshBasicMaterial({ transparent: true, opacity: 0.18, depthWrite: false, side: THREE.DoubleSide });
    // The apex of this cone is at the origin and its base at y = 1.
    const geometry = new THREE.ConeGeometry(1, 1, 36, 1, true).rotateX(Math.PI).translate(0, 0.5, 0);
    this.rods = new Rods(scene, geometry, material);
  }

  set(cones: { at: THREE.Vector3; normal: THREE.Vector3; mu: number; colour: string }[]): void {
    const [turn, size] = [new THREE.Quaternion(), new THREE.Vector3()];
    this.rods.set(cones.length, (i, out, colour) => {
      const { at, normal, mu, colour: name } = cones[i];
      turn.setFromUnitVectors(UP, normal);
      const slope = Math.hypot(1, mu);
      out.compose(at, turn, size.set((mu * this.height) / slope, this.height / slope, (mu * this.height) / slope));
      colour.set(name);
    });
  }
}

/** Points of contacts. */
export class Dots {
  private readonly rods: Rods;

  constructor(scene: THREE.Scene, private readonly radius: number) {
    const material = new THREE.MeshBasicMaterial({ depthTest: false, transparent: true });
    this.rods = new Rods(scene, new THREE.SphereGeometry(1, 10, 8), material);
  }

  set(points: { at: THREE.Vector3; colour: string }[]): void {
    const [turn, size] = [new THREE.Quaternion(), new THREE.Vector3().setScalar(this.radius)];
    this.rods.set(points.length, (i, out, colour) => {
      out.compose(points[i].at, turn, size);
      colour.set(points[i].colour);
    });
  }
}
