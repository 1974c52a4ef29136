import * as fc from 'fast-check'
import type { Pool } from 'undici'
import { Judge, SHED, wordOf } from './judge.ts'
import { type RawPlan, rawPlan } from './raw.ts'
import { build, type Documented, operationsOf, type Plan, planOf } from './requests.ts'
import { type Answer, curlOf, openPool, rawDump, sendRaw, sendTwice } from './send.ts'
import { note, openTarget, type Target } from './target.ts'
import { forgedTokens } from './tokens.ts'

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Operation ids, or `raw` for bare connections; all by default. */
  readonly only?: readonly string[]
  readonly minutes?: number
  readonly log?: (line: string) => void
}

export interface Finding {
  readonly where: string
  readonly fault: string
  /** To draw the same requests again: `--seed <seed> --operation <where>`. */
  readonly seed: number
  readonly replay: string
  readonly heard: string
}

export interface FuzzReport {
  readonly cases: number
  readonly seconds: number
  readonly byStatus: Record<string, number>
  /** Answers of 503 that the service gives on purpose. */
  readonly shed: number
  /** Connections that were closed without an answer. */
  readonly unanswered: number
  /** Longest stop of the service's event loop in any second, in milliseconds. */
  readonly loopDelayMaxMs: number
  readonly residentMiB: { readonly first: number; readonly last: number; readonly max: number }
  readonly findings: readonly Finding[]
}

const WORKERS = 40
const FINDINGS_MAX = 40
/** Runs of a property in a row; then another one's turn. */
const ROUND = 60
const RAW_SHARE = 6

interface Run {
  readonly target: Target
  readonly judge: Judge
  readonly forged: readonly string[]
  readonly byStatus: Record<string, number>
  /** Whether enough was tried: what is left of a round is passed over. */
  readonly over: () => boolean
  cases: number
  shed: number
  unanswered: number
}

class Fault extends Error {
  readonly replay: string
  readonly heard: string

  constructor(fault: string, replay: string, heard: string) {
    super(fault)
    this.replay = replay
    this.heard = heard
  }
}

/** Sends hostile requests to every operation of a service of its own, and judges every answer. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const { cases, seed, only, minutes = Infinity, log = () => undefined } = options
  const target = await openTarget()
  const findings: Finding[] = []
  const startedAtMs = Date.now()
  const run: Run = {
    target,
    judge: new Judge(target),
    forged: target.tenants.flatMap((tenant) => forgedTokens(target, tenant)),
    byStatus: {},
    over: () =>
      run.cases >= cases || Date.now() - startedAtMs > minutes * 60_000 || findings.length >= FINDINGS_MAX,
    cases: 0,
    shed: 0,
    unanswered: 0,
  }
  const known = operationsOf(target)
  const subjects: (Documented | 'raw')[] = [
    ...known,
    ...Array.from({ length: RAW_SHARE }, () => 'raw' as const),
  ]
  const chosen = subjects.filter((one) => !only || only.includes(one === 'raw' ? one : one.id))
  if (chosen.length === 0)
    throw new Error(`No such operation. There are: raw ${known.map(({ id }) => id).join(' ')}`)
  const watch = watchProcess(target, (line) =>
    log(`${run.cases} cases, ${findings.length} findings, ${line}`),
  )
  let turn = 0
  const worker = async () => {
    while (!run.over()) {
      const round = turn++
      const subject = chosen[round % chosen.length]!
      const numRuns = Math.min(ROUND, Math.ceil(cases / chosen.length))
      // Connections of each round's own: one that the client library takes for busy for ever is gone with it.
      const pool = openPool(target.baseUrl)
      const finding = await runProperty(run, pool, subject, (seed + round * 7_919) | 0, numRuns)
      void pool.destroy()
      const known = findings.some(({ where, fault }) => where === finding?.where && fault === finding.fault)
      if (!finding || known) continue
      findings.push(finding)
      log(
        `FOUND ${finding.where}: ${finding.fault}\n  seed ${finding.seed}\n  ${finding.replay}\n  heard ${finding.heard.slice(0, 600)}`,
      )
    }
  }
  const died = target.process.ended.then(({ code, signal }) => {
    throw new Error(`the service died (${code ?? signal}):\n${target.process.written().slice(-4_000)}`)
  })
  try {
    await Promise.race([Promise.all(Array.from({ length: WORKERS }, worker)), died])
    const figures = await watch.end()
    findings.push(...(await logFindings(target)))
    const { byStatus, shed, unanswered } = run
    const seconds = (Date.now() - startedAtMs) / 1_000
    return { cases: run.cases, seconds, byStatus, shed, unanswered, ...figures, findings }
  } finally {
    died.catch(() => undefined)
    await target.close()
  }
}

async function runProperty(
  run: Run,
  pool: Pool,
  subject: Documented | 'raw',
  seed: number,
  numRuns: number,
): Promise<Finding | undefined> {
  const property =
    subject === 'raw'
      ? fc.asyncProperty(rawPlan, (plan) => tryRaw(run, plan))
      : fc.asyncProperty(planOf(subject), (plan) => tryPlan(run, pool, subject, plan))
  const { failed, errorInstance } = await fc.check(property as fc.IAsyncProperty<[unknown]>, {
    seed,
    numRuns,
  })
  if (!failed) return undefined
  const where = subject === 'raw' ? 'raw' : subject.id
  const { message } = errorInstance as Error
  const { replay, heard } = errorInstance instanceof Fault ? errorInstance : { replay: '', heard: '' }
  return { where, fault: message, seed, replay, heard }
}

async function tryPlan(run: Run, pool: Pool, operation: Documented, plan: Plan): Promise<void> {
  if (run.over()) return
  const { target, judge } = run
  const request = await build(operation, plan, target, run.forged)
  run.cases++
  const answer = await sendTwice(target.baseUrl, pool, request)
  if (answer === 'unsendable') return
  if (!answer) {
    run.unanswered++
    // A body over the limit may be cut off before its end; whatever else gets an answer.
    if ((request.body?.length ?? 0) > 60_000) return
    throw new Fault('closed without an answer', curlOf(target.baseUrl, request), '')
  }
  count(run, answer)
  const fault = judge.faultOf(operation, request, answer)
  if (fault) throw new Fault(fault, curlOf(target.baseUrl, request), `${answer.status} ${answer.text}`)
  if (answer.status === 200) note(request.tenant, readPayload(answer))
}

async function tryRaw(run: Run, plan: RawPlan): Promise<void> {
  if (run.over()) return
  const { target, judge } = run
  const filled = { ...plan, text: plan.text.replaceAll('@auth@', target.tenants[0]!.token) }
  run.cases++
  const heard = await sendRaw(target.baseUrl, filled)
  if (heard === '') run.unanswered++
  for (const [, status] of heard?.matchAll(/HTTP\/1\.1 (\d{3})/g) ?? [])
    run.byStatus[status!] = (run.byStatus[status!] ?? 0) + 1
  const fault = judge.rawFaultOf(heard)
  if (fault) throw new Fault(fault, rawDump(target.baseUrl, filled), heard ?? '')
}

function count(run: Run, { status, text }: Answer): void {
  run.byStatus[status] = (run.byStatus[status] ?? 0) + 1
  if (status === 503 && SHED.has(wordOf(JSON.parse(text)))) run.shed++
}

function readPayload({ text }: Answer): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Asks the service's own metrics every second how long its event loop stood still, and what it holds. */
function watchProcess({ baseUrl }: Target, log: (line: string) => void) {
  let loopDelayMaxMs = 0
  const resident: number[] = []
  // The first look sets the metric back, which began with the start of the process.
  const look = async () => {
    const text = await (await fetch(`${baseUrl}/metrics`)).text()
    const figure = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? 0)
    if (resident.length > 0)
      loopDelayMaxMs = Math.max(loopDelayMaxMs, figure('svc_nodejs_eventloop_lag_max_seconds') * 1_000)
    resident.push(figure('svc_process_resident_memory_bytes') / 2 ** 20)
  }
  let ticks = 0
  look().catch(() => undefined)
  const timer = setInterval(() => {
    look().catch(() => undefined)
    if (++ticks % 20 === 0)
      log(`event loop ${Math.round(loopDelayMaxMs)} ms at most, ${Math.round(resident.at(-1) ?? 0)} MiB`)
  }, 1_000)
  return {
    async end() {
      clearInterval(timer)
      await look()
      return {
        loopDelayMaxMs: Math.round(loopDelayMaxMs),
        residentMiB: {
          first: Math.round(resident[0]!),
          last: Math.round(resident.at(-1)!),
          max: Math.round(Math.max(...resident)),
        },
      }
    },
  }
}

/** What the log says that no answer did: unexpected errors, and secrets. */
async function logFindings({ process, secrets }: Target): Promise<Finding[]> {
  const lines = process.written().split('\n')
  const found = (fault: string, heard: string): Finding => ({
    where: 'log',
    fault,
    seed: 0,
    replay: '',
    heard,
  })
  const faults = lines.filter(
    (line) => /"level":(?:50|60)/.test(line) && ![...SHED].some((word) => line.includes(`"error":"${word}"`)),
  )
  const strange = lines.filter((line) => line !== '' && !line.startsWith('{'))
  const leaks = secrets.flatMap((secret, i) =>
    lines.some((line) => line.includes(secret)) ? [found(`secret ${i} in the log`, '')] : [],
  )
  return [
    ...faults.slice(0, 5).map((line) => found('an error in the log', line.slice(0, 2_000))),
    ...strange.slice(0, 5).map((line) => found('a line in the log that is no entry', line)),
    ...leaks,
  ]
}
