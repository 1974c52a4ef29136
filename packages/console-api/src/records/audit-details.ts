/** Their reasons are free text, which may name a person; the changes of the card, or the void, have them masked. */
const WITH_REASONS: ReadonlySet<string> = new Set([
  'card.status_changed',
  'card.kyc_changed',
  'card.flags_changed',
  'card.replaced',
  'coins.voided',
])

type Details = Readonly<Record<string, unknown>>

/** What the console shows of an entry of the audit: older entries of these actions have the reason too (decision O7). */
export function withoutReason(action: string, details: Details = {}): Details {
  if (!WITH_REASONS.has(action)) return details
  const { reason: _, ...others } = details
  return others
}
