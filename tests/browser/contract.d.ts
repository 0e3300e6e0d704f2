// Types of the page in crates/eigenspace-cli/src/explore/page, for `tsc`; nothing here is served.

type Child = Node | string | number | null | undefined | (Node | string | number | null | undefined)[];
type Box = [number, number, number, number];
type Scale = ((x: number) => number) & { low: number; high: number; back(y: number): number; ticks(n?: number): number[] };

interface ImageSize { width: number; height: number; channels: number }
interface Trouble { error: string; hint: string | null }
interface Certificate { exact: boolean; text: string; captured: [number, number]; angle_bound: number | null; confidence: number | null }
interface Model {
  id: number; name: string; revision: number; rows: number; features: number; rank: number; n_components: number; axes?: number; standardize: boolean;
  image: ImageSize | null; certificate: Certificate; origin: string; weight: number; names: boolean; parents: number[]; saved: string | null;
}
interface Data {
  name: string; rows: number; features: number; labels: string[] | null; columns: string[] | null; row_names: boolean; image: ImageSize | null;
  state: "reading" | "fitting" | "ready" | "failed"; done: number; total: number | null; error: Trouble | null;
}
interface Recognizer {
  model: number; people: string[]; images: number; image: ImageSize; unknown: number | null; not_a_face: number | null; metric: string; classifier: string; changed: boolean; ready: boolean; revision: number;
}
interface Watch { source: string; first: number; rows: number; state: "waiting" | "reading" | "ended" | "failed"; error: Trouble | null }
interface Session {
  version: string; command: string; state: string | null; write: boolean; threads: number; models: Model[];
  data: Data | null; recognizer: Recognizer | null; watch: Watch | null;
}
interface Spectrum {
  revision: number; total_variance: number; n_components: number; noise_variance: number; summary: string;
  components: { explained_variance: [number, number, number]; explained_variance_ratio: number; cumulative: [number, number, number]; angle_bound: number }[];
}
interface Chunk { n: number; d: number; revision: number; first: number; total: number; values: Float32Array; ids: Uint32Array; classes: Uint16Array | null }
interface Neighbor { row: number; name: string | null; label: string | null; distance: number }
interface Row {
  revision: number; row: number; name: string | null; label: string | null; values: number[] | null; scores: number[]; t2: number; q: number;
  t2_limit: number | null; q_limit: number | null; cos2: number[]; n_components: number; nearest: Neighbor[]; nearest_k: number;
}
interface Rebuilt { revision: number; n_components: number; q: number; psnr: number | null; values: number[] | null; residual: number[] | null }
interface Contribution { feature: number; name: string | null; t2: number; q: number; value: number; mean: number }
interface Contributions { revision: number; n_components: number; t2: number; q: number; features: Contribution[]; rest: { t2: number; q: number } }
interface Feature { feature: number; name: string | null; mean: number; deviation: number; loadings: number[]; correlations: number[]; cos2: number; contribution: number }
interface Monitored {
  revision: number; n_components: number; t2_limit: number | null; q_limit: number | null; first: number; total: number; t2: number[]; q: number[];
  beyond_t2: number; beyond_q: number; confidence: number; stride: number; rows: number[] | null;
}
interface Recognized {
  verdict: "known" | "unknown" | "not a face"; person: string | null; distance: number; face_distance: number; unknown: number | null; not_a_face: number | null;
  candidates: { person: string; score: number; distance: number }[];
  matches: { person: string; distance: number; image: number | null; name: string | null }[];
}

/** Points as they arrive; `places` has room for all of them, `n` are there. */
interface Cloud { n: number; total: number; d: number; revision: number; places: Float32Array; ids: Uint32Array; classes: Uint16Array | null; low: number[]; high: number[] }
/** How points look: palette of four bytes each, values that choose a color (else the class does), marks of selected points. */
interface Look { palette: Uint8Array<ArrayBuffer>; values: Float32Array<ArrayBuffer> | null; low: number; high: number; marks: Uint8Array<ArrayBuffer> | null; radius: number; alpha: number }
interface Renderer {
  readonly name: string; readonly drawn: number; readonly lost: boolean;
  setCloud(cloud: Cloud): void; grow(): void; setLook(look: Look): void; draw(camera: Float32Array<ArrayBuffer>, moving: boolean): void; destroy(): void;
}

interface State {
  view: string; m: number; axes: number[]; color: string; k: number; row: number; c: number; t: number; at: number[]; hide: number[]; arrows: number; log: boolean;
}
/** Rows that were selected: one byte for each row of the data. */
interface Selected { marks: Uint8Array; count: number }
/** Readings of watched rows, the last few thousand. */
interface Live { rows: number[]; t2: number[]; q: number[]; angles: (number | null)[]; t2_limit: number | null; q_limit: number | null; total: number; model: number }
interface App {
  session: Session; state: State; selection: Selected | null; live: Live | null; stream: string;
  /** Whether the Monitor shows rows that arrive, if there are any, rather than the data. */
  watching: boolean;
  model(): Model | null; k(): number;
  /** What T² and Q are measured with: the model that is chosen, but for rows that arrive the reference with its own k. */
  measure(): { model: Model | null; k: number; live: Live | null }; set(patch: Partial<State>, push?: boolean): void; select(selection: Selected | null): void;
  status(text: string): void; say(text: string, kind?: string): void; refresh(): Promise<void>;
}
interface View {
  el: HTMLElement; update(changed: Set<string>): void; destroy?(): void; key?(event: KeyboardEvent): boolean;
  /** Kinds of `eigenspace plot` that show the same, and their query. */
  plots?(): { kind: string; query: Record<string, any> }[];
}
