// The engine in the browser: requests and responses through its memory.

interface Exports extends WebAssembly.Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  answer(): number;
  response(): number;
}

export interface EngineError { message: string; line?: number | null; column?: number | null; rendered?: string }

export interface Answer {
  error?: EngineError;
  /** Ended from outside, before there was an answer. */
  stopped?: boolean;
  analysis?: unknown;
  text?: string;
  parameters?: Record<string, number>;
  /** Whether the scene has bodies that move. */
  moves?: boolean;
  document?: unknown;
  arrays?: string;
}

/** What libraries ask of a browser: its clock. Objects are numbers to them; there is one, the page itself. */
function clock(module: WebAssembly.Module): WebAssembly.Imports {
  const known: [string, (...args: number[]) => number | void][] = [
    ['__wbg_static_accessor_', () => 1],
    ['__wbg_performance_', () => 1],
    ['__wbg_now_', () => performance.now()],
    ['__wbg___wbindgen_is_undefined_', () => 0],
    ['__wbindgen_object_clone_ref', (object) => object],
    ['__wbindgen_object_drop_ref', () => {}],
    // Objects below this number are never given back.
    ['__wbindgen_externref_statics_end', () => 1024],
  ];
  const imports: WebAssembly.Imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    const found = known.find(([prefix]) => name.startsWith(prefix));
    (imports[from] ??= {})[name] = found ? found[1] : () => {
      throw new Error(`${name} is not there`);
    };
  }
  return imports;
}

export class Engine {
  private exports: Exports | null = null;

  private constructor(private readonly module: WebAssembly.Module) {}

  static async from(bytes: Uint8Array): Promise<Engine> {
    const engine = new Engine(await WebAssembly.compile(bytes as BufferSource));
    await engine.restart();
    return engine;
  }

  private async restart(): Promise<void> {
    const instance = await WebAssembly.instantiate(this.module, clock(this.module));
    this.exports = instance.exports as Exports;
  }

  /** Asks; where the engine breaks it says so and starts anew. */
  async ask(request: Record<string, unknown>): Promise<Answer> {
    if (!this.exports) await this.restart();
    const engine = this.exports as Exports;
    try {
      const bytes = new TextEncoder().encode(JSON.stringify(request));
      // Memory may grow and move while room is made.
      const at = engine.reserve(bytes.length);
      new Uint8Array(engine.memory.buffer, at, bytes.length).set(bytes);
      const length = engine.answer();
      const from = engine.response();
      const text = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, from, length));
      return JSON.parse(text) as Answer;
    } catch (error) {
      this.exports = null;
      return { error: { message: `The engine stopped: ${error instanceof Error ? error.message : String(error)}. It has been started anew.` } };
    }
  }
}
