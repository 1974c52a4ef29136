import type { Check, Section } from './check.ts'
import { isAnonymous } from './credentials.ts'
import { type Failed, failureOf } from './failure.ts'
import { type Http, shorten } from './http.ts'
import { type Reading, readingsOf } from './readings.ts'
import type { Recorder } from './recorder.ts'
import type { Subject } from './subject.ts'
import { Blocked, Skipped, Violation } from './verdict.ts'

export type Status = 'passed' | 'failed' | 'blocked' | 'skipped'

export interface Outcome {
  readonly section: string
  readonly check: Check
  readonly status: Status
  readonly tookMs: number
  /** Why a check was skipped or blocked. */
  readonly reason?: string
  readonly failure?: Failed
  /** What a blocked check waits for, where a response shows it. */
  readonly needs?: Failed
}

export interface Result {
  readonly baseUrl: string
  readonly profile: string
  /** Skipped checks count as failures. */
  readonly strict: boolean
  /** The credentials named no tenant. */
  readonly anonymous: boolean
  readonly startedAt: Date
  readonly tookMs: number
  readonly requests: number
  readonly sections: readonly Section[]
  readonly outcomes: readonly Outcome[]
  /** How the server reads the specification where it is silent, as far as its responses show it. */
  readonly readings: readonly Reading[]
}

/** Makes the checks of the sections, some at a time; checks share nothing that one of them changes. */
export async function runChecks(
  subject: Subject,
  sections: readonly Section[],
  strict: boolean,
  { parallel = 8, recorder }: { readonly parallel?: number; readonly recorder?: Recorder } = {},
): Promise<Result> {
  const startedAt = new Date()
  const startedAtMs = performance.now()
  const planned = sections.flatMap((section) =>
    section.checks.map((check) => ({ section: section.id, check })),
  )
  const outcomes: Outcome[] = []
  let next = 0
  const work = async () => {
    while (next < planned.length) {
      const position = next++
      const { section, check } = planned[position]!
      recorder?.enter(check.id)
      outcomes[position] = await runCheck(subject, section, check)
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
  recorder?.enter(undefined)
  const readings = await readingsOf(subject, sections)
  const { http, profile } = subject
  return {
    baseUrl: http.baseUrl,
    profile,
    strict,
    anonymous: isAnonymous(subject.credentials),
    startedAt,
    tookMs: Math.round(performance.now() - startedAtMs),
    requests: http.sent,
    sections,
    outcomes,
    readings,
  }
}

async function runCheck(subject: Subject, section: string, check: Check): Promise<Outcome> {
  const startedAtMs = performance.now()
  const done = (status: Status, more: Partial<Outcome> = {}): Outcome => {
    const tookMs = Math.round(performance.now() - startedAtMs)
    return { section, check, status, tookMs, ...more }
  }
  try {
    await check.run(subject)
    return done('passed')
  } catch (error) {
    if (error instanceof Skipped) return done('skipped', { reason: error.message })
    if (error instanceof Blocked) return done('blocked', blocked(subject.http, error))
    if (error instanceof Violation) return done('failed', { failure: failureOf(subject.http, error) })
    // A response so odd that the check itself stumbles is the server's doing, and must not end the run.
    const odd = new Violation(
      'a response of the documented shape',
      `what the check cannot read (${(error as Error).message})`,
    )
    return done('failed', { failure: failureOf(subject.http, odd) })
  }
}

const blocked = (http: Http, { message, cause }: Blocked): Partial<Outcome> => ({
  reason: shorten(http.redactor.redact(message)),
  ...(cause instanceof Violation && { needs: failureOf(http, cause) }),
})

/** `nothing`: every check was skipped, or only those ran that need no credentials. */
export type Verdict = 'conforms' | 'does not conform' | 'nothing checked'

/**
 * What a run says of the server. A blocked check is not a kept promise; in a strict run a skipped one is not either. Where
 * no credentials were given and checks were skipped for that, nothing is said.
 */
export function verdictOf({ outcomes, strict, anonymous }: Result): Verdict {
  const some = (status: Status) => outcomes.some((outcome) => outcome.status === status)
  if (some('failed') || some('blocked') || (strict && some('skipped'))) return 'does not conform'
  if (!some('passed') || (anonymous && some('skipped'))) return 'nothing checked'
  return 'conforms'
}
