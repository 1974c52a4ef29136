export interface Request {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
  /** What is encrypted in the body, for people who repeat the request. */
  readonly encrypted?: string
}

export interface HttpResponse {
  readonly request: Request
  readonly status: number
  /** Names in lower case; repeated fields joined by a comma, but for cookies. */
  readonly headers: Readonly<Record<string, string>>
  readonly cookies: readonly string[]
  readonly text: string
  /** The body as JSON; `undefined` when it is none. */
  readonly json: unknown
}
