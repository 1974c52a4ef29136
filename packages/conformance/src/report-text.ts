import { styleText } from 'node:util'
import type { Origin } from './check.ts'
import { type Cause, explain, readingText } from './explain.ts'
import { type Outcome, type Result, type Status, verdictOf } from './run.ts'
import { columns, sidesOf } from './sides.ts'

const STATUSES: readonly Status[] = ['passed', 'failed', 'blocked', 'skipped']
const KINDS: readonly (readonly [origin: Origin, words: string])[] = [
  ['spec', 'Specification'],
  ['decision', 'Decisions'],
]
const NUMBER_WIDTH = 9

/** How many outcomes there are of each status. */
export function tally(outcomes: readonly Outcome[]): Record<Status, number> {
  const counts = { passed: 0, failed: 0, blocked: 0, skipped: 0 }
  for (const { status } of outcomes) counts[status]++
  return counts
}

export const ofOrigin = (outcomes: readonly Outcome[], origin: Origin): readonly Outcome[] =>
  outcomes.filter(({ check }) => check.origin === origin)

export interface TextOptions {
  readonly colours?: boolean
  /** Everything that is known, instead of a first screen. */
  readonly details?: boolean
}

/** Lines of a first screen that causes may use; the rest of its forty is for the verdict and what to do next. */
const CAUSES_MAX = 30
const LINE_CHARS_MAX = 150

/**
 * What a person reads at a terminal. Of a server that fails: its causes, one line each, the first thing to fix on top.
 * With `details`: also a table by section, both sides of every cause, and the reasons of what was not checked.
 */
export function textReport(result: Result, { colours = false, details = false }: TextOptions = {}): string {
  const paint: Paint = (style, text) => (colours ? styleText(style, text, { validateStream: false }) : text)
  const { causes, outcomes } = explain(result)
  const explained = { ...result, outcomes }
  const parts: (string | undefined)[] = []
  if (causes.length > 0) parts.push(verdict(explained, paint), causeLines(causes, paint))
  if (causes.length === 0 || details) {
    for (const [origin, words] of KINDS) {
      const own = ofOrigin(outcomes, origin)
      if (own.length > 0) parts.push(table(explained, own, words, paint))
    }
    parts.push(readings(result), ...causes.map((cause, i) => causeDetails(cause, i, paint)))
    parts.push(...skippedReasons(explained))
  } else parts.push('Show what was sent and what was expected: --details, or --html <file>')
  if (causes.length === 0) parts.push(verdict(explained, paint))
  return `${parts.filter((part) => part !== undefined).join('\n\n')}\n`
}

const oneLine = (text: string, charsMax: number): string =>
  text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`

/** How many checks show the cause, and how many wait for it. */
export const countsOf = ({ failed, blocked }: Cause): string =>
  blocked.length === 0 ? `${failed.length} failed` : `${failed.length} failed, ${blocked.length} blocked`

function causeLines(causes: readonly Cause[], paint: Paint): string {
  const lines = causes.slice(0, CAUSES_MAX).map((cause, i) => {
    const counts = countsOf(cause)
    const decisionNote = cause.origin === 'decision' ? ` (${cause.source})` : ''
    const title = oneLine(
      cause.title.replaceAll('\n', ' '),
      LINE_CHARS_MAX - counts.length - decisionNote.length,
    )
    return `${paint('red', String(i + 1).padStart(2))}  ${title}${decisionNote}  ${paint('dim', `[${counts}]`)}`
  })
  const more = causes.length - CAUSES_MAX
  return [...lines, ...(more > 0 ? [`    and ${more} more`] : [])].join('\n')
}

function causeDetails({ title, source, failed, blocked, example }: Cause, i: number, paint: Paint): string {
  const sides = example && sidesOf(example)
  const curl = example?.curl?.split('\n').map((line) => `    ${line}`)
  return [
    `${paint('red', `${i + 1}.`)} ${paint('bold', title)}`,
    `    ${paint('dim', source)}`,
    ...(example ? [`    expected  ${example.expected}`, `    received  ${example.received}`] : []),
    ...(sides ? [columns(sides)] : []),
    ...(curl ?? []),
    ...namesOf('fail', failed),
    ...namesOf('blocked', blocked),
  ].join('\n')
}

const NAMES_MAX = 6

function namesOf(words: string, outcomes: readonly Outcome[]): string[] {
  if (outcomes.length === 0) return []
  const ids = outcomes.slice(0, NAMES_MAX).map(({ check }) => check.id)
  const more = outcomes.length - ids.length
  return [`    ${words}: ${ids.join(', ')}${more > 0 ? ` and ${more} more` : ''}`]
}

const readings = ({ readings: found }: Result): string | undefined =>
  found.length === 0 ? undefined : found.map((reading) => `- ${readingText(reading)}`).join('\n')

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

/** Skipped or blocked outcomes by what they lack: one reason often stands for many. */
export function byReason(outcomes: readonly Outcome[], status: Status): ReadonlyMap<string, Outcome[]> {
  const found = new Map<string, Outcome[]>()
  for (const outcome of outcomes)
    if (outcome.status === status)
      found.set(outcome.reason!, [...(found.get(outcome.reason!) ?? []), outcome])
  return found
}

function skippedReasons({ outcomes }: Result): string[] {
  const lines = [...byReason(outcomes, 'skipped')].map(([reason, those]) => {
    const ids = those.map(({ check }) => check.id)
    const names = ids.length > 6 ? `${ids.slice(0, 6).join(', ')} and ${ids.length - 6} more` : ids.join(', ')
    return `- ${reason}\n  ${names}`
  })
  if (lines.length === 0) return []
  return [`Skipped, since\n${lines.join('\n')}`]
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
  const { baseUrl, profile, strict, startedAt, tookMs, requests, readings: found } = result
  const { causes, outcomes } = explain(result)
  const idsOf = (own: readonly Outcome[]) => own.map(({ check }) => check.id)
  return {
    baseUrl,
    profile,
    strict,
    verdict: verdictOf(result),
    startedOn: startedAt.toISOString(),
    tookMs,
    requests,
    specification: tally(ofOrigin(outcomes, 'spec')),
    decisions: tally(ofOrigin(outcomes, 'decision')),
    causes: causes.map(({ title, origin, source, failed, blocked, example }) => ({
      title,
      origin,
      source,
      failed: idsOf(failed),
      blocked: idsOf(blocked),
      ...(example && { expected: example.expected, received: example.received, curl: example.curl }),
      ...(example && sidesOf(example)),
    })),
    readings: found,
    checks: outcomes.map(({ section, check, status, tookMs: checkTookMs, reason, failure }) => ({
      id: check.id,
      section,
      origin: check.origin,
      source: check.source,
      title: check.title,
      status,
      tookMs: checkTookMs,
      ...(reason !== undefined && { reason }),
      ...(failure && { expected: failure.expected, received: failure.received, curl: failure.curl }),
    })),
  }
}
