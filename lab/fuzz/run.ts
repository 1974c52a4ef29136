import * as fc from 'fast-check'
import type { Pool } from 'undici'
import { dateFields } from './date-fields.ts'
import { Judge } from './judge.ts'
import { operationsOf } from './operations.ts'
import { openPool } from './send.ts'
import { grammarSubjects, operationSubject, Problem, RAW, type Run, type Subject } from './subjects.ts'
import { openTarget, type Target } from './target.ts'
import { forgedTokens } from './tokens.ts'
import { logFindings, streamFindings, watchProcess } from './watch.ts'

export interface FuzzOptions {
  readonly cases: number
  readonly seed: number
  /** Operation ids, `raw` for bare connections, or the name of a grammar; all by default. */
  readonly only?: readonly string[]
  readonly minutes?: number
  readonly log?: (line: string) => void
}

export interface Finding {
  readonly where: string
  readonly problem: string
  /** To draw the same requests again: `--seed <seed> --operation <where>`. */
  readonly seed: number
  readonly replay: string
  readonly received: string
}

export interface FuzzReport {
  readonly cases: number
  readonly seconds: number
  readonly byStatus: Record<string, number>
  /** Answers of 503 that the service gives on purpose. */
  readonly shed: number
  /** Connections that were closed without an answer. */
  readonly withoutResponse: number
  /** Longest stop of the service's event loop in any second, in milliseconds. */
  readonly loopDelayMaxMs: number
  readonly residentMiB: { readonly first: number; readonly last: number; readonly max: number }
  readonly findings: readonly Finding[]
}

const WORKERS = 40
const FINDINGS_MAX = 40
/** Runs of a property in a row; then another one's turn. */
const ROUND = 60
/** Of the turns of some sixty subjects. */
const RAW_SHARE = 6
const GRAMMARS_SHARE = 5
/** Grammars of the libraries that requests pass through, and ids of other tenants. */
export const GRAMMARS: readonly string[] = ['routes', 'dates', 'foreign']

/** Sends hostile requests to every operation of a service of its own, and judges every answer. */
export async function fuzz(options: FuzzOptions): Promise<FuzzReport> {
  const target = await openTarget()
  const pool = openPool(target.baseUrl, WORKERS)
  try {
    return await fuzzTarget(target, await dateFields(target, pool), options)
  } finally {
    await pool.destroy()
    await target.close()
  }
}

function chosenSubjects(target: Target, only: FuzzOptions['only']): readonly Subject[] {
  const operations = operationsOf(target)
  const subjects: Subject[] = [
    ...operations.map(operationSubject),
    ...Array.from({ length: RAW_SHARE }, () => RAW),
    ...Array.from({ length: GRAMMARS_SHARE }, () => grammarSubjects(operations)).flat(),
  ]
  const chosen = subjects.filter(({ where }) => !only || only.includes(where))
  const names = new Set(subjects.map(({ where }) => where))
  if (chosen.length === 0) throw new Error(`No such operation. There are: ${[...names].join(' ')}`)
  return chosen
}

async function fuzzTarget(target: Target, dates: Run['dates'], options: FuzzOptions): Promise<FuzzReport> {
  const { cases, seed, only, minutes = Infinity, log = () => undefined } = options
  const findings: Finding[] = []
  const startedAtMs = Date.now()
  const run: Run = {
    target,
    dates,
    judge: new Judge(target),
    forged: target.tenants.flatMap((tenant) => forgedTokens(target, tenant)),
    byStatus: {},
    over: () =>
      run.cases >= cases || Date.now() - startedAtMs > minutes * 60_000 || findings.length >= FINDINGS_MAX,
    cases: 0,
    shed: 0,
    withoutResponse: 0,
  }
  const chosen = chosenSubjects(target, only)
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
      const known = findings.some(
        ({ where, problem }) => where === finding?.where && problem === finding.problem,
      )
      if (!finding || known) continue
      findings.push(finding)
      log(
        `FOUND ${finding.where}: ${finding.problem}\n  seed ${finding.seed}\n  ${finding.replay}\n  heard ${finding.received.slice(0, 600)}`,
      )
    }
  }
  const died = target.process.ended.then(({ code, signal }) => {
    throw new Error(`the service died (${code ?? signal}):\n${target.process.written().slice(-4_000)}`)
  })
  try {
    await Promise.race([Promise.all(Array.from({ length: WORKERS }, worker)), died])
    const figures = await watch.end()
    findings.push(...(await streamFindings(target)), ...(await logFindings(target)))
    const { byStatus, shed, withoutResponse } = run
    const seconds = (Date.now() - startedAtMs) / 1_000
    return { cases: run.cases, seconds, byStatus, shed, withoutResponse, ...figures, findings }
  } finally {
    died.catch(() => undefined)
  }
}

async function runProperty(
  run: Run,
  pool: Pool,
  { where, property }: Subject,
  seed: number,
  numRuns: number,
): Promise<Finding | undefined> {
  const { failed, errorInstance } = await fc.check(property(run, pool), { seed, numRuns })
  if (!failed) return undefined
  const { message } = errorInstance as Error
  const { replay, received } = errorInstance instanceof Problem ? errorInstance : { replay: '', received: '' }
  return { where, problem: message, seed, replay, received }
}
