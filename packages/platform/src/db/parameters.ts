const QUOTED = /["\\]/
const quoted = (text: string): string =>
  QUOTED.test(text) ? `"${text.replace(/["\\]/g, '\\$&')}"` : `"${text}"`

/**
 * Lists as the text that PostgreSQL reads. `pg` would make the same of them by concatenation, which is a quarter of all that
 * a batch of a thousand rows allocates.
 */
export const parametersOf = (values: readonly unknown[]): unknown[] =>
  values.map((value) => (Array.isArray(value) ? listText(value) : value))

const listText = (values: readonly unknown[]): string => `{${values.map(elementText).join(',')}}`

function elementText(value: unknown): string {
  if (typeof value === 'string') return quoted(value)
  if (value === null || value === undefined) return 'NULL'
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (value instanceof Date) return `"${value.toISOString()}"`
  if (value instanceof Uint8Array)
    return `"\\\\x${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}"`
  return Array.isArray(value) ? listText(value) : quoted(JSON.stringify(value))
}
