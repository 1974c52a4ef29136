import { bodyCheck } from '@svc/server/http/validator'
import type { TObject } from 'typebox'
import { UsageError } from './usage-error.ts'

/** What `--set` says of itself. */
export const assignmentsOf = ({ properties }: TObject): string =>
  `a field, again for more; an empty value unsets it: ${Object.keys(properties).join(', ')}`

export const addAssignment = (text: string, before: readonly string[] | undefined): string[] => [
  ...(before ?? []),
  text,
]

/** Fields as the API accepts them: numbers and flags where the text is one and the field is no text. */
export function readAssignments(schema: TObject, assignments: readonly string[]): unknown {
  const settable = Object.keys(schema.properties)
  const check = bodyCheck(schema)
  const body: Record<string, unknown> = {}
  for (const assignment of assignments) {
    const [, name, text] = /^([A-Za-z]+)=(.*)$/s.exec(assignment) ?? []
    if (name === undefined || text === undefined || !settable.includes(name))
      throw new UsageError(`--set ${assignment}: must be a field and its value: ${settable.join(', ')}`)
    const values = [
      text === '' ? null : text,
      ...(/^[0-9.]+$/.test(text) ? [Number(text)] : []),
      ...(text === 'true' || text === 'false' ? [text === 'true'] : []),
    ]
    const fitting = values.findIndex((value) => !check({ [name]: value }))
    body[name] = values[Math.max(0, fitting)]
  }
  const invalid = check(body)
  if (invalid) throw new UsageError(invalid.description)
  return body
}
