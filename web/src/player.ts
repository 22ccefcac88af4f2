// Time: playing, speed, steps.
import { frameAt } from './data';

export class Player {
  t = 0;
  speed = 1;
  playing = false;
  onChange: () => void = () => {};
  private last = 0;

  constructor(public times: Float64Array) {
    this.t = this.start;
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

  /** Goes frames forth or back. */
  step(count: number): void {
    this.playing = false;
    const to = Math.min(Math.max(this.frame + count, 0), this.times.length - 1);
    this.seek(this.times[to] ?? 0);
  }

  faster(factor: number): void {
    this.speed = Math.min(Math.max(this.speed * factor, 1 / 1024), 64);
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
