// Friction cones of contacts with the forces of all solutions in them, each in its own axes: normal up.
import * as THREE from 'three';
import { OrbitControls } from 'three/addons/controls/OrbitControls.js';
import type { ContactReport, Solution } from './analysis';
import { Arrows, type Arrow } from './arrows';
import { DARK, LIGHT, LINES } from './colours';
import { el } from './dom';

const SPACING = 3.2;

export class ConeScene {
  private readonly renderer = new THREE.WebGLRenderer({ antialias: true, preserveDrawingBuffer: true });
  private readonly scene = new THREE.Scene();
  private readonly camera = new THREE.PerspectiveCamera(32, 1, 0.1, 200);
  private readonly controls: OrbitControls;
  /** What is shown now. */
  private readonly content = new THREE.Group();
  private count = 0;
  private readonly labels: { at: THREE.Vector3; label: HTMLElement }[] = [];

  constructor(private readonly host: HTMLElement) {
    const canvas = this.renderer.domElement;
    canvas.setAttribute('role', 'img');
    host.replaceChildren(canvas);
    this.scene.add(this.content);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.addEventListener('change', () => this.draw());
    addEventListener('resize', () => this.draw());
  }

  /** Shows contacts and solutions in the place of those before; the camera stays where the number of contacts does. */
  show(contacts: ContactReport[], solutions: Solution[]): void {
    this.clear();
    this.renderer.domElement.setAttribute('aria-label', `Friction cones of ${contacts.map((c) => c.name).join(', ')} with the forces of ${solutions.length} solutions`);
    let largest = 0;
    for (const s of solutions) for (const f of Object.values(s.contacts)) largest = Math.max(largest, Math.hypot(f.normal, ...f.tangential));
    const arrows: Arrow[] = [];
    contacts.forEach((contact, k) => {
      const at = new THREE.Vector3(SPACING * k, 0, 0);
      this.addContact(contact, at);
      solutions.forEach((solution, i) => {
        const f = solution.contacts[contact.name];
        if (!f || largest === 0) return;
        const vector = new THREE.Vector3(f.tangential[0] ?? 0, f.tangential[1] ?? 0, f.normal).multiplyScalar(1.9 / largest);
        if (vector.length() > 1e-3) arrows.push({ from: at, vector, colour: LINES[(i + 2) % LINES.length] });
      });
    });
    new Arrows(this.content, 0.024).set(arrows);
    if (contacts.length !== this.count) this.home(contacts.length);
    this.count = contacts.length;
    this.draw();
  }

  private home(contacts: number): void {
    const middle = 0.5 * SPACING * (contacts - 1);
    this.controls.target.set(middle, 0, 0.75);
    // So far away that the first and the last are seen.
    const aspect = this.host.clientWidth / Math.max(this.host.clientHeight, 1) || 1;
    const away = Math.max(5 + 1.3 * contacts, (2 * middle + SPACING) / (2 * aspect * Math.tan((0.5 * this.camera.fov * Math.PI) / 180)) + 1.4);
    this.camera.position.set(middle + 0.25 * away, -away, 0.75 + 0.28 * away);
    this.controls.update();
  }

  private clear(): void {
    this.content.traverse((part) => {
      if (!(part instanceof THREE.Mesh)) return;
      if (part instanceof THREE.InstancedMesh) part.dispose();
      part.geometry.dispose();
      (part.material as THREE.Material).dispose();
    });
    this.content.clear();
    for (const { label } of this.labels.splice(0)) label.remove();
  }

  private addContact(contact: ContactReport, at: THREE.Vector3): void {
    const disc = new THREE.Mesh(new THREE.CircleGeometry(1.35, 60), new THREE.MeshBasicMaterial({ color: '#9aa3ae', transparent: true, opacity: 0.16, side: THREE.DoubleSide, depthWrite: false }));
    disc.position.copy(at);
    this.content.add(disc);
    const cone = (mu: number, colour: string, opacity: number, wire: boolean) => {
      // Of length 2 along its side, whatever its angle.
      const slope = Math.hypot(1, mu);
      const [height, radius] = [1.6 / slope, (1.6 * mu) / slope];
      const geometry = new THREE.ConeGeometry(radius, height, wire ? 24 : 60, 1, true).rotateX(-Math.PI / 2).translate(0, 0, 0.5 * height);
      const material = new THREE.MeshBasicMaterial({ color: colour, transparent: true, opacity, wireframe: wire, side: THREE.DoubleSide, depthWrite: false });
      const mesh = new THREE.Mesh(geometry, material);
      mesh.position.copy(at);
      this.content.add(mesh);
    };
    if (contact.mu > 0) cone(contact.mu, '#0072b2', 0.25, false);
    if (contact.mu_jam !== null && contact.mu_jam > 0) cone(contact.mu_jam, '#d55e00', 0.5, true);
    const slip = new THREE.Vector3(contact.slip_velocity[0] ?? 0, contact.slip_velocity[1] ?? 0, 0);
    if (slip.length() > 0) new Arrows(this.content, 0.016).set([{ from: at, vector: slip.normalize().multiplyScalar(1.2), colour: '#8a8f98' }]);
    const label = el('span', { class: 'cone-label' }, contact.jams ? `${contact.name}: jams` : contact.name);
    this.host.append(label);
    this.labels.push({ at: at.clone().add(new THREE.Vector3(0, 0, -0.25)), label });
  }

  setTheme(dark: boolean): void {
    this.scene.background = new THREE.Color((dark ? DARK : LIGHT).paper);
    this.draw();
  }

  draw(): void {
    const [width, height] = [this.host.clientWidth, this.host.clientHeight];
    if (width < 2 || height < 2) return;
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, 2));
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    this.renderer.render(this.scene, this.camera);
    // Names that would lie over each other stand in rows below each other.
    const places = this.labels.map(({ at, label }) => {
      const seen = at.clone().project(this.camera);
      return { label, x: (0.5 + 0.5 * seen.x) * width, y: (0.5 - 0.5 * seen.y) * height, wide: label.offsetWidth + 6 };
    });
    const ends: number[] = [];
    for (const { label, x, y, wide } of places.sort((a, b) => a.x - b.x)) {
      let row = ends.findIndex((end) => end <= x - 0.5 * wide);
      if (row < 0) row = ends.length;
      ends[row] = x + 0.5 * wide;
      label.style.left = `${x}px`;
      label.style.top = `${y + 15 * row}px`;
    }
  }
}
