import { maskPerson } from './personal-data.ts'

/** What an operator needs to recognise a transfer; it names neither a person nor an account of one. */
const SHOWN = new Set(['utr', 'amount', 'virtualAccount', 'mode', 'transactionTime'])

interface Notice {
  readonly flags: readonly string[]
  readonly body: string
}

/** A notice of a transfer names who transferred it, and from which account: masked until it is revealed (decision O7). */
export function maskNotice<N extends Notice>(notice: N): N {
  return notice.flags.includes('transfer_notice') ? { ...notice, body: maskBody(notice.body) } : notice
}

function maskBody(body: string): string {
  try {
    return JSON.stringify(maskValue(JSON.parse(body)))
  } catch {
    return '•••'
  }
}

function maskValue(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number') return maskPerson(String(value))
  if (Array.isArray(value)) return value.map(maskValue)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).map(([name, field]) => [
    name,
    SHOWN.has(name) && typeof field !== 'object' ? field : maskValue(field),
  ])
  return Object.fromEntries(fields)
}
