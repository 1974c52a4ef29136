import type { HttpResponse } from './exchange.ts'
import { wantNotDone, wantRefused } from './expect.ts'
import type { Subject } from './subject.ts'

/** `must`: the specification says it. `ours`: a decision where the specification is silent; another server may differ. */
export type Severity = 'must' | 'ours'

/** One promise, and how to find out whether a server keeps it. */
export interface Check {
  /** Stable; begins with the section. Reports and `--only` name checks by it. */
  readonly id: string
  /** Where the promise comes from: a section of the specification and its row, or a decision. */
  readonly source: string
  readonly severity: Severity
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

export const must = (id: string, source: string, title: string, run: Run): Check => ({
  id,
  source,
  severity: 'must',
  title,
  run,
})

export const ours = (id: string, source: string, title: string, run: Run): Check => ({
  id,
  source,
  severity: 'ours',
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
  ask: (subject: Subject) => Promise<HttpResponse>,
): readonly Check[] {
  const response = (subject: Subject) => subject.observe(`the response to ${id}`, () => ask(subject))
  return [
    must(id, source, title, async (subject) => wantNotDone(await response(subject))),
    ours(`${id}.4xx`, 'decision F3', `${title}: with a status from 400 to 499`, async (subject) =>
      wantRefused(await response(subject)),
    ),
  ]
}
