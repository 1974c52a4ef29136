import { UNREAD_REASONS } from '@svc/core/rails/quarantine-reason'
import { maskPerson } from './personal-data.ts'

/** What an operator needs to recognise what a notice is of; it names neither a person nor an account of one. */
const SHOWN = new Set(
  'utr amount currency transactionTime tr payeeVpa virtualAccount mode refundId caseReference status respondBy'.split(
    ' ',
  ),
)

interface Notice {
  readonly flags: readonly string[]
  readonly reason?: string | undefined
  readonly body: string
}

/**
 * A notice names who paid, and from which account: masked until it is revealed (decision O7). One that could not be read
 * is shown whole, unless it is of a transfer.
 */
export function maskNotice<N extends Notice>(notice: N): N {
  const { body, flags, reason } = notice
  const isShown = UNREAD_REASONS.has(reason) && reason !== 'ignored' && !flags.includes('transfer_notice')
  return isShown ? notice : { ...notice, body: maskBody(body) }
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
