import { type Kind, kindOf } from '../objects.ts'

/** Of which the portal has a page for each. */
const PAGES: ReadonlySet<Kind> = new Set<Kind>([
  'card',
  'cardAccount',
  'company',
  'dispute',
  'payment',
  'payout',
  'qrCode',
  'user',
  'webhookEndpoint',
])

/** The kind of thing that an id names; `undefined` where the portal has no page of it. */
export function pageOf(id: string): Kind | undefined {
  const kind = kindOf(id)
  return kind && PAGES.has(kind) ? kind : undefined
}
