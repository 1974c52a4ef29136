import type { Check, Section } from './check.ts'
import { isAnonymous } from './credentials.ts'
import { shorten } from './http.ts'
import type { Subject } from './subject.ts'
import { Blocked, Skipped, Violation } from './verdict.ts'

export type Status = 'passed' | 'failed' | 'blocked' | 'skipped'

export interface Failed {
  readonly expected: string
  readonly received: string
  /** The request as a command, with credentials as variables. */
  readonly curl: string | undefined
}

export interface Outcome {
  readonly section: string
  readonly check: Check
  readonly status: Status
  readonly tookMs: number
  /** Why a check was skipped or blocked. */
  readonly reason?: string
  readonly failure?: Failed
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
}

/** Makes the checks of the sections, some at a time; checks share nothing that one of them changes. */
export async function runChecks(
  subject: Subject,
  sections: readonly Section[],
  strict: boolean,
  parallel = 8,
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
      outcomes[position] = await runCheck(subject, section, check)
    }
  }
  await Promise.all(Array.from({ length: parallel }, work))
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
  }
}

async function runCheck(subject: Subject, section: string, check: Check): Promise<Outcome> {
  const startedAtMs = performance.now()
  const done = (status: Status, more: Partial<Outcome> = {}): Outcome => {
    const tookMs = Math.round(performance.now() - startedAtMs)
    return { section, check, status, tookMs, ...more }
  }
  const { redactor } = subject.http
  try {
    await check.run(subject)
    return done('passed')
  } catch (error) {
    if (error instanceof Skipped) return done('skipped', { reason: error.message })
    if (error instanceof Blocked) return done('blocked', { reason: shorten(redactor.redact(error.message)) })
    if (!(error instanceof Violation)) {
      // A response so odd that the check itself stumbles is the server's doing, and must not end the run.
      const received = redactor.redact(`what the check cannot read (${(error as Error).message})`)
      return done('failed', {
        failure: { expected: 'a response of the documented shape', received, curl: undefined },
      })
    }
    const failure: Failed = {
      expected: shorten(redactor.redact(error.expected)),
      received: shorten(redactor.redact(error.received)),
      curl: error.response && subject.http.curl(error.response),
    }
    return done('failed', { failure })
  }
}

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
