import { styleText } from 'node:util'
import type { Severity } from './check.ts'
import { type Outcome, type Result, type Status, verdictOf } from './run.ts'

const STATUSES: readonly Status[] = ['passed', 'failed', 'blocked', 'skipped']
const KINDS: readonly (readonly [severity: Severity, words: string])[] = [
  ['must', 'Specification'],
  ['ours', 'Decisions (ours)'],
]
const NUMBER_WIDTH = 9

/** How many outcomes there are of each status. */
export function tally(outcomes: readonly Outcome[]): Record<Status, number> {
  const counts = { passed: 0, failed: 0, blocked: 0, skipped: 0 }
  for (const { status } of outcomes) counts[status]++
  return counts
}

export const ofSeverity = (outcomes: readonly Outcome[], severity: Severity): readonly Outcome[] =>
  outcomes.filter(({ check }) => check.severity === severity)

/** What a person reads at a terminal: a table by section, then everything that is wrong, then the verdict. */
export function textReport(result: Result, colours: boolean): string {
  const paint = (style: Parameters<typeof styleText>[0], text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text
  const parts: string[] = []
  for (const [severity, words] of KINDS) {
    const outcomes = ofSeverity(result.outcomes, severity)
    if (outcomes.length > 0) parts.push(table(result, outcomes, words, paint))
  }
  for (const [severity, words] of KINDS) {
    const failed = ofSeverity(result.outcomes, severity).filter(({ status }) => status === 'failed')
    if (failed.length === 0) continue
    parts.push(paint('bold', `Failed: ${words}`))
    parts.push(...failed.map((outcome) => failureText(outcome, paint)))
  }
  for (const status of ['blocked', 'skipped'] as const) parts.push(...reasons(result, status))
  return `${[...parts, verdict(result, paint)].join('\n\n')}\n`
}

type Paint = (style: Parameters<typeof styleText>[0], text: string) => string

function table(result: Result, outcomes: readonly Outcome[], words: string, paint: Paint): string {
  const width = Math.max(
    ...result.sections.map(({ id, title }) => id.length + title.length + 1),
    words.length,
  )
  const row = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)}${cells.map((cell) => cell.padStart(NUMBER_WIDTH)).join('')}`
  const numbers = (counts: Record<Status, number>) => STATUSES.map((status) => String(counts[status] || '·'))
  const lines = [paint('bold', row(words, STATUSES))]
  for (const { id, title } of result.sections) {
    const own = outcomes.filter(({ section }) => section === id)
    if (own.length === 0) continue
    const counts = tally(own)
    const line = row(`${id} ${title}`, numbers(counts))
    lines.push(counts.failed > 0 ? paint('red', line) : line)
  }
  return [...lines, paint('bold', row('All', numbers(tally(outcomes))))].join('\n')
}

function failureText({ check, failure }: Outcome, paint: Paint): string {
  const lines = [
    `${paint('red', '✗')} ${paint('bold', check.id)}  ${check.title}`,
    `  ${paint('dim', check.source)}`,
    `  expected  ${failure!.expected}`,
    `  received  ${failure!.received}`,
  ]
  if (failure!.curl !== undefined) lines.push(...failure!.curl.split('\n').map((line) => `    ${line}`))
  return lines.join('\n')
}

/** Skipped or blocked outcomes by what they lack: one reason often stands for many. */
export function byReason(outcomes: readonly Outcome[], status: Status): ReadonlyMap<string, Outcome[]> {
  const found = new Map<string, Outcome[]>()
  for (const outcome of outcomes)
    if (outcome.status === status)
      found.set(outcome.reason!, [...(found.get(outcome.reason!) ?? []), outcome])
  return found
}

function reasons({ outcomes }: Result, status: 'blocked' | 'skipped'): string[] {
  const lines = [...byReason(outcomes, status)].map(([reason, those]) => {
    const ids = those.map(({ check }) => check.id)
    const names = ids.length > 6 ? `${ids.slice(0, 6).join(', ')} and ${ids.length - 6} more` : ids.join(', ')
    return `- ${reason}\n  ${names}`
  })
  if (lines.length === 0) return []
  return [`${status === 'skipped' ? 'Skipped' : 'Blocked'}, since\n${lines.join('\n')}`]
}

/** Where more was blocked than asked, one thing is wrong at the root: what it is, and how many checks wait for it. */
export function advice({ outcomes }: Result): string | undefined {
  const { passed, failed, blocked } = tally(outcomes)
  if (blocked <= passed + failed) return undefined
  const [most] = [...byReason(outcomes, 'blocked')].sort(([, a], [, b]) => b.length - a.length)
  const [reason, those] = most!
  return `Is this the right address, and are these credentials of that server? ${those.length} checks wait for one thing: ${reason}`
}

/** Why nothing can be said of the server, and what to do. */
export function unchecked({ anonymous, outcomes }: Result): string {
  const { skipped } = tally(outcomes)
  return anonymous
    ? `${skipped} of ${outcomes.length} checks need credentials: give a file with --credentials`
    : `all ${skipped} checks were skipped`
}

function verdict(result: Result, paint: Paint): string {
  const { passed, failed, blocked, skipped } = tally(result.outcomes)
  const facts = `${passed} passed, ${failed} failed, ${blocked} blocked, ${skipped} skipped${result.strict ? ', which counts as failed' : ''}; ${result.requests} requests in ${(result.tookMs / 1_000).toFixed(1)} s`
  switch (verdictOf(result)) {
    case 'conforms':
      return `${paint('green', '✓')} ${paint('bold', 'Conforms')} in all that could be checked: ${facts}`
    case 'nothing checked':
      return `${paint('yellow', '?')} ${paint('bold', 'Not checked')}, ${unchecked(result)}: ${facts}`
    case 'does not conform':
      return [`${paint('red', '✗')} ${paint('bold', 'Does not conform')}: ${facts}`, advice(result)]
        .filter((line) => line !== undefined)
        .join('\n')
  }
}

/** The same for programs. */
export function jsonReport(result: Result): object {
  const { baseUrl, profile, strict, startedAt, tookMs, requests, outcomes } = result
  return {
    baseUrl,
    profile,
    strict,
    verdict: verdictOf(result),
    startedOn: startedAt.toISOString(),
    tookMs,
    requests,
    specification: tally(ofSeverity(outcomes, 'must')),
    decisions: tally(ofSeverity(outcomes, 'ours')),
    checks: outcomes.map(({ section, check, status, tookMs: checkTookMs, reason, failure }) => ({
      id: check.id,
      section,
      severity: check.severity,
      source: check.source,
      title: check.title,
      status,
      tookMs: checkTookMs,
      ...(reason !== undefined && { reason }),
      ...failure,
    })),
  }
}
