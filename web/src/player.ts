// Time: playing, speed, steps.
import { frameAt } from './data';

export class Player {
  t = 0;
  /** Seconds of the motion in one: as it is, or what lasts some seconds where that would be over at once, or without end. */
  speed = 1;
  private readonly usual: number;
  playing = false;
  onChange: () => void = () => {};
  private last = 0;

  constructor(public times: Float64Array) {
    this.t = this.start;
    const length = this.end - this.start;
    this.usual = length > 0 && (length < 0.05 || length > 1000) ? 2 ** Math.round(Math.log2(length / 8)) : 1;
    this.speed = this.usual;
  }

  get start(): number {
    return this.times.length ? this.times[0] : 0;
  }

  get end(): number {
    return this.times.length ? this.times[this.times.length - 1] : 0;
  }

  /** The frame at or before now. */
  get frame(): number {
    return frameAt(this.times, this.t);
  }

  toggle(): void {
    this.playing = !this.playing && this.times.length > 1;
    if (this.playing && this.t >= this.end) this.t = this.start;
    this.last = 0;
    this.onChange();
  }

  seek(t: number): void {
    this.t = Math.min(Math.max(t, this.start), this.end);
    this.onChange();
  }

  /** Goes on over more times; whoever stood at the end stands at the new one. */
  extend(times: Float64Array): void {
    const atEnd = !this.playing && this.t >= this.end;
    this.times = times;
    this.seek(atEnd ? this.end : this.t);
  }

  /** How far along the frames a time lies, from 0 to 1. */
  along(t: number): number {
    const { times } = this;
    const frame = frameAt(times, t);
    const [a, b] = [times[frame], times[frame + 1] ?? Infinity];
    return times.length > 1 ? (frame + Math.min(Math.max((t - a) / (b - a), 0), 1)) / (times.length - 1) : 0;
  }

  /** Goes frames forth or back. */
  step(count: number): void {
    this.playing = false;
    const to = Math.min(Math.max(this.frame + count, 0), this.times.length - 1);
    this.seek(this.times[to] ?? 0);
  }

  faster(factor: number): void {
    this.speed = Math.min(Math.max(this.speed * factor, this.usual / 1024), 64 * this.usual);
    this.onChange();
  }

  /** Lets time pass; whether something changed. */
  tick(now: number): boolean {
    if (!this.playing) return false;
    const passed = this.last ? Math.min((now - this.last) / 1000, 0.25) : 0;
    this.last = now;
    this.t += passed * this.speed;
    if (this.t >= this.end) {
      this.t = this.end;
      this.playing = false;
    }
    this.onChange();
    return true;
  }
}
