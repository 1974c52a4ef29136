import { ensure, type HttpResponse, type World } from './world.ts'

/** Objects that calls are about: what is checked after them. */
export class Touched {
  readonly codes = new Set<string>()
  readonly payments = new Set<string>()
  readonly cards = new Set<string>()
  readonly accounts = new Set<string>()
  readonly users = new Set<string>()
  readonly tenants = new Set<string>()
}

/** Who calls with a token, and gets a new one when it is refused. */
export interface Tenant {
  readonly id: string
  token: Token | undefined
  login(world: World): Promise<HttpResponse>
  /** What a successful login answered. */
  accept(response: HttpResponse, world: World): void
}

export interface Token {
  readonly text: string
  readonly expiresAtMs: number
  readonly issuedAtMs: number
  /** Something happened by which it must or may be refused. */
  dead: boolean
  readonly headers: Readonly<Record<string, string>>
}

export interface Call {
  readonly name: string
  readonly who?: Tenant
  readonly method: 'GET' | 'POST' | 'PATCH'
  readonly path: string
  readonly headers?: Readonly<Record<string, string>> | (() => Readonly<Record<string, string>>)
  readonly body?: string
  /**
   * What the same request, sent again, does: `bytes`, it counts once and gets the same answer; `once`, it counts once;
   * `no`, it counts again.
   */
  readonly repeats: 'bytes' | 'once' | 'no'
  /** Told of every answer that says what happened, again of repeats. */
  readonly sure: (response: HttpResponse) => void
  /** Told when nobody can say whether it happened. */
  readonly unsure?: () => void
  /** Number of the round in which it was first sent. */
  sentIn?: number
}

/** Answers that say of themselves that they may or may not have happened. */
const isSure = ({ status }: HttpResponse): boolean => status < 500 && status !== 429

interface Acknowledged {
  readonly call: Call
  readonly text: string
}

const ACKNOWLEDGED_KEPT = 400

/** The callers' side of the network: requests that get lost or doubled, answers that never come, and patience. */
export class Callers {
  readonly #world: World
  /** Calls whose outcome nobody knows yet, and which may be sent again. */
  outstanding: Call[] = []
  acknowledged: Acknowledged[] = []
  round = 0
  steps = 0
  readonly counts = new Map<string, number>()

  constructor(world: World) {
    this.#world = world
  }

  async send(call: Call): Promise<HttpResponse | undefined> {
    const { app, chance } = this.#world
    const given = typeof call.headers === 'function' ? call.headers() : call.headers
    const responding = app.http.inject({
      method: call.method,
      url: call.path,
      headers: {
        host: 'svc.example',
        ...(call.body !== undefined && { 'content-type': 'application/json' }),
        ...call.who?.token?.headers,
        ...given,
      },
      ...(call.body !== undefined && { payload: call.body }),
      remoteAddress: `10.0.0.${chance.whole(1, 250)}`,
    })
    // A stream that breaks off, as it must when it cannot go on (decision S3).
    const response = await responding.catch((error: Error) => {
      ensure(/response destroyed/.test(error.message), () => `${call.name}: ${error.stack}`)
    })
    if (!response) return undefined
    const text = response.body
    const isJson = String(response.headers['content-type']).includes('json')
    return {
      status: response.statusCode,
      text,
      json: isJson ? JSON.parse(text) : undefined,
      headers: response.headers,
    }
  }

  /** Sends calls at the same time, with what else happens meanwhile, and tells every caller what it gets to know. */
  async exchange(
    calls: readonly Call[],
    meanwhile: readonly (() => Promise<void>)[] = [],
    faulty = true,
  ): Promise<void> {
    const world = this.#world
    this.round++
    await this.#login(calls)
    const able = calls.filter(({ who }) => !who || who.token)
    this.#keep(calls.filter((call) => !able.includes(call)))
    const sent = able.flatMap((call) => this.#fate(call, faulty))
    this.steps += sent.length + meanwhile.length
    for (const { call } of sent) call.sentIn ??= this.round
    const work: (() => Promise<HttpResponse | undefined>)[] = [
      ...sent.map(
        ({ call, arrives }) =>
          () =>
            arrives ? this.send(call) : Promise.resolve(undefined),
      ),
      ...meanwhile.map((act) => () => act().then(() => undefined)),
    ]
    const responses = await world.carryOut(
      work,
      sent.map(({ call }) => `${call.name} ${call.path}`),
    )
    for (const [i, { call, returns }] of sent.entries())
      this.#report(call, returns ? responses[i] : undefined)
  }

  /** What the network does to a request: it or its answer may be lost, and it may come twice. */
  #fate(call: Call, faulty: boolean): { call: Call; arrives: boolean; returns: boolean }[] {
    const { chance } = this.#world
    if (!faulty) return [{ call, arrives: true, returns: true }]
    const fate = chance.weighted({ whole: 90, requestLost: 2, responseLost: 4, doubled: 4 })
    if (fate === 'requestLost') return [{ call, arrives: false, returns: false }]
    if (fate === 'responseLost') return [{ call, arrives: true, returns: false }]
    const one = { call, arrives: true, returns: true }
    return fate === 'doubled' && call.repeats !== 'no' ? [one, one] : [one]
  }

  #keep(calls: readonly Call[]): void {
    for (const call of calls)
      if (call.repeats !== 'no' && call.method !== 'GET' && !this.outstanding.includes(call))
        this.outstanding.push(call)
  }

  #report(call: Call, response: HttpResponse | undefined): void {
    const { trace } = this.#world
    const said = response
      ? `${response.status} ${response.text.length < 4_000 ? withoutTokens(response.text) : ''}`
      : 'no answer'
    trace.call(this.#world, `  ${call.name} ${call.method} ${call.path} ${call.body ?? ''} -> ${said}`)
    this.counts.set(
      `${call.name} ${response?.status ?? 'none'}`,
      (this.counts.get(`${call.name} ${response?.status ?? 'none'}`) ?? 0) + 1,
    )
    ensure(response?.status !== 500, () => `${call.name} was answered 500: ${response!.text}`)
    if (response?.status === 401 && call.who) {
      const { token } = call.who
      const nowMs = this.#world.process.wallMs()
      // A clock that was set back makes it a token from the future, which is refused too (decision A4).
      const isAhead = token !== undefined && token.issuedAtMs > nowMs + 59_000
      const due = !token || token.dead || token.expiresAtMs <= nowMs || isAhead
      ensure(due, () => `${call.name}: a good token was refused: ${response.text}`)
      call.who.token = undefined
      this.#keep([call])
      return
    }
    if (!response || !isSure(response)) {
      call.unsure?.()
      this.#keep([call])
      return
    }
    this.outstanding = this.outstanding.filter((known) => known !== call)
    call.sure(response)
    if (call.repeats === 'bytes' && response.status === 200) this.#acknowledge(call, response)
  }

  #acknowledge(call: Call, { text }: HttpResponse): void {
    const known = this.acknowledged.find((one) => one.call === call)
    if (known) {
      ensure(
        known.text === text,
        () => `${call.name}: a repeat was answered otherwise\n  first  ${known.text}\n  repeat ${text}`,
      )
      return
    }
    this.acknowledged.push({ call, text })
    if (this.acknowledged.length > ACKNOWLEDGED_KEPT)
      this.acknowledged.splice(this.#world.chance.whole(0, ACKNOWLEDGED_KEPT - 1), 1)
  }

  async #login(calls: readonly Call[]): Promise<void> {
    const without = [...new Set(calls.flatMap(({ who }) => (who && !who.token ? [who] : [])))]
    if (without.length === 0) return
    const world = this.#world
    this.steps += without.length
    const responses = await world.carryOut(without.map((tenant) => () => tenant.login(world)))
    for (const [i, tenant] of without.entries()) {
      const response = responses[i]
      world.trace(`  login ${tenant.id} -> ${response?.status ?? 'no answer'}`)
      if (response?.status === 200) tenant.accept(response, world)
      else
        ensure(
          !response || response.status === 503 || response.status === 401,
          () => `login was answered ${response!.status} ${response!.text}`,
        )
    }
  }

  /** Sends what is outstanding again until every outcome is known. */
  async settleAll(): Promise<void> {
    this.#world.armed = []
    for (let tries = 0; this.outstanding.length > 0; tries++) {
      ensure(tries < 200, () => `${this.outstanding[0]!.name} is not answered, however often it is sent`)
      await this.exchange(this.outstanding.slice(0, 20), [], false)
    }
  }
}

const withoutTokens = (text: string): string =>
  text.replaceAll(/"(?:access_token|token|secret|qrCodeBase64)":"[^"]*"/g, '').replaceAll(/eyJ[\w.-]+/g, '')
