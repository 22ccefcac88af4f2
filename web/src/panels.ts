// What is known of a motion at a frame, in words and tables.
import { MODE_COLOURS, NOT_UNIQUE } from './colours';
import { MODES, type Contact, type Motion, type MotionEvent } from './data';
import { el, facts, number, table, vector } from './dom';

/** Rows that a table shows. */
const ROWS = 60;

function dot(colour: string): HTMLElement {
  const out = el('span', { class: 'dot', 'aria-hidden': 'true' });
  out.style.background = colour;
  return out;
}

/** The interval of a normal force, or what is known instead. */
function uniqueness(c: Contact): string {
  if (c.unique === 1) return 'unique';
  // What rounding leaves of zero.
  const least = c.least < 1e-7 * c.largest ? 0 : c.least;
  if (c.unique === 2) return `${number(least)} to ${number(c.largest)} N`;
  return 'not decided';
}

export function contactsPanel(motion: Motion, frame: number): HTMLElement {
  if (!motion.hasContacts) {
    const modes = motion.series.filter((s) => s.group === 'modes');
    const rows = modes.map((s) => {
      const mode = s.values[frame];
      const force = motion.series.find((f) => f.name === `${s.name}.normal`)?.values[frame];
      return [s.name, el('span', {}, dot(MODE_COLOURS[mode] ?? MODE_COLOURS[0]), MODES[mode] ?? 'open'), force === undefined ? '' : number(force)];
    });
    return rows.length ? table(['contact', 'mode', 'normal, N'], rows, 'Contacts now') : el('p', { class: 'muted' }, 'No contacts.');
  }
  const contacts = motion.contactsAt(frame);
  const count = motion.contactCount(frame);
  if (count === 0 && contacts.length === 0) return el('p', { class: 'muted' }, 'No contact carries a force.');
  const sorted = [...contacts].sort((a, b) => b.force - a.force).slice(0, ROWS);
  const rows = sorted.map((c) => [
    c.name,
    el('span', {}, dot(c.unique === 2 ? NOT_UNIQUE : MODE_COLOURS[c.mode]), MODES[c.mode]),
    number(c.force), number(Math.hypot(...c.friction)), c.mode === 0 && c.unique !== 2 ? '' : uniqueness(c),
  ]);
  const out = el('div', {}, table(['contact', 'mode', 'normal N', 'friction N', 'normal between'], rows, 'Contacts now'));
  const kept = contacts.filter((c) => c.force > 0).length;
  if (kept < count) out.append(el('p', { class: 'muted' }, `The ${kept} strongest of ${count} contacts are in this file.`));
  if (rows.length < contacts.length) out.append(el('p', { class: 'muted' }, `… and ${contacts.length - rows.length} weaker ones.`));
  return out;
}

export function bodiesPanel(motion: Motion, frame: number, selected: number, select: (body: number) => void): HTMLElement {
  if (motion.bodies.length === 0) {
    const list = motion.series.filter((s) => s.group === 'positions' || s.group === 'velocities');
    return facts(list.map((s) => [s.name, number(s.values[frame])]));
  }
  const out = el('div', {});
  if (selected >= 0) {
    const at = motion.written(selected, frame);
    const v = motion.velocity(selected, frame);
    const list: [string, string][] = [
      ['mass', motion.bodies[selected].fixed ? 'fixed' : `${number(motion.bodies[selected].mass)} kg`],
      ['position, m', vector(at.slice(0, 3))],
      ['orientation w x y z', vector([at[6], at[3], at[4], at[5]])],
    ];
    if (v) list.push(['velocity, m/s', vector(v.slice(0, 3))], ['angular velocity, rad/s', vector(v.slice(3))]);
    out.append(el('h3', {}, motion.bodies[selected].name), facts(list));
  }
  const list = el('ul', { class: 'picks' });
  motion.bodies.slice(0, 200).forEach((body, b) => {
    list.append(el('li', {}, el('button', { type: 'button', 'aria-pressed': String(b === selected), onclick: () => select(b === selected ? -1 : b) }, body.name)));
  });
  out.append(list);
  if (motion.bodies.length > 200) out.append(el('p', { class: 'muted' }, `… and ${motion.bodies.length - 200} more; click one in the view.`));
  return out;
}

export function jointsPanel(motion: Motion, frame: number): HTMLElement {
  if (motion.joints.length === 0) {
    const forces = motion.series.filter((s) => s.group === 'joint forces, N');
    if (forces.length === 0) return el('p', { class: 'muted' }, 'No joints.');
    return table(['joint', 'force'], forces.map((s) => [s.name, number(s.values[frame])]), 'Forces of joints now');
  }
  const rows = motion.joints.slice(0, ROWS).map((joint, j) => {
    const f = motion.jointForce(j, frame);
    return [joint.name, f.length ? vector(f.slice(0, 3)) : '–', f.length ? vector(f.slice(3)) : '–'];
  });
  return table(['joint', 'force, N', 'moment, N m'], rows, 'Reactions of joints now');
}

export function eventsPanel(motion: Motion, seek: (t: number) => void): HTMLElement {
  if (motion.events.length === 0) return el('p', { class: 'muted' }, 'No events.');
  const list = el('ol', { class: 'events' });
  for (const event of motion.events.slice(0, 500)) {
    list.append(el('li', {}, el('button', { type: 'button', onclick: () => seek(event.t) },
      el('span', { class: 'time' }, `${number(event.t)} s`), ` ${eventWords(event)}`)));
  }
  const out = el('div', {}, list);
  if (motion.events.length > 500) out.append(el('p', { class: 'muted' }, `… and ${motion.events.length - 500} more.`));
  return out;
}

export function eventWords(event: MotionEvent): string {
  const speed = typeof event.speed === 'number' ? `, ${number(event.speed)} m/s` : '';
  const where = event.contact ? ` of ${event.contact}` : '';
  const answers = typeof event.answers === 'number' ? `, ${event.answers} answers` : '';
  return `${event.kind}${where}${speed}${answers}`;
}

function get(report: Record<string, unknown>, path: string): number | null {
  let at: unknown = report;
  for (const key of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[key];
  return typeof at === 'number' ? at : null;
}

/** The report of a run: how it ended, and what its worst numbers are. */
export function reportPanel(motion: Motion): HTMLElement {
  const r = motion.report;
  const list: [string, string][] = [];
  const add = (name: string, path: string, unit = '') => {
    const x = get(r, path);
    if (x !== null) list.push([name, `${number(x)}${unit}`]);
  };
  if (typeof r.ending === 'string') list.push(['ending', r.ending]);
  add('end', 't_end', ' s');
  add('steps', 'steps');
  add('worst residual', 'max_residual');
  add('worst overlap', 'max_penetration', ' m');
  add('worst joint opening', 'max_joint_error');
  add('steps not solved', 'unsolved_steps');
  add('steps with forces not unique', 'steps_with_non_unique_forces');
  add('steps with motion not unique', 'steps_with_non_unique_motion');
  add('degrees of freedom', 'degrees_of_freedom');
  add('redundant rows', 'redundant_rows');
  add('most contacts at once', 'max_contacts');
  add('energy at the start', 'energy.start', ' J');
  add('energy at the end', 'energy.end', ' J');
  add('… supplied', 'energy.supplied', ' J');
  add('… taken by friction', 'energy.dissipated.friction', ' J');
  add('… taken by impacts', 'energy.dissipated.impacts', ' J');
  add('… taken by dampers', 'energy.dissipated.dampers', ' J');
  add('… left over: error of the steps', 'energy.left_over', ' J');
  const out = el('div', {});
  for (const note of motion.notes) out.append(el('p', { class: 'note' }, note));
  out.append(facts(list));
  const states = [`${motion.frames} ${motion.frames === 1 ? 'frame' : 'frames'}`];
  if (motion.quantum > 0) states.push(`positions to ${number(0.5 * motion.quantum)} m, rotations to 8e−5 rad, forces to seven digits`);
  out.append(el('p', { class: 'muted' }, `In this file: ${states.join('; ')}.`));
  return out;
}
