import * as fc from 'fast-check'
import type { Pool } from 'undici'
import type { DateField } from './date-field.ts'
import { type DateTry, dateProblemOf, dateText, dateTry } from './dates.ts'
import { errorCodeOf, type Judge, readJson, SHED, TENANTS } from './judge.ts'
import type { Documented } from './operations.ts'
import { foreignPlanOf, type Plan, planOf } from './plans.ts'
import { type RawPlan, rawPlan } from './raw.ts'
import { build } from './requests.ts'
import { headProblemOf, routeProblemOf } from './route-judge.ts'
import { routeRequest } from './route-requests.ts'
import { type RoutePlan, routePlan } from './routes.ts'
import { curlOf, exchange, type HttpResponse, rawDump, sendRaw, sendTwice } from './send.ts'
import { note, type Target } from './target.ts'

export interface Run {
  readonly target: Target
  readonly judge: Judge
  readonly forged: readonly string[]
  readonly dates: readonly (readonly [string, DateField])[]
  readonly byStatus: Record<string, number>
  /** Whether enough was tried: what is left of a round is passed over. */
  readonly over: () => boolean
  cases: number
  shed: number
  withoutResponse: number
}

export class Problem extends Error {
  readonly replay: string
  readonly received: string

  constructor(problem: string, replay: string, received: string) {
    super(problem)
    this.replay = replay
    this.received = received
  }
}

/** What requests are drawn for: an operation, or a grammar that none of them covers by itself. */
export interface Subject {
  readonly where: string
  readonly property: (run: Run, pool: Pool) => fc.IAsyncProperty<[unknown]>
}

const subject = <T>(
  where: string,
  drawn: fc.Arbitrary<T>,
  attempt: (run: Run, drawn: T, pool: Pool) => Promise<unknown>,
): Subject => ({
  where,
  property: (run, pool) =>
    fc.asyncProperty(drawn, async (plan) => {
      if (!run.over()) await attempt(run, plan, pool)
    }) as fc.IAsyncProperty<[unknown]>,
})

export const operationSubject = (operation: Documented): Subject =>
  subject(operation.id, planOf(operation), (run, plan, pool) => tryPlan(run, pool, operation, plan))

/** Bare connections. */
export const RAW: Subject = subject('raw', rawPlan, tryRaw)

/** What the libraries' own grammars read besides ours: dates, paths, methods, headers; and ids of other tenants. */
export const grammarSubjects = (operations: readonly Documented[]): readonly Subject[] => {
  const ofTenants = operations.filter(({ scheme }) => TENANTS.has(scheme ?? ''))
  const foreign = fc.oneof(
    ...ofTenants.map((operation) => foreignPlanOf(operation).map((plan) => [operation, plan] as const)),
  )
  return [
    subject('routes', routePlan, tryRoute),
    subject('dates', dateTry, tryDate),
    subject('routes', routePlan, tryRoute),
    subject('foreign', foreign, (run, [operation, plan], pool) => tryForeign(run, pool, operation, plan)),
  ]
}

async function tryPlan(
  run: Run,
  pool: Pool,
  operation: Documented,
  plan: Plan,
): Promise<HttpResponse | undefined> {
  const { target, judge } = run
  const request = await build(operation, plan, target, run.forged)
  run.cases++
  const response = await sendTwice(target.baseUrl, pool, request)
  if (response === 'unsendable') return undefined
  if (!response) {
    run.withoutResponse++
    // A body over the limit may be cut off before its end; whatever else gets an answer.
    if ((request.body?.length ?? 0) > 60_000) return undefined
    throw new Problem('closed without an answer', curlOf(target.baseUrl, request), '')
  }
  count(run, response)
  const problem = judge.problemOf(operation, request, response)
  if (problem)
    throw new Problem(problem, curlOf(target.baseUrl, request), `${response.status} ${response.text}`)
  if (response.status === 200) note(request.tenant, readPayload(response))
  return response
}

async function tryForeign(run: Run, pool: Pool, operation: Documented, plan: Plan): Promise<void> {
  const response = await tryPlan(run, pool, operation, plan)
  if (response?.status === 200 && /:victim@/.test(plan.path))
    throw new Problem('200 on the record of another tenant', `${operation.id} ${plan.path}`, response.text)
}

async function tryRoute(run: Run, plan: RoutePlan): Promise<void> {
  const { target, judge } = run
  const sendAs = async (as?: string) => {
    const request = routeRequest(plan, target, as)
    run.cases++
    const response = await exchange(target.baseUrl, request.bytes)
    const replay = rawDump(target.baseUrl, { text: request.bytes, ends: false })
    if (!response) throw new Problem('no response', replay, '')
    count(run, response)
    const problem = routeProblemOf(judge, request, response)
    const received = `${request.bytes.slice(0, 500)}\n${response.status} ${response.text}`
    if (problem) throw new Problem(problem, replay, received)
    return { request, response, replay, heard: received }
  }
  const { request, response, replay, heard: received } = await sendAs()
  if (request.method !== 'HEAD') return
  const problem = headProblemOf(response, (await sendAs('GET')).response)
  if (problem) throw new Problem(problem, replay, received)
}

async function tryDate(run: Run, plan: DateTry): Promise<void> {
  const [name, field] = run.dates[plan.field % run.dates.length]!
  const text = dateText(plan)
  run.cases++
  const outcome = await field.send(text)
  run.byStatus[outcome.status] = (run.byStatus[outcome.status] ?? 0) + 1
  const problem = dateProblemOf(name, field, text, outcome)
  if (problem) throw new Problem(`${name}: ${problem}`, JSON.stringify(text), JSON.stringify(outcome))
}

async function tryRaw(run: Run, plan: RawPlan): Promise<void> {
  const { target, judge } = run
  const filled = { ...plan, text: plan.text.replaceAll('@auth@', target.tenants[0]!.token) }
  run.cases++
  const received = await sendRaw(target.baseUrl, filled)
  if (received === '') run.withoutResponse++
  for (const [, status] of received?.matchAll(/HTTP\/1\.1 (\d{3})/g) ?? [])
    run.byStatus[status!] = (run.byStatus[status!] ?? 0) + 1
  const problem = judge.rawProblemOf(received)
  if (problem) throw new Problem(problem, rawDump(target.baseUrl, filled), received ?? '')
}

function count(run: Run, response: HttpResponse): void {
  const { status } = response
  run.byStatus[status] = (run.byStatus[status] ?? 0) + 1
  if (status === 503 && SHED.has(errorCodeOf(readJson(response)))) run.shed++
}

function readPayload({ text }: HttpResponse): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
