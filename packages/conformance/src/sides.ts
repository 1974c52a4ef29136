import type { Failed } from './failure.ts'
import { shownOf } from './operation.ts'

/** What the server sent, and what the specification shows in its place, each as lines of text. */
export interface Sides {
  readonly sent: string
  readonly shown: string
}

/** Statuses from 400 on are failures, also those that a check expects. */
const FAILURE_MIN = 400

export function sidesOf({ seen, expected, about }: Failed): Sides | undefined {
  if (!seen) return undefined
  const { status, contentType, body, operation } = seen
  const sent =
    status === 0 ? 'no response' : `${status} ${contentType ?? '(no content type)'}\n${body || '(no body)'}`
  const isFailure = status >= FAILURE_MIN && !expected.startsWith('status 2')
  const field = about.is === 'fields' ? `\n${expected}` : ''
  const shown = `${isFailure ? 'a refusal' : '200'} application/json\n${shownOf(operation, isFailure)}${field}`
  return { sent, shown }
}

const COLUMN_CHARS = 58
const LINES_MAX = 24

function linesOf(text: string): readonly string[] {
  const lines = text.split('\n').flatMap((line) => {
    const parts = line.match(new RegExp(`.{1,${COLUMN_CHARS}}`, 'gu'))
    return parts ?? ['']
  })
  return lines.length > LINES_MAX ? [...lines.slice(0, LINES_MAX - 1), '…'] : lines
}

/** Both in two columns for a terminal. */
export function columns({ sent, shown }: Sides): string {
  const left = ['your server sent', ...linesOf(sent)]
  const right = ['the specification shows', ...linesOf(shown)]
  return Array.from({ length: Math.max(left.length, right.length) }, (_, i) =>
    `    ${(left[i] ?? '').padEnd(COLUMN_CHARS)} │ ${right[i] ?? ''}`.trimEnd(),
  ).join('\n')
}
