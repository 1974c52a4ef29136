import type { HttpResponse } from './exchange.ts'
import { wantNotDone, wantRefused } from './expect.ts'
import type { Subject } from './subject.ts'

/** `spec`: the specification says it. `decision`: this project decided it where the specification is silent; another server may differ. */
export type Origin = 'spec' | 'decision'

/** One promise, and how to find out whether a server keeps it. */
export interface Check {
  /** Stable; begins with the section. Reports and `--only` name checks by it. */
  readonly id: string
  /** Where the promise comes from: a section of the specification and its row, or a decision. */
  readonly source: string
  readonly origin: Origin
  /** The promise in words. */
  readonly title: string
  /** Resolves when the promise is kept. Throws `Violation`, `Blocked` or `Skipped`; see `verdict.ts`. */
  readonly run: (subject: Subject) => Promise<void>
}

export interface Section {
  readonly id: string
  readonly title: string
  readonly checks: readonly Check[]
}

type Run = Check['run']

export const specified = (id: string, source: string, title: string, run: Run): Check => ({
  id,
  source,
  origin: 'spec',
  title,
  run,
})

export const decided = (id: string, source: string, title: string, run: Run): Check => ({
  id,
  source,
  origin: 'decision',
  title,
  run,
})

/**
 * A request that must not be carried out. The specification shows no statuses of refusals (§7 rule 3), so the status is a
 * check of its own, of the same response.
 */
export function refuses(
  id: string,
  source: string,
  title: string,
  request: (subject: Subject) => Promise<HttpResponse>,
): readonly Check[] {
  const response = (subject: Subject) => subject.observe(`the response to ${id}`, () => request(subject))
  return [
    specified(id, source, title, async (subject) => wantNotDone(await response(subject))),
    decided(`${id}.4xx`, 'decision F3', `${title}: with a status from 400 to 499`, async (subject) =>
      wantRefused(await response(subject)),
    ),
  ]
}
