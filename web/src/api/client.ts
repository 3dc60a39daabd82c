// A thin client of api/openapi.yaml: paths, parameters, bodies and answers are
// checked by the compiler, and a refusal is a Refused with its stable code.
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];
export type Problem = Schemas["Problem"];

// Refused is an answer that the API refused with (RFC 9457), or that never came:
// then status is 0 and the code is "no_answer".
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: Problem["code"] | "no_answer",
    title: string,
    readonly detail: string,
    readonly retryAfter: number | null, // seconds
    readonly more: Readonly<Record<string, unknown>>, // the problem's further members
  ) {
    super(title);
  }
}

type Verb = "get" | "put" | "post" | "delete";
type Paths<V extends Verb> = { [P in keyof paths]: paths[P] extends Record<V, object> ? P : never }[keyof paths];
type Operation<P extends keyof paths, V extends Verb> = Extract<paths[P][V & keyof paths[P]], object>;
type Member<T, K extends string> = T extends Partial<Record<K, infer X>> ? Exclude<X, undefined> : never;
type Parameters_<O> = Member<O, "parameters">;
type Answers<O> = Member<O, "responses">;
type Json<R> = R extends { content: { "application/json": infer B } } ? B : undefined;
type Good<O> = { [S in keyof Answers<O>]: S extends 200 | 201 | 202 | 204 | 304 ? Json<Answers<O>[S]> : never }[keyof Answers<O>];
type Sent<O> = O extends { requestBody?: infer R } ? Json<Exclude<R, undefined>> : undefined;

export interface Asking<P extends keyof paths, V extends Verb> {
  path?: Member<Parameters_<Operation<P, V>>, "path">;
  query?: Member<Parameters_<Operation<P, V>>, "query">;
  headers?: Record<string, string>;
  body?: Sent<Operation<P, V>>;
  signal?: AbortSignal;
}

// Answer is a body with what of the head matters.
export interface Answer<B> {
  status: number;
  etag: string | null;
  body: B;
}

export class Client {
  // bearer gives the key that a request is sent with; null: none. cache says what the
  // browser may keep: nothing, unless only what is everybody's is asked for.
  constructor(private readonly bearer: () => string | null = () => null, private readonly origin = "", private readonly cache: RequestCache = "no-store") {}

  // ask is one request. Whoever sends If-None-Match is answered 304, without a body,
  // while nothing is new.
  async ask<V extends Verb, P extends Paths<V>>(verb: V, path: P, with_: Asking<P, V> = {}): Promise<Answer<Good<Operation<P, V>>>> {
    const headers: Record<string, string> = { Accept: "application/json", ...with_.headers };
    const key = this.bearer();
    if (key) headers["Authorization"] = "Bearer " + key;
    if (with_.body !== undefined) headers["Content-Type"] = "application/json";
    let answer: Response;
    try {
      answer = await fetch(this.origin + addressOf(path as string, with_.path, with_.query), {
        method: verb.toUpperCase(), headers, signal: with_.signal ?? null, credentials: "omit", cache: this.cache,
        body: with_.body === undefined ? null : JSON.stringify(with_.body),
      });
    } catch (fault) {
      if (with_.signal?.aborted) throw fault;
      throw new Refused(0, "no_answer", "No answer", "The network or the server is away.", null, {});
    }
    if (!answer.ok && answer.status !== 304) throw await refusedBy(answer);
    const json = answer.headers.get("Content-Type")?.startsWith("application/json");
    const body = (json ? await answer.json() : undefined) as Good<Operation<P, V>>;
    return { status: answer.status, etag: answer.headers.get("ETag"), body };
  }
}

function addressOf(path: string, inPath: unknown, query: unknown): string {
  const values = (inPath ?? {}) as Record<string, string | number>;
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(values[name])));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries((query ?? {}) as Record<string, unknown>)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  const text = search.toString();
  return text ? filled + "?" + text : filled;
}

async function refusedBy(answer: Response): Promise<Refused> {
  const after = Number(answer.headers.get("Retry-After"));
  const retry = after > 0 ? after : null;
  try {
    const { type: _, title, status, code, detail, ...more } = (await answer.json()) as Problem & Record<string, unknown>;
    return new Refused(status, code, title, detail ?? "", retry, more);
  } catch {
    return new Refused(answer.status, "no_answer", "Not an answer of this API", `The answer was ${answer.status}.`, retry, {});
  }
}
